//! Making a worktree for a new instance, taking it back, and looking at one that exists.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::admin::admin_dir_of;
use super::call::{SLOW, fetching, git, path_line, require_version};
use super::disk::{FileIdentity, free_bytes, parent, rename_durably};
use super::{Checkout, GitError, Repo};
use crate::process::Failure;

/// Which branch a new worktree gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BranchPlan {
    New {
        name: String,
        start_commit: String,
    },
    Existing {
        name: String,
    },
    /// A branch without a commit yet, in a repository without commits.
    Unborn {
        name: String,
    },
    /// No branch: HEAD names a commit.
    Detached {
        commit: String,
    },
}

impl BranchPlan {
    fn name(&self) -> &str {
        match self {
            Self::New { name, .. } | Self::Existing { name } | Self::Unborn { name } => name,
            Self::Detached { commit } => commit,
        }
    }
}

/// A worktree to be made. Written to the journal before anything is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AddWorktree {
    pub path: PathBuf,
    pub branch: BranchPlan,
    /// An earlier attempt at this same plan may have been cut off: what it left is reused.
    pub resume_partial: bool,
    /// It is made without files, which an export brings. Until [`Repo::finish_worktree`] it is unfinished.
    #[serde(default)]
    pub without_files: bool,
}

/// What was made. The directory's identity is recorded so that it can be taken back safely.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MadeWorktree {
    pub path: PathBuf,
    pub identity: FileIdentity,
    pub admin_dir: PathBuf,
}

/// What became of a worktree that was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Undone {
    /// There was none, or nothing in it but what git can check out again.
    Removed,
    /// Something had been added to it.
    MovedAside { to: PathBuf },
    /// A directory that is not ours is at that path.
    LeftAlone,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorktreeKind {
    Main,
    Linked,
}

/// What an existing directory is to git, for taking it over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorktreeOf {
    pub repo: Repo,
    /// The top of the checkout that the directory lies in.
    pub path: PathBuf,
    pub kind: WorktreeKind,
    /// None when HEAD is detached.
    pub branch: Option<String>,
    /// None before the first commit.
    pub head: Option<String>,
    pub operation: Option<&'static str>,
}

/// With less free space than this the disk counts as full.
const NEXT_TO_NOTHING: u64 = 64 * 1024;

/// Present in an admin directory from before its first checkout until that is complete.
const UNFINISHED: &str = "bivouac-unfinished";

impl Repo {
    /// Makes branch and worktree. Callers hold the repository's lock: git's own `worktree add`
    /// races with itself.
    pub(crate) fn add_worktree(&self, plan: &AddWorktree) -> Result<MadeWorktree, GitError> {
        let path = &plan.path;
        if FileIdentity::at(path)?.is_some() {
            if !plan.resume_partial {
                return Err(GitError::PathTaken { path: path.clone() });
            }
            if let Some(admin) = self.reuse_attempt(path)? {
                return self.check_out(path, admin, plan);
            }
        }
        self.register(plan)
            .map_err(|error| self.diagnose(plan, error))?;
        let admin = match admin_dir_of(path) {
            Some(admin) => admin,
            None => Checkout::live(self, path)?.git_dir,
        };
        let marker = admin.join(UNFINISHED);
        std::fs::write(&marker, b"").map_err(GitError::writing(&marker))?;
        self.check_out(path, admin, plan)
    }

    /// Branch, directory, `.git` file and admin directory, but no files yet.
    fn register(&self, plan: &AddWorktree) -> Result<(), GitError> {
        let mut command = self.git().args(["worktree", "add", "--no-checkout"]);
        if plan.resume_partial {
            // A cut-off attempt may have registered the path without making it.
            command = command.arg("--force");
        }
        let name = plan.branch.name().to_owned();
        let command = match &plan.branch {
            // Made by an attempt that was cut off.
            BranchPlan::New { start_commit, .. }
                if plan.resume_partial
                    && self.branch_commit(&name)?.as_ref() == Some(start_commit) =>
            {
                command.arg("--").arg(&plan.path).arg(&name)
            }
            BranchPlan::New { start_commit, .. } => command
                .args(["--no-track", "-b", &name, "--"])
                .arg(&plan.path)
                .arg(start_commit),
            BranchPlan::Existing { .. } => {
                // Given a name that it does not know, git would make a branch of it.
                if self.branch_commit(&name)?.is_none() {
                    return Err(GitError::NoSuchBranch { name });
                }
                command.arg("--").arg(&plan.path).arg(&name)
            }
            BranchPlan::Unborn { .. } => {
                if require_version()? < (2, 42) {
                    return Err(GitError::GitTooOld {
                        found: "this git".to_owned(),
                        needed: "2.42 (for a repository without commits)".to_owned(),
                    });
                }
                self.git()
                    .args(["worktree", "add", "--orphan", "-b", &name, "--"])
                    .arg(&plan.path)
            }
            BranchPlan::Detached { commit } => {
                command.args(["--detach", "--"]).arg(&plan.path).arg(commit)
            }
        };
        let output = command.output()?;
        if output.success() {
            return Ok(());
        }
        // The parent cannot be made or written: git reports that only as text.
        Err(or_disk_full(&plan.path, 0)(command.status_failure(&output)))
    }

