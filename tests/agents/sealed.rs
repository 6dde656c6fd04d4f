//! Agents in a seal: a turn, a pause and a resume, with the model as the only host that they reach.

use crate::acts;
use crate::stage::Stage;

/// A stage on which every instance is sealed.
fn sealed(agent: &'static str) -> Option<Stage> {
    let stage = Stage::of(agent);
    let doctor = stage.camp.biv(["doctor"]).run().stdout;
    if !doctor.contains("seal: complete") {
        // Said once by the tier of the seal.
        return None;
    }
    let config = stage.camp.home().join("config");
    std::fs::create_dir_all(&config).unwrap();
    let host = stage.model.url().replace("http://", "");
    let installed = stage.installed();
    let text = format!(
        "{}[seal]\ndefault = true\nhosts = [\"{host}\"]\nread = [\"{}\"]\n",
        crate::stage::PATIENT,
        installed.display()
    );
    std::fs::write(config.join("config.toml"), text).unwrap();
    Some(stage)
}

fn turn_pause_and_resume(agent: &'static str) {
    let Some(stage) = sealed(agent) else {
        return;
    };
    let instance = acts::pause_at_the_prompt(&stage);
    let shown = stage.camp.show(&instance);
    assert_eq!(shown["seal"]["missing"], serde_json::json!([]), "{shown:#}");
}

#[test]
fn claude_works_in_a_seal() {
    turn_pause_and_resume("claude");
}

#[test]
fn codex_works_in_a_seal() {
    turn_pause_and_resume("codex");
}

#[test]
fn gemini_works_in_a_seal() {
    turn_pause_and_resume("gemini");
}

#[test]
fn opencode_works_in_a_seal() {
    turn_pause_and_resume("opencode");
}

#[test]
fn aider_works_in_a_seal() {
    let Some(stage) = sealed("aider") else {
        return;
    };
    let instance = stage.start_talking("sealed", "the tent is blue");
    stage.pause(&instance, &[]);
    stage.resume(&instance);
    stage.turn(&instance, "and the stove is red");
}
