//! The state of an instance.

use serde::{Deserialize, Serialize};

/// A state at rest: the only kind that is stored. States that end in "-ing" are derived from an open
/// journal, so that a crash can leave none behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RestingState {
    Running,
    Paused,
    /// The agent exited with 0.
    Completed,
    /// The agent exited with another status.
    Failed,
    /// Its session, tmux server or machine went down while it ran; the agent itself did not fail.
    Interrupted,
    /// Another machine has it; see the record's lease.
    Away,
    /// Not listed; kept for `undo-kill` and the run history.
    Killed,
}

/// The state that users and scripts see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Creating,
    Running,
    Pausing,
    Paused,
    Resuming,
    Restarting,
    Killing,
    /// The target of its work moves; the instance may be ended with it.
    Landing,
    Completed,
    Failed,
    Interrupted,
    /// Another machine has it.
    Away,
    Killed,
}

impl State {
    pub(crate) const ALL: [Self; 13] = [
        Self::Creating,
        Self::Running,
        Self::Pausing,
        Self::Paused,
        Self::Resuming,
        Self::Restarting,
        Self::Killing,
        Self::Landing,
        Self::Completed,
        Self::Failed,
        Self::Interrupted,
        Self::Away,
        Self::Killed,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::Running => "running",
            Self::Pausing => "pausing",
            Self::Paused => "paused",
            Self::Resuming => "resuming",
            Self::Restarting => "restarting",
            Self::Killing => "killing",
            Self::Landing => "landing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Away => "away",
            Self::Killed => "killed",
        }
    }
}

impl From<RestingState> for State {
    fn from(resting: RestingState) -> Self {
        match resting {
            RestingState::Running => Self::Running,
            RestingState::Paused => Self::Paused,
            RestingState::Completed => Self::Completed,
            RestingState::Failed => Self::Failed,
            RestingState::Interrupted => Self::Interrupted,
            RestingState::Away => Self::Away,
            RestingState::Killed => Self::Killed,
        }
    }
}