    /// Git has refused with a message only; the reason is found by looking.
    fn diagnose(&self, plan: &AddWorktree, error: GitError) -> GitError {
        let name = plan.branch.name();
        if let Ok(Some(path)) = self.branch_in_use(name) {
            return GitError::BranchInUse {
                name: name.to_owned(),
                path,
            };
        }
        match &plan.branch {
            BranchPlan::New { .. } => match self.validate_branch_name(name) {
                Err(reason) => reason,
                Ok(()) => error,
            },
            BranchPlan::Existing { .. }
            | BranchPlan::Unborn { .. }
            | BranchPlan::Detached { .. } => error,
        }
    }

    /// What a cut-off attempt left at `path`: its admin directory if the checkout can go on from
    /// there, None if the path is free (again). Anything else is not ours.
    fn reuse_attempt(&self, path: &Path) -> Result<Option<PathBuf>, GitError> {
        let names: Vec<_> = std::fs::read_dir(path)
            .map_err(GitError::reading(path))?
            .filter_map(|entry| entry.ok().map(|entry| entry.file_name()))
            .collect();
        if names.is_empty() {
            std::fs::remove_dir(path).map_err(GitError::writing(path))?;
            return Ok(None);
        }
        let taken = || GitError::PathTaken {
            path: path.to_owned(),
        };
        if let Ok(checkout) = Checkout::live(self, path)
            && !checkout.is_main()
            && admin_dir_of(path).is_some()
        {
            let only_link = names.iter().all(|name| name == ".git");
            if only_link || checkout.git_dir.join(UNFINISHED).exists() {
                return Ok(Some(checkout.git_dir));
            }
            // Complete: the attempt was cut off after its last effect.
            return if status(&checkout)?.is_empty() {
                Ok(Some(checkout.git_dir))
            } else {
                Err(taken())
            };
        }
        // Cut off before the admin directory was whole: the link leads nowhere and is all there is.
        if names.iter().all(|name| name == ".git") && path.join(".git").is_file() {
            std::fs::remove_file(path.join(".git")).map_err(GitError::writing(path))?;
            std::fs::remove_dir(path).map_err(GitError::writing(path))?;
            return Ok(None);
        }
        Err(taken())
    }

    fn check_out(
        &self,
        path: &Path,
        admin: PathBuf,
        plan: &AddWorktree,
    ) -> Result<MadeWorktree, GitError> {
        let checkout = Checkout {
            dir: path.to_owned(),
            git_dir: admin.clone(),
            common_dir: self.common_dir().to_owned(),
        };
        if !matches!(plan.branch, BranchPlan::Unborn { .. }) && !plan.without_files {
            fetching(checkout.git())
                // A lock left by a cut-off attempt is ours: no other process knows of this worktree.
                .args(["-c", "checkout.workers=0", "reset", "--hard", "--quiet"])
                .arg("--no-recurse-submodules")
                .deadline(SLOW)
                .run()
                .or_else(|failure| {
                    let lock = admin.join("index.lock");
                    if !lock.exists() {
                        return Err(failure);
                    }
                    // If this fails, git's next call names the lock.
                    drop(std::fs::remove_file(&lock));
                    fetching(checkout.git())
                        .args(["reset", "--hard", "--quiet", "--no-recurse-submodules"])
                        .deadline(SLOW)
                        .run()
                })
                .map_err(|failure| {
                    let needed = committed_bytes(&checkout).unwrap_or(0);
                    or_disk_full(path, needed)(failure)
                })?;
        }
        if !plan.without_files {
            self.finish_worktree(&checkout)?;
        }
        Ok(MadeWorktree {
            path: path.to_owned(),
            identity: FileIdentity::require(path)?,
            admin_dir: admin,
        })
    }

    /// Whether a worktree was made, and its files never were complete.
    pub(crate) fn is_unfinished(&self, checkout: &Checkout) -> bool {
        checkout.git_dir.join(UNFINISHED).exists()
    }

