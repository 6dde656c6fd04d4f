//! The table of agents and acts in docs/agents.md: it is made from the tests of the real agents.

use std::fmt::Write;
use std::path::Path;

/// What each act of `tests/agents` shows, as columns of the table.
const ACTS: [(&str, &[&str]); 21] = [
    ("pause_at_the_prompt", &["turn", "pause idle"]),
    ("pause_in_the_middle_of_an_answer", &["turn", "pause busy"]),
    ("pause_in_a_dialog", &["turn", "pause in a dialog"]),
    ("survive_a_kill", &["turn", "kill -9"]),
    ("whole", &WHOLE),
    ("without_autoyes", WHOLE.split_at(6).0),
    ("pause_before_the_first_turn", &["before a turn"]),
    ("come_back_before_the_first_turn", &["before a turn"]),
    (
        "refuse_what_the_agent_does_not_know",
        &["lost conversation"],
    ),
    ("refuse_to_begin_anew", &["lost conversation"]),
    ("follow_a_new_conversation", &["new conversation"]),
    ("follow_a_new_conversation_after", &["new conversation"]),
    ("answer_a_dialog", &["dialog answered", "log"]),
    ("take_a_no", &["dialog refused"]),
    ("say_and_leave_alone", &["menu"]),
    ("keep_prompts_out_of_shell_mode", &["shell mode"]),
    ("tell_what_was_said", &["log"]),
    ("leave_its_question_to_a_person", &["trust question"]),
    ("take_a_large_prompt", &["large prompt"]),
    ("type_a_draft_again", &["draft over a pause"]),
    ("keep_what_was_typed", &["draft over a pause"]),
];

/// A whole day, and last what autoyes and the log have to do with it.
const WHOLE: [&str; 8] = [
    "turn",
    "before a turn",
    "pause idle",
    "pause busy",
    "pause in a dialog",
    "kill -9",
    "log",
    "dialog answered",
];

/// Tests of agents that behave in a way of their own, and so do not share an act.
const OWN: [(&str, &[&str]); 5] = [
    (
        "a_resumed_one_is_told_where_it_was",
        &["turn", "pause idle"],
    ),
    (
        "a_pause_in_the_middle_of_an_answer",
        &["turn", "pause busy"],
    ),
    (
        "a_pause_in_a_dialog_answers_nothing",
        &["pause in a dialog"],
    ),
    ("a_kill_in_the_middle_of_an_answer", &["turn", "kill -9"]),
    ("what_was_typed_outlives_a_pause", &["draft over a pause"]),
];

const COLUMNS: [&str; 16] = [
    "turn",
    "pause idle",
    "pause busy",
    "pause in a dialog",
    "kill -9",
    "before a turn",
    "lost conversation",
    "new conversation",
    "trust question",
    "dialog answered",
    "dialog refused",
    "menu",
    "shell mode",
    "log",
    "large prompt",
    "draft over a pause",
];

const AGENTS: [&str; 10] = [
    "claude", "codex", "gemini", "opencode", "aider", "copilot", "qwen", "kimi", "vibe", "kilo",
];

/// Which columns the tests of an agent cover.
fn covered(agent: &str) -> Vec<&'static str> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents");
    let own = std::fs::read_to_string(tests.join(format!("{agent}.rs"))).unwrap();
    let autoyes = std::fs::read_to_string(tests.join("autoyes.rs")).unwrap();
    let mut columns: Vec<&str> = ACTS
        .iter()
        .filter(|(act, _)| own.contains(&format!("::{act}(")))
        .flat_map(|(_, columns)| columns.iter().copied())
        .collect();
    let own_tests = OWN
        .iter()
        .filter(|(test, _)| own.contains(&format!("fn {test}")));
    columns.extend(own_tests.flat_map(|(_, shown)| shown.iter().copied()));
    // Claude Code and Codex work a whole day unattended, in a file of its own.
    if autoyes.contains(&format!("works_unattended(\"{agent}\")")) {
        columns.push("dialog answered");
    }
    columns
}

fn table() -> String {
    let mut table = format!(
        "| agent | {} |\n|---|{}\n",
        COLUMNS.join(" | "),
        "---|".repeat(COLUMNS.len())
    );
    for agent in AGENTS {
        let covered = covered(agent);
        let cells = COLUMNS.map(|column| {
            if covered.contains(&column) {
                "yes"
            } else {
                "–"
            }
        });
        // Writing into a string cannot fail.
        writeln!(table, "| `{agent}` | {} |", cells.join(" | ")).ok();
    }
    table
}

#[test]
fn the_table_of_acts_is_what_is_tested() {
    let table = table();
    println!("{table}");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents");
    let read = |file| std::fs::read_to_string(tests.join(file)).unwrap();
    let files = [
        "acts.rs",
        "day.rs",
        "drafts.rs",
        "menus.rs",
        "own_commands.rs",
        "refusing.rs",
    ];
    let acts = files.map(read).concat();
    for (act, _) in ACTS {
        assert!(
            acts.contains(&format!("fn {act}(")),
            "there is no act {act}"
        );
    }
    let text = crate::readme::section("docs/agents.md", "## What is tested");
    let (_, rest) = text
        .split_once("<!-- acts: begin -->\n")
        .expect("the table begins");
    let (kept, _) = rest
        .split_once("<!-- acts: end -->")
        .expect("the table ends");
    assert_eq!(
        kept, table,
        "docs/agents.md has another table; put this one there:\n{table}"
    );
}
