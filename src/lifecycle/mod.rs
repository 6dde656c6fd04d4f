//! Operations as journalled plans of steps. Pure: no clock, no I/O.
//!
//! An operation is a [`Plan`]: steps that can be undone, a line, and steps that are only carried forward.
//! A [`Journal`] is the plan with the entries written so far. [`drive()`] asks it for the next action,
//! performs that through a [`World`] and appends the result. Recovery is the same loop run again.

mod drive;
mod facts;
mod journal;
mod plan;
#[cfg(test)]
mod tests;

pub(crate) use drive::{Outcome, World, drive};
pub(crate) use facts::{Fact, Facts, UnreadableFact};
pub(crate) use journal::{Journal, JournalEntry, JournalError};
pub(crate) use plan::{Operation, Plan, Step};
