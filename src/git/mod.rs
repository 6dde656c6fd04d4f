//! The plain verbs of git: repositories, checkouts, worktrees, branches, differences, pushing.
//!
//! Only the git program is used: it alone knows every ref format, hash, filter and extension that a
//! user's repository may have. Every call runs with hooks, file watchers and signing off, without
//! the caller's `GIT_*` variables, without optional locks and within a deadline ([`call`]).
//!
//! What keeps the work of a paused instance is in [`crate::vault`], which is built on this.

mod admin;
pub(crate) mod call;
mod carry;
mod checkout;
pub(crate) mod diff;
pub(crate) mod disk;
mod error;
mod forge;
mod full_disk;
mod identity;
mod ignored;
pub(crate) mod index;
pub(crate) mod landing;
mod listing;
pub(crate) mod patch;
mod plain;
mod push;
mod remote_files;
mod repository;
mod scratch;
mod untracked;
mod worktree;

pub(crate) use admin::{admin_dir_of, canonical, common_dir_of};
pub(crate) use call::installed_version;
pub(crate) use checkout::Checkout;
pub(crate) use diff::{DiffOutput, diff_stat, diff_stat_and_dirt, diff_text};
pub(crate) use disk::begin_sync;
pub(crate) use error::GitError;
pub(crate) use forge::{
    ForgeAnswer, News, NewsKind, Opened, PullRequest, ask_forge, pull_request_number,
};
pub(crate) use identity::Relocation;
pub(crate) use ignored::{ignored_in, is_tracked};
pub(crate) use remote_files::{Direction, RemoteFile, RemoteFiles, is_repository};
pub(crate) use repository::Repo;
pub(crate) use scratch::ScratchDir;
pub(crate) use untracked::untracked;
pub(crate) use worktree::{
    AddWorktree, BranchPlan, MadeWorktree, Undone, WorktreeKind, worktree_of,
};
