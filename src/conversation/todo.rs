//! One task of an agent's list.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Todo {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default)]
    pub content: String,
    #[serde(default)]
    pub status: String,
}

impl Todo {
    pub(crate) fn new(content: impl Into<String>, status: impl Into<String>) -> Self {
        Self {
            id: None,
            content: content.into(),
            status: status.into(),
        }
    }

    /// Whatever is not known to be over is still to do.
    pub(super) fn is_open(&self) -> bool {
        !self.content.is_empty()
            && !matches!(
                self.status.as_str(),
                "completed"
                    | "complete"
                    | "done"
                    | "cancelled"
                    | "canceled"
                    | "deleted"
                    | "skipped"
            )
    }
}
