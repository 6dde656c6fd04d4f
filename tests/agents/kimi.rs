//! Kimi Code.

use crate::acts;
use crate::day;
use crate::drafts;
use crate::menus;
use crate::own_commands;
use crate::refusing;
use crate::stage::Stage;
use crate::talking;

#[test]
fn a_day_with_pauses_and_a_kill() {
    let stage = Stage::of("kimi");
    let instance = day::without_autoyes(&stage);
    day::tell_what_was_said(&stage, &instance);
    acts::refuse_to_begin_anew(&stage, &instance, ".kimi-code/sessions");
}

#[test]
fn an_hour_of_work() {
    let stage = Stage::of("kimi");
    let instance = stage.start_talking("hour", "the first word");
    talking::take_every_prompt(&stage, &instance, &[]);
    menus::say_and_leave_alone(&stage, &instance, "/model");
    own_commands::keep_prompts_out_of_shell_mode(&stage, &instance);
    refusing::take_a_no(&stage, &instance);
    acts::answer_by_number(&stage, &instance);
    acts::answer_in_own_words(&stage, &instance);
    acts::decline_a_question(&stage, &instance);
    drafts::type_a_draft_again(&stage, &instance, "C-j");
    drafts::keep_a_draft_that_it_cuts(&stage, &instance, "C-j");
    acts::follow_a_new_conversation(&stage, &instance, "/new");
}

#[test]
fn a_folder_that_is_not_trusted_is_a_persons_matter() {
    acts::leave_its_question_to_a_person(&Stage::of("kimi"), "Trust this folder?");
}
