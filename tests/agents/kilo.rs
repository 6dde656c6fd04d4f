//! Kilo, a descendant of OpenCode.

use crate::acts;
use crate::stage::Stage;

#[test]
fn a_day_with_pauses_and_a_kill() {
    acts::journey(&Stage::of("kilo"));
}

#[test]
fn a_pause_before_the_first_turn_starts_anew() {
    acts::pause_before_the_first_turn(&Stage::of("kilo"));
}

#[test]
fn its_conversation_is_in_the_log() {
    acts::tell_what_was_said(&Stage::of("kilo"));
}

#[test]
fn its_dialog_is_answered() {
    acts::answer_a_dialog(&Stage::of("kilo"));
}
