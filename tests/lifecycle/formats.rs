//! What a newer version has written, and what is damaged: kept, named, and never replaced in silence.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Camp, Instance};

fn directory(camp: &Camp, instance: &Instance) -> PathBuf {
    camp.instances_dir().join(&instance.id)
}

fn record(camp: &Camp, instance: &Instance) -> PathBuf {
    directory(camp, instance).join("record.json")
}

fn run(camp: &Camp, instance: &Instance) -> PathBuf {
    let id = camp.show(instance)["run_id"].as_str().unwrap().to_owned();
    directory(camp, instance).join(format!("runs/{id}.json"))
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn change(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = read(path);
    change(&mut value);
    std::fs::write(path, serde_json::to_vec_pretty(&value).unwrap()).unwrap();
}

/// Cuts the file in half, as a broken disk may do.
fn damage(path: &Path) -> Vec<u8> {
    let text = std::fs::read(path).unwrap();
    let half = text[..text.len() / 2].to_vec();
    std::fs::write(path, &half).unwrap();
    half
}

/// The only file beside this one that was set aside.
fn set_aside(path: &Path) -> Vec<u8> {
    let name = path.file_name().unwrap().to_str().unwrap();
    std::fs::read(path.with_file_name(format!("{name}.damaged-1"))).unwrap()
}

fn started(camp: &Camp, title: &str) -> Instance {
    let repository = camp.repository(title);
    let instance = camp.start(&repository, title, &[]);
    instance.wait_idle(camp);
    instance
}

#[test]
fn fields_of_a_newer_version_survive_every_operation() {
    let camp = Camp::new();
    let instance = started(&camp, "tent");
    let (record, run) = (record(&camp, &instance), run(&camp, &instance));
    change(&record, |record| {
        record["seal"] = json!({ "network": "none" });
        record["worktree"]["room"] = json!(3);
        record["base"]["remote"] = json!("origin");
    });
    change(&run, |run| run["cost"] = json!({ "tokens": 12 }));
    drop(camp.biv(["queue", "tent", "first"]).run().ok());
    let queue = directory(&camp, &instance).join("queue.json");
    drop(camp.biv(["daemon", "stop"]).run().ok());
    change(&queue, |queue| {
        queue["owner"] = json!("ada");
        queue["entries"][0]["weight"] = json!(7);
    });

    for command in [
        &["pause", "tent"][..],
        &["resume", "tent"],
        &["autoyes", "tent", "on"],
        &["timeout", "tent", "30m"],
        &["queue", "tent", "second"],
        &["restart", "-y", "tent"],
        &["kill", "-y", "tent"],
        &["undo-kill", "tent"],
    ] {
        drop(camp.biv(command).run().ok());
        let stored = read(&record);
        assert_eq!(stored["seal"], json!({ "network": "none" }), "{command:?}");
        assert_eq!(stored["worktree"]["room"], 3, "{command:?}");
        assert_eq!(stored["base"]["remote"], "origin", "{command:?}");
    }
    assert_eq!(read(&run)["cost"], json!({ "tokens": 12 }));
    let queue = read(&queue);
    assert_eq!(queue["owner"], "ada");
    assert_eq!(queue["entries"][0]["weight"], 7);
}

#[test]
fn a_record_that_is_not_understood_is_named_and_left_alone() {
    let camp = Camp::new();
    // Its name begins like that of the other, which is meant all the same.
    let other = started(&camp, "tents");
    let instance = started(&camp, "tent");
    drop(camp.biv(["pause", "tent"]).run().ok());
    let path = record(&camp, &instance);
    let whole = read(&path);
    for (key, value, told) in [
        ("state", json!("sealed"), "sealed"),
        ("format", json!(99), "format 99"),
    ] {
        change(&path, |record| record[key] = value);
        let stored = std::fs::read(&path).unwrap();
        let listed = camp.biv(["list", "--json"]).run().ok().json();
        assert_eq!(listed["unreadable"][0]["title"], "tent");
        let reason = listed["unreadable"][0]["reason"].as_str().unwrap();
        assert!(reason.contains(told), "{reason}");
        for command in [
            &["show", "tent"][..],
            &["resume", "tent"],
            &["kill", "-y", "tent"],
            &["restart", "-y", "tent"],
            &["autoyes", "tent", "off"],
            &["send", "tent", "hello"],
            &["show", &instance.id],
        ] {
            let refused = camp.biv(command).run().fails(1);
            assert!(refused.stderr.contains(told), "{}", refused.stderr);
            assert!(refused.stderr.contains("newer biv"), "{}", refused.stderr);
        }
        let repository = other.worktree.to_str().unwrap();
        let again = ["new", "tent", "-a", "demo", "--repo", repository];
        drop(camp.biv(again).run().fails(1));
        drop(camp.biv(["doctor", "--fix"]).run().fails(1));
        assert_eq!(std::fs::read(&path).unwrap(), stored);
        assert_eq!(camp.show(&other)["state"], "running");
        change(&path, |record| record.clone_from(&whole));
    }
    drop(camp.biv(["resume", "tent"]).run().ok());
}

#[test]
fn one_whose_journal_cannot_be_read_is_meant_by_its_name() {
    let camp = Camp::new();
    let other = started(&camp, "tents");
    let instance = started(&camp, "tent");
    drop(camp.biv(["pause", "tent"]).run().ok());
    let journal = record(&camp, &instance).with_file_name("journal.jsonl");
    std::fs::write(&journal, "{\"format\":99}\n").unwrap();
    for command in [&["kill", "-y", "tent"][..], &["send", "tent", "hello"]] {
        let refused = camp.biv(command).run().fails(1);
        assert!(refused.stderr.contains("journal"), "{}", refused.stderr);
    }
    assert_eq!(camp.show(&other)["state"], "running");
    assert_eq!(other.prompts(&camp), Vec::<String>::new());
    std::fs::remove_file(&journal).unwrap();
    drop(camp.biv(["resume", "tent"]).run().ok());
}

#[test]
fn a_damaged_record_is_restored_on_request_with_what_the_last_operation_knew() {
    let camp = Camp::new();
    let instance = started(&camp, "tent");
    std::fs::write(instance.worktree.join("notes.txt"), "mine\n").unwrap();
    drop(camp.biv(["pause", "tent"]).run().ok());
    let path = record(&camp, &instance);
    let half = damage(&path);
    for command in [&["resume", "tent"][..], &["kill", "-y", "tent"]] {
        let refused = camp.biv(command).run().fails(1);
        assert!(
            refused.stderr.contains("biv doctor"),
            "it says what helps: {}",
            refused.stderr
        );
    }
    let listed = camp.biv(["list"]).run().ok();
    assert!(listed.stderr.contains("`tent`"), "{}", listed.stderr);
    let looked = camp.biv(["doctor"]).run().fails(1);
    assert!(looked.stdout.contains("--fix"), "{}", looked.stdout);
    assert_eq!(
        std::fs::read(&path).unwrap(),
        half,
        "looking changes nothing"
    );

    let fixed = camp.biv(["doctor", "--fix"]).run().ok();
    for part in ["record.json.damaged-1", "was restored", "pause after it"] {
        assert!(fixed.stdout.contains(part), "{part}: {}", fixed.stdout);
    }
    assert_eq!(set_aside(&path), half);
    assert_eq!(camp.show(&instance)["state"], "paused");
    drop(camp.biv(["resume", "tent"]).run().ok());
    let notes = std::fs::read_to_string(instance.worktree.join("notes.txt")).unwrap();
    assert_eq!(notes, "mine\n");
}

#[test]
fn a_damaged_run_is_found_out_before_anything_is_done() {
    let camp = Camp::new();
    let instance = started(&camp, "tent");
    let path = run(&camp, &instance);
    let half = damage(&path);
    let journal = directory(&camp, &instance).join("journal.jsonl");
    let before = std::fs::read(&journal).unwrap();
    drop(camp.biv(["pause", "tent"]).run().fails(1));
    assert_eq!(std::fs::read(&journal).unwrap(), before);
    assert_eq!(camp.show(&instance)["state"], "running");
    let runs = camp.biv(["runs", "tent"]).run().ok();
    assert!(runs.stderr.contains("a run is left out"), "{}", runs.stderr);
    drop(camp.biv(["doctor", "--fix"]).run().ok());
    assert_eq!(set_aside(&path), half);
    drop(camp.biv(["pause", "tent"]).run().ok());
    let runs = camp.biv(["runs", "--json", "tent"]).run().ok().json();
    assert_eq!(runs["runs"][0]["state"], "paused");
    assert_eq!(runs["unreadable"], json!([]));
}

#[test]
fn a_damaged_queue_and_a_damaged_camp_are_named_and_kept() {
    let camp = Camp::new();
    let instance = started(&camp, "tent");
    drop(camp.biv(["pause", "--all"]).run().ok());
    drop(camp.biv(["queue", "tent", "later"]).run().ok());
    drop(camp.biv(["daemon", "stop"]).run().ok());
    let state = camp.home().join("state");
    let files = [
        directory(&camp, &instance).join("queue.json"),
        state.join("camp.json"),
        state.join("state_snapshot.json"),
    ];
    let halves = files.each_ref().map(|path| damage(path));
    drop(camp.biv(["queue", "tent", "more"]).run().fails(1));
    drop(camp.biv(["resume", "--all"]).run().fails(1));
    drop(camp.biv(["pause", "--all"]).run().fails(1));
    drop(camp.biv(["list"]).run().ok());
    let looked = camp.biv(["doctor"]).run().fails(1).stdout;
    for (path, half) in files.iter().zip(&halves) {
        assert!(looked.contains(path.to_str().unwrap()), "{looked}");
        assert_eq!(&std::fs::read(path).unwrap(), half);
    }
    drop(camp.biv(["doctor", "--fix"]).run().ok());
    for (path, half) in files.iter().zip(&halves) {
        assert_eq!(&set_aside(path), half);
    }
    drop(camp.biv(["resume", "tent"]).run().ok());
    drop(camp.biv(["doctor"]).run().ok());
}
