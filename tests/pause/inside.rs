//! SIGKILL inside a step, between two of its effects, on a disk that gives inodes of deleted files to
//! the next ones; and a user who goes on working between the crash and the recovery.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::crowd;
use crate::fingerprint::fingerprint;
use crate::ground::{Ground, long, state};
use crate::states::State;
use crate::support::mount::Mount;
use crate::support::root::{Root, mounts_left_out};

/// A step that is cut off, and what must come of it.
struct Cut {
    prepare: &'static [&'static [&'static str]],
    operation: &'static [&'static str],
    /// Where effects are counted.
    place: &'static str,
    /// Where the instance comes to rest.
    rests: &'static str,
}

const CUTS: [Cut; 7] = [
    Cut {
        prepare: &[],
        operation: &["pause", "--remove-worktree"],
        place: "pause:free-worktree",
        rests: "paused",
    },
    Cut {
        prepare: &[],
        operation: &["pause", "--remove-worktree"],
        place: "pause:thin-worktree",
        rests: "paused",
    },
    Cut {
        prepare: &[&["pause"]],
        operation: &["resume"],
        place: "resume:bring-worktree",
        rests: "paused",
    },
    Cut {
        prepare: &[&["pause", "--remove-worktree"]],
        operation: &["resume"],
        place: "resume:bring-worktree",
        rests: "paused",
    },
    Cut {
        prepare: &[&["pause", "--remove-worktree"]],
        operation: &["resume"],
        place: "resume:release-snapshot",
        rests: "running",
    },
    Cut {
        prepare: &[&["pause"]],
        operation: &["gc"],
        place: "gc",
        rests: "paused",
    },
    // A thinned one whose refill was cut off is thinned again.
    Cut {
        prepare: &[&["pause", "--remove-worktree"], &["resume", "crash"]],
        operation: &["gc"],
        place: "gc",
        rests: "paused",
    },
];

/// Which effects are the last before a crash: all of them, or fewer the further it goes.
fn next_effect(effect: usize) -> usize {
    if long() { effect + 1 } else { effect * 2 }
}

fn run(ground: &Ground, command: &[&str], crash: Option<&str>) -> Option<i32> {
    let call = match command {
        ["gc"] => {
            ground.grow_old();
            ground.camp.biv(["gc"])
        }
        ["resume", "crash"] => ground
            .call(&["resume"])
            .crash_at("resume:bring-worktree:inside:20"),
        command => ground.call(command),
    };
    match crash {
        Some(place) => call.crash_at(place).run().status,
        None => call.run().status,
    }
}

/// Cuts the step off behind each effect in turn; what went wrong.
fn cut_everywhere(state: &State, cut: &Cut) -> (usize, Vec<String>) {
    let disk = Mount::disk(96);
    let ground = Ground::made_below(state, &disk.path());
    let owned = owners(&ground);
    let mut losses = Vec::new();
    let mut cases = 0;
    let mut effect = 1;
    loop {
        for command in cut.prepare {
            run(&ground, command, None);
        }
        let place = format!("{}:inside:{effect}", cut.place);
        if run(&ground, cut.operation, Some(&place)).is_some() {
            break;
        }
        // Every other time the one that takes it up is cut off as well.
        if cases % 2 == 1
            && ground
                .call(&["show"])
                .crash_at(&place)
                .run()
                .status
                .is_some()
        {
            drop(ground.camp.biv(["gc"]).crash_at(&place).run());
        }
        drop(ground.camp.biv(["list"]).run().ok());
        let mut wrong = ground.losses(&[cut.rests]);
        if owners(&ground) != owned {
            wrong.push(format!("{:?} are the owners now", owners(&ground)));
        }
        losses.extend(
            wrong
                .into_iter()
                .map(|line| format!("{} {place}: {line}", state.name)),
        );
        cases += 1;
        effect = next_effect(effect);
    }
    (cases, losses)
}

/// Whose the files at the top and in `theirs` are.
fn owners(ground: &Ground) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    for dir in [
        ground.lab.worktree.clone(),
        ground.lab.worktree.join("theirs"),
    ] {
        for entry in std::fs::read_dir(dir).into_iter().flatten() {
            let entry = entry.unwrap();
            found.push((entry.path(), entry.metadata().unwrap().uid()));
        }
    }
    found.sort();
    found
}

/// One that only root could put back as it was, beside files that anyone can.
fn foreign(lab: &crate::states::Lab) {
    (state("mixed").build)(lab);
    lab.write("theirs/of-root", "theirs\n");
    lab.write("x-theirs.log", "theirs\n");
    for path in ["theirs/of-root", "x-theirs.log"] {
        let chown = Root::command("chown")
            .arg("12345:12345")
            .arg(lab.at(path))
            .status();
        assert!(chown.unwrap().success());
    }
}

/// Many files in one directory, made in the order of their names.
fn flat(lab: &crate::states::Lab) {
    for number in 0..40 {
        lab.write(format!("flat/{number:02}"), format!("number {number}\n"));
    }
}

fn report(results: Vec<Result<(usize, Vec<String>), String>>, least: usize) {
    let mut cases = 0;
    let mut losses = Vec::new();
    for result in results {
        match result {
            Ok((count, found)) => {
                cases += count;
                losses.extend(found);
            }
            Err(panic) => losses.push(panic),
        }
    }
    println!("{cases} crashes, {} losses", losses.len());
    assert!(losses.is_empty(), "\n{}", losses.join("\n"));
    assert!(cases >= least, "{cases} crashes only");
}

