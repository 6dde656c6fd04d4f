//! Background jobs of the UI.

use super::dialog::Dialog;
use crate::model::{InstanceId, State as InstanceState};

/// A background job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Job {
    pub number: u64,
    pub verb: Verb,
    /// None for a new instance, and for jobs that concern all.
    pub id: Option<InstanceId>,
    pub title: String,
    /// Its current step.
    pub step: String,
    /// The form that it came from, with its content.
    pub form: Option<Dialog>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Create,
    Pause,
    /// A pause by ctrl+c.
    Interrupt,
    CancelPause,
    Resume,
    Restart,
    Kill,
    UndoKill,
    Send,
    Enqueue,
    Answer,
    Comment,
    SendReview,
    /// A prompt that is being sent is cancelled.
    Unsend,
    Push,
    Land,
    Rename,
    Autoyes,
    PauseAll,
    ResumeAll,
}

impl Verb {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Create => "creating",
            Self::Pause | Self::Interrupt => "pausing",
            Self::CancelPause => "taking back the pause of",
            Self::Resume => "resuming",
            Self::Restart => "restarting",
            Self::Kill => "killing",
            Self::UndoKill => "bringing back",
            Self::Send => "sending to",
            Self::Enqueue => "queueing for",
            Self::Answer => "answering",
            Self::Comment => "keeping a comment on",
            Self::SendReview => "sending the comments to",
            Self::Unsend => "taking back the prompt to",
            Self::Push => "pushing",
            Self::Land => "landing",
            Self::Rename => "renaming",
            Self::Autoyes => "setting autoyes of",
            Self::PauseAll => "pausing all",
            Self::ResumeAll => "resuming all",
        }
    }

    /// The state of an instance while this job runs.
    pub(super) fn state(self) -> Option<InstanceState> {
        match self {
            Self::Pause | Self::Interrupt => Some(InstanceState::Pausing),
            Self::Resume => Some(InstanceState::Resuming),
            Self::Restart => Some(InstanceState::Restarting),
            Self::Kill => Some(InstanceState::Killing),
            Self::Create
            | Self::CancelPause
            | Self::UndoKill
            | Self::Send
            | Self::Enqueue
            | Self::Answer
            | Self::Comment
            | Self::SendReview
            | Self::Unsend
            | Self::Push
            | Self::Land
            | Self::Rename
            | Self::Autoyes
            | Self::PauseAll
            | Self::ResumeAll => None,
        }
    }
}
