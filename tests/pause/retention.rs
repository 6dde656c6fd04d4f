//! `biv gc`: what it lets go, when, and what it leaves alone.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::ground::{Ground, state};
use crate::support::until;

fn gc(ground: &Ground, more: &[&str]) -> Value {
    let call = ground.camp.biv(["gc", "--json"]).args(more);
    call.run().ok().json()
}

#[test]
fn a_dry_run_says_what_would_be_done() {
    let ground = Ground::made(&state("ignored"));
    let settings = "[snapshots]\nignored_limit = \"1KB\"\n";
    std::fs::write(ground.camp.home().join("config/config.toml"), settings).unwrap();
    drop(ground.biv(&["pause"]).ok());
    assert_eq!(gc(&ground, &["--dry-run"])["collected"], json!([]));
    ground.grow_old();
    let said = gc(&ground, &["--dry-run"]);
    assert_eq!(said["collected"][0]["dropped"], json!(["build"]), "{said}");
    assert!(said["collected"][0]["freed_bytes"].as_u64().unwrap() > 9000);
    assert_eq!(gc(&ground, &["--dry-run"]), said, "nothing was done");
    assert_eq!(gc(&ground, &[])["collected"], said["collected"]);
    assert_eq!(gc(&ground, &[])["collected"], json!([]), "done once");
    drop(ground.biv(&["kill", "-y"]).ok());
    ground.grow_old();
    let said = gc(&ground, &["--dry-run"]);
    assert_eq!(said["collected"][0]["action"], "forget", "{said}");
    assert_eq!(gc(&ground, &[])["collected"][0], said["collected"][0]);
}

#[test]
fn what_fails_for_one_is_done_for_the_others() {
    let ground = Ground::made(&state("mixed"));
    let other = crate::ground::start(&ground.camp, &ground.lab, "other");
    drop(ground.biv(&["pause"]).ok());
    drop(ground.camp.biv(["pause", &other.id]).run().ok());
    // The first that it comes to cannot be understood.
    let broken = (&ground.instance.id).min(&other.id);
    for id in [&ground.instance.id, &other.id] {
        let path = ground.camp.instances_dir().join(id).join("record.json");
        let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        record["paused_at"] = "2020-01-01T00:00:00Z".into();
        if id == broken {
            record["vault"] = json!({ "parking": 5 });
        }
        std::fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
    }
    let answer = ground.camp.biv(["gc", "--json"]).run().fails(1);
    let said = answer.json();
    assert_eq!(said["failed"].as_array().unwrap().len(), 1, "{said}");
    assert_eq!(said["collected"].as_array().unwrap().len(), 1, "{said}");
    assert_ne!(said["collected"][0]["instance"].as_str().unwrap(), broken);
}

/// The copy of what was resumed is kept from the resume on, however old it is.
#[test]
fn a_copy_is_kept_from_the_resume_on() {
    let ground = Ground::made(&state("mixed"));
    drop(ground.biv(&["pause"]).ok());
    // A pause of years ago: its snapshot was taken then.
    ground.grow_old();
    let mut record = ground.record();
    let vault = ground.parking().join("vault");
    let commit = record["vault"]["snapshot"]["commit"].as_str().unwrap();
    let reference = record["vault"]["snapshot"]["reference"].as_str().unwrap();
    let git = |arguments: &[&str]| ground.lab.git_in(&vault, arguments).trim().to_owned();
    let body = git(&["cat-file", "commit", commit]);
    let old: Vec<String> = body
        .lines()
        .map(|line| match line.strip_prefix("committer ") {
            Some(rest) => {
                let name = rest.rsplitn(3, ' ').nth(2).unwrap();
                format!("committer {name} 1577836800 +0000")
            }
            None => line.to_owned(),
        })
        .collect();
    let file = ground.lab.home.join("commit");
    std::fs::write(&file, old.join("\n") + "\n").unwrap();
    let file = file.to_str().unwrap();
    let old = git(&["hash-object", "-t", "commit", "-w", file]);
    git(&["update-ref", reference, &old]);
    record["vault"]["snapshot"]["commit"] = old.into();
    ground.write_record(&record);
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(gc(&ground, &["--dry-run"])["collected"], json!([]));
    assert_eq!(gc(&ground, &[])["collected"], json!([]));
    let trashed = git(&["for-each-ref", "--format=%(refname)", "refs/bivouac-trash"]);
    assert_eq!(trashed.lines().count(), 1, "{trashed}");
    assert_eq!(ground.losses(&["running"]), Vec::<String>::new());
}

/// What another process does between the look and the lock counts.
#[test]
fn one_that_is_brought_back_meanwhile_is_left_alone() {
    let ground = Ground::made(&state("mixed"));
    drop(ground.biv(&["kill", "-y"]).ok());
    ground.grow_old();
    let dir = ground.camp.instances_dir().join(&ground.instance.id);
    let path = dir.join("op.lock");
    let lock = std::fs::File::options().write(true).open(&path).unwrap();
    lock.lock().unwrap();
    let mut collecting = ground.camp.biv(["gc"]).in_background();
    let descriptors = PathBuf::from(format!("/proc/{}/fd", collecting.id()));
    until("gc waits for the lock", || {
        let open = std::fs::read_dir(&descriptors).into_iter().flatten();
        open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
            .any(|target| target == path.canonicalize().unwrap())
    });
    // As `undo-kill` does under this lock.
    let mut record = ground.record();
    record["state"] = "paused".into();
    record["killed_at"] = Value::Null;
    record["paused_at"] = record["updated_at"].clone();
    ground.write_record(&record);
    drop(lock);
    assert!(collecting.wait().unwrap().success());
    assert_eq!(ground.losses(&["paused"]), Vec::<String>::new());
}

#[test]
fn a_thinning_that_was_cut_off_is_finished_by_the_next() {
    let ground = Ground::made(&state("mixed"));
    drop(ground.biv(&["pause"]).ok());
    let young = ground.record();
    ground.grow_old();
    let call = ground.camp.biv(["gc"]);
    drop(call.crash_at("gc:inside:6").run().crashed());
    // Begun, it is finished whatever its age.
    ground.write_record(&young);
    let said = gc(&ground, &["--dry-run"]);
    assert_eq!(said["collected"][0]["action"], "thin", "{said}");
    assert_eq!(gc(&ground, &[])["collected"], said["collected"]);
    assert_eq!(gc(&ground, &[])["collected"], json!([]));
    assert_eq!(ground.losses(&["paused"]), Vec::<String>::new());
}
