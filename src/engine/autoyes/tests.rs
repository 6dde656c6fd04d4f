//! The requests of `fixtures/policy`, drawn into dialogs, and the screens there that no template draws:
//! what is decided about each, as it is read from its screen.

use std::path::Path;

use crate::agents::Catalog;
use crate::detect::explain;
use crate::engine::autoyes::policy::{DialogSite, rule_on, site};
use crate::policy::tests::{Drawn, drawn};
use crate::policy::{Decision, Policy, Request, Seal, keys};

/// The screens below this folder, which is the expected answer.
fn recorded(folder: &str) -> Vec<Drawn> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/policy")
        .join(folder);
    let mut found = Vec::new();
    for agent in std::fs::read_dir(&root).unwrap() {
        let agent = agent.unwrap().path();
        for file in std::fs::read_dir(&agent).unwrap() {
            let file = file.unwrap().path();
            found.push(Drawn {
                agent: agent.file_name().unwrap().to_str().unwrap().to_owned(),
                name: file.display().to_string(),
                screen: std::fs::read_to_string(&file).unwrap(),
            });
        }
    }
    found
}

/// The screens that are decided wrongly. None may be accepted with a key for another choice than
/// "yes, once".
fn wrong(folder: &str, expected: Decision) -> (usize, Vec<String>) {
    let worktree = tempfile::tempdir().unwrap();
    let catalog = Catalog::built_in();
    let policy = Policy::built_in().unwrap();
    let mut screens = drawn(expected);
    screens.extend(recorded(folder));
    let mut wrong = Vec::new();
    for Drawn {
        agent,
        name,
        screen,
    } in &screens
    {
        let provider = catalog.require(agent).unwrap();
        let dialog = explain(provider.rules(), screen, None).dialog;
        let (decision, reason) = match &dialog {
            None => (Decision::Manual, "no dialog".to_owned()),
            Some(dialog) => {
                let ruling = rule_on(
                    &policy,
                    agent,
                    dialog,
                    DialogSite::at_top(worktree.path()),
                    Seal::None,
                );
                let keys = keys(dialog, ruling.decision, policy.options.on_reject);
                if ruling.decision != Decision::Manual {
                    assert!(!keys.is_empty(), "{name}");
                }
                (
                    ruling.decision,
                    format!("{:?} {}", ruling.rule, ruling.reason),
                )
            }
        };
        if decision != expected {
            wrong.push(format!("{name}: {} {reason}", decision.name()));
        }
    }
    (screens.len(), wrong)
}

/// A relative path begins where the agent is; an agent that counts from the top of its checkout all the same
/// reaches nothing outside by it.
#[test]
fn in_a_subdirectory_a_path_is_accepted_only_if_it_stays_inside_from_both() {
    let root = tempfile::tempdir().unwrap();
    let worktree = root.path().canonicalize().unwrap().join("worktree");
    let start = worktree.join("web/app");
    std::fs::create_dir_all(&start).unwrap();
    std::fs::write(worktree.join("README.md"), "read me\n").unwrap();
    std::fs::write(start.join("index.txt"), "page\n").unwrap();
    // Inside from the top, and outside from the subdirectory.
    std::os::unix::fs::symlink(root.path(), start.join("out")).unwrap();
    std::fs::create_dir(worktree.join("out")).unwrap();
    let policy = Policy::built_in().unwrap();
    let decision = |site: DialogSite<'_>, command: &str| {
        let request = Request {
            agent: "claude",
            tool: Some("shell"),
            readings: vec![command.to_owned()],
            complete: true,
            ..Request::default()
        };
        site.decide(&policy, &request).decision
    };
    let below = DialogSite {
        worktree: &worktree,
        start: &start,
    };
    let top = DialogSite::at_top(&worktree);
    for (command, at_top, in_subdirectory) in [
        ("cat index.txt", Decision::Accept, Decision::Accept),
        ("cat out/x", Decision::Accept, Decision::Manual),
        ("cat ../../README.md", Decision::Manual, Decision::Manual),
        ("cat ../../../x", Decision::Manual, Decision::Manual),
    ] {
        assert_eq!(decision(top, command), at_top, "{command}");
        assert_eq!(decision(below, command), in_subdirectory, "{command}");
    }
    let whole = format!("cat {}", worktree.join("README.md").display());
    assert_eq!(decision(below, &whole), Decision::Accept);
    assert_eq!(decision(below, "rm -rf /"), Decision::Reject);
}

#[test]
fn what_is_harmful_is_rejected() {
    let (count, wrong) = wrong("harmful/reject", Decision::Reject);
    assert!(count >= 300, "{count}");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn what_is_not_clear_is_left_to_the_user() {
    let (count, wrong) = wrong("harmful/manual", Decision::Manual);
    assert!(count >= 180, "{count}");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn what_is_harmless_is_accepted() {
    let (count, wrong) = wrong("benign", Decision::Accept);
    assert!(count >= 130, "{count}");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// The decision for each of these commands.
fn commands(file: &str) -> Vec<(String, Decision)> {
    let worktree = tempfile::tempdir().unwrap();
    let policy = Policy::built_in().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/policy/commands")
        .join(file);
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|command| {
            let request = Request {
                agent: "claude",
                tool: Some("shell"),
                readings: vec![command.to_owned()],
                paths: Vec::new(),
                complete: true,
                ..Request::default()
            };
            let ruling = policy.decide(&request, &site(worktree.path()));
            (command.to_owned(), ruling.decision)
        })
        .collect()
}

#[test]
fn no_command_is_accepted_for_what_its_flags_and_variables_make_of_it() {
    let commands = commands("harmful.txt");
    assert!(commands.len() >= 500, "{}", commands.len());
    let accepted: Vec<&String> = commands
        .iter()
        .filter(|(_, decision)| *decision == Decision::Accept)
        .map(|(command, _)| command)
        .collect();
    assert!(accepted.is_empty(), "{accepted:#?}");
}

#[test]
fn the_commands_of_an_ordinary_day_are_accepted() {
    let commands = commands("benign.txt");
    assert!(commands.len() >= 150, "{}", commands.len());
    let held: Vec<&(String, Decision)> = commands
        .iter()
        .filter(|(_, decision)| *decision != Decision::Accept)
        .collect();
    assert!(held.is_empty(), "{held:#?}");
}
