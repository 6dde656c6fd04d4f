//! Qwen Code.

use crate::acts;
use crate::day;
use crate::menus;
use crate::own_commands;
use crate::refusing;
use crate::stage::Stage;
use crate::talking;

#[test]
fn a_day_with_pauses_and_a_kill() {
    let stage = Stage::of("qwen");
    let instance = day::whole(&stage);
    acts::refuse_to_begin_anew(&stage, &instance, ".qwen/projects");
}

#[test]
fn an_hour_of_work() {
    let stage = Stage::of("qwen");
    let instance = stage.start_talking("hour", "the first word");
    talking::take_every_prompt(&stage, &instance, &["exit"]);
    talking::refuse_an_unknown_command(&stage, &instance);
    menus::say_and_leave_alone(&stage, &instance, "/model");
    own_commands::keep_prompts_out_of_shell_mode(&stage, &instance);
    own_commands::count_as_work(&stage, &instance);
    // Its shell mode stays on.
    stage.wait(&instance, "menu");
    stage.close_menu(&instance);
    refusing::take_a_no(&stage, &instance);
    acts::answer_by_number(&stage, &instance);
    acts::answer_in_own_words(&stage, &instance);
    acts::answer_in_an_open_field(&stage, &instance);
    acts::decline_a_question(&stage, &instance);
    acts::follow_a_new_conversation(&stage, &instance, "/clear");
}
