use proptest::prelude::*;
use serde_json::json;

use super::compact::compact;
use super::*;
use crate::model::Timestamp;

fn at(second: i64) -> Timestamp {
    Timestamp::from_epoch(1_800_000_000 + second).unwrap()
}

fn user(second: i64, text: &str) -> ConversationEntry {
    ConversationEntry::new(at(second), Speaker::User, text)
}

fn agent(second: i64, text: &str) -> ConversationEntry {
    ConversationEntry::new(at(second), Speaker::Assistant, text)
}

fn call(second: i64, tool: &str, subject: &str, id: &str) -> ConversationEntry {
    ConversationEntry::new(at(second), Speaker::Tool, "")
        .with("tool", tool)
        .with("subject", subject)
        .with("phase", "call")
        .with("call", id)
}

fn result(second: i64, output: &str, id: &str, failed: bool) -> ConversationEntry {
    ConversationEntry::new(at(second), Speaker::Tool, output)
        .with("phase", "result")
        .with("call", id)
        .with("failed", failed)
}

fn todos(second: i64, list: &[(&str, &str)]) -> ConversationEntry {
    let list: Vec<Todo> = list
        .iter()
        .map(|(text, status)| Todo::new(*text, *status))
        .collect();
    ConversationEntry::new(at(second), Speaker::Tool, "")
        .with("tool", "TodoWrite")
        .with_todos(&list)
}

#[test]
fn an_entry_is_written_with_the_four_agreed_names() {
    let entry = user(0, "hi").with("source", "biv");
    let line = serde_json::to_string(&entry).unwrap();
    assert_eq!(
        line,
        r#"{"timestamp":"2027-01-15T08:00:00.000Z","type":"user","content":"hi","metadata":{"source":"biv"}}"#
    );
    assert_eq!(
        serde_json::from_str::<ConversationEntry>(&line).unwrap(),
        entry
    );
}

#[test]
fn the_last_action_is_what_was_done_then_what_was_said_then_what_was_asked() {
    let cases: [(&[ConversationEntry], Option<&str>); 8] = [
        (&[], None),
        (&[user(0, "fix\nit")], Some("was asked: fix it")),
        (
            &[user(0, "fix"), agent(1, "Sure.\nMore.")],
            Some("said: Sure."),
        ),
        (
            &[
                user(0, "fix"),
                call(1, "Bash", "cargo test", "a"),
                result(2, "ok", "a", false),
                agent(3, "Done"),
            ],
            Some("ran `cargo test`"),
        ),
        (
            &[
                user(0, "fix"),
                call(1, "Bash", "cargo test", "a"),
                result(2, "no", "a", true),
            ],
            Some("ran `cargo test` (failed)"),
        ),
        (
            &[
                call(0, "Write", "a.txt", "a"),
                todos(1, &[("x", "pending")]),
                agent(2, "ok"),
            ],
            Some("wrote a.txt"),
        ),
        (
            &[
                call(0, "Write", "a.txt", "a"),
                user(1, "thanks"),
                agent(2, "You are welcome"),
            ],
            Some("said: You are welcome"),
        ),
        (&[call(0, "WebSearch", "", "a")], Some("used WebSearch")),
    ];
    for (entries, expected) in cases {
        assert_eq!(last_action(entries).as_deref(), expected, "{entries:?}");
    }
}

#[test]
fn the_latest_list_wins_and_only_what_is_open_counts() {
    let first = todos(0, &[("old", "pending")]);
    let second = todos(
        1,
        &[
            ("a", "completed"),
            ("b", "in_progress"),
            ("c", "pending"),
            ("d", "cancelled"),
        ],
    );
    assert_eq!(
        pending_tasks(&[first.clone(), second.clone(), agent(2, "x")]),
        ["b", "c"]
    );
    assert_eq!(pending_tasks(&[second, first, todos(3, &[])]), [""; 0]);
    assert_eq!(pending_tasks(&[agent(0, "nothing")]), [""; 0]);
}

#[test]
fn a_list_kept_item_by_item_comes_to_the_same() {
    let task =
        |second, value| ConversationEntry::new(at(second), Speaker::Tool, "").with("task", value);
    let entries = [
        task(
            0,
            json!({"id": "1", "content": "read", "status": "pending"}),
        ),
        task(
            1,
            json!({"id": "2", "content": "write", "status": "pending"}),
        ),
        task(2, json!({"id": "1", "status": "completed"})),
        task(3, json!({"id": "2", "content": "write well"})),
        task(4, json!({"id": "9", "status": "completed"})),
    ];
    assert_eq!(pending_tasks(&entries), ["write well"]);
}

#[test]
fn a_run_does_not_inherit_the_list_of_the_one_before() {
    let entries = vec![
        todos(0, &[("old", "pending")]).with("run", "r1"),
        agent(1, "x").with("run", "r2"),
    ];
    assert_eq!(pending_tasks(&of_run(entries.clone(), "r2")), [""; 0]);
    assert_eq!(Digest::of(&entries).pending_tasks(), [""; 0]);
}

