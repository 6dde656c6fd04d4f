//! The steps of operations: how each is performed and undone.

pub(in crate::engine) mod agent;
pub(in crate::engine) mod arrival;
pub(in crate::engine) mod bringing;
pub(in crate::engine) mod conversation;
pub(in crate::engine) mod directories;
pub(in crate::engine) mod fact;
pub(in crate::engine) mod keys;
pub(in crate::engine) mod landing;
pub(in crate::engine) mod naming;
pub(in crate::engine) mod quiesce;
pub(in crate::engine) mod recording;
pub(in crate::engine) mod returning;
pub(in crate::engine) mod saving;
pub(in crate::engine) mod session;
pub(in crate::engine) mod terminal;
pub(in crate::engine) mod waiting;
pub(in crate::engine) mod work;
pub(in crate::engine) mod worktree;
pub(in crate::engine) mod world;
