//! What every room of the engine uses: the home and its store, errors, lookup, events, rights.

pub(in crate::engine) mod agents;
pub(in crate::engine) mod caller;
pub(in crate::engine) mod core;
pub(in crate::engine) mod daemon_lock;
pub(in crate::engine) mod error;
pub(in crate::engine) mod events;
pub(in crate::engine) mod land_error;
pub(in crate::engine) mod pace;
pub(in crate::engine) mod progress;
pub(in crate::engine) mod remote_error;
pub(in crate::engine) mod resolve;
pub(in crate::engine) mod rights;
pub(in crate::engine) mod saved;
pub(in crate::engine) mod socket;
pub(in crate::engine) mod sources;
pub(in crate::engine) mod time_scale;
pub(in crate::engine) mod unanswerable;
pub(in crate::engine) mod usage;
pub(in crate::engine) mod versions;
pub(in crate::engine) mod via;
pub(in crate::engine) mod view;
pub(in crate::engine) mod wakeup;

pub(in crate::engine) use core::{Core, now};
pub(in crate::engine) use error::Error;
pub(in crate::engine) use land_error::LandError;
pub(in crate::engine) use progress::{Progress, Silent};
pub(in crate::engine) use remote_error::RemoteError;
pub(in crate::engine) use resolve::{Found, Scope};
pub(in crate::engine) use unanswerable::Unanswerable;
