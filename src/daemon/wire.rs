//! The protocol of the daemon's socket: JSON lines, the version first.

use serde::{Deserialize, Serialize};

use crate::engine::Verb;
use crate::model::{Activity, InstanceId, Timestamp};

/// Incremented when the protocol changes incompatibly.
pub(crate) const PROTOCOL: u32 = 1;
/// The longest request.
pub(crate) const LONGEST_REQUEST: usize = 64 * 1024;
/// The longest answer.
pub(crate) const LONGEST_ANSWER: u64 = 4 * 1024 * 1024;

/// The first line of each connection, from the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// Its version.
    pub bivouac: String,
    pub protocol: u32,
    pub pid: u32,
    pub started_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(crate) enum Request {
    Status,
    /// The activity of every agent, without calling tmux.
    Activities,
    /// Events as they happen; with `bells` also a line for each output of an agent.
    Subscribe {
        #[serde(default)]
        bells: bool,
    },
    Stop,
}

impl Request {
    /// The verb of the request, for the check of rights.
    pub(crate) fn verb(&self) -> Verb {
        match self {
            Self::Status | Self::Activities | Self::Subscribe { .. } => Verb::Look,
            Self::Stop => Verb::StopDaemon,
        }
    }
}

/// The answer to a request, one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    Status(Status),
    Activities(Vec<InstanceActivity>),
    /// The request is being carried out.
    Done,
    Refused(String),
}

/// As `biv daemon status --json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Status {
    pub running: bool,
    pub pid: Option<u32>,
    pub version: Option<String>,
    pub started_at: Option<Timestamp>,
    /// How many agents it watches.
    pub watching: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstanceActivity {
    pub instance: InstanceId,
    pub activity: Option<Activity>,
    pub last_line: Option<String>,
}
