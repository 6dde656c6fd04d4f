//! Autoyes in a seal: what cannot leave it is accepted, the rest is left to the user.

use serde_json::Value;

use crate::support::{Camp, Instance, until};
use crate::{Kind, left_out, start_sealed};

/// What is done about the dialog for this command.
fn asked(camp: &Camp, instance: &Instance, command: &str) -> Value {
    let prompt = format!("/run {command}");
    drop(camp.biv(["send", &instance.id, &prompt]).run().ok());
    instance.wait_for(camp, "activity", "approval");
    camp.biv(["__answer", &instance.id]).run().ok().json()
}

pub(crate) fn switch_on(camp: &Camp, instance: &Instance) {
    let switch = camp.instances_dir().join(&instance.id).join("autoyes.json");
    let on = r#"{"format":1,"on":true,"until":null,"changed_at":"2026-11-15T18:02:00Z"}"#;
    std::fs::write(switch, on).unwrap();
}

#[test]
fn what_cannot_leave_the_seal_is_accepted() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start_sealed(&camp, &repository, "sealed");
    instance.wait_idle(&camp);
    switch_on(&camp, &instance);
    let accepted = asked(&camp, &instance, "perl -e 'open(F, q(>made))'");
    assert_eq!(accepted["outcome"], "accepted", "{accepted}");
    until("the command has run", || {
        instance.worktree.join("made").exists()
    });
    instance.wait_idle(&camp);
    let left = asked(&camp, &instance, "git push origin HEAD");
    assert_eq!(left["outcome"], "manual", "{left}");
    drop(camp.biv(["kill", "-y", "sealed"]).run().ok());

    // The same without a seal, and with one that lacks a layer.
    for (kind, more) in [
        (Kind::Namespaces, &[][..]),
        (Kind::LandlockAlone, &["--seal"]),
    ] {
        let camp = kind.camp();
        let instance = camp.start(&camp.repository("app"), "open", more);
        instance.wait_idle(&camp);
        switch_on(&camp, &instance);
        let left = asked(&camp, &instance, "perl -e 'open(F, q(>made))'");
        assert_ne!(left["outcome"], "accepted", "{left}");
    }
}

#[test]
fn what_is_destroyed_inside_was_saved_before() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start_sealed(&camp, &repository, "sealed");
    instance.wait_idle(&camp);
    switch_on(&camp, &instance);
    let checkout = repository.seen_from(&instance.worktree);
    checkout.write("src/lib.rs", "uncommitted\n");
    checkout.write("notes/today.txt", "untracked\n");
    let accepted = asked(&camp, &instance, "rm -rf src notes");
    assert_eq!(accepted["outcome"], "accepted", "{accepted}");
    until("it is gone", || !instance.worktree.join("notes").exists());
    instance.wait_idle(&camp);

    let listed = || {
        camp.biv(["snapshots", "--json", "sealed"])
            .run()
            .ok()
            .json()
    };
    let saved = listed();
    assert_eq!(
        saved["snapshots"].as_array().map(Vec::len),
        Some(1),
        "{saved}"
    );
    assert_eq!(saved["snapshots"][0]["by"], "autoyes");
    let name = saved["snapshots"][0]["snapshot"].as_str().unwrap();
    let before = camp.root().join("before");
    let to = before.to_str().unwrap();
    drop(
        camp.biv(["snapshots", "sealed", name, "--to", to])
            .run()
            .ok(),
    );
    let read = |file: &str| std::fs::read_to_string(before.join(file)).unwrap();
    assert_eq!(read("src/lib.rs"), "uncommitted\n");
    assert_eq!(read("notes/today.txt"), "untracked\n");
    assert_eq!(read("README.md"), "# A repository\n");
    // Nothing that is there is written over.
    drop(
        camp.biv(["snapshots", "sealed", name, "--to", to])
            .run()
            .fails(1),
    );
    drop(
        camp.biv(["snapshots", "sealed", "0000", "--to", "x"])
            .run()
            .fails(3),
    );

    // Within the same minute it is not saved again; later it is, and where it cannot be, the user decides.
    let again = asked(&camp, &instance, "rm -rf README.md");
    assert_eq!(again["outcome"], "accepted", "{again}");
    instance.wait_idle(&camp);
    assert_eq!(listed(), saved);
    let vault = repository.path.join(".git/bivouac/vault");
    std::fs::rename(&vault, vault.with_extension("away")).unwrap();
    std::fs::write(&vault, "no directory").unwrap();
    drop(
        camp.biv(["send", &instance.id, "/run rm -rf .gitignore"])
            .run()
            .ok(),
    );
    instance.wait_for(&camp, "activity", "approval");
    let call = camp.biv(["__answer", &instance.id]);
    let left = call.env("BIV_MINUTE_MS", "1").run().ok().json();
    assert_eq!(left["outcome"], "manual", "{left}");
    let reason = left["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("could not be saved"), "{left}");
    std::fs::remove_file(&vault).unwrap();
    std::fs::rename(vault.with_extension("away"), &vault).unwrap();
}
