//! GitHub Copilot.

use crate::acts;
use crate::stage::Stage;
use crate::talking;

#[test]
fn a_day_with_pauses_and_a_kill() {
    acts::journey(&Stage::of("copilot"));
}

#[test]
fn a_pause_before_the_first_turn() {
    acts::pause_before_the_first_turn(&Stage::of("copilot"));
}

#[test]
fn a_conversation_that_is_lost_is_refused() {
    acts::refuse_what_the_agent_does_not_know(&Stage::of("copilot"), ".copilot/session-state");
}

#[test]
fn its_dialog_is_answered_and_all_is_in_the_log() {
    acts::answer_a_dialog(&Stage::of("copilot"));
}

#[test]
fn a_folder_that_is_not_trusted_is_a_persons_matter() {
    acts::leave_its_question_to_a_person(
        &Stage::for_a_stranger("copilot"),
        "Do you trust the files in this folder?",
    );
}

#[test]
fn a_prompt_right_after_a_resume() {
    talking::take_a_prompt_right_after_a_resume(&Stage::of("copilot"), 2);
}
