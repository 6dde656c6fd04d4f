//! The run history of an instance: one record per run, linked to its predecessor.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{InstanceId, PauseReason, RunId, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    pub format: u32,
    pub run_id: RunId,
    pub instance_id: InstanceId,
    pub state: RunState,
    pub provider: String,
    pub provider_session_ref: Option<String>,
    pub resumable: bool,
    pub repo_root: PathBuf,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub paused_at: Option<Timestamp>,
    pub pause_reason: Option<PauseReason>,
    pub resumed_from_run_id: Option<RunId>,
    pub restart_of_run_id: Option<RunId>,
    pub superseded_by_run_id: Option<RunId>,
    pub exit_code: Option<i32>,
}

impl RunRecord {
    /// As for [`super::InstanceRecord`].
    pub(crate) const FORMAT: u32 = 2;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunState {
    Running,
    Paused,
    Completed,
    Failed,
    Interrupted,
    Killed,
    /// Replaced by a restart.
    Superseded,
}

impl RunState {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Killed => "killed",
            Self::Superseded => "superseded",
        }
    }
}
