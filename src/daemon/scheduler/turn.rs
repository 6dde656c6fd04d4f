//! How the turn of a prompt from the queue ends.

use crate::model::{State, TurnEnd};

/// Why it ends before the agent is through with it; None where it may still end well. `blocked`: something is open that
/// only the user can settle; `limited`: a usage limit.
pub(super) fn broken_off(state: State, blocked: bool, limited: bool) -> Option<&'static str> {
    match state {
        State::Interrupted => {
            Some("the agent was interrupted in its turn: resume it, look how far it came")
        }
        State::Completed | State::Failed => Some("the agent has ended"),
        State::Running if blocked && limited => {
            Some("its usage limit was reached in this turn: look how far it came")
        }
        State::Running if blocked => Some("the agent is blocked"),
        _ => None,
    }
}

/// The end of a turn whose agent is at its prompt again. `failed`: what it says of an error of the model's service.
/// The next prompt would meet the same error, so the queue stops.
pub(super) fn at_its_prompt(failed: Option<&str>) -> TurnEnd {
    match failed {
        Some(failed) => {
            TurnEnd::Failed(format!("the model's service has ended its turn: {failed}"))
        }
        None => TurnEnd::Done,
    }
}