#[test]
fn a_crash_inside_a_step_loses_nothing() {
    if mounts_left_out() {
        return;
    }
    let own = |name, build| State {
        name,
        base: crate::states::Base::Plain,
        build,
    };
    let mut states = vec![
        state("mixed"),
        state("read-only-directory"),
        own("foreign", foreign),
    ];
    if long() {
        states.push(own("flat", flat));
        for name in [
            "hard-links",
            "modes",
            "ignored",
            "nested-repository",
            "odd-names",
        ] {
            states.push(state(name));
        }
    }
    let mut pairs: Vec<(&State, &Cut)> = Vec::new();
    for (number, state) in states.iter().enumerate() {
        for (turn, cut) in CUTS.iter().enumerate() {
            if long() || number == 0 || turn % 2 == number % 2 {
                pairs.push((state, cut));
            }
        }
    }
    let results = crowd::each(&pairs, |(state, cut)| cut_everywhere(state, cut));
    report(results, 30);
}

/// What a user does to a worktree that stands at its place: changes, truncates, deletes, adds.
fn work_on(ground: &Ground) {
    let at = |name: &str| ground.lab.worktree.join(name);
    std::fs::write(at("a.txt"), "edited after the crash\n").unwrap();
    std::fs::write(at("b.txt"), "").unwrap();
    std::fs::write(at("x.log"), "").unwrap();
    std::fs::remove_file(at("bin.dat")).unwrap();
    std::fs::remove_file(at("link")).unwrap();
    std::fs::create_dir(at("link")).unwrap();
    std::fs::write(at("link/inside"), "a directory now\n").unwrap();
    std::fs::write(at("note"), "written after the crash\n").unwrap();
}

/// Crashes a resume there, lets the user work, and lets the next command take the resume up.
fn edited_after(place: &str, rests: &str) -> (usize, Vec<String>) {
    let mut ground = Ground::made(&state("mixed"));
    drop(ground.biv(&["pause", "--remove-worktree"]).ok());
    drop(ground.call(&["resume"]).crash_at(place).run().crashed());
    work_on(&ground);
    let mut before = fingerprint(&ground.lab.main, &ground.lab.worktree);
    // Whether something is parked or released is none of the work.
    before.retain(|line| !line.contains("bivouac"));
    ground.before = before;
    drop(ground.camp.biv(["list"]).run().ok());
    let wrong = ground.losses(&[rests]);
    let named = wrong.into_iter().map(|line| format!("{place}: {line}"));
    (1, named.collect())
}

#[test]
fn what_was_edited_after_a_crash_is_never_written_over() {
    let places = [
        ("resume:bring-worktree:after", "paused"),
        ("resume:verify-restore:after", "paused"),
        ("resume:open-session:after", "paused"),
        ("resume:start-agent:after", "running"),
        ("resume:await-ready:after", "running"),
        ("resume:record:after", "running"),
        ("resume:release-snapshot:before", "running"),
        ("resume:release-snapshot:inside:1", "running"),
    ];
    let results = crowd::each(&places, |(place, rests)| edited_after(place, rests));
    report(results, places.len());
}

/// What was edited between a crash and its recovery is work like any other when the disk is freed.
#[test]
fn what_was_edited_after_a_crash_is_stored_when_the_disk_is_freed() {
    let mut ground = Ground::made(&state("mixed"));
    drop(ground.biv(&["pause", "--remove-worktree"]).ok());
    let call = ground.call(&["resume"]);
    drop(call.crash_at("resume:bring-worktree:after").run().crashed());
    work_on(&ground);
    let mut before = fingerprint(&ground.lab.main, &ground.lab.worktree);
    before.retain(|line| !line.contains("bivouac"));
    ground.before = before;
    assert_eq!(ground.state(), "paused");
    ground.grow_old();
    let gc = ground.camp.biv(["gc", "--json"]).run().ok().json();
    assert_eq!(gc["collected"][0]["action"], "thin", "{gc}");
    assert_eq!(gc["collected"][0]["left"], serde_json::json!([]), "{gc}");
    assert_eq!(ground.losses(&["paused"]), Vec::<String>::new());
}

/// Something that was put into the parking place of a thinned worktree is not ours.
#[test]
fn what_stands_where_a_file_is_to_be_refilled_stays() {
    let ground = Ground::made(&state("mixed"));
    drop(ground.biv(&["pause", "--remove-worktree"]).ok());
    let parked = std::fs::read_dir(ground.parking())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("worktree-"))
        .unwrap();
    std::fs::write(parked.join("b.txt"), "found\n").unwrap();
    let answer = ground.biv(&["resume"]).ok();
    assert!(answer.stderr.contains("b.txt"), "{}", answer.stderr);
    let read = |name: &str| std::fs::read_to_string(ground.lab.worktree.join(name)).unwrap();
    assert_eq!(read("b.txt"), "found\n");
    assert_eq!(read("a.txt"), "on disk\n");
    // A directory that leads elsewhere is not written through.
    drop(ground.biv(&["pause", "--remove-worktree"]).ok());
    let parked = std::fs::read_dir(ground.parking())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("worktree-"))
        .unwrap();
    let elsewhere = ground.lab.home.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, parked.join("dir")).unwrap();
    let refused = ground.biv(&["resume"]);
    assert_eq!(refused.status, Some(1), "{}", refused.said());
    assert!(refused.said().contains("dir"), "{}", refused.said());
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_eq!(ground.state(), "paused");
    std::fs::remove_file(parked.join("dir")).unwrap();
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(read("dir/sub/d.txt"), "d\n");
}
