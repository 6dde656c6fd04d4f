//! `biv move` with the real agents: to another machine with its own home, repository and path, and back.

use std::os::unix::fs::PermissionsExt;

use crate::stage::Stage;
use crate::support::{Camp, Instance};

/// The other machine is the host `far` of this one.
fn connect(here: &Stage, there: &Stage) {
    let bin = there.camp.root().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_biv"), bin.join("biv")).unwrap();
    let variables: Vec<String> = there
        .camp
        .environment()
        .into_iter()
        .map(|(name, value)| match name.as_str() {
            "PATH" => format!("'PATH={}:{value}'", bin.display()),
            _ => format!("'{name}={value}'"),
        })
        .collect();
    let script = here.camp.root().join("to-far");
    let text = format!(
        "#!/bin/sh\ncd '{}'\nexec env -i {} \"$@\"\n",
        there.camp.root().join("user").display(),
        variables.join(" ")
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let add = here.camp.biv(["host", "add", "far", "--connect"]);
    drop(add.arg(&script).run().ok());
}

fn said_once(camp: &Camp, instance: &Instance, said: &[&str]) {
    let log = camp.biv(["log", &instance.id]).run().ok().stdout;
    for said in said {
        let answer = format!("I have read: {said}");
        assert_eq!(log.matches(&answer).count(), 1, "{said}: {log}");
    }
}

/// How the user trusts the directory, where the agent asks.
type Trust = Option<fn(&Stage, &Instance)>;

/// The conversation goes on there, once the user has trusted the directory, and goes on here with what was said
/// there.
#[track_caller]
fn move_there_and_back(agent: &'static str, trust: Trust) {
    let here = &Stage::of(agent);
    let there = &here.another_machine();
    connect(here, there);
    let instance = here.start_talking("mover", "the tent is blue");
    let moved = here.camp.biv(["move", "--json", &instance.id, "far"]);
    let moved = moved.run().ok().json();
    assert_eq!(moved["resumed"], true, "{moved:#}");
    // Its id is the same on both machines, so its processes cannot be told apart by it.
    assert!(here.camp.sessions().is_empty());
    let arrived = there.camp.list().pop().expect("it has arrived");
    assert_ne!(arrived.worktree, instance.worktree);
    // It has never been in this directory, and asks its user.
    if let Some(trust) = trust {
        there.wait(&arrived, "blocked");
        trust(there, &arrived);
    }
    there.wait(&arrived, "idle");
    there.turn(&arrived, "and the stove is red");
    let asked = there.model.request_with("and the stove is red");
    asked.remembers("user", "the tent is blue");
    asked.remembers("assistant", "I have read: the tent is blue");
    said_once(
        &there.camp,
        &arrived,
        &["the tent is blue", "and the stove is red"],
    );

    let back = here
        .camp
        .biv(["move", "--json", &instance.id, "--take-back"]);
    let back = back.run().ok().json();
    assert_eq!(back["resumed"], true, "{back:#}");
    assert!(there.camp.sessions().is_empty());
    here.wait(&instance, "idle");
    here.turn(&instance, "and the rope is long");
    let asked = here.model.request_with("and the rope is long");
    for said in ["the tent is blue", "and the stove is red"] {
        asked.remembers("user", said);
        asked.remembers("assistant", &format!("I have read: {said}"));
    }
    let said = [
        "the tent is blue",
        "and the stove is red",
        "and the rope is long",
    ];
    said_once(&here.camp, &instance, &said);
}

#[test]
fn claude_goes_on_there_and_back_here() {
    move_there_and_back(
        "claude",
        Some(|there, arrived| {
            there.confirm(arrived, "Down", "❯ Yes, I trust this folder");
        }),
    );
}

#[test]
fn codex_goes_on_there_and_back_here() {
    move_there_and_back(
        "codex",
        Some(|there, arrived| there.confirm(arrived, "Up", "› 1. Trust and continue")),
    );
}

/// On its stage folders need no trust.
#[test]
fn gemini_goes_on_there_and_back_here() {
    move_there_and_back("gemini", None);
}

/// Its sessions lie in a database: it prints and reads them itself.
#[test]
fn opencode_goes_on_there_and_back_here() {
    move_there_and_back("opencode", None);
}

/// Another session has its id there. It is left alone, and the agent begins a new one.
#[test]
fn opencode_does_not_write_into_a_session_that_is_there() {
    let here = &Stage::of("opencode");
    let there = &here.another_machine();
    connect(here, there);
    let instance = here.start_talking("mover", "the tent is blue");
    drop(here.camp.biv(["pause", &instance.id]).run().ok());
    let file = here.camp.root().join("mover.biv");
    let export = here
        .camp
        .biv(["export", &instance.id, "--plain", "--with-history", "-o"]);
    drop(export.arg(&file).run().ok());
    let import = || {
        let import = there.camp.biv(["import", "--branch"]);
        let branch = format!("copy-{}", there.camp.list().len());
        let import = import.arg(branch).arg("--repo").arg(&there.repository.path);
        import.arg("--with-nested").arg(&file).run().ok()
    };
    drop(import());
    let second = import();
    assert!(
        second.stderr.contains("another one with the same id"),
        "{second:?}"
    );
    let references: Vec<String> = there
        .camp
        .list()
        .iter()
        .map(|instance| there.camp.show(instance)["session_ref"].to_string())
        .collect();
    let known = references.iter().filter(|one| one.contains("ses_"));
    assert_eq!(known.count(), 1, "{references:?}");
}
