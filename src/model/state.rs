//! Where an instance is in its life.

use serde::{Deserialize, Serialize};

/// A state that lasts, and so the only kind that is stored. Everything "-ing" is the fact that an
/// operation's journal is open; it can never be left behind by a crash as a lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Resting {
    Running,
    Paused,
    /// The agent exited with 0.
    Completed,
    /// The agent exited otherwise.
    Failed,
    /// It ran, and its session, its tmux server or its machine went away: nothing of its own failed.
    Interrupted,
    /// Out of the list; kept for `undo-kill` and the run history.
    Killed,
}

/// What people and scripts see.
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
    Completed,
    Failed,
    Interrupted,
    Killed,
}

impl State {
    pub(crate) const ALL: [Self; 11] = [
        Self::Creating,
        Self::Running,
        Self::Pausing,
        Self::Paused,
        Self::Resuming,
        Self::Restarting,
        Self::Killing,
        Self::Completed,
        Self::Failed,
        Self::Interrupted,
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
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Killed => "killed",
        }
    }
}

impl From<Resting> for State {
    fn from(resting: Resting) -> Self {
        match resting {
            Resting::Running => Self::Running,
            Resting::Paused => Self::Paused,
            Resting::Completed => Self::Completed,
            Resting::Failed => Self::Failed,
            Resting::Interrupted => Self::Interrupted,
            Resting::Killed => Self::Killed,
        }
    }
}
