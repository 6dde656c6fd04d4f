//! `biv gc`: what it lets go, when, and what it leaves alone.

use serde_json::{Value, json};

use crate::ground::{Ground, state};

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
    let mut broken = None;
    for id in [&ground.instance.id, &other.id] {
        let path = ground.camp.instances_dir().join(id).join("record.json");
        let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        record["paused_at"] = "2020-01-01T00:00:00Z".into();
        // The first that it comes to cannot be read where it is kept.
        if broken.is_none() || *id < *broken.unwrap_or(id) {
            broken = Some(id);
        }
        std::fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
    }
    let broken = broken.unwrap();
    let path = ground.camp.instances_dir().join(broken).join("record.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    record["vault"] = json!({ "parking": 5 });
    std::fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
    let answer = ground.camp.biv(["gc", "--json"]).run().fails(1);
    let said = answer.json();
    assert_eq!(said["failed"].as_array().unwrap().len(), 1, "{said}");
    assert_eq!(said["collected"].as_array().unwrap().len(), 1, "{said}");
    assert_ne!(said["collected"][0]["instance"].as_str().unwrap(), broken);
}
