//! What is asked of a landing, and what came of it.

use serde::Serialize;

use crate::engine::base::view::InstanceView;
use crate::engine::operate::setup::Consent;

#[derive(Debug, Clone)]
pub(crate) struct LandOptions {
    /// The branch to land on; None: as configured, else the base.
    pub into: Option<String>,
    pub how: LandHow,
    pub message: Option<String>,
    /// Land what is uncommitted too.
    pub commit: bool,
    /// A command to run on the result; None: that of the repository.
    pub check: Option<String>,
    /// The consent to the repository's check; refused: none runs.
    pub check_consent: Consent,
    /// The consent to the repository's set-up, in the worktree of the check.
    pub setup_consent: Consent,
    /// Run no commit hooks, although the settings say so.
    pub no_hooks: bool,
    /// Leave the instance as it is.
    pub keep: bool,
    /// Delete the branch also where single commits of it are not in the target.
    pub delete_branch: bool,
}

impl Default for LandOptions {
    /// What is committed, by the settings of the repository.
    fn default() -> Self {
        Self {
            into: None,
            how: LandHow::Merge,
            message: None,
            commit: false,
            check: None,
            check_consent: Consent::AsBefore,
            setup_consent: Consent::AsBefore,
            no_hooks: false,
            keep: false,
            delete_branch: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LandHow {
    Merge,
    Squash,
    Rebase,
}

/// What became of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LandedBy {
    /// The target had everything already.
    AlreadyThere,
    FastForward,
    Merge,
    Squash,
    Rebase,
}

/// An instance that has landed, or would land.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Landed {
    pub instance: InstanceView,
    pub target: String,
    /// Where the target was before.
    pub before: String,
    /// Where the target is since.
    pub commit: String,
    pub by: LandedBy,
    /// How many commits of the instance the target has got.
    pub commits: u64,
    pub files: usize,
    /// The check that has passed.
    pub check: Option<String>,
    /// Whether the instance goes on.
    pub kept: bool,
    pub branch_deleted: bool,
    pub dry_run: bool,
}

impl Landed {
    /// What happened, and how it is taken back, in a few sentences.
    pub(crate) fn told(&self) -> String {
        let Self {
            instance, target, ..
        } = self;
        let by = match self.by {
            LandedBy::AlreadyThere => "which had everything already",
            LandedBy::FastForward => "by fast-forward",
            LandedBy::Merge => "by a merge",
            LandedBy::Squash => "as one commit",
            LandedBy::Rebase => "by a rebase",
        };
        let verb = if self.dry_run { "Would land" } else { "Landed" };
        let ended = match (self.kept, self.dry_run, self.branch_deleted) {
            (true, ..) => "",
            (_, true, _) => " The instance would be ended.",
            (.., true) => " The instance is ended, and its branch deleted.",
            (.., false) => " The instance is ended; its branch stays.",
        };
        let undo = if self.dry_run || self.before == self.commit {
            String::new()
        } else {
            format!(" Take it back with: biv undo-land {}", instance.id)
        };
        format!(
            "{verb} `{}` on `{target}` {by}: {}, {}, now at {}.{ended}{undo}",
            instance.title,
            count(self.commits, "commit"),
            count(self.files as u64, "file"),
            short_commit(&self.commit)
        )
    }
}

fn count(number: u64, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}

/// Enough of a commit's name for a person.
pub(crate) fn short_commit(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
