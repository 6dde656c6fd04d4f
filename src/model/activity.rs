//! What an agent is doing right now, as observed; never stored as truth.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Activity {
    /// A turn is under way.
    Busy,
    /// At its input prompt. Work that it has started may go on in the background.
    Idle,
    /// A yes/no or permission dialog is open.
    Approval,
    /// A multiple-choice or free question is open.
    Question,
    /// Login, trust, usage limit: something that only the user can resolve.
    Blocked,
    /// A menu of the agent itself (its models, its settings) that the user has opened covers the prompt.
    Menu,
    /// Its process has ended.
    Exited,
    Unknown,
}

impl Activity {
    /// Whether the agent goes no further without its user.
    pub(crate) fn needs_you(self) -> bool {
        matches!(
            self,
            Self::Approval | Self::Question | Self::Blocked | Self::Menu
        )
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Idle => "idle",
            Self::Approval => "approval",
            Self::Question => "question",
            Self::Blocked => "blocked",
            Self::Menu => "menu",
            Self::Exited => "exited",
            Self::Unknown => "unknown",
        }
    }
}
