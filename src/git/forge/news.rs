//! What a forge says about a pull request.

use crate::model::PullRequestStanding;

/// The answer of a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForgeAnswer {
    pub standing: PullRequestStanding,
    /// Failed checks and comments, the oldest first.
    pub news: Vec<News>,
}

/// Something that the author of a pull request has to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct News {
    /// The same for the same thing, at every question.
    pub key: String,
    pub what: NewsKind,
    pub url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NewsKind {
    FailedCheck {
        name: String,
        commit: String,
    },
    Comment {
        author: String,
        /// File and line, where it is about one.
        place: Option<String>,
        hunk: Option<String>,
        text: String,
    },
}
