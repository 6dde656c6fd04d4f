//! A move that is cut off anywhere, on either side: one holder, and nothing is lost.

use std::path::Path;

use serde_json::Value;

use crate::pair::{Pair, Words};
use crate::support::{Camp, Instance};

/// A paused instance with work of all kinds, and the text by which it is known.
struct Traveller {
    pair: Pair,
    id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Here,
    There,
}

/// How the user ends what was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Again,
    TakeBack,
}

impl Traveller {
    fn new() -> Self {
        let pair = Pair::new(Words::Exact);
        let repository = pair.here.repository("app");
        let instance = pair.here.start_shell(&repository, "one", "exec sleep 600");
        let work = pair.here.repository_at(&instance.worktree);
        work.write(".gitignore", "*.log\n");
        work.commit("second");
        work.write("README.md", "staged\n");
        work.git(&["add", "README.md"]);
        work.write("README.md", "changed\n");
        work.write("new.txt", "untracked\n");
        work.write("run.log", "ignored\n");
        drop(pair.biv(&["pause", "one"]).run().ok());
        Self {
            pair,
            id: instance.id,
        }
    }

    fn camp(&self, side: Side) -> &Camp {
        match side {
            Side::Here => &self.pair.here,
            Side::There => &self.pair.there,
        }
    }

    fn state(&self, side: Side) -> Option<String> {
        let call = self.camp(side).biv(["show", "--json", &self.id]).run();
        (call.status == Some(0)).then(|| call.json()["state"].as_str().unwrap().to_owned())
    }

    /// The sides that may use it.
    fn holders(&self) -> Vec<Side> {
        [Side::Here, Side::There]
            .into_iter()
            .filter(|side| self.state(*side).is_some_and(|state| state != "away"))
            .collect()
    }

    fn lease(&self, side: Side) -> u64 {
        let look = self
            .camp(side)
            .biv(["__lease", "--json", "look", &self.id])
            .run()
            .ok()
            .json();
        look["lease"]["number"].as_u64().unwrap()
    }

    fn call(&self, words: &[&str], crash: Option<&str>) -> crate::support::Answer {
        let call = self.pair.biv(words);
        match crash {
            Some(place) => call.crash_at(place).run(),
            None => call.run(),
        }
    }

    fn end(&self, ending: Ending) -> Side {
        match ending {
            Ending::Again => {
                drop(self.call(&["move", "one", "far"], None).ok());
                Side::There
            }
            Ending::TakeBack => {
                drop(self.call(&["move", "one", "--take-back"], None).ok());
                Side::Here
            }
        }
    }

    /// It is on this side alone, and all of it.
    #[track_caller]
    fn is_whole(&self, side: Side, after: &str) {
        assert_eq!(self.holders(), [side], "{after}");
        let camp = self.camp(side);
        drop(camp.biv(["resume", &self.id]).run().ok());
        let shown = camp.biv(["show", "--json", &self.id]).run().ok().json();
        check_work(camp, &Instance::from_json(&shown).worktree, after);
        drop(camp.biv(["pause", &self.id]).run().ok());
    }

    /// Back to the start of the next case.
    fn bring_home(&self) {
        if self.holders() == [Side::There] {
            drop(self.call(&["move", "one", "--take-back"], None).ok());
        }
        assert_eq!(self.holders(), [Side::Here]);
    }

    fn send_there(&self) {
        if self.holders() == [Side::Here] {
            drop(self.call(&["move", "one", "far"], None).ok());
        }
        assert_eq!(self.holders(), [Side::There]);
    }
}

