//! The whole camp, paused and brought back together.

use serde_json::Value;

use crate::crowd;
use crate::ground::{camp, long, start};
use crate::rest::unrest;
use crate::states::{Base, Lab};
use crate::support::{Camp, Instance};

struct Whole {
    camp: Camp,
    members: Vec<Instance>,
    /// Paused by its user before: no part of what comes back.
    apart: Instance,
    _directory: tempfile::TempDir,
}

impl Whole {
    fn new() -> Self {
        let camp = camp();
        let directory = tempfile::tempdir_in(crate::support::mount::scratch()).unwrap();
        let lab = Lab::new(&directory.path().canonicalize().unwrap(), Base::Plain);
        let members: Vec<Instance> = ["one", "two", "three"]
            .iter()
            .map(|title| start(&camp, &lab, title))
            .collect();
        for member in &members {
            std::fs::write(member.worktree.join("work"), &member.id).unwrap();
        }
        let apart = start(&camp, &lab, "apart");
        drop(camp.biv(["pause", &apart.id]).run().ok());
        Self {
            camp,
            members,
            apart,
            _directory: directory,
        }
    }

    fn states(&self) -> Vec<String> {
        self.members
            .iter()
            .map(|member| self.camp.show(member)["state"].as_str().unwrap().to_owned())
            .collect()
    }

    fn told(&self, kind: &str) -> Vec<Value> {
        let path = self.camp.home().join("state/events.jsonl");
        std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|event| event["type"] == kind)
            .collect()
    }

    fn snapshot(&self) -> Option<Value> {
        let path = self.camp.home().join("state/state_snapshot.json");
        Some(serde_json::from_slice(&std::fs::read(path).ok()?).unwrap())
    }

    /// Paused as a whole: everyone at rest, named in the snapshot, told once.
    fn unpaused(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.states() != ["paused"; 3] {
            wrong.push(format!("they are {:?}", self.states()));
        }
        for member in &self.members {
            wrong.extend(unrest(&self.camp, member));
        }
        let mut named = ids(&self.snapshot().unwrap_or_default()["active_agents"]);
        named.sort();
        let mut wanted: Vec<String> = self.members.iter().map(|m| m.id.clone()).collect();
        wanted.sort();
        if named != wanted {
            wrong.push(format!("the snapshot names {named:?}"));
        }
        if self.told("orchestrator:paused").len() != 1 {
            wrong.push(format!("told: {:?}", self.told("orchestrator:paused")));
        }
        wrong
    }

    fn brought_back(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let answer = self.camp.biv(["resume", "--all"]).run();
        if answer.status != Some(0) {
            wrong.push(format!("resume --all: {}", answer.said()));
        }
        if self.states() != ["running"; 3] {
            wrong.push(format!("back, they are {:?}", self.states()));
        }
        if self.camp.show(&self.apart)["state"] != "paused" {
            wrong.push("one that its user had paused was resumed".to_owned());
        }
        for member in &self.members {
            wrong.extend(unrest(&self.camp, member));
            let work = std::fs::read_to_string(member.worktree.join("work")).unwrap_or_default();
            if work != member.id {
                wrong.push(format!("the work of {} is lost", member.title));
            }
        }
        if self.told("orchestrator:resumed").len() != 1 {
            wrong.push("it was not told once that all are back".to_owned());
        }
        wrong
    }
}

fn ids(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|id| id.as_str().map(str::to_owned))
        .collect()
}

#[test]
fn all_are_paused_and_the_same_ones_come_back() {
    let whole = Whole::new();
    drop(whole.camp.biv(["pause", "--all"]).run().ok());
    assert_eq!(whole.unpaused(), Vec::<String>::new());
    let snapshot = whole.snapshot().unwrap();
    for key in ["paused_at", "active_agents", "pending_tasks"] {
        assert!(!snapshot[key].is_null(), "{key} in {snapshot}");
    }
    let told = &whole.told("orchestrator:paused")[0];
    assert_eq!(ids(&told["data"]["active_agents"]).len(), 3, "{told}");
    drop(whole.camp.biv(["pause", "--all"]).run().ok());
    assert_eq!(whole.told("orchestrator:paused").len(), 1, "said once");
    assert_eq!(whole.brought_back(), Vec::<String>::new());
    drop(whole.camp.biv(["resume", "--all"]).run().ok());
    assert_eq!(whole.told("orchestrator:resumed").len(), 1, "said once");
}

