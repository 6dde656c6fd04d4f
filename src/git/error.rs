//! What can go wrong with git, one variant for each situation that a user meets differently.

use std::path::{Path, PathBuf};

use super::full_disk::full_disk;
use crate::process::Failure;

#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    #[error("git is not installed, or not on PATH")]
    GitMissing,
    #[error("git {found} is too old; {needed} or newer is needed")]
    GitTooOld { found: String, needed: String },
    #[error("{} is not inside a git repository", dir.display())]
    NotARepository { dir: PathBuf },
    #[error("{} does not exist", dir.display())]
    NoSuchDirectory { dir: PathBuf },
    /// Git refuses repositories of another owner; `fix` is the command that allows this one.
    #[error("the repository at {} belongs to another user", dir.display())]
    DubiousOwnership { dir: PathBuf, fix: String },
    #[error("{} cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} cannot be written", path.display())]
    Unwritable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} has no free space left", path.display())]
    DiskFull { path: PathBuf },
    #[error("`{name}` is not a valid branch name")]
    BranchName { name: String },
    #[error("a branch `{name}` exists already")]
    BranchExists { name: String },
    /// Git stores branches like files: `a` and `a/b` cannot both exist.
    #[error("branch `{name}` cannot exist beside branch `{other}`")]
    BranchPrefix { name: String, other: String },
    #[error("there is no branch `{name}`")]
    NoSuchBranch { name: String },
    #[error("branch `{name}` is checked out at {}", path.display())]
    BranchInUse { name: String, path: PathBuf },
    #[error("branch `{name}` is at {found}, not at {expected}")]
    BranchMoved {
        name: String,
        expected: String,
        found: String,
    },
    #[error("{} exists already", path.display())]
    PathTaken { path: PathBuf },
    #[error("{} is not a worktree of this repository", path.display())]
    NotAWorktree { path: PathBuf },
    #[error("{} is the main checkout of its repository and cannot be moved aside", path.display())]
    MainCheckout { path: PathBuf },
    #[error("{} is a mount point and cannot be moved aside", path.display())]
    MountPoint { path: PathBuf },
    #[error("the worktree is neither at {} nor at {}", place.display(), parked.display())]
    WorktreeLost { place: PathBuf, parked: PathBuf },
    #[error("git's record of the worktree is neither at {} nor at {}", place.display(), parked.display())]
    AdminLost { place: PathBuf, parked: PathBuf },
    #[error("another worktree has taken git's record {}", path.display())]
    AdminNameTaken { path: PathBuf },
    #[error("the index at {} cannot be understood: {problem}", path.display())]
    Index { path: PathBuf, problem: String },
    #[error("the saved record of {reference} cannot be understood: {problem}")]
    Manifest { reference: String, problem: String },
    #[error("other processes keep the saved work in {} busy", dir.display())]
    VaultBusy { dir: PathBuf },
    #[error("the saved work is not in {} any more", dir.display())]
    VaultMissing { dir: PathBuf },
    #[error("snapshot {reference} is missing")]
    SnapshotMissing { reference: String },
    #[error("files kept changing while they were read: {}", first(paths))]
    Unsettled { paths: Vec<PathBuf> },
    #[error("{} is not what was stored for it", path.display())]
    StoredDiffers { path: PathBuf },
    /// A merge, rebase or the like is in progress, so the work cannot be carried to another commit.
    #[error("the worktree is in the middle of a {operation}, and its branch was moved meanwhile")]
    OperationInProgress { operation: String },
    /// The saved work and the moved branch both have something at these paths.
    #[error("the saved changes conflict with the branch: {}", first(files))]
    Conflict { files: Vec<PathBuf> },
    #[error(
        "the worktree is not what the merge with the branch leads to: {}",
        first(paths)
    )]
    MergeDiffers { paths: Vec<PathBuf> },
    #[error("the export is refused: {problem}")]
    ExportRefused { problem: String },
    #[error("the export holds a repository of its own: {}", path.display())]
    NestedRepository { path: PathBuf },
    #[error("the repository {} lacks commits that the export builds on: {}", repository.display(), commits.join(", "))]
    CommitsMissing {
        commits: Vec<String>,
        repository: PathBuf,
    },
    #[error(
        "the worktree that came out of the export is not what its manifest says: {}",
        first(paths)
    )]
    ArrivedDiffers { paths: Vec<PathBuf> },
    #[error("git answered `{call}` in an unexpected way: {answer}")]
    Unexpected { call: String, answer: String },
    #[error("{program} could not do it")]
    Forge {
        program: &'static str,
        #[source]
        source: Failure,
    },
    #[error(transparent)]
    Call(Failure),
}

impl GitError {
    pub(crate) fn reading(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Unreadable { path, source }
    }

    pub(crate) fn writing(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { path }
            }
            _ => Self::Unwritable { path, source },
        }
    }
}

impl From<Failure> for GitError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotFound { .. } => Self::GitMissing,
            Failure::Status { ref message, .. } => match full_disk(message) {
                Some(path) => Self::DiskFull { path },
                None => Self::Call(failure),
            },
            other => Self::Call(other),
        }
    }
}

fn first(paths: &[PathBuf]) -> String {
    match paths {
        [] => "none".to_owned(),
        [one] => one.display().to_string(),
        [one, rest @ ..] => format!("{} and {} more", one.display(), rest.len()),
    }
}
