//! The agents that Bivouac knows, each as one declarative file.
//!
//! A provider file says how its agent is started, resumed, interrupted, spoken to and watched.
//! Built-in ones lie in `providers/`; users override or add to them in the `agents` folder of
//! their configuration. Nothing here knows of a particular agent.

mod catalog;
mod discover;
mod file;
mod guard;
mod hooks;
mod install;
mod launch;
mod mistake;
#[cfg(test)]
mod override_tests;
mod provider;
#[cfg(test)]
mod screens;
mod transcripts;

pub(crate) use catalog::{Catalog, CatalogError, UnknownAgent};
pub(crate) use discover::{Following, Trace, Traces};
pub(crate) use file::{StopBy, Strategy, TranscriptFormat, Turnless, Verify};
pub(crate) use install::version;
#[cfg(test)]
use launch::LaunchPlan;
pub(crate) use launch::{Host, LaunchContext, LaunchError, LaunchKind};
pub(crate) use provider::{Provider, Readiness};
pub(crate) use transcripts::{Asked, Bookmark, Continuity, Lookup, Sought};
