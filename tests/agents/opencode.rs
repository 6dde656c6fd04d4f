//! OpenCode.

use crate::acts;
use crate::stage::Stage;

#[test]
fn a_pause_at_the_prompt() {
    acts::pause_at_the_prompt(&Stage::of("opencode"));
}

#[test]
fn a_pause_in_the_middle_of_an_answer() {
    acts::pause_in_the_middle_of_an_answer(&Stage::of("opencode"));
}

#[test]
fn a_pause_in_a_dialog() {
    acts::pause_in_a_dialog(&Stage::of("opencode"));
}

#[test]
fn a_kill_in_the_middle_of_an_answer() {
    acts::survive_a_kill(&Stage::of("opencode"));
}

#[test]
fn a_pause_before_the_first_turn_starts_anew() {
    acts::pause_before_the_first_turn(&Stage::of("opencode"));
}

#[test]
fn a_large_prompt_is_exact() {
    acts::take_a_large_prompt(&Stage::of("opencode"), "\t");
}
