//! Other machines: what connects to them, and what is said over the connection.
//!
//! A host is anything on which a command can be run: `connect` in front of a command line runs it there. The
//! other side is the same program. Each request is one process, `biv __host REQUEST`, which runs one command
//! line of `biv`; its output is data for us, and it can ask this side for nothing.

mod answer;
mod ask;
mod connect;
mod error;
mod fetch;
mod filter;
mod follow;
mod install;
mod known;
mod name;
mod pass;
mod registry;
mod request;
mod serve;

pub(crate) use ask::{Question, Reply};
pub(crate) use connect::Connector;
pub(crate) use error::{HostError, Trouble};
pub(crate) use fetch::Bounds;
pub(crate) use known::{Known, KnownHosts};
pub(crate) use name::HostName;
pub(crate) use pass::Passing;
pub(crate) use registry::{Host, HostSettings, Registry};
pub(crate) use request::Screen;
pub(crate) use serve::serve;
