//! What agents do now: one screen, all of them, and the events that wake a watcher.

pub(in crate::engine) mod archive;
pub(in crate::engine) mod changes;
pub(in crate::engine) mod limit;
pub(in crate::engine) mod live;
pub(in crate::engine) mod look;
pub(in crate::engine) mod notify;
pub(in crate::engine) mod observe;
pub(in crate::engine) mod on_disk;
mod quiet;
pub(in crate::engine) mod roster;
pub(in crate::engine) mod screen_view;
pub(in crate::engine) mod self_report;
pub(in crate::engine) mod standing;
pub(in crate::engine) mod watcher;
