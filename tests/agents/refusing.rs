//! "No" to a dialog, from the command line: nothing runs, and nothing of the answer is left behind.

use crate::stage::Stage;

#[track_caller]
fn takes_a_no(agent: &'static str) {
    let stage = Stage::of(agent);
    let instance = stage.start("refused", "the soup is hot");
    stage.model.request_with("the soup is hot");
    stage.wait(&instance, "idle");
    stage.send(&instance, "model:run touch refused");
    // A hook tells of it before it is drawn.
    stage.wait_dialog(&instance);
    let answer = stage.camp.biv(["answer", "--json", &instance.id, "no"]);
    let answered = answer.run().ok().json();
    assert_eq!(
        answered["gone"],
        true,
        "{answered:#}\n{}",
        stage.screen(&instance)
    );
    stage.wait(&instance, "idle");
    // A prompt that meets the rest of an answer would be sent along with it.
    stage.send(&instance, "what is next");
    let asked = stage.model.request_with("what is next");
    // Claude Code adds what was interrupted, Aider its rules.
    let mut lines = asked.prompt().lines();
    assert!(
        lines.any(|line| line == "what is next"),
        "{}",
        asked.prompt()
    );
    stage.wait(&instance, "idle");
    // Qwen does not end at once with its terminal.
    stage.pause(&instance, &[]);
    assert!(!instance.worktree.join("refused").exists());
}

#[test]
fn claude_takes_a_no() {
    takes_a_no("claude");
}

#[test]
fn codex_takes_a_no() {
    takes_a_no("codex");
}

#[test]
fn gemini_takes_a_no() {
    takes_a_no("gemini");
}

#[test]
fn opencode_takes_a_no() {
    takes_a_no("opencode");
}

#[test]
fn aider_takes_a_no() {
    takes_a_no("aider");
}

#[test]
fn copilot_takes_a_no() {
    takes_a_no("copilot");
}

#[test]
fn qwen_takes_a_no() {
    takes_a_no("qwen");
}

#[test]
fn kimi_takes_a_no() {
    takes_a_no("kimi");
}

#[test]
fn vibe_takes_a_no() {
    takes_a_no("vibe");
}

#[test]
fn kilo_takes_a_no() {
    takes_a_no("kilo");
}