#[track_caller]
fn check_work(camp: &Camp, worktree: &Path, after: &str) {
    let work = camp.repository_at(worktree);
    let status = work.git(&["status", "--porcelain", "--ignored"]);
    let mut lines: Vec<&str> = status.lines().collect();
    lines.sort_unstable();
    // The first line may have lost its space.
    let lines: Vec<&str> = lines.into_iter().map(str::trim).collect();
    assert_eq!(
        lines,
        ["!! run.log", "?? new.txt", "MM README.md"],
        "{after}"
    );
    assert_eq!(
        work.git(&["show", ":README.md"]).trim(),
        "staged",
        "{after}"
    );
    for (name, text) in [
        ("README.md", "changed\n"),
        ("new.txt", "untracked\n"),
        ("run.log", "ignored\n"),
    ] {
        let found = std::fs::read_to_string(worktree.join(name)).unwrap();
        assert_eq!(found, text, "{after}: {name}");
    }
    assert_eq!(work.git(&["log", "--format=%s", "-1"]).trim(), "second");
}

#[test]
fn a_crash_here_on_the_way_there_leaves_one_holder() {
    let it = Traveller::new();
    for point in [
        "send:before",
        "send:after",
        "hand-over:before",
        "hand-over:after",
        "ask-claim:before",
        "ask-claim:after",
        "confirm:before",
    ] {
        for ending in [Ending::Again, Ending::TakeBack] {
            let after = format!("{point} {ending:?}");
            let place = format!("move:{point}");
            drop(it.call(&["move", "one", "far"], Some(&place)).crashed());
            assert!(it.holders().len() <= 1, "{after}");
            let side = it.end(ending);
            it.is_whole(side, &after);
            it.bring_home();
        }
    }
}

#[test]
fn a_crash_there_on_the_way_there_leaves_one_holder() {
    let crash = |it: &Traveller, place: &str, ending: Ending| {
        let after = format!("{place} {ending:?}");
        it.pair.crash_there(place);
        drop(it.call(&["move", "one", "far"], None).fails(1));
        it.pair.mend();
        assert!(it.holders().len() <= 1, "{after}");
        let side = it.end(ending);
        it.is_whole(side, &after);
        it.bring_home();
    };
    // It was never there.
    crash(&Traveller::new(), "import:record:after", Ending::Again);
    let it = Traveller::new();
    crash(&it, "import:unpack:after", Ending::TakeBack);
    crash(&it, "import:record:before", Ending::Again);
    // It has a record there.
    for place in [
        "return:unpack:after",
        "return:free-worktree:after",
        "return:record:after",
        "move:claim:before",
        "move:claim:after",
    ] {
        crash(&it, place, Ending::Again);
        crash(&it, place, Ending::TakeBack);
    }
}

#[test]
fn a_crash_on_the_way_back_leaves_one_holder() {
    let it = Traveller::new();
    it.send_there();
    for (side, place) in [
        (Side::Here, "move:fetch:after"),
        (Side::Here, "return:move-branch:before"),
        (Side::Here, "return:add-worktree:after"),
        (Side::Here, "return:unpack:after"),
        (Side::Here, "return:deliver:before"),
        (Side::Here, "return:record:before"),
        (Side::Here, "return:record:after"),
        (Side::Here, "return:retire-work:after"),
        (Side::Here, "move:ask-release:before"),
        (Side::Here, "move:ask-release:after"),
        (Side::Here, "move:claim:before"),
        (Side::Here, "move:claim:after"),
        (Side::There, "move:release:before"),
        (Side::There, "move:release:after"),
    ] {
        let words = ["move", "one", "--take-back"];
        match side {
            Side::Here => drop(it.call(&words, Some(place)).crashed()),
            Side::There => {
                it.pair.crash_there(place);
                drop(it.call(&words, None).fails(1));
                it.pair.mend();
            }
        }
        assert!(it.holders().len() <= 1, "{place}");
        let side = it.end(Ending::TakeBack);
        it.is_whole(side, place);
        it.send_there();
    }
}

