//! A paused instance goes to another home and comes back.

use crate::support::{Camp, Instance};

#[test]
fn work_conversation_queue_and_runs_arrive_and_come_back() {
    let here = Camp::new();
    let repository = here.repository("app");
    let instance = here.start(&repository, "api", &["-p", "remember the blue tent"]);
    instance.wait_idle(&here);
    let seen = repository.seen_from(&instance.worktree);
    seen.write("committed.txt", "committed\n");
    seen.commit("own");
    seen.write("new.txt", "new\n");
    let file = |camp: &Camp| camp.root().join("api.biv");
    let export = |camp: &Camp| {
        let call = camp.biv(["export", "api", "--plain", "--json", "-o"]);
        call.arg(file(camp)).run()
    };

    // Only a paused one travels, and nothing is written before.
    let refused = export(&here).fails(4);
    assert!(
        refused.error()["hint"]
            .to_string()
            .contains("biv pause api"),
        "{}",
        refused.said()
    );
    assert!(!file(&here).exists());
    drop(here.biv(["pause", "api"]).run().ok());
    drop(
        here.biv(["queue", "api", "add", "and then the red stove"])
            .run(),
    );
    let exported = export(&here).ok().json();
    // A file that exists is not written over.
    drop(export(&here).fails(1));

    // The clone has another path, and nothing but the base.
    let there = Camp::new();
    let clone = there.repository("app");
    let import = |more: &[&str]| {
        let call = there.biv(["import", "--json", "--repo"]).arg(&clone.path);
        call.args(more).arg(file(&here)).run()
    };
    let refused = import(&[]).fails(1);
    assert!(
        refused.error()["hint"]
            .to_string()
            .contains("--with-history"),
        "{}",
        refused.said()
    );
    clone.git(&["fetch", "-q", repository.path.to_str().unwrap(), "main"]);
    let at = there.root().join("elsewhere/api");
    let arrived = import(&["--at", at.to_str().unwrap()]).ok().json();
    assert_eq!(arrived["manifest"], exported["manifest"]);
    let view = &arrived["instance"];
    assert_eq!(view["state"], "paused");
    assert_eq!(view["id"], instance.id.as_str());
    assert_eq!(view["worktree"], at.to_str().unwrap());
    assert!(!at.exists(), "it is put away");
    let runs = |camp: &Camp| camp.biv(["runs", "--json", "api"]).run().ok().json()["runs"].clone();
    assert_eq!(runs(&there)[0]["run_id"], runs(&here)[0]["run_id"]);
    let log = |camp: &Camp| camp.biv(["log", "api"]).run().ok().stdout;
    assert_eq!(log(&there), log(&here));
    assert!(log(&there).contains("remember the blue tent"));
    let queue =
        |camp: &Camp| camp.biv(["queue", "api", "--json"]).run().ok().json()["entries"].clone();
    assert_eq!(queue(&there), queue(&here));
    // Once more it gets another name and needs another branch.
    let held = import(&[]).fails(1);
    assert!(
        held.error().to_string().contains("belongs to the instance"),
        "{}",
        held.said()
    );
    let second = import(&["--branch", "another"]).ok().json();
    assert_eq!(second["instance"]["title"], "api-2");
    assert_ne!(second["instance"]["id"], instance.id.as_str());

    drop(there.biv(["resume", "api"]).run().ok());
    let arrived = Instance::from_json(view);
    let text = |name: &str| std::fs::read_to_string(arrived.worktree.join(name)).unwrap();
    assert_eq!(text("committed.txt"), "committed\n");
    assert_eq!(text("new.txt"), "new\n");
    arrived.wait_idle(&there);
    let shown = there.biv(["peek", "api", "-n", "200"]).run().ok().stdout;
    assert!(shown.contains("remember the blue tent"), "{shown}");

    // What is no export is refused, and leaves nothing.
    let nothing = there.root().join("nothing");
    std::fs::write(&nothing, "# v2 git bundle\n").unwrap();
    let call = there
        .biv(["import", "--repo"])
        .arg(&clone.path)
        .arg(&nothing);
    let refused = call.run().fails(1);
    assert!(refused.said().contains("refused"), "{}", refused.said());
    assert_eq!(there.list().len(), 2);
}

#[test]
fn only_the_owner_of_the_key_can_read_an_export() {
    let here = Camp::new();
    let repository = here.repository("app");
    let instance = here.start(&repository, "api", &[]);
    instance.wait_idle(&here);
    std::fs::write(instance.worktree.join("new.txt"), "a secret plan\n").unwrap();
    drop(here.biv(["pause", "api"]).run().ok());
    let file = here.root().join("api.biv");
    let export = |more: &[&str]| {
        let call = here.biv(["export", "api", "--json", "--with-history", "-o"]);
        call.arg(&file).args(more).run()
    };

    // Without a key nothing is written.
    let refused = export(&[]).fails(1);
    assert_eq!(refused.error()["code"], "encryption", "{}", refused.said());
    assert!(!file.exists());
    let (own, foreign) = (key(&here, "id_ed25519"), key(&here, "foreign"));
    let exported = export(&[]).ok().json();
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1"));
    assert_eq!(exported["bytes"], bytes.len());

    let there = Camp::new();
    let target = there.empty_repository("app");
    let import = |key: &std::path::Path| {
        let call = there.biv(["import", "--json", "--repo"]).arg(&target.path);
        call.arg("--key").arg(key).arg(&file).run()
    };
    let refused = import(&foreign).fails(1);
    assert_eq!(refused.error()["code"], "encryption", "{}", refused.said());
    assert!(there.list().is_empty());
    let arrived = import(&own).ok().json();
    assert_eq!(arrived["manifest"], exported["manifest"]);
    drop(there.biv(["resume", "api"]).run().ok());
    let work = arrived["instance"]["worktree"].as_str().unwrap();
    let text = std::fs::read_to_string(std::path::Path::new(work).join("new.txt"));
    assert_eq!(text.unwrap(), "a secret plan\n");
    drop(there.biv(["kill", "-y", "api"]).run().ok());
}

/// Makes an ssh key of the user; returns the private one.
pub(crate) fn key(camp: &Camp, name: &str) -> std::path::PathBuf {
    let directory = camp.root().join("user/.ssh");
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    let made = std::process::Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(&path)
        .status();
    assert!(made.unwrap().success());
    path
}
