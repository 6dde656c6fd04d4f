//! Operations as journalled plans of steps, and what comes next. Pure: no clock, no I/O.
//!
//! An operation is a [`Plan`]: steps that can be taken back, a line, and steps that are only carried
//! forward. A [`Journal`] is the plan and what has been written about it; [`drive()`] asks it what comes
//! next, performs that through a [`World`] and appends the result. Recovery is the same loop run again.

mod drive;
mod facts;
mod journal;
mod plan;
#[cfg(test)]
mod tests;

pub(crate) use drive::{Outcome, World, drive};
pub(crate) use facts::{Fact, Facts, UnreadableFact};
pub(crate) use journal::{Entry, Journal, JournalError};
pub(crate) use plan::{Operation, Plan, Step};