#[test]
fn a_link_that_is_cut_at_any_request_leaves_one_holder() {
    let it = Traveller::new();
    for answer_lost in [false, true] {
        for there in [true, false] {
            let words: &[&str] = match there {
                true => &["move", "one", "far"],
                false => &["move", "one", "--take-back"],
            };
            for request in 1.. {
                let after = format!("{words:?} {request} {answer_lost}");
                it.pair.cut_at(request, answer_lost);
                let call = it.call(words, None);
                let needed = it.pair.requests();
                it.pair.mend();
                if needed < request {
                    drop(call.ok());
                    break;
                }
                drop(call.fails(1));
                assert!(it.holders().len() <= 1, "{after}");
                let side = match (request % 2, there) {
                    // The way back can only be gone to its end.
                    (0, _) | (_, false) => it.end(Ending::TakeBack),
                    _ => it.end(Ending::Again),
                };
                it.is_whole(side, &after);
                match there {
                    true => it.bring_home(),
                    false => it.send_there(),
                }
            }
        }
        it.bring_home();
    }
}

#[test]
fn of_two_who_claim_at_once_one_wins() {
    let it = Traveller::new();
    for round in 0..4 {
        let place = "move:hand-over:after";
        drop(it.call(&["move", "one", "far"], Some(place)).crashed());
        assert!(it.holders().is_empty());
        let number = it.lease(Side::Here);
        let next = (number + 1).to_string();
        let number = number.to_string();
        let claim = ["__lease", "--json", "claim", &it.id, &number];
        let release = ["__lease", "--json", "release", &it.id, &next];
        let claiming = it.pair.there.biv(claim).in_background();
        let released = it.pair.there.biv(release).run().ok().json();
        let claimed = claiming.wait_with_output().unwrap();
        let won = claimed.status.success();
        let answer: Value = released["release"].clone();
        assert_eq!(answer, if won { "claimed" } else { "withdrawn" }, "{round}");
        // Whoever asks next, here, gets to the same end.
        let side = match won {
            true => it.end(Ending::Again),
            false => it.end(Ending::TakeBack),
        };
        it.is_whole(side, &format!("round {round}, won {won}"));
        it.bring_home();
    }
    // The same by two commands of the user.
    drop(
        it.call(&["move", "one", "far"], Some("move:hand-over:after"))
            .crashed(),
    );
    let moving = it.pair.biv(&["move", "one", "far"]).in_background();
    let back = it.call(&["move", "one", "--take-back"], None);
    let moved = moving.wait_with_output().unwrap();
    assert!(
        back.status == Some(0) || moved.status.success(),
        "{back:?} {moved:?}"
    );
    let holders = it.holders();
    assert_eq!(holders.len(), 1, "{back:?} {moved:?}");
    it.is_whole(holders[0], "two commands");
}

#[test]
fn a_host_that_is_gone_gives_up_what_it_has_only_by_force() {
    let it = Traveller::new();
    it.send_there();
    it.pair.cut();
    let refused = it.call(&["move", "one", "--take-back"], None).fails(1);
    assert!(refused.stderr.contains("--force"), "{refused:?}");
    assert_eq!(it.state(Side::Here).as_deref(), Some("away"));
    let taken = it
        .call(&["move", "one", "--take-back", "--force"], None)
        .ok();
    assert!(
        taken.stderr.contains("is not here") || taken.stdout.contains("is not here"),
        "{taken:?}"
    );
    assert_eq!(it.state(Side::Here).as_deref(), Some("paused"));
    assert!(it.lease(Side::Here) > it.lease(Side::There));
    // It was kept as it left.
    drop(it.pair.biv(&["resume", "one"]).run().ok());
    let shown = it.pair.biv(&["show", "--json", "one"]).run().ok().json();
    let here = Instance::from_json(&shown);
    check_work(&it.pair.here, &here.worktree, "by force");
    // When the host is back, its copy is an instance of its own: neither takes the other's place.
    it.pair.mend();
    let other = it.call(&["move", "far:one", "."], None).fails(1);
    assert!(other.stderr.contains("did not come from here"), "{other:?}");
    let moved = it.pair.biv(&["move", "one", "far", "--json"]).run();
    let moved = moved.fails(1);
    assert!(moved.error()["message"].is_string());
    assert_eq!(it.state(Side::Here).as_deref(), Some("running"));
    assert_eq!(it.state(Side::There).as_deref(), Some("paused"));
}
