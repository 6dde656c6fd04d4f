//! Qwen Code.

use crate::acts;
use crate::stage::Stage;
use crate::talking;

#[test]
fn a_day_with_pauses_and_a_kill() {
    acts::journey(&Stage::of("qwen"));
}

#[test]
fn a_pause_before_the_first_turn() {
    acts::pause_before_the_first_turn(&Stage::of("qwen"));
}

#[test]
fn a_conversation_that_is_lost_is_refused() {
    acts::refuse_what_the_agent_does_not_know(&Stage::of("qwen"), ".qwen/projects");
}

#[test]
fn its_dialog_is_answered_and_all_is_in_the_log() {
    acts::answer_a_dialog(&Stage::of("qwen"));
}

#[test]
fn a_prompt_right_after_a_resume() {
    talking::take_a_prompt_right_after_a_resume(&Stage::of("qwen"), 2);
}