#[test]
fn a_summary_has_its_five_sections_from_what_was_said() {
    let entries = [
        user(0, "Make the login work"),
        agent(
            1,
            "I looked around. I'll use argon2 instead of md5 for the hashes.",
        ),
        call(2, "Bash", "cargo test", "a"),
        result(
            3,
            "running 3 tests\nerror[E0425]: cannot find value `x`\n",
            "a",
            true,
        ),
        call(4, "Edit", "src/login.rs", "b"),
        result(5, "ok", "b", false),
        agent(6, "The fix was to import `x`."),
        todos(7, &[("write docs", "pending"), ("fix login", "completed")]),
        user(8, "Also the logout"),
    ];
    let compacted = compact(&entries, 0).unwrap();
    assert_eq!(compacted.kept, []);
    assert_eq!(
        compacted.summary.content,
        "Summary of 9 earlier entries (2027-01-15T08:00:00.000Z to 2027-01-15T08:00:08.000Z)

## Overview
Task: Make the login work
Then asked:
- Also the logout
Commands run: 1
Files written: src/login.rs

## Key decisions
- I'll use argon2 instead of md5 for the hashes.

## Problems and solutions
- `cargo test` failed: error[E0425]: cannot find value `x` → The fix was to import `x`.

## Current state
The fix was to import `x`.
Last action: was asked: Also the logout

## Pending tasks
- write docs"
    );
    assert!(compacted.summary.is_summary());
}

#[test]
fn a_pause_is_told_in_a_few_lines() {
    assert_eq!(brief(&[]), None);
    let entries = [
        user(0, "Do it"),
        call(1, "Write", "a.txt", "1"),
        agent(2, "Wrote it."),
    ];
    assert_eq!(
        brief(&entries).unwrap(),
        "Task: Do it\nFiles written: a.txt\nState: Wrote it."
    );
}

#[test]
fn a_prompt_to_resume_says_what_is_known_and_ends_in_continue() {
    insta::assert_snapshot!(
        resume_prompt(Some("fix it"), Some("half done"), Some("ran `x`"), &["a".to_owned(), "b".to_owned()], &["npm run dev".to_owned()]),
        @"
    You were working on this task:
    fix it

    So far:
    half done

    Your last action: ran `x`

    Still to do:
    - a
    - b

    What you had running in the background was stopped; start it again if you need it:
    - npm run dev

    You were paused and are back now, in the same worktree. Continue.
    "
    );
    assert!(resume_prompt(None, None, None, &[], &[]).starts_with("You were paused"));
}

fn any_entry() -> impl Strategy<Value = ConversationEntry> {
    let words = prop_oneof![
        Just("I decided to use it. The problem is gone.".to_owned()),
        Just("Fixed it, it turned out to be `x`".to_owned()),
        "\\PC{0,60}",
    ];
    (0..1000_i64, 0..6_usize, words, any::<bool>()).prop_map(
        |(second, kind, text, flag)| match kind {
            0 => user(second, &text),
            1 => agent(second, &text),
            2 => call(second, if flag { "Bash" } else { "Edit" }, &text, "c"),
            3 => result(second, &text, "c", flag),
            4 => todos(
                second,
                &[(&text, if flag { "pending" } else { "completed" })],
            ),
            _ => ConversationEntry::new(at(second), Speaker::System, text),
        },
    )
}

proptest! {
    #[test]
    fn compacting_keeps_the_last_ones_and_what_is_still_to_do(
        entries in prop::collection::vec(any_entry(), 0..80),
        keep in 0..40_usize,
    ) {
        match compact(&entries, keep) {
            None => prop_assert!(entries.len() <= keep),
            Some(compacted) => {
                prop_assert_eq!(&entries[entries.len() - keep..], compacted.kept.as_slice());
                let all = [std::slice::from_ref(&compacted.summary), compacted.kept.as_slice()].concat();
                prop_assert_eq!(pending_tasks(&all), pending_tasks(&entries));
                prop_assert_eq!(compact(&entries, keep).unwrap(), compacted);
            }
        }
    }

    /// Summarising a summary with later entries is the same as summarising everything at once.
    #[test]
    fn compacting_in_steps_comes_to_the_same(
        entries in prop::collection::vec(any_entry(), 2..60),
        first in 1..30_usize,
    ) {
        let first = first.min(entries.len() - 1);
        let at_once = compact(&entries, 0).unwrap();
        let once = compact(&entries[..first], 0).unwrap();
        let rest = [&[once.summary], &entries[first..]].concat();
        prop_assert_eq!(compact(&rest, 0).unwrap().summary, at_once.summary);
    }

    #[test]
    fn a_summary_is_bounded(text in "\\PC{0,200}", count in 1..40_i64) {
        let entries: Vec<ConversationEntry> = (0..count).map(|n| agent(n, &format!("I decided {n} {text}"))).collect();
        let summary = compact(&entries, 0).unwrap().summary;
        prop_assert!(summary.content.chars().count() < 20_000);
        prop_assert!(summary.content.contains("## Pending tasks"));
    }
}
