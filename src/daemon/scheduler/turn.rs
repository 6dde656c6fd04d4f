//! Why the turn of a prompt from the queue ends before the agent is through with it.

use crate::model::State;

/// None where it may still end well. `blocked`: something is open that only the user can settle; `limited`: a usage limit.
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