#[test]
fn a_crash_while_all_are_paused_loses_no_instance() {
    let steps = [
        "quiesce",
        "save-conversation",
        "save-terminal",
        "stop-agent",
        "snapshot",
        "verify-snapshot",
        "close-session",
        "free-worktree",
        "thin-worktree",
        "record",
    ];
    let mut places: Vec<String> = Vec::new();
    for step in steps {
        for moment in ["before", "after"] {
            if long() || moment == "after" {
                places.push(format!("pause:{step}:{moment}"));
            }
        }
    }
    let results = crowd::each(&places, |place| {
        let whole = Whole::new();
        let call = whole.camp.biv(["pause", "--all"]);
        drop(call.crash_at(place).run().crashed());
        drop(whole.camp.biv(["list"]).run().ok());
        drop(whole.camp.biv(["pause", "--all"]).run().ok());
        let mut wrong = whole.unpaused();
        wrong.extend(whole.brought_back());
        wrong
    });
    let losses: Vec<String> = places
        .iter()
        .zip(results)
        .flat_map(|(place, result)| {
            let lines = result.unwrap_or_else(|panic| vec![panic]);
            lines
                .into_iter()
                .map(move |line| format!("{place}: {line}"))
        })
        .collect();
    assert!(losses.is_empty(), "\n{}", losses.join("\n"));
}

#[test]
fn a_crash_while_all_come_back_loses_no_instance() {
    let steps = [
        "bring-worktree",
        "open-session",
        "start-agent",
        "record",
        "release-snapshot",
    ];
    let places: Vec<String> = steps
        .iter()
        .map(|step| format!("resume:{step}:after"))
        .collect();
    let results = crowd::each(&places, |place| {
        let whole = Whole::new();
        drop(whole.camp.biv(["pause", "--all"]).run().ok());
        let call = whole.camp.biv(["resume", "--all"]);
        drop(call.crash_at(place).run().crashed());
        drop(whole.camp.biv(["list"]).run().ok());
        whole.brought_back()
    });
    let losses: Vec<String> = places
        .iter()
        .zip(results)
        .flat_map(|(place, result)| {
            let lines = result.unwrap_or_else(|panic| vec![panic]);
            lines
                .into_iter()
                .map(move |line| format!("{place}: {line}"))
        })
        .collect();
    assert!(losses.is_empty(), "\n{}", losses.join("\n"));
}

/// What says that nothing happens says why.
#[test]
fn a_paused_camp_says_so_wherever_one_looks() {
    let whole = Whole::new();
    let camp = &whole.camp;
    let one = &whole.members[0].id;
    let places: [&[&str]; 3] = [&["list"], &["queue", one], &["daemon", "status"]];
    let say = |place: &[&str]| {
        let answer = camp.biv(place).run().ok();
        let json = camp.biv(place).with_json().run().ok().json();
        (
            format!("{}{}", answer.stdout, answer.stderr),
            json["camp"]["state"].clone(),
        )
    };
    for place in places {
        let (said, state) = say(place);
        assert!(!said.contains("The camp is paused"), "{place:?}: {said}");
        assert_eq!(state, "running", "{place:?}");
    }
    drop(camp.biv(["pause", "--all"]).run().ok());
    for place in places {
        let (said, state) = say(place);
        assert!(said.contains("The camp is paused"), "{place:?}: {said}");
        assert_eq!(state, "paused", "{place:?}");
    }
}

