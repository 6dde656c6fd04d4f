//! Autoyes: dialogs that are answered by a policy.
//!
//! Nothing is answered but what was read completely, is allowed in every part, still stands on the
//! screen in the very command that sends the key, and is written into the audit before that.

mod ground;
mod policy;
mod switch;

pub(crate) use policy::{Asked as PolicyQuestion, PolicyAnswer, PolicyCheck, PolicyTest};

#[cfg(test)]
mod tests;
