//! A paused instance travels: `biv export` writes it into a pipe, `biv import` reads it from one.
//!
//! The work travels as `vault::carry` says. Beside it go the parts: the record, the runs, the scrollback, the
//! conversation, the queue, and the files of the agent's own session.

pub(in crate::engine) mod arrival;
pub(in crate::engine) mod departure;
pub(in crate::engine) mod encryption;
pub(in crate::engine) mod ended;
pub(in crate::engine) mod export;
pub(in crate::engine) mod import;
pub(in crate::engine) mod kept;
pub(in crate::engine) mod lease;
pub(in crate::engine) mod limit;
pub(in crate::engine) mod offered;
pub(in crate::engine) mod parts;
mod reading;
