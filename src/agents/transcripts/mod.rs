//! Reads the agents' own transcripts as they grow.
//!
//! A transcript is found by its session reference alone, never because it is the latest one, and is read
//! from where the last reading ended ([`Bookmark`]). Lines that cannot be parsed are skipped and counted.
//! There is one file here per format.

mod added;
mod aider;
mod asked;
mod bookmark;
mod claude;
mod codex;
mod demo;
mod described;
mod gemini;
mod json_lines;
mod lines;
mod locate;
mod opencode;
mod pending;
mod place;
mod reading;
#[cfg(test)]
mod tests;
mod usage;
mod value;

pub(crate) use bookmark::Bookmark;
pub(crate) use locate::TranscriptLookup;
pub(in crate::agents) use opencode::Database;
pub(crate) use pending::PendingRequest;
pub(crate) use place::TranscriptQuery;
pub(in crate::agents) use place::resolved_directory;
pub(crate) use reading::Continuity;
#[cfg(test)]
use reading::{TranscriptFile, TranscriptForm};
