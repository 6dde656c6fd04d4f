//! The options of operations and their results. Some of them are written into the journal.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::WorktreeOnPause;
use crate::engine::base::view::InstanceView;
use crate::model::PauseReason;

/// The file that asks a running pause to take itself back.
pub(in crate::engine) const CANCEL: &str = "cancel";

/// What was asked of a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PauseOptions {
    /// How long to wait for the turn to end; None: as long as it takes.
    pub wait: Option<Duration>,
    pub worktree: WorktreeOnPause,
    pub reason: PauseReason,
}

/// The result of a request for a state that the instance may already have.
#[derive(Debug)]
pub(crate) enum StateChange {
    Done(Box<InstanceView>),
    /// The instance had that state already; nothing was changed.
    Already(Box<InstanceView>),
}

impl StateChange {
    pub(crate) fn view(&self) -> &InstanceView {
        match self {
            Self::Done(view) | Self::Already(view) => view,
        }
    }

    pub(crate) fn into_view(self) -> InstanceView {
        match self {
            Self::Done(view) | Self::Already(view) => *view,
        }
    }
}

/// The prompt for the resumed agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PromptOnResume {
    /// As `resume.prompt` says.
    AsConfigured,
    Nothing,
    This(String),
}

/// What to do with saved changes that conflict with a branch that was moved meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnConflict {
    /// Nothing is changed; the instance stays paused.
    Stop,
    /// What was saved is restored as it was, on a branch of its own.
    Keep,
    /// Both versions, between conflict markers; what is in the way is moved aside.
    Markers,
}

#[derive(Debug, Clone)]
pub(crate) struct ResumeOptions {
    pub prompt: PromptOnResume,
    pub on_conflict: OnConflict,
}

impl ResumeOptions {
    /// For an instance that is woken by a message or by attaching.
    pub(in crate::engine) fn quiet() -> Self {
        Self {
            prompt: PromptOnResume::AsConfigured,
            on_conflict: OnConflict::Stop,
        }
    }
}

/// How the agent is to be launched again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::engine) enum Launch {
    /// A new conversation.
    Fresh,
    /// A new conversation under the reference that was given before: there was no turn yet.
    SameReference,
    /// The agent's own resume, by its explicit reference.
    Native,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KillOptions {
    pub delete_branch: bool,
}

/// What a kill is to do, as the journal keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::engine) struct KillOrder {
    pub delete_branch: bool,
    /// The repository is away, so nothing can be saved in it: files and branch stay as they are.
    pub leave_worktree: bool,
    /// The agent was in the middle of a turn.
    #[serde(default)]
    pub busy: bool,
}
