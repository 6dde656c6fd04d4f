//! Autoyes: dialogs that are answered by a policy.
//!
//! Nothing is answered but what was read completely and is what the agent means, is allowed in every
//! part, still stands on the screen in the very command that sends the key, and is written into the
//! audit before that.

mod answer;
mod book;
mod doubt;
mod ground;
mod hook;
mod policy;
mod switch;

pub(crate) use answer::{AutoyesAnswer, AutoyesOutcome};
pub(crate) use policy::{Asked as PolicyQuestion, PolicyAnswer, PolicyCheck, PolicyTest};
pub(crate) use switch::AutoyesState;

#[cfg(test)]
mod tests;
