//! Pushes the branch of an instance and opens a pull request for it.

use serde::Serialize;

use crate::engine::base::{Core, Error, Scope};
use crate::git::{Opened, PullRequest, Repo};
use crate::model::Title;

/// How a pull request is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PullRequestOptions {
    pub draft: bool,
    /// Title and text from the commits, not from the prompt.
    pub fill: bool,
}

/// A pull request, or where one can be opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PullRequestView {
    pub title: Title,
    pub branch: String,
    pub base: String,
    pub remote: String,
    /// The address of the pull request, or of the page on which it can be opened.
    pub url: Option<String>,
    pub opened: bool,
}

impl Core {
    /// Pushes what is committed, then opens a pull request by `gh` or `glab`.
    pub(crate) fn pull_request(
        &self,
        given: &str,
        options: PullRequestOptions,
    ) -> Result<PullRequestView, Error> {
        let pushed = self.push(given)?;
        let record = self.find(given, Scope::Living)?.record;
        let repository = Repo::discover(&record.repository.root)?;
        let base = record.base.name.as_str();
        let base = base.strip_prefix("refs/heads/").unwrap_or(base);
        // A base that was named as the remote's is a branch there.
        let of_remote = format!("{}/", pushed.remote);
        let base = base.strip_prefix(&of_remote).unwrap_or(base).to_owned();
        let prompt = record.prompt.as_deref().unwrap_or_default().trim();
        let first = prompt.lines().next().unwrap_or_default();
        let request = PullRequest {
            branch: &pushed.branch,
            base: &base,
            title: if first.is_empty() {
                record.title.as_str()
            } else {
                first
            },
            body: prompt,
            draft: options.draft,
            fill: options.fill,
        };
        let opened = repository.open_pull_request(&pushed.remote, &request)?;
        let (url, opened) = match opened {
            Opened::At(url) => (Some(url), true),
            Opened::ByHand(page) => (page, false),
        };
        Ok(PullRequestView {
            title: record.title,
            branch: pushed.branch,
            remote: pushed.remote,
            base,
            url,
            opened,
        })
    }
}
