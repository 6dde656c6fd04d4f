//! Claude Code.

use crate::stage::Stage;

#[test]
fn a_turn_a_pause_and_the_next_turn_knows_the_first() {
    let stage = Stage::of("claude");
    let instance = stage.start("cycle", "the tent is blue");
    let asked = stage.model.request_with("the tent is blue");
    assert_eq!(asked.session, instance.session_ref);
    stage.wait(&instance, "idle");

    let paused = stage.pause(&instance, &[]);
    assert_eq!(paused["pause"]["forced"], false);
    let resumed = stage.resume(&instance);
    assert_eq!(
        resumed["session_ref"],
        instance.session_ref.clone().unwrap()
    );
    stage.turn(&instance, "and the stove is red");
    let asked = stage.model.request_with("and the stove is red");
    asked.remembers("user", "the tent is blue");
    asked.remembers("assistant", "I have read: the tent is blue");
    assert_eq!(asked.session, instance.session_ref);
}
