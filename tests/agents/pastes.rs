//! A paste that was not sent: the agent shows its size alone, so a pause must not lose its text unasked.

use crate::stage::Stage;
use crate::support::{Instance, until};

const LINES: usize = 40;

#[track_caller]
fn keep_a_paste(agent: &'static str, mark: &str) {
    let stage = Stage::of(agent);
    let instance = stage.start_talking("pasted", "the first word");
    type_and_paste(&stage, &instance);
    stage.see(&instance, mark);
    let refused = stage.camp.biv(["pause", &instance.id]).run().fails(4);
    assert!(refused.stderr.contains("paste"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
    let shown = stage.camp.show(&instance);
    assert_eq!(shown["state"], "running", "{shown:#}");
    stage.see(&instance, mark);
    // It is all there, and goes on as a prompt.
    stage.press(&instance, &["Enter"]);
    let asked = stage.model.request_with("see ");
    let last = format!("pasted line {}", LINES - 1);
    assert!(asked.prompt().contains(&last), "{}", asked.prompt());
    stage.wait(&instance, "idle");

    // Who insists is told what was there, after the resume too, and it is not forgotten by another pause.
    type_and_paste(&stage, &instance);
    stage.see(&instance, mark);
    let paused = stage.pause(&instance, &["--now"]);
    let draft = paused["pause"]["draft"].as_str().unwrap_or_default();
    assert!(draft.starts_with(&format!("see {mark}")), "{paused:#}");
    let resumed = stage.camp.biv(["resume", &instance.id]).run().ok();
    assert!(resumed.stderr.contains(mark), "{}", resumed.stderr);
    let running = stage.camp.show(&instance);
    assert_eq!(running["draft"], draft, "{running:#}");
    stage.wait(&instance, "idle");
    stage.press(&instance, &["-l", "half a sentence"]);
    stage.see(&instance, "half a sentence");
    let again = stage.pause(&instance, &[]);
    let both = format!("{draft}\nhalf a sentence");
    assert_eq!(again["pause"]["draft"], both, "{again:#}");
    assert_eq!(again["draft"], serde_json::Value::Null, "{again:#}");
}

/// As a person does, who sees what was typed before something is pasted behind it: on a busy machine Codex was seen not to
/// show a paste that had followed the keys at once.
#[track_caller]
fn type_and_paste(stage: &Stage, instance: &Instance) {
    stage.press(instance, &["-l", "see "]);
    let typed = |row: &str| row.trim().trim_start_matches(['❯', '›']).trim() == "see";
    until("what was typed is in the box", || {
        stage.screen(instance).lines().any(typed)
    });
    paste(stage, instance);
}

fn paste(stage: &Stage, instance: &Instance) {
    // Codex shows up to a thousand characters as they are.
    let filler = "x".repeat(60);
    let text: Vec<String> = (0..LINES)
        .map(|n| format!("pasted line {n} {filler}"))
        .collect();
    let target = format!("=biv-{}:", instance.id);
    let words = ["set-buffer", "-b", "paste", &text.join("\n"), ";"];
    let paste = [
        "paste-buffer",
        "-p",
        "-r",
        "-d",
        "-b",
        "paste",
        "-t",
        &target,
    ];
    let pasted = stage.camp.tmux(&[&words[..], &paste[..]].concat());
    assert!(pasted.status.success(), "{pasted:?}");
}

#[test]
fn claude_keeps_a_paste() {
    keep_a_paste("claude", "[Pasted ");
}

#[test]
fn codex_keeps_a_paste() {
    keep_a_paste("codex", "[Pasted ");
}

#[test]
fn copilot_keeps_a_paste() {
    keep_a_paste("copilot", "[Paste #");
}
