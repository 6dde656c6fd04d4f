//! Aider, which has no sessions: a resumed one starts anew and is told what happened.

use crate::stage::Stage;

#[test]
fn a_resumed_one_is_told_where_it_was() {
    let stage = Stage::of("aider");
    let instance = stage.start("cycle", "the tent is blue");
    stage.model.request_with("the tent is blue");
    stage.wait(&instance, "idle");
    stage.turn(&instance, "and the stove is red");
    let paused = stage.pause(&instance, &[]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    assert_eq!(paused["resumable"], true);
    let before = stage.model.requests().len();
    stage.resume(&instance);
    stage.wait(&instance, "idle");
    let asked = stage.model.requests();
    assert_eq!(asked.len(), before + 1, "{}", stage.model.told());
    let told = asked.last().unwrap().prompt();
    assert!(told.contains("the tent is blue"), "{told}");
}

#[test]
fn a_pause_in_the_middle_of_an_answer() {
    let stage = Stage::of("aider");
    let instance = stage.start("busy", "model:slow 100");
    stage.wait(&instance, "busy");
    stage.see(&instance, "slowly5");
    let paused = stage.pause(&instance, &["--now"]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
}

#[test]
fn a_large_prompt_is_exact() {
    crate::acts::take_a_large_prompt(&Stage::of("aider"), "\t");
}
