//! The pull request of an instance: opened after a push, and asked about, at most once a minute.

use std::time::Duration;

use serde::Serialize;

use crate::engine::base::time_scale::scaled;
use crate::engine::base::view::PullRequestInfo;
use crate::engine::base::{Core, Error, Scope, now};
use crate::git::{ForgeAnswer, Opened, PullRequest, Repo, ask_forge, pull_request_number};
use crate::model::{InstanceId, InstanceRecord, PullRequestRecord, RestingState, Title};
use crate::store::InstanceDir;

/// A forge is asked no more often about the same pull request.
const INTERVAL: Duration = Duration::from_secs(60);

/// How a pull request is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PullRequestOptions {
    pub draft: bool,
    /// Title and text from the commits, not from the prompt.
    pub fill: bool,
    /// Failed checks and review comments become prompts from now on.
    pub watch: bool,
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
    /// There was one for this branch already.
    pub existing: bool,
    /// Failed checks and review comments become prompts.
    pub watched: bool,
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
        let existing = matches!(opened, Opened::Already(_));
        let (url, opened) = match opened {
            Opened::At(url) | Opened::Already(url) => (Some(url), true),
            Opened::ByHand(page) => (page, false),
        };
        let number = url
            .as_deref()
            .filter(|_| opened)
            .and_then(pull_request_number);
        let dir = self.store.instance(&record.id);
        let watched = match (number, &url) {
            (Some(number), Some(url)) => dir.change_pull_request(|known| {
                // Another one for the same branch begins from nothing.
                let kept = known.take().filter(|kept| kept.url == *url);
                let kept = kept.unwrap_or_else(|| PullRequestRecord::new(url.clone(), number));
                let watched = kept.watched || options.watch;
                *known = Some(PullRequestRecord {
                    watched,
                    // What was pushed has changed it.
                    asked_at: None,
                    ..kept
                });
                watched
            })?,
            _ => false,
        };
        Ok(PullRequestView {
            title: record.title,
            branch: pushed.branch,
            remote: pushed.remote,
            base,
            url,
            opened,
            existing,
            watched,
        })
    }

    /// Stops passing failed checks and comments on to the agent.
    pub(crate) fn unwatch_pull_request(&self, given: &str) -> Result<PullRequestView, Error> {
        let found = self.find(given, Scope::Living)?;
        let url = found.dir.change_pull_request(|known| {
            let known = known.as_mut()?;
            known.watched = false;
            Some(known.url.clone())
        })?;
        let record = found.record;
        let Some(url) = url else {
            return Err(Error::NoPullRequest {
                title: record.title,
            });
        };
        Ok(PullRequestView {
            title: record.title,
            branch: record.branch.map(|branch| branch.name).unwrap_or_default(),
            base: record.base.name,
            remote: String::new(),
            url: Some(url),
            opened: true,
            existing: true,
            watched: false,
        })
    }

    /// What is known of the pull request of an instance. The forge is asked if the last answer is older than a
    /// minute; what goes wrong is kept beside that answer.
    pub(crate) fn refreshed_pull_request(&self, id: &InstanceId) -> Option<PullRequestInfo> {
        let dir = self.store.instance(id);
        let record = dir.record().ok()?;
        if record.state != RestingState::Killed
            && let Err(error) = ask_if_due(&dir, &record)
        {
            tracing::debug!(error = %error.told(), "ask a forge");
        }
        dir.pull_request().ok().flatten().map(Into::into)
    }
}

/// What the forge says; None where there is nothing to ask, or it was asked a moment ago.
pub(in crate::engine) fn ask_if_due(
    dir: &InstanceDir,
    record: &InstanceRecord,
) -> Result<Option<ForgeAnswer>, Error> {
    // The file of an instance without a pull request is not even locked.
    if dir.pull_request()?.is_none_or(|known| known.is_over()) {
        return Ok(None);
    }
    // The time is written first, so that two processes do not both ask.
    let url = dir.change_pull_request(|known| {
        let known = known.as_mut()?;
        let due = known
            .asked_at
            .is_none_or(|at| at.until(now()) >= scaled(INTERVAL));
        due.then(|| {
            known.asked_at = Some(now());
            known.url.clone()
        })
    })?;
    let Some(url) = url else { return Ok(None) };
    let asked = ask_forge(&record.repository.root, &url);
    let trouble = match &asked {
        Ok(Some(_)) => None,
        Ok(None) => Some("the forge does not know it".to_owned()),
        Err(_) => asked.as_ref().err().map(told),
    };
    dir.change_pull_request(|known| {
        if let Some(known) = known.as_mut().filter(|known| known.url == url) {
            known.trouble = trouble;
            if let Ok(Some(answer)) = &asked {
                known.known = Some(answer.standing);
            }
        }
    })?;
    Ok(asked?)
}

/// In one line, with its causes.
fn told(error: &crate::git::GitError) -> String {
    let cause = std::error::Error::source(error);
    match cause {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
