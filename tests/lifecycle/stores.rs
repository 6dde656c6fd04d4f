//! Stores that earlier versions have written are opened, and nothing in them is lost.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Camp, Instance, until};

/// A camp with a store of this format in it.
fn camp_with(store: &str) -> Camp {
    let camp = Camp::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/stores")
        .join(store);
    let unpacked = Command::new("tar")
        .arg("-xzpf")
        .arg(fixture.join("repository.tar.gz"))
        .arg("-C")
        .arg(camp.root())
        .status();
    assert!(unpacked.is_ok_and(|status| status.success()), "tar");
    copy(&fixture.join("state"), &camp.home().join("state"));
    for part in ["home", "repositories"] {
        settle_in(&camp.root(), &camp.root().join(part));
    }
    camp
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let name = entry.unwrap().file_name();
            copy(&from.join(&name), &to.join(&name));
        }
    } else {
        std::fs::copy(from, to).unwrap();
    }
}

/// Puts the directory of the camp where the fixture has a placeholder.
fn settle_in(root: &Path, path: &Path) {
    if path.is_symlink() {
        return;
    }
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            settle_in(root, &entry.unwrap().path());
        }
        return;
    }
    let Ok(text) = std::fs::read_to_string(path) else {
        return;
    };
    if text.contains("@ROOT@") {
        std::fs::write(path, text.replace("@ROOT@", root.to_str().unwrap())).unwrap();
    }
}

fn shown(camp: &Camp, title: &str) -> Value {
    camp.biv(["show", "--json", title]).run().ok().json()
}

fn instance(camp: &Camp, title: &str) -> Instance {
    Instance::from_json(&shown(camp, title))
}

fn resume(camp: &Camp, title: &str) -> Instance {
    drop(camp.biv(["resume", title]).run().ok());
    let instance = instance(camp, title);
    instance.wait_idle(camp);
    instance
}

/// What the script that made the store has left in each worktree.
fn assert_whole(camp: &Camp, worktree: &Path) {
    let text = |name: &str| std::fs::read_to_string(worktree.join(name)).unwrap();
    assert_eq!(text("README.md"), "changed\n");
    assert_eq!(text("staged.txt"), "staged\n");
    assert_eq!(text("notes.txt"), "untracked\n");
    assert_eq!(text("build/out.o"), "ignored\n");
    assert!(worktree.join("empty").is_dir());
    assert_eq!(
        std::fs::read_link(worktree.join("link")).unwrap(),
        PathBuf::from("README.md")
    );
    let status = camp
        .repository_at(worktree)
        .git(&["status", "--porcelain", "--ignored"]);
    assert_eq!(
        status.lines().collect::<Vec<_>>(),
        [
            " M README.md",
            "A  staged.txt",
            "?? link",
            "?? notes.txt",
            "?? run.sh",
            "!! build/"
        ]
    );
}

#[test]
fn a_store_of_format_1_is_listed_shown_and_read() {
    let camp = camp_with("v1");
    let listed = camp.biv(["list", "--json"]).run().ok().json();
    assert_eq!(listed["unreadable"], serde_json::json!([]));
    let mut states: Vec<(&str, &str)> = listed["instances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|view| {
            (
                view["title"].as_str().unwrap(),
                view["state"].as_str().unwrap(),
            )
        })
        .collect();
    states.sort_unstable();
    assert_eq!(
        states,
        [
            // Its server is gone.
            ("answered", "interrupted"),
            ("completed", "completed"),
            // The next command has carried its pause to the end.
            ("cut", "paused"),
            ("failed", "failed"),
            ("parked", "paused"),
            ("thinned", "paused"),
        ]
    );
    let parked = shown(&camp, "parked");
    assert_eq!(parked["pause"]["reason"], "user");
    assert_eq!(parked["queue"]["waiting"], 1);
    assert_eq!(parked["resumable"], true);
    assert_eq!(shown(&camp, "failed")["exit_code"], 3);

    let runs = camp.biv(["runs", "--json", "answered"]).run().ok().json();
    let runs = runs["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["superseded_by_run_id"], runs[1]["run_id"]);

    // The summary stands for the older entries, which are in the archive.
    let log = camp.biv(["log", "parked"]).run().ok().stdout;
    assert!(log.contains("peg 30"), "{log}");
    let archive = camp
        .instances_dir()
        .join(parked["id"].as_str().unwrap())
        .join("conversation/archive-0001.jsonl");
    let archive = std::fs::read_to_string(archive).unwrap();
    assert!(archive.contains("pitch the tent"));
    let killed = camp.biv(["log", "killed"]).run().ok().stdout;
    assert!(killed.contains("boil water"), "{killed}");

    let audit = camp.biv(["audit", "--json"]).run().ok().json();
    assert_eq!(audit["intact"], true);
    assert_eq!(audit["entries"][0]["command"], "touch made.txt");
    let queue = camp.biv(["queue", "--json", "answered"]).run().ok().json();
    assert_eq!(queue["counts"]["done"], 2);
    let events = camp.biv(["events"]).run().ok().stdout;
    for kind in ["instance:killed", "orchestrator:paused", "queue:done"] {
        assert!(events.contains(kind), "{kind}");
    }
    let doctor = camp.biv(["doctor"]).run().stdout;
    assert!(doctor.contains("✓ records: all can be read"), "{doctor}");
}

#[test]
fn what_a_store_of_format_1_has_paused_resumes_whole() {
    let camp = camp_with("v1");
    for title in ["parked", "thinned", "cut"] {
        let instance = resume(&camp, title);
        assert_whole(&camp, &instance.worktree);
        assert_eq!(
            camp.repository_at(&instance.worktree)
                .git(&["branch", "--show-current"]),
            format!("biv/{title}")
        );
        drop(camp.biv(["pause", title]).run().ok());
        resume(&camp, title);
        assert_whole(&camp, &instance.worktree);
    }
    // Its conversation goes on where it was.
    let said = |words: &str| {
        let log = camp.biv(["log", "--json", "parked"]).run().ok().stdout;
        log.matches(&format!("\"{words}\"")).count()
    };
    drop(camp.biv(["send", "--now", "parked", "/recall"]).run().ok());
    assert_eq!(
        instance(&camp, "parked").prompts(&camp)[0],
        "pitch the tent"
    );
    assert_eq!((said("/recall"), said("peg 30")), (1, 1));
    // What waited in its queue is sent, now that it runs.
    until("the queue is fed", || said("waits for its turn") == 1);
}

#[test]
fn what_a_store_of_format_1_has_killed_comes_back() {
    let camp = camp_with("v1");
    drop(camp.biv(["undo-kill", "killed"]).run().ok());
    assert_eq!(shown(&camp, "killed")["state"], "paused");
    assert_whole(&camp, &resume(&camp, "killed").worktree);
}

#[test]
fn a_camp_that_was_paused_in_a_store_of_format_1_is_resumed() {
    let camp = camp_with("v1");
    drop(camp.biv(["resume", "--all"]).run().ok());
    for title in ["answered", "parked", "thinned", "cut"] {
        assert_eq!(shown(&camp, title)["state"], "running", "{title}");
    }
}
