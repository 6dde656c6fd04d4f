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

fn switch_on(camp: &Camp, instance: &Instance) {
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