    /// The files of a worktree are complete: from now on they are work.
    pub(crate) fn finish_worktree(&self, checkout: &Checkout) -> Result<(), GitError> {
        let marker = checkout.git_dir.join(UNFINISHED);
        match std::fs::remove_file(&marker) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(GitError::writing(&marker)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Takes back [`Self::add_worktree`], whole or cut off, for an instance whose agent never ran.
    /// Removes only what git can check out again; the rest is moved aside. The branch goes if this
    /// plan made it and it is still at the commit where it was made.
    pub(crate) fn undo_add_worktree(
        &self,
        plan: &AddWorktree,
        made: Option<&MadeWorktree>,
    ) -> Result<Undone, GitError> {
        let undone = self.undo_directory(&plan.path, made)?;
        if let (BranchPlan::New { name, start_commit }, false) =
            (&plan.branch, undone == Undone::LeftAlone)
            && self.branch_commit(name)?.as_ref() == Some(start_commit)
            && self.branch_in_use(name)?.is_none()
        {
            self.delete_branch(name, start_commit)?;
        }
        Ok(undone)
    }

    fn undo_directory(&self, path: &Path, made: Option<&MadeWorktree>) -> Result<Undone, GitError> {
        let Some(found) = FileIdentity::at(path)? else {
            self.deregister_missing(path)?;
            return Ok(Undone::Removed);
        };
        if made.is_some_and(|made| made.identity != found) {
            return Ok(Undone::LeftAlone);
        }
        let Ok(checkout) = Checkout::live(self, path) else {
            // Not a worktree: at most the empty directory of an attempt that was cut off.
            return Ok(match std::fs::remove_dir(path) {
                Ok(()) => Undone::Removed,
                Err(_) => Undone::LeftAlone,
            });
        };
        if checkout.is_main() || admin_dir_of(path).is_none() {
            return Ok(Undone::LeftAlone);
        }
        let unfinished = checkout.git_dir.join(UNFINISHED).exists();
        if has_only_checkout_changes(&status(&checkout)?, unfinished) {
            self.git()
                .args(["worktree", "remove", "--force", "--force", "--"])
                .arg(path)
                .deadline(SLOW)
                .run()?;
            return Ok(Undone::Removed);
        }
        let aside = parent(path).join(format!(
            ".{}.aside-{}",
            path.file_name().unwrap_or_default().to_string_lossy(),
            found.inode
        ));
        rename_durably(path, &aside)?;
        self.deregister_missing(path)?;
        Ok(Undone::MovedAside { to: aside })
    }

    /// Removes git's record of a worktree whose directory is gone, and of no other.
    pub(crate) fn deregister_missing(&self, path: &Path) -> Result<(), GitError> {
        let listed = self
            .worktrees()?
            .into_iter()
            .skip(1)
            .any(|entry| entry.path == path);
        if listed && FileIdentity::at(path)?.is_none() {
            self.git()
                .args(["worktree", "remove", "--force", "--force", "--"])
                .arg(path)
                .run()?;
        }
        Ok(())
    }
}

/// What `dir` is to git: which repository, which checkout, which branch.
pub(crate) fn worktree_of(dir: &Path) -> Result<WorktreeOf, GitError> {
    let repo = Repo::discover(dir)?;
    let command =
        git()
            .directory(dir)
            .args(["rev-parse", "--path-format=absolute", "--show-toplevel"]);
    let output = command.output()?;
    if !output.success() {
        // Inside a git directory, or a bare repository: there are no files to work on.
        return Err(GitError::NotAWorktree {
            path: dir.to_owned(),
        });
    }
    let path = path_line(output.stdout);
    let checkout = Checkout::live(&repo, &path)?;
    Ok(WorktreeOf {
        kind: if checkout.is_main() {
            WorktreeKind::Main
        } else {
            WorktreeKind::Linked
        },
        branch: checkout.head_branch()?,
        head: checkout.head_commit()?,
        operation: checkout.operation_in_progress(),
        repo,
        path,
    })
}

/// Whether every difference in a checkout comes from git itself: files that are not there yet and,
/// if it was cut off, files of the commit that are half written or not yet in the index.
fn has_only_checkout_changes(status: &[Vec<u8>], unfinished: bool) -> bool {
    let is_gone = |line: &[u8]| line.starts_with(b" D ") || line.starts_with(b"D  ");
    let path = |line: &[u8]| line.get(3..).unwrap_or_default().to_owned();
    let of_the_commit: HashSet<Vec<u8>> = status
        .iter()
        .filter(|line| is_gone(line) || line.starts_with(b" M "))
        .map(|line| path(line))
        .collect();
    status
        .iter()
        .all(|line| is_gone(line) || unfinished && of_the_commit.contains(&path(line)))
}

/// Git does not say that the disk is full, only that a file cannot be written. So the free space is
/// compared with what was to be written. (Git may have removed the file that did not fit.)
fn or_disk_full(path: &Path, needed: u64) -> impl FnOnce(Failure) -> GitError {
    move |failure| match free_bytes(&parent(path)) {
        Ok(free) if free < needed.max(NEXT_TO_NOTHING) => GitError::DiskFull {
            path: path.to_owned(),
        },
        _ => failure.into(),
    }
}

/// What a whole checkout takes, for the explanation of one that failed.
fn committed_bytes(checkout: &Checkout) -> Option<u64> {
    let listing = checkout
        .git()
        .args(["ls-tree", "-r", "-z", "--format=%(objectsize)", "HEAD"])
        .run()
        .ok()?;
    Some(
        super::call::fields(&listing)
            .filter_map(|size| std::str::from_utf8(size).ok()?.trim().parse::<u64>().ok())
            .sum(),
    )
}

/// Every path that differs from a fresh checkout, ignored ones too.
fn status(checkout: &Checkout) -> Result<Vec<Vec<u8>>, GitError> {
    let listing = checkout
        .git()
        .args(["status", "--porcelain", "-z", "--untracked-files=all"])
        .args(["--ignored=traditional", "--no-renames"])
        .deadline(SLOW)
        .run()?;
    Ok(super::call::fields(&listing).map(<[u8]>::to_vec).collect())
}
