//! Recorded screens, each judged by the rules of its agent. The demo agent draws its own, in
//! `demo/scenario/tests.rs`.

use std::path::{Path, PathBuf};

use super::Catalog;
use crate::detect::{Draft, Offer, Screen, Size, Typed, explain, is_typed};
use crate::model::Activity;

const RULE: &str = "────────────────────────────────────────────────────────────────";

#[test]
fn the_demo_agent_is_read_as_it_draws_itself() {
    let catalog = Catalog::built_in();
    let demo = catalog.require("demo").unwrap();
    let boxed =
        |above: &str| format!("{above}\n{RULE}\n❯\u{a0}\n{RULE}\n  demo · esc to interrupt\n");
    let dialog = format!(
        "● Bash(ls)\n{RULE}\n Bash command\n\n╌╌╌╌╌╌╌╌╌╌╌╌\n ls -l\n╌╌╌╌╌╌╌╌╌╌╌╌\n Do you want to proceed?\n ❯ 1. Yes\n   2. Yes, and don't ask again this session\n   3. No\n\n Esc to cancel · Tab to amend\n"
    );
    for (screen, title, expected) in [
        (boxed("● done"), Some("✳ demo"), Activity::Idle),
        (boxed("● half an answer"), Some("◐ demo"), Activity::Busy),
        (
            boxed("✻ Pondering… (3s · esc to interrupt)"),
            None,
            Activity::Busy,
        ),
        (
            boxed("● It says:\n  ✻ Pondering… (3s · esc to interrupt)"),
            None,
            Activity::Idle,
        ),
        (dialog.clone(), Some("✳ demo"), Activity::Approval),
        (boxed(&dialog), Some("✳ demo"), Activity::Idle),
        ("starting".to_owned(), None, Activity::Unknown),
    ] {
        let verdict = demo.judge(&Screen::new(&screen), title);
        assert_eq!(verdict.activity, expected, "{screen}\n{verdict:?}");
    }
    let asked = demo.judge(&Screen::new(&dialog), None).dialog.unwrap();
    assert_eq!(asked.command.as_deref(), Some("ls -l"));
    assert_eq!(asked.tool.as_deref(), Some("shell"));
    assert_eq!(asked.selected, Some(0));
    assert!(asked.complete, "{asked:?}");
    assert_eq!(demo.draft(&Screen::new(&boxed(""))), Some(Draft::Empty));
}

/// Screens that need the title: without it, these agents look idle while an answer streams.
const WITHOUT_TITLE: [(&str, &str); 6] = [
    ("codex/busy/real-streaming-80", "idle"),
    ("codex/busy/real-streaming-120", "idle"),
    ("codex/busy/real-streaming-220", "idle"),
    ("codex/busy/busy-slow-0", "idle"),
    ("codex/busy/busy-slow-1", "idle"),
    ("codex/busy/busy-slow-2", "idle"),
];

/// Commands that were typed, with the list that is drawn below: those of another command are told from its own.
#[test]
fn the_list_of_commands_is_read() {
    let catalog = Catalog::built_in();
    for (agent, input, list) in [
        (
            "gemini",
            " > {}",
            " clear       Clear the screen and start a new session",
        ),
        ("gemini", " > {}", " model   Manage model configuration"),
        (
            "qwen",
            "> {}",
            "  > model [--fast] [<model-id>]      Switch the model",
        ),
        (
            "qwen",
            "> {}",
            "  > resume (continue)                Resume a session",
        ),
        (
            "kimi",
            " │ > {}     │",
            " │   → yolo       Ask When Needed mode         │",
        ),
    ] {
        let provider = catalog.require(agent).unwrap();
        let foot = " workspace (/directory)      branch       /model";
        let screen = |typed: &str| {
            let input = input.replace("{}", typed);
            Screen::new(&format!("words\n{input}\n▀▀▀▀▀▀▀▀\n{list}\n{foot}\n"))
        };
        let Some(Offer::Command(offered)) = provider.offer(&screen("/model"), "/model") else {
            panic!("{agent}: {list}");
        };
        assert_eq!(
            is_typed(&offered, "/model"),
            offered == "model",
            "{offered}"
        );
        // Only a part of it was read.
        let part = provider.offer(&screen("/"), "/model");
        assert_eq!(part, Some(Offer::NotTyped), "{agent}");
    }
    let codex = catalog.require("codex").unwrap();
    assert_eq!(codex.offer(&Screen::new("› /model"), "/model"), None);
}

