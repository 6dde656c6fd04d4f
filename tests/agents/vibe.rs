//! Mistral Vibe.

use crate::acts;
use crate::drafts;
use crate::stage::Stage;
use crate::talking;

#[test]
fn a_day_with_pauses_and_a_kill() {
    acts::journey(&Stage::of("vibe"));
}

#[test]
fn a_pause_before_the_first_turn() {
    acts::pause_before_the_first_turn(&Stage::of("vibe"));
}

#[test]
fn a_conversation_that_is_lost_is_refused() {
    acts::refuse_what_the_agent_does_not_know(&Stage::of("vibe"), ".vibe/logs/session/unified");
}

#[test]
fn a_prompt_right_after_a_resume() {
    talking::take_a_prompt_right_after_a_resume(&Stage::of("vibe"), 2);
}

#[test]
fn a_draft_is_typed_again() {
    let stage = Stage::of("vibe");
    let instance = drafts::type_a_draft_again(&stage, "C-j");
    drafts::keep_a_draft_that_it_cuts(&stage, &instance, "C-j");
}
