//! What is known of the pull request of an instance.

use serde::{Deserialize, Serialize};

use super::Timestamp;

/// The pull request of an instance, and what its forge said last. It has its own file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PullRequestRecord {
    pub format: u32,
    pub url: String,
    pub number: u64,
    /// Failed checks and new comments become prompts.
    pub watched: bool,
    /// When the forge was asked last, whether it answered or not.
    pub asked_at: Option<Timestamp>,
    pub known: Option<PullRequestStanding>,
    /// Why the last question had no answer.
    pub trouble: Option<String>,
    /// The checks and comments that the agent was told of.
    pub told: Vec<String>,
}

/// What a forge says about a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PullRequestStanding {
    pub state: PullRequestState,
    /// None where no review is asked for.
    pub review: Option<ReviewState>,
    /// None where there are no checks.
    pub checks: Option<ChecksState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PullRequestState {
    Open,
    Draft,
    Merged,
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReviewState {
    Approved,
    ChangesRequested,
    Required,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChecksState {
    Passed,
    Failed,
    Pending,
}

impl PullRequestRecord {
    pub(crate) const FORMAT: u32 = 1;

    pub(crate) fn new(url: String, number: u64) -> Self {
        Self {
            format: Self::FORMAT,
            url,
            number,
            watched: false,
            asked_at: None,
            known: None,
            trouble: None,
            told: Vec::new(),
        }
    }

    /// Nothing is asked any more about one that is merged or closed.
    pub(crate) fn is_over(&self) -> bool {
        self.known.is_some_and(|known| {
            matches!(
                known.state,
                PullRequestState::Merged | PullRequestState::Closed
            )
        })
    }
}

impl PullRequestStanding {
    /// In a few words: `open, approved, checks failed`.
    pub(crate) fn words(self) -> String {
        let state = match self.state {
            PullRequestState::Open => "open",
            PullRequestState::Draft => "draft",
            PullRequestState::Merged => "merged",
            PullRequestState::Closed => "closed",
        };
        let review = self.review.map(|review| match review {
            ReviewState::Approved => "approved",
            ReviewState::ChangesRequested => "changes requested",
            ReviewState::Required => "review required",
        });
        let checks = self.checks.map(|checks| match checks {
            ChecksState::Passed => "checks passed",
            ChecksState::Failed => "checks failed",
            ChecksState::Pending => "checks pending",
        });
        let parts: Vec<&str> = [Some(state), review, checks]
            .into_iter()
            .flatten()
            .collect();
        parts.join(", ")
    }

    /// As short as a column needs it: `✗ approved`.
    pub(crate) fn marks(self) -> String {
        let state = match self.state {
            PullRequestState::Open => None,
            PullRequestState::Draft => Some("draft"),
            PullRequestState::Merged => return "merged".to_owned(),
            PullRequestState::Closed => return "closed".to_owned(),
        };
        let checks = self.checks.map(|checks| match checks {
            ChecksState::Passed => "✓",
            ChecksState::Failed => "✗",
            ChecksState::Pending => "…",
        });
        let review = self.review.and_then(|review| match review {
            ReviewState::Approved => Some("approved"),
            ReviewState::ChangesRequested => Some("changes"),
            ReviewState::Required => None,
        });
        let parts: Vec<&str> = [checks, state, review].into_iter().flatten().collect();
        parts.join(" ")
    }
}
