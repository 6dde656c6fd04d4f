//! Every screen below `fixtures/policy`: the folder is the expected answer.

use std::path::{Path, PathBuf};

use crate::agents::Catalog;
use crate::detect::explain;
use crate::engine::autoyes::policy::{rule_on, site};
use crate::policy::{Decision, Policy, Request, keys};

fn screens(folder: &str) -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/policy")
        .join(folder);
    let mut found = Vec::new();
    for agent in std::fs::read_dir(&root).unwrap() {
        let agent = agent.unwrap().path();
        let name = agent.file_name().unwrap().to_str().unwrap().to_owned();
        for screen in std::fs::read_dir(&agent).unwrap() {
            found.push((name.clone(), screen.unwrap().path()));
        }
    }
    found.sort();
    found
}

/// The screens that are decided wrongly. None may be accepted with a key for another choice than
/// "yes, once".
fn wrong(folder: &str, expected: Decision) -> (usize, Vec<String>) {
    let worktree = tempfile::tempdir().unwrap();
    let catalog = Catalog::built_in();
    let policy = Policy::built_in().unwrap();
    let screens = screens(folder);
    let mut wrong = Vec::new();
    for (agent, file) in &screens {
        let provider = catalog.require(agent).unwrap();
        let capture = std::fs::read_to_string(file).unwrap();
        let dialog = explain(provider.rules(), &capture, None).dialog;
        let (decision, reason) = match &dialog {
            None => (Decision::Manual, "no dialog".to_owned()),
            Some(dialog) => {
                let ruling = rule_on(&policy, agent, dialog, worktree.path());
                let keys = keys(dialog, ruling.decision, policy.options.on_reject);
                if ruling.decision != Decision::Manual {
                    assert!(!keys.is_empty(), "{}", file.display());
                }
                (
                    ruling.decision,
                    format!("{:?} {}", ruling.rule, ruling.reason),
                )
            }
        };
        if decision != expected {
            wrong.push(format!("{}: {} {reason}", file.display(), decision.name()));
        }
    }
    (screens.len(), wrong)
}

#[test]
fn what_is_harmful_is_rejected() {
    let (count, wrong) = wrong("harmful/reject", Decision::Reject);
    assert!(count >= 150, "{count}");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn what_is_not_clear_is_left_to_the_user() {
    let (count, wrong) = wrong("harmful/manual", Decision::Manual);
    assert!(count >= 100, "{count}");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn what_is_harmless_is_accepted() {
    let (count, wrong) = wrong("benign", Decision::Accept);
    assert!(count >= 100, "{count}");
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
