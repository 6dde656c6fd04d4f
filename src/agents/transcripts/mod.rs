//! The agents' own records of what was said, read as they grow.
//!
//! A transcript is found by the reference of its conversation alone, never by being the latest one,
//! and read from where the last reading ended ([`Bookmark`]). What cannot be understood is passed
//! over and counted. One file per format says what counts as said.

mod aider;
mod asked;
mod bookmark;
mod claude;
mod codex;
mod demo;
mod gemini;
mod json_lines;
mod lines;
mod opencode;
mod place;
mod reading;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use asked::Asked;
pub(crate) use bookmark::Bookmark;
pub(in crate::agents) use opencode::Database;
pub(in crate::agents) use place::as_inside;
pub(crate) use place::{Lookup, Sought};
pub(crate) use reading::Continuity;
#[cfg(test)]
use reading::{Form, TranscriptFile};
