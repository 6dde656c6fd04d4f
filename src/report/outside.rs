//! What the user can do about an error of the state's files, of git or of tmux.

use std::io;

use crate::engine::{Failure, GitError, StoreError, TmuxError};

const DOCTOR: &str = "run `biv doctor` to find the cause";

pub(super) const KEEPS: &str = "restores the saved work on a new branch";

/// The two ways to resume despite a conflict.
pub(super) fn conflict_hint(resume: &str) -> String {
    format!(
        "`{resume}--on-conflict keep` {KEEPS}; `--on-conflict markers` writes both versions and \
         moves aside what is in the way"
    )
}

/// Of a file or directory that cannot be used.
pub(super) fn file(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "check the path: it is not there",
        io::ErrorKind::PermissionDenied => "make it readable and writable for you",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space",
        io::ErrorKind::ReadOnlyFilesystem => "its file system is mounted read-only",
        _ => DOCTOR,
    }
    .to_owned()
}

/// Of a program that was called.
pub(super) fn process(failure: &Failure) -> String {
    match failure {
        Failure::NotFound { .. } => "install it, or put its directory on PATH".to_owned(),
        Failure::Start { source, .. } => file(source),
        Failure::Deadline { .. } | Failure::TooMuch { .. } | Failure::Status { .. } => {
            DOCTOR.to_owned()
        }
    }
}

pub(super) fn store(error: &StoreError) -> String {
    match error {
        StoreError::Io { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
            "make it writable for you, or set BIV_HOME to another directory".to_owned()
        }
        StoreError::Io { .. } if error.is_out_of_space() => {
            "free some space; nothing was lost".to_owned()
        }
        StoreError::Io { source, .. } => file(source),
        StoreError::ForeignOwner { .. } => "set BIV_HOME to a directory of your own".to_owned(),
        StoreError::Newer { .. } | StoreError::Unknown { .. } => {
            "use the newer biv that wrote it".to_owned()
        }
        StoreError::Corrupt { .. } => "it was not changed; run `biv doctor` for details".to_owned(),
        StoreError::Stale { .. } | StoreError::Busy { .. } => "try again".to_owned(),
    }
}

pub(super) fn git(error: &GitError) -> String {
    match error {
        GitError::GitMissing => {
            "install git (Debian, Ubuntu: apt install git; macOS: brew install git)".to_owned()
        }
        GitError::GitTooOld { .. } => "install a newer git".to_owned(),
        GitError::NotARepository { .. } => {
            "run it inside a repository, or name one with --repo; `git init` makes one".to_owned()
        }
        GitError::NoSuchDirectory { .. } => "check the path".to_owned(),
        GitError::DubiousOwnership { fix, .. } => format!("if you trust it: `{fix}`"),
        GitError::BranchName { .. } => {
            "`git check-ref-format --branch NAME` checks a name".to_owned()
        }
        GitError::BranchExists { .. } => {
            "choose another name, or take that branch with --branch".to_owned()
        }
        GitError::BranchPrefix { .. } => {
            "choose another name with --branch, or set `new.branch_prefix`".to_owned()
        }
        GitError::NoSuchBranch { .. } => "`git branch -a` lists the branches".to_owned(),
        GitError::BranchInUse { path, .. } => format!(
            "switch {} to another branch, or choose another with --branch",
            path.display()
        ),
        GitError::DiskFull { .. } => "free some space; nothing was lost".to_owned(),
        GitError::PathTaken { .. } => "move it away and try again".to_owned(),
        GitError::NotAWorktree { .. } => "`git worktree list` shows all worktrees".to_owned(),
        GitError::MainCheckout { .. } | GitError::MountPoint { .. } => {
            "leave it where it is: `--keep-worktree`".to_owned()
        }
        GitError::VaultMissing { .. } => "restore that directory at its old place".to_owned(),
        GitError::VaultBusy { .. } => "try again when the other command is done".to_owned(),
        GitError::Unsettled { .. } => {
            "a process writes into the worktree; stop it and try again".to_owned()
        }
        GitError::OperationInProgress { .. } => format!("`--on-conflict keep` {KEEPS}"),
        GitError::Conflict { .. } => conflict_hint(""),
        GitError::Forge { program, .. } => {
            format!("the branch is pushed; `{program} auth status` says whether you are logged in")
        }
        GitError::ExportRefused { .. } => {
            "nothing was written; make the export again where the instance is".to_owned()
        }
        GitError::NestedRepository { .. } => {
            "git follows the settings of such a repository; if you trust it: --with-nested"
                .to_owned()
        }
        GitError::CommitsMissing { .. } => {
            "fetch them here, or export again with --with-history".to_owned()
        }
        GitError::Unreadable { .. }
        | GitError::Unwritable { .. }
        | GitError::BranchMoved { .. }
        | GitError::WorktreeLost { .. }
        | GitError::AdminLost { .. }
        | GitError::AdminNameTaken { .. }
        | GitError::Index { .. }
        | GitError::Manifest { .. }
        | GitError::SnapshotMissing { .. }
        | GitError::StoredDiffers { .. }
        | GitError::MergeDiffers { .. }
        | GitError::ArrivedDiffers { .. }
        | GitError::Unexpected { .. }
        | GitError::Call(_) => DOCTOR.to_owned(),
    }
}

pub(super) fn tmux(error: &TmuxError) -> String {
    match error {
        TmuxError::Missing | TmuxError::TooOld { .. } => {
            "install tmux 3.2 or newer (Debian, Ubuntu: apt install tmux; macOS: brew install tmux)"
                .to_owned()
        }
        TmuxError::NoServer | TmuxError::NoPane(_) => "`biv list` shows what still runs".to_owned(),
        TmuxError::Answer(_) | TmuxError::Failed(_) | TmuxError::Write { .. } => DOCTOR.to_owned(),
    }
}
