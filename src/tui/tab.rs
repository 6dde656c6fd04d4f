//! The tabs beside the list.

use super::message::Pane;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Preview,
    Diff,
    Conversation,
    Runs,
    /// The user's own shell in the worktree.
    Shell,
}

impl Tab {
    pub(super) const ALL: [Self; 5] = [
        Self::Preview,
        Self::Diff,
        Self::Conversation,
        Self::Runs,
        Self::Shell,
    ];

    /// The terminal that it shows.
    pub(super) fn pane(self) -> Option<Pane> {
        match self {
            Self::Preview => Some(Pane::Agent),
            Self::Shell => Some(Pane::Shell),
            Self::Diff | Self::Conversation | Self::Runs => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Preview => "Preview",
            Self::Diff => "Diff",
            Self::Conversation => "Conversation",
            Self::Runs => "Runs",
            Self::Shell => "Shell",
        }
    }

    /// For a narrow screen.
    pub(super) fn short_name(self) -> &'static str {
        match self {
            Self::Preview => "Prev",
            Self::Conversation => "Conv",
            Self::Shell => "Sh",
            Self::Diff | Self::Runs => self.name(),
        }
    }
}
