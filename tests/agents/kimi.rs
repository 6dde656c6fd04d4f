//! Kimi Code.

use crate::acts;
use crate::drafts;
use crate::stage::Stage;
use crate::talking;

#[test]
fn a_day_with_pauses_and_a_kill() {
    acts::journey(&Stage::of("kimi"));
}

#[test]
fn a_pause_before_the_first_turn() {
    acts::pause_before_the_first_turn(&Stage::of("kimi"));
}

#[test]
fn a_conversation_that_is_lost_is_refused() {
    acts::refuse_what_the_agent_does_not_know(&Stage::of("kimi"), ".kimi-code/sessions");
}

#[test]
fn what_was_said_is_in_the_log() {
    acts::tell_what_was_said(&Stage::of("kimi"));
}

#[test]
fn a_folder_that_is_not_trusted_is_a_persons_matter() {
    acts::leave_its_question_to_a_person(&Stage::of("kimi"), "Trust this folder?");
}

#[test]
fn a_prompt_right_after_a_resume() {
    talking::take_a_prompt_right_after_a_resume(&Stage::of("kimi"), 2);
}

#[test]
fn a_draft_is_typed_again() {
    let stage = Stage::of("kimi");
    let instance = drafts::type_a_draft_again(&stage, "C-j");
    drafts::keep_a_draft_that_it_cuts(&stage, &instance, "C-j");
}
