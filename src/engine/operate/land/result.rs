//! The result of a landing, computed from commits alone.

use std::path::PathBuf;

use crate::engine::base::{Error, LandError};
use crate::engine::operate::land::hooks::LandHooks;
use crate::engine::operate::land::options::{LandHow, LandedBy};
use crate::engine::operate::land::source::{Source, subject_of_work};
use crate::git::Repo;
use crate::git::landing::{Author, FastForward, MadeCommit, Merged, Replayed};
use crate::model::InstanceRecord;

/// Where the target is to move.
pub(super) struct Computed {
    pub commit: String,
    pub by: LandedBy,
    /// How many commits of the instance the target had not.
    pub commits: u64,
    /// Commits that became empty and were left out.
    pub dropped: usize,
}

/// What is landed onto what.
pub(super) struct Request<'a> {
    pub record: &'a InstanceRecord,
    pub source: &'a Source,
    pub target: &'a str,
    /// Where the target is now.
    pub onto: &'a str,
    pub how: LandHow,
    pub message: Option<&'a str>,
}

pub(super) fn compute(
    repository: &Repo,
    request: &Request<'_>,
    hooks: &LandHooks<'_>,
) -> Result<Computed, Error> {
    let (source, onto) = (request.source.commit.as_str(), request.onto);
    // Two independent calls run side by side.
    let (apart, setting) = std::thread::scope(|scope| {
        let setting = (request.how == LandHow::Merge)
            .then(|| scope.spawn(|| repository.fast_forward_setting()));
        let apart = repository.count_apart(source, onto);
        (apart, setting.and_then(|setting| setting.join().ok()))
    });
    let (commits, behind) = apart?;
    if commits == 0 {
        return Ok(Computed {
            commit: onto.to_owned(),
            by: LandedBy::AlreadyThere,
            commits: 0,
            dropped: 0,
        });
    }
    if behind > 0 && !repository.have_common_history(source, onto)? {
        return Err(LandError::Unrelated {
            title: request.record.title.clone(),
            target: request.target.to_owned(),
        }
        .into());
    }
    let straight = behind == 0;
    let (commit, by, dropped) = match request.how {
        LandHow::Merge => {
            let setting = match setting {
                Some(setting) => setting?,
                None => repository.fast_forward_setting()?,
            };
            merge(repository, request, (setting, straight), hooks)?
        }
        LandHow::Squash => squash(repository, request, hooks)?,
        LandHow::Rebase if straight && !repository.has_merges(onto, source)? => {
            (source.to_owned(), LandedBy::FastForward, 0)
        }
        LandHow::Rebase => rebase(repository, request)?,
    };
    Ok(Computed {
        commit,
        by,
        commits,
        dropped,
    })
}

type Made = (String, LandedBy, usize);

fn merge(
    repository: &Repo,
    request: &Request<'_>,
    (setting, straight): (FastForward, bool),
    hooks: &LandHooks<'_>,
) -> Result<Made, Error> {
    let source = &request.source.commit;
    match (setting, straight) {
        (FastForward::WherePossible | FastForward::Only, true) => {
            return Ok((source.clone(), LandedBy::FastForward, 0));
        }
        (FastForward::Only, false) => {
            return Err(LandError::FastForwardOnly {
                title: request.record.title.clone(),
                target: request.target.to_owned(),
            }
            .into());
        }
        (FastForward::WherePossible | FastForward::Never, _) => {}
    }
    let tree = merged_tree(repository, request)?;
    let message = request.message.map_or_else(
        || {
            let name = request.source.seen.branch.clone();
            let name = name.unwrap_or_else(|| request.record.title.to_string());
            format!("Merge branch '{name}' into {}\n", request.target)
        },
        str::to_owned,
    );
    let (tree, message) = hooks.settle(MadeCommit::Merge, request.onto, tree, message)?;
    let parents = [request.onto, source];
    let commit = repository.commit_tree(&tree, &parents, message.as_bytes(), &Author::User)?;
    Ok((commit, LandedBy::Merge, 0))
}

fn squash(repository: &Repo, request: &Request<'_>, hooks: &LandHooks<'_>) -> Result<Made, Error> {
    let tree = merged_tree(repository, request)?;
    let message = match request.message {
        Some(message) => message.to_owned(),
        None => squash_message(repository, request)?,
    };
    let (tree, message) = hooks.settle(MadeCommit::Plain, request.onto, tree, message)?;
    let parents = [request.onto];
    let commit = repository.commit_tree(&tree, &parents, message.as_bytes(), &Author::User)?;
    Ok((commit, LandedBy::Squash, 0))
}

/// The message of the only commit, else the task and what was done for it.
fn squash_message(repository: &Repo, request: &Request<'_>) -> Result<String, Error> {
    let subjects = repository.subjects(request.onto, &request.source.commit)?;
    if subjects.len() == 1 {
        let (_, message) = repository.authorship_of(&request.source.commit)?;
        return Ok(String::from_utf8_lossy(&message).into_owned());
    }
    let list: Vec<String> = subjects.iter().map(|line| format!("- {line}")).collect();
    Ok(format!(
        "{}\n\n{}\n",
        subject_of_work(request.record),
        list.join("\n")
    ))
}

fn rebase(repository: &Repo, request: &Request<'_>) -> Result<Made, Error> {
    match repository.replay(&request.source.commit, request.onto)? {
        Replayed::Done { commit, dropped } => Ok((commit, LandedBy::Rebase, dropped)),
        Replayed::Conflict { subject, files } => Err(conflict(request, &files, Some(subject))),
    }
}

fn merged_tree(repository: &Repo, request: &Request<'_>) -> Result<String, Error> {
    match repository.merge_commits(request.onto, &request.source.commit)? {
        Merged::Clean { tree } => Ok(tree),
        Merged::Conflict { files } => Err(conflict(request, &files, None)),
    }
}

fn conflict(request: &Request<'_>, files: &[PathBuf], subject: Option<String>) -> Error {
    LandError::Conflict {
        title: request.record.title.clone(),
        target: request.target.to_owned(),
        files: files
            .iter()
            .map(|file| file.display().to_string())
            .collect(),
        subject,
    }
    .into()
}
