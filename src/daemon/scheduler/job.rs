//! What the scheduler asks for, what it is told about the result, and what it announces.

use crate::daemon::notices::Notice;
use crate::engine::{AutoyesOutcome, DraftReturn, FeedResult, Suspended};
use crate::model::{Activity, PauseReason, Timestamp, TurnEnd};

/// Work for an engine verb. One at a time for each instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::daemon) enum Job {
    /// Records that its agent has ended.
    Settle,
    /// Sends the next prompt of its queue.
    Feed,
    /// Records that the turn of the queue's prompt is over.
    Finish(TurnEnd),
    Suspend(PauseReason),
    /// Types what stood in its input box before a pause.
    ReturnDraft,
    /// Takes up the work again after a usage limit.
    Continue,
    /// Answers the dialog that it shows, by the policy.
    Answer,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::daemon) enum Done {
    Settled,
    FeedResult(FeedResult),
    Finished,
    Returned(DraftReturn),
    Suspended(Suspended),
    Continued(FeedResult),
    Answered(AutoyesOutcome),
    /// It could not be done; the reason is in the log.
    Failed,
}

/// A change to announce: as an event or as a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::daemon) enum Announcement {
    Activity {
        activity: Activity,
        previous: Option<Activity>,
        /// When its usage limit resets.
        until: Option<Timestamp>,
    },
    Notice(Notice),
}