#[test]
fn the_first_that_a_user_resumes_or_creates_ends_the_pause_of_the_camp() {
    let whole = Whole::new();
    let camp = &whole.camp;
    let state = || camp.biv(["list", "--json"]).run().ok().json()["camp"]["state"].clone();
    drop(camp.biv(["pause", "--all"]).run().ok());
    drop(camp.biv(["resume", "two"]).run().ok());
    assert_eq!(state(), "running");
    assert_eq!(whole.states(), ["paused", "running", "paused"]);
    assert_eq!(whole.told("orchestrator:resumed").len(), 1);
    // The others are still named; one that its user has paused since is not.
    drop(camp.biv(["pause", "two"]).run().ok());
    drop(camp.biv(["resume", "--all"]).run().ok());
    assert_eq!(whole.states(), ["running", "paused", "running"]);
    assert_eq!(camp.show(&whole.apart)["state"], "paused");

    drop(camp.biv(["pause", "--all"]).run().ok());
    assert_eq!(state(), "paused");
    let lab_main = &camp.show(&whole.members[0])["repo"];
    let new = [
        "new",
        "more",
        "-a",
        "still",
        "--repo",
        lab_main.as_str().unwrap(),
        "--",
    ];
    let new = camp.biv(new).args(["sh", "-c", "echo here; exec cat"]);
    drop(new.run().ok());
    assert_eq!(state(), "running");
    assert_eq!(whole.states(), ["paused"; 3]);
}

#[test]
fn several_are_counted_and_one_that_fails_costs_the_others_nothing() {
    let whole = Whole::new();
    let camp = &whole.camp;
    let mistaken = camp.biv(["pause", "one", "nobody"]).run().fails(3);
    assert!(mistaken.stderr.contains("nobody"), "{}", mistaken.said());
    assert_eq!(whole.states(), ["running"; 3], "nothing was touched");
    // Its worktree is gone, so its work cannot be saved.
    std::fs::remove_dir_all(&whole.members[1].worktree).unwrap();
    let answer = camp.biv(["pause", "one", "two", "three"]).run().fails(1);
    let said = answer.said();
    assert!(said.contains("paused 2 of 3"), "{said}");
    assert!(said.contains("`two`: "), "{said}");
    assert_eq!(whole.states(), ["paused", "running", "paused"]);
    let answer = camp.biv(["pause", "--all", "--json"]).run().fails(1).json();
    assert_eq!(answer["error"]["details"]["done"], 0, "{answer}");
    assert_eq!(answer["error"]["details"]["failures"][0]["title"], "two");
    let resumed = camp.biv(["resume", "one", "three"]).run().ok();
    assert!(resumed.stderr.contains("Resumed 2 instances."));
    let killed = camp.biv(["kill", "-y", "one", "three"]).run().ok();
    assert!(killed.stderr.contains("Killed 2 instances."));
}

/// All of them at once would keep tmux from answering in time: they are paced, and counted.
#[test]
fn a_crowd_is_paused_resumed_and_killed_whole() {
    let camp = camp();
    let directory = tempfile::tempdir_in(crate::support::mount::scratch()).unwrap();
    let lab = Lab::new(&directory.path().canonicalize().unwrap(), Base::Plain);
    let count = if long() { 200 } else { 36 };
    let titles: Vec<String> = (0..count).map(|n| format!("t{n}")).collect();
    let results = crowd::each(&titles, |title| start(&camp, &lab, title));
    let members: Vec<Instance> = results.into_iter().map(Result::unwrap).collect();
    let states = || -> Vec<String> {
        let listed = camp.biv(["list", "--json"]).run().ok().json();
        let listed = listed["instances"].as_array().unwrap().clone();
        listed
            .iter()
            .map(|view| view["state"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = |state: &str| vec![state.to_owned(); count];
    assert_eq!(states(), all("running"));
    let paused = camp.biv(["pause", "--all"]).run().ok();
    assert!(
        paused
            .stderr
            .contains(&format!("Paused {count} instances."))
    );
    assert_eq!(states(), all("paused"));
    let resumed = camp.biv(["resume", "--all"]).run().ok();
    assert!(
        resumed
            .stderr
            .contains(&format!("Resumed {count} instances."))
    );
    assert_eq!(states(), all("running"));
    let ids = members.iter().map(|member| member.id.as_str());
    let killed = camp.biv(["kill", "-y"]).args(ids).run().ok();
    assert!(
        killed
            .stderr
            .contains(&format!("Killed {count} instances."))
    );
    assert_eq!(states(), all("killed")[..0]);
}