/// Of an agent at rest, the last line is the end of its answer: not its status line, and not what stands around its box.
#[test]
fn the_last_line_is_the_agents_own() {
    let catalog = Catalog::built_in();
    let mut agents = Vec::new();
    for (agent, _, file) in recorded() {
        if !name(&file).contains("after-turn") {
            continue;
        }
        let screen = Screen::new(&std::fs::read_to_string(&file).unwrap());
        let line = catalog.require(&agent).unwrap().last_line(&screen);
        let line = line.unwrap_or_default();
        let own = line.contains("I have read: ") || line.contains("MOCK-OK");
        assert!(own, "{}: {line}", file.display());
        agents.push(agent);
    }
    agents.dedup();
    assert_eq!(agents.len(), 10, "{agents:?}");
}

/// One that was not asked anything has said nothing: neither its name nor its status line is its last line.
#[test]
fn an_agent_without_a_word_has_no_last_line() {
    let catalog = Catalog::built_in();
    let claude = catalog.require("claude").unwrap();
    let line = claude.last_line(&capture("claude/idle/idle-empty.txt"));
    assert_eq!(line, None);
}

/// Every capture below `fixtures/screens`: agent, expected activity, file.
fn recorded() -> Vec<(String, String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/screens");
    let mut found = Vec::new();
    for agent in folder(&root) {
        for activity in folder(&agent) {
            let captures = folder(&activity).into_iter().filter(|file| {
                let extension = file.extension().and_then(|extension| extension.to_str());
                matches!(extension, Some("txt" | "ansi"))
            });
            for capture in captures {
                found.push((name(&agent), name(&activity), capture));
            }
        }
    }
    found
}

