//! The merge of two commits, and commits replayed onto another, without a checkout.

use std::path::PathBuf;

use super::commit::Author;
use crate::git::call::{SLOW, bytes_to_path, fetching, fields, require_version};
use crate::git::{GitError, Repo};

/// `merge-tree --write-tree` came with 2.38, its `--merge-base` with 2.40.
const MERGE_TREE: (u32, u32) = (2, 40);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Merged {
    Clean { tree: String },
    Conflict { files: Vec<PathBuf> },
}

/// What became of commits that were replayed one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Replayed {
    Done {
        commit: String,
        /// Commits that changed nothing any more on top of the others.
        dropped: usize,
    },
    Conflict {
        /// The first line of the commit that does not fit.
        subject: String,
        files: Vec<PathBuf>,
    },
}

/// The user's `merge.ff`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FastForward {
    WherePossible,
    Never,
    Only,
}

impl Repo {
    pub(crate) fn have_common_history(&self, one: &str, other: &str) -> Result<bool, GitError> {
        let output = self.git().args(["merge-base", one, other]).output()?;
        Ok(output.success())
    }

    /// How many commits one has that the other has not, and the reverse.
    pub(crate) fn count_apart(&self, one: &str, other: &str) -> Result<(u64, u64), GitError> {
        let command = self
            .git()
            .args(["rev-list", "--left-right", "--count"])
            .arg(format!("{one}...{other}"))
            .arg("--")
            .deadline(SLOW);
        let said = command.text()?;
        let mut numbers = said.split_whitespace().map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(left)), Some(Ok(right))) => Ok((left, right)),
            _ => Err(GitError::Unexpected {
                call: "git rev-list --left-right --count".to_owned(),
                answer: said,
            }),
        }
    }

    /// How many commits a branch is ahead of another and behind it; None if one of them does not exist.
    pub(crate) fn ahead_and_behind(
        &self,
        branch: &str,
        base: &str,
    ) -> Result<Option<(u64, u64)>, GitError> {
        if self.branch_commit(base)?.is_none() || self.branch_commit(branch)?.is_none() {
            return Ok(None);
        }
        let name = |branch: &str| format!("refs/heads/{branch}");
        self.count_apart(&name(branch), &name(base)).map(Some)
    }

    pub(crate) fn has_merges(&self, from: &str, to: &str) -> Result<bool, GitError> {
        let found = self
            .git()
            .args(["rev-list", "--merges", "-n1"])
            .arg(format!("{from}..{to}"))
            .run()?;
        Ok(!found.is_empty())
    }

    pub(crate) fn fast_forward_setting(&self) -> Result<FastForward, GitError> {
        let output = self.git().args(["config", "--get", "merge.ff"]).output()?;
        Ok(match output.stdout_text().as_str() {
            "only" => FastForward::Only,
            "false" | "no" | "off" | "0" => FastForward::Never,
            _ => FastForward::WherePossible,
        })
    }

    pub(crate) fn tree_of(&self, commit: &str) -> Result<String, GitError> {
        let command = self
            .git()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{commit}^{{tree}}"));
        Ok(command.text()?)
    }

    /// Merges two commits as `git merge` would, with the user's merge drivers and settings.
    pub(crate) fn merge_commits(&self, ours: &str, theirs: &str) -> Result<Merged, GitError> {
        self.merge_tree(&[], ours, theirs)
    }

    fn merge_tree(&self, more: &[&str], ours: &str, theirs: &str) -> Result<Merged, GitError> {
        require_merge_tree()?;
        let command = fetching(self.git())
            .args(["merge-tree", "--write-tree", "-z", "--name-only"])
            .arg("--no-messages")
            .args(more)
            .args([ours, theirs])
            // Without a checkout git would find no attributes, and so no merge driver.
            .env("GIT_ATTR_SOURCE", ours)
            .deadline(SLOW);
        let output = command.output()?;
        let mut answers = fields(&output.stdout).filter(|field| !field.is_empty());
        let tree = answers.next().map(String::from_utf8_lossy);
        match (output.status.code(), tree) {
            (Some(0), Some(tree)) => Ok(Merged::Clean {
                tree: tree.into_owned(),
            }),
            (Some(1), Some(_)) => Ok(Merged::Conflict {
                files: answers.map(bytes_to_path).collect(),
            }),
            _ => Err(command.status_failure(&output).into()),
        }
    }

    /// Replays what `source` has and `target` has not, oldest first, as `git rebase` would: merges
    /// are left out, and so are commits that the target has already or that become empty.
    pub(crate) fn replay(&self, source: &str, target: &str) -> Result<Replayed, GitError> {
        let listing = self
            .git()
            .args(["rev-list", "--reverse", "--topo-order", "--no-merges"])
            .args(["--parents", "--cherry-pick", "--right-only"])
            .arg(format!("{target}...{source}"))
            .deadline(SLOW)
            .text()?;
        let mut onto = target.to_owned();
        let mut tree = self.tree_of(target)?;
        let mut dropped = 0;
        for line in listing.lines() {
            let mut ids = line.split(' ');
            let (Some(commit), Some(parent)) = (ids.next(), ids.next()) else {
                return Err(GitError::Unexpected {
                    call: "git rev-list --parents".to_owned(),
                    answer: line.to_owned(),
                });
            };
            let base = format!("--merge-base={parent}");
            let merged = match self.merge_tree(&[&base], &onto, commit)? {
                Merged::Clean { tree } => tree,
                Merged::Conflict { files } => {
                    return Ok(Replayed::Conflict {
                        subject: self.subject_of(commit)?,
                        files,
                    });
                }
            };
            // A commit that was empty from the beginning is kept, as by git.
            if merged == tree && self.tree_of(commit)? != self.tree_of(parent)? {
                dropped += 1;
                continue;
            }
            let (author, message) = self.authorship_of(commit)?;
            onto = self.commit_tree(&merged, &[&onto], &message, &author)?;
            tree = merged;
        }
        Ok(Replayed::Done {
            commit: onto,
            dropped,
        })
    }

    pub(crate) fn subject_of(&self, commit: &str) -> Result<String, GitError> {
        Ok(self
            .git()
            .args(["log", "-1", "--format=%s", commit, "--"])
            .text()?)
    }

    /// The first lines of the commits between the two, oldest first.
    pub(crate) fn subjects(&self, from: &str, to: &str) -> Result<Vec<String>, GitError> {
        let lines = self
            .git()
            .args(["log", "--reverse", "--no-merges", "--format=%s"])
            .arg(format!("{from}..{to}"))
            .arg("--")
            .text()?;
        Ok(lines.lines().map(str::to_owned).collect())
    }

    /// Author, time and message of a commit.
    pub(crate) fn authorship_of(&self, commit: &str) -> Result<(Author, Vec<u8>), GitError> {
        let output = self
            .git()
            .args(["log", "-1", "--no-show-signature", "--date=raw"])
            .args(["--format=%an%x00%ae%x00%ad%x00%B", commit, "--"])
            .run()?;
        let mut parts = output.splitn(4, |byte| *byte == 0);
        let mut next = || parts.next().unwrap_or_default().to_vec();
        let (name, email, date) = (next(), next(), next());
        let mut message = next();
        // `git log` adds one newline to the message.
        if message.ends_with(b"\n\n") {
            message.pop();
        }
        Ok((Author::As { name, email, date }, message))
    }
}

fn require_merge_tree() -> Result<(), GitError> {
    let (major, minor) = require_version()?;
    if (major, minor) < MERGE_TREE {
        return Err(GitError::GitTooOld {
            found: format!("{major}.{minor}"),
            needed: format!("{}.{}", MERGE_TREE.0, MERGE_TREE.1),
        });
    }
    Ok(())
}
