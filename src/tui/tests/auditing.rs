//! What the popup of the audit says.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::driver::at;
use super::journeys::{camp_driver, of};
use crate::engine::AuditLine;
use crate::tui::message::{LookupResult, Message};

fn line(
    channel: &str,
    dialog: &str,
    command: &str,
    (decision, outcome): (&str, &str),
) -> AuditLine {
    let line = json!({
        "at": at(0), "instance": of('b'), "title": "fix the login", "run": "bbbbbbbbbb", "agent": "claude",
        "channel": channel, "dialog": dialog, "tool": "shell", "command": command, "paths": [],
        "decision": decision, "rule": null, "reason": "as the rules say", "policy": "", "keys": [],
        "outcome": outcome, "before": "", "hash": ""
    });
    serde_json::from_value(line).unwrap()
}

#[test]
fn each_question_is_told_once_with_what_became_of_it() {
    let rows: Vec<(String, String)> = crate::tui::audit::rows(&[
        line("screen", "1", "ls", ("accept", "decided")),
        line("screen", "1", "ls", ("accept", "gone")),
        line("screen", "2", "rm -r x", ("reject", "decided")),
        line("screen", "2", "rm -r x", ("reject", "stays")),
        line("hook", "3", "cat x", ("accept", "told")),
        // Decided on by the hook, then by what is on the screen.
        line("hook", "4", "curl x", ("manual", "left")),
        line("screen", "5", "curl x", ("manual", "left")),
        line("screen", "6", "wc x", ("accept", "decided")),
        line("screen", "6", "wc x", ("accept", "stale")),
        line("seal", "", "far:443", ("reject", "denied")),
        line("screen", "1", "ls", ("accept", "decided")),
        line("screen", "7", "ls", ("manual", "stopped")),
    ])
    .into_iter()
    .map(|row| (row.became, row.asked))
    .collect();
    let expected = [
        ("stopped", "ls"),
        ("allowed?", "ls"),
        ("refused", "far:443"),
        ("not answered", "wc x"),
        ("left to you", "curl x"),
        ("allowed", "cat x"),
        ("refused, still open", "rm -r x"),
        ("allowed", "ls"),
    ];
    let expected = expected.map(|(lead, text)| (lead.to_owned(), text.to_owned()));
    assert_eq!(rows, expected);
}

#[test]
fn the_popup_shows_it() {
    let mut driver = camp_driver();
    driver.press("A");
    let lines = vec![
        line("screen", "1", "cargo test", ("accept", "decided")),
        line("screen", "1", "cargo test", ("accept", "gone")),
    ];
    let result = LookupResult::Audit(of('b'), lines);
    driver.tell(Message::Looked(Box::new(Ok(result))));
    let screen = driver.screen();
    assert_eq!(screen.matches("cargo test").count(), 1, "{screen}");
    assert!(screen.contains("allowed  cargo test"), "{screen}");
}
