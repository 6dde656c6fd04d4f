//! Autoyes: dialogs that are answered by a policy.
//!
//! Nothing is answered but what was read completely, is allowed in every part, still stands on the
//! screen in the very command that sends the key, and is written into the audit before that.

mod answer;
mod book;
mod ground;
mod hook;
mod policy;
mod switch;

pub(crate) use answer::AutoyesOutcome;
pub(crate) use policy::{Asked as PolicyQuestion, PolicyAnswer, PolicyCheck, PolicyTest};
pub(crate) use switch::AutoyesState;

#[cfg(test)]
mod tests;
