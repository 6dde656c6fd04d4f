//! A menu that the user has opened with a command: a state of its own, said at once, and left alone.

use crate::stage::Stage;

fn is_said_and_left_alone(agent: &'static str, command: &str) {
    let stage = Stage::of(agent);
    let instance = stage.start_trusted("menus");
    stage.wait(&instance, "idle");
    stage.send(&instance, command);
    stage.wait(&instance, "menu");
    let refused = stage.camp.biv(["send", &instance.id, "in between"]).run();
    let refused = refused.fails(4).stderr;
    for part in ["a menu of ", "Esc closes it"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    stage.wait(&instance, "menu");
    stage.close_menu(&instance);
    stage.turn(&instance, "the menu is closed");
    let asked = stage.model.request_with("the menu is closed");
    let said = asked.said_by("user");
    let typed = said.iter().any(|said| said.contains("in between"));
    assert!(!typed, "{said:?}");
}

#[test]
fn of_claude() {
    is_said_and_left_alone("claude", "/model");
}

#[test]
fn of_codex() {
    is_said_and_left_alone("codex", "/model");
}

#[test]
fn of_copilot() {
    is_said_and_left_alone("copilot", "/model");
}

#[test]
fn of_gemini() {
    is_said_and_left_alone("gemini", "/model");
}

#[test]
fn of_opencode() {
    is_said_and_left_alone("opencode", "/models");
}

#[test]
fn of_qwen() {
    is_said_and_left_alone("qwen", "/model");
}

#[test]
fn of_kimi() {
    is_said_and_left_alone("kimi", "/model");
}

#[test]
fn of_vibe() {
    is_said_and_left_alone("vibe", "/model");
}

#[test]
fn of_kilo() {
    is_said_and_left_alone("kilo", "/models");
}