fn folder(path: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn every_recorded_screen_is_judged_as_its_folder_says() {
    let catalog = Catalog::built_in();
    let mut wrong = Vec::new();
    for (agent, expected, file) in recorded() {
        let rules = catalog.require(&agent).unwrap().rules().clone();
        let capture = std::fs::read_to_string(&file).unwrap();
        let title = std::fs::read_to_string(file.with_extension("title")).ok();
        let title = title.as_deref().map(str::trim_end);
        let id = format!("{agent}/{expected}/{}", name(&file));
        let mut check = |title: Option<&str>, expected: &str| {
            let verdict = explain(&rules, &capture, title);
            if verdict.activity.name() != expected {
                wrong.push(format!(
                    "{} with title {title:?}: {} by {:?}, not {expected}",
                    file.display(),
                    verdict.activity.name(),
                    verdict.rule
                ));
            }
        };
        check(title, &expected);
        let blind = WITHOUT_TITLE.iter().find(|(known, _)| *known == id);
        check(
            None,
            blind.map_or(expected.as_str(), |(_, activity)| activity),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A turn that the model's service has ended leaves the agent at its prompt, as any other does.
#[test]
fn a_turn_that_the_service_has_ended_is_told_from_others() {
    let catalog = Catalog::built_in();
    let mut wrong = Vec::new();
    let mut agents = Vec::new();
    for (agent, activity, file) in recorded() {
        let provider = catalog.require(&agent).unwrap();
        let capture = std::fs::read_to_string(&file).unwrap();
        let found = explain(provider.rules(), &capture, None).failed;
        let has_failed =
            name(&file).starts_with("real-failed") || name(&file).starts_with("api-error");
        // They tell it by a colour alone.
        let expected =
            has_failed && activity == "idle" && !["opencode", "kilo"].contains(&agent.as_str());
        match found {
            Some(said) if expected && !said.is_empty() => agents.push(agent),
            None if !expected => {}
            found => wrong.push(format!("{}: {found:?}", file.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    agents.dedup();
    assert_eq!(agents.len(), 8, "{agents:?}");
}

/// Every capture below `fixtures/dialogs` has its expected dialog beside it, as JSON.
#[test]
fn every_dialog_is_read_as_written_beside_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dialogs");
    let catalog = Catalog::built_in();
    let mut wrong = Vec::new();
    for agent in folder(&root) {
        let provider = catalog.require(&name(&agent)).unwrap();
        for file in folder(&agent) {
            if file
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                continue;
            }
            let capture = std::fs::read_to_string(&file).unwrap();
            let dialog = explain(provider.rules(), &capture, None).dialog;
            let read = serde_json::to_value(&dialog).unwrap();
            let expected = std::fs::read_to_string(file.with_extension("json")).unwrap_or_default();
            if serde_json::from_str(&expected).ok() != Some(read) {
                let read = serde_json::to_string_pretty(&dialog).unwrap();
                wrong.push(format!("{}\n{read}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn capture(id: &str) -> Screen {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/screens")
        .join(id);
    Screen::new(&std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{id}: {error}")))
}

/// Vibe draws the first sign of a command in the place of its own, and a space behind it.
#[test]
fn a_command_in_the_box_of_vibe_is_read_with_its_sign() {
    let catalog = Catalog::built_in();
    let provider = catalog.require("vibe").unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/screens");
    let empty = std::fs::read_to_string(root.join("vibe/idle/real-fresh-80.txt")).unwrap();
    for (row, typed) in [("/ model", "/model"), ("! ls -l", "!ls -l"), ("> x", "x")] {
        let screen = empty.replace("\n>\n", &format!("\n{row}\n"));
        let draft = provider.draft(&Screen::new(&screen));
        assert_eq!(draft, Some(Draft::Text(typed.to_owned())), "{row:?}");
    }
}

/// Which of these have a field for text open is not in their JSON: nothing is pressed in those.
#[test]
fn an_open_field_is_told_from_its_dialog() {
    let catalog = Catalog::built_in();
    for (agent, name, open) in [
        ("claude", "shell-amended", true),
        ("claude", "shell-amended-written", true),
        ("claude", "shell-amended-no", true),
        ("claude", "shell", false),
        ("claude", "shell-second-selected", false),
        ("claude", "plan-field-open", true),
        ("claude", "plan-field-written", true),
        ("claude", "plan", false),
        ("claude", "exit-plan", false),
        ("claude", "question", false),
        ("qwen", "ask-own-80", true),
        ("kimi", "ask-80", false),
    ] {
        let file = format!("fixtures/dialogs/{agent}/{name}.txt");
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file));
        let provider = catalog.require(agent).unwrap();
        let dialog = provider.judge(&Screen::new(&text.unwrap()), None).dialog;
        assert_eq!(dialog.unwrap().field_open, open, "{file}");
    }
}

#[test]
fn what_stands_in_the_input_box_is_told_from_its_placeholder() {
    let catalog = Catalog::built_in();
    for (agent, id, expected) in [
        ("claude", "claude/idle/idle-empty", ""),
        ("claude", "claude/idle/idle-typed", "hello typed text"),
        (
            "claude",
            "claude/idle/pasted-5k",
            "[Pasted text #7 +102 lines]",
        ),
        ("claude", "claude/busy/busy-queued-prompt", ""),
        ("codex", "codex/idle/idle-empty", ""),
        ("codex", "codex/idle/idle-typed", "hello typed"),
        (
            "codex",
            "codex/idle/pasted-5k",
            "[Pasted Content 4657 chars]",
        ),
        ("gemini", "gemini/idle/idle-empty", ""),
        ("gemini", "gemini/idle/idle-typed", "hello typed"),
        (
            "gemini",
            "gemini/idle/pasted-5k",
            "[Pasted Text: 103 lines]",
        ),
    ] {
        let provider = catalog.require(agent).unwrap();
        let expected = match expected {
            "" => Draft::Empty,
            text => Draft::Text(text.to_owned()),
        };
        for extension in ["txt", "ansi"] {
            let draft = provider.draft(&capture(&format!("{id}.{extension}")));
            assert_eq!(draft, Some(expected.clone()), "{id}.{extension}");
        }
    }
    for agent in ["gemini", "qwen"] {
        let provider = catalog.require(agent).unwrap();
        let draft =
            |mode| provider.draft(&capture(&format!("{agent}/idle/real-vim-{mode}-80.txt")));
        assert_eq!(draft("insert"), Some(Draft::Empty), "{agent}");
        assert_eq!(draft("normal"), Some(Draft::Empty), "{agent}");
        let typed = Draft::Text("half a sentence".to_owned());
        assert_eq!(draft("draft"), Some(typed), "{agent}");
    }
    let claude = catalog.require("claude").unwrap();
    let dialog = capture("claude/approval/perm-bash.txt");
    assert_eq!(claude.draft(&dialog), Some(Draft::Hidden));
    // Prompts that were sent look like its box.
    let gemini = catalog.require("gemini").unwrap();
    for columns in [80, 120, 220] {
        let resuming = capture(&format!("gemini/busy/resuming-{columns}.txt"));
        assert_eq!(gemini.draft(&resuming), Some(Draft::Hidden), "{columns}");
    }
}

/// As scripts/record-screens has typed it.
#[test]
fn a_recorded_draft_is_read_as_it_was_typed() {
    let catalog = Catalog::built_in();
    let typed = "please look at the tent, at the stove and at the lamp, and tell me which of them is the \
                 oldest of all, and which one is to be mended first\n\n    and why";
    for (agent, name, columns, rows) in [
        ("gemini", "real-draft", 80, 24),
        ("gemini", "truecolor-draft", 120, 40),
        ("kimi", "real-draft", 80, 24),
        ("kimi", "real-draft", 120, 40),
        ("vibe", "real-draft", 80, 24),
        ("vibe", "real-draft", 120, 40),
    ] {
        let screen = capture(&format!("{agent}/idle/{name}-{columns}.txt"));
        let provider = catalog.require(agent).unwrap();
        let read = provider.kept_draft(&screen, Size { columns, rows });
        let expected = Typed {
            text: typed.to_owned(),
            cut: false,
        };
        assert_eq!(read, Some(expected), "{agent} at {columns}");
        assert!(matches!(provider.draft(&screen), Some(Draft::Text(_))));
    }
    let (columns, rows) = (80, 24);
    let screen = capture("gemini/idle/real-vim-draft-80.txt");
    let gemini = catalog.require("gemini").unwrap();
    let read = gemini.kept_draft(&screen, Size { columns, rows });
    assert_eq!(
        read.map(|typed| typed.text).as_deref(),
        Some("half a sentence")
    );
    for agent in ["gemini", "kimi", "vibe"] {
        let provider = catalog.require(agent).unwrap();
        for without in ["idle/real-fresh-80", "approval/real-shell-80"] {
            let screen = capture(&format!("{agent}/{without}.txt"));
            let read = provider.kept_draft(&screen, Size { columns, rows });
            assert_eq!(read, None, "{agent}/{without}");
        }
    }
}

/// Its rows look like what somebody has typed, and would be typed into the box after a resume.
#[test]
fn what_covers_the_input_box_is_no_draft() {
    let catalog = Catalog::built_in();
    let covering = ["approval", "question", "menu", "blocked"];
    let mut looked_at = 0;
    for (agent, activity, file) in recorded() {
        if !covering.contains(&activity.as_str()) {
            continue;
        }
        let screen = Screen::new(&std::fs::read_to_string(&file).unwrap());
        let (columns, rows) = (220, 60);
        let provider = catalog.require(&agent).unwrap();
        let read = provider.kept_draft(&screen, Size { columns, rows });
        assert_eq!(read, None, "{}", file.display());
        looked_at += 1;
    }
    assert!(looked_at > 100, "{looked_at}");
}

#[test]
fn an_agent_that_does_not_know_the_session_is_understood() {
    let catalog = Catalog::built_in();
    for (agent, id) in [
        ("claude", "resume-unknown-id"),
        ("claude", "resume-before-first-turn"),
        ("codex", "resume-unknown-id"),
        ("gemini", "resume-unknown-id"),
        ("gemini", "resume-other-cwd"),
        ("gemini", "resume-before-first-turn"),
        ("opencode", "resume-unknown-id"),
        ("kilo", "resume-unknown-id"),
        ("demo", "unknown-session"),
    ] {
        let file = format!("fixtures/screens/{agent}/exited/{id}.txt");
        let output =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let provider = catalog.require(agent).unwrap();
        assert!(provider.says_unknown_session(&output), "{agent}/{id}");
        assert!(!provider.says_unknown_session("Error: the network is down\n"));
    }
}

/// A screen may be cut anywhere and contain anything: it is judged without a panic, and a dialog without
/// its upper part is never complete.
#[test]
fn a_screen_that_is_cut_anywhere_is_still_judged() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dialogs");
    let catalog = Catalog::built_in();
    for agent in folder(&root) {
        let provider = catalog.require(&name(&agent)).unwrap();
        for file in folder(&agent) {
            if file
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let whole = explain(provider.rules(), &text, None).dialog.unwrap();
            for (at, _) in text.char_indices().step_by(7) {
                drop(explain(provider.rules(), &text[..at], None));
            }
            for (at, _) in text.match_indices('\n') {
                let lower = explain(provider.rules(), &text[at + 1..], None).dialog;
                let Some(lower) = lower.filter(|dialog| dialog.complete) else {
                    continue;
                };
                assert_eq!(
                    lower.command,
                    whole.command,
                    "{} from byte {at}",
                    file.display()
                );
                assert_eq!(
                    lower.paths,
                    whole.paths,
                    "{} from byte {at}",
                    file.display()
                );
                assert_eq!(
                    lower.choices,
                    whole.choices,
                    "{} from byte {at}",
                    file.display()
                );
            }
        }
    }
}
