//! Events of a home, for subscribers. Written after the state is consistent on disk.

use serde::{Deserialize, Serialize};

use super::{InstanceId, Timestamp, Title};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Event {
    pub at: Timestamp,
    #[serde(rename = "type")]
    pub kind: EventKind,
    pub instance: Option<InstanceId>,
    pub title: Option<Title>,
    /// Further fields of this kind of event.
    pub data: serde_json::Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EventKind {
    #[serde(rename = "instance:created")]
    Created,
    #[serde(rename = "instance:running")]
    Running,
    #[serde(rename = "instance:pausing")]
    Pausing,
    #[serde(rename = "instance:paused")]
    Paused,
    #[serde(rename = "instance:resuming")]
    Resuming,
    #[serde(rename = "instance:resumed")]
    Resumed,
    #[serde(rename = "instance:completed")]
    Completed,
    #[serde(rename = "instance:failed")]
    Failed,
    #[serde(rename = "instance:interrupted")]
    Interrupted,
    #[serde(rename = "instance:killed")]
    Killed,
    #[serde(rename = "instance:landed")]
    Landed,
    #[serde(rename = "instance:unlanded")]
    Unlanded,
    /// Handed over to another machine.
    #[serde(rename = "instance:moved")]
    Moved,
    /// Another machine has handed it over.
    #[serde(rename = "instance:arrived")]
    Arrived,
    #[serde(rename = "autoyes:answered")]
    AutoyesAnswered,
    #[serde(rename = "autoyes:rejected")]
    AutoyesRejected,
    #[serde(rename = "autoyes:manual")]
    AutoyesManual,
    #[serde(rename = "autoyes:stopped")]
    AutoyesStopped,
    /// The seal of an agent has refused a connection.
    #[serde(rename = "seal:denied")]
    SealDenied,
    #[serde(rename = "instance:activity")]
    Activity,
    #[serde(rename = "queue:added")]
    QueueAdded,
    #[serde(rename = "queue:started")]
    QueueStarted,
    #[serde(rename = "queue:done")]
    QueueDone,
    /// A turn failed; the queue has stopped with it.
    #[serde(rename = "queue:failed")]
    QueueFailed,
    #[serde(rename = "queue:cleared")]
    QueueCleared,
    /// The work was taken up again after a usage limit.
    #[serde(rename = "limit:continued")]
    LimitContinued,
    /// More agents run than `limits.active` allows.
    #[serde(rename = "orchestrator:crowded")]
    Crowded,
    #[serde(rename = "compacted")]
    Compacted,
    #[serde(rename = "orchestrator:paused")]
    CampPaused,
    #[serde(rename = "orchestrator:resumed")]
    CampResumed,
}
