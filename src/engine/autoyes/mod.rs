//! Autoyes: dialogs that are answered by a policy.
//!
//! A dialog is answered only if it was read completely, agrees with the agent's own record, is allowed
//! in every part, is written into the audit, and is still on the screen in the same tmux command that
//! sends the key.

mod answer;
mod disguise;
mod disk;
pub(in crate::engine) mod entries;
mod hook;
pub(in crate::engine) mod pending;
mod policy;
mod save_first;
mod switch;

pub(crate) use answer::{AutoyesAnswer, AutoyesOutcome};
pub(crate) use policy::{PolicyAnswer, PolicyCheck, PolicyQuestion, PolicySite, PolicyTest};
pub(crate) use switch::AutoyesState;

#[cfg(test)]
mod canary;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod disguised;
#[cfg(test)]
mod grammar;
#[cfg(test)]
mod tests;
