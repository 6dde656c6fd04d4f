//! The known agents, each as one declarative file.
//!
//! A provider file says how its agent is started, resumed, interrupted, prompted and observed. The built-in
//! ones are in `providers/`. Users override or add to them in the `agents` directory of their
//! configuration. The code here is not specific to an agent, except for the readers of sessions and
//! transcripts.

mod carried;
mod catalog;
mod described;
mod discover;
mod file;
mod gemini_project;
mod guard;
mod hooks;
mod in_use;
mod input;
mod install;
mod json_path;
mod launch;
mod mistake;
#[cfg(test)]
mod override_tests;
mod provider;
mod recorded;
#[cfg(test)]
mod screens;
mod session_commands;
mod transcripts;

pub(crate) use carried::{SessionFile, SessionTravel};
pub(crate) use catalog::{Catalog, CatalogError, UnknownAgent};
pub(crate) use discover::{Discovered, DiscoveryContext, DiscoveryCost};
pub(crate) use file::{SealSpec, StopBy, Strategy, TranscriptFormat, Turnless, UnknownIds, Verify};
pub(crate) use input::is_command;
pub(crate) use install::version;
pub(crate) use launch::{Host, LaunchContext, LaunchError, LaunchKind, LaunchPlan};
pub(crate) use provider::{Provider, Readiness};
pub(crate) use recorded::{
    Frame, PLACE as RECORDED_PLACE, RecordedFile, RecordedSession, Recording, SAMPLE as BOX_SAMPLE,
    TITLE as RECORDED_TITLE, describe,
};
pub(crate) use transcripts::{
    Bookmark, Continuity, PendingRequest, TranscriptLookup, TranscriptQuery,
};
