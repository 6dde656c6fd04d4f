//! What was said: entries, what they amount to, and how old ones are summed up. Pure: no clock, no I/O.
//!
//! Readers of the agents' own transcripts make [`Entry`]s; everything else here only reads them. What
//! it finds is taken from the entries themselves, word for word: nothing is made up and nothing asks a
//! network.

mod action;
#[cfg(test)]
mod compact;
mod digest;
mod entry;
mod prompt;
mod sentence;
mod summary;
mod tasks;
#[cfg(test)]
mod tests;
mod todo;

pub(crate) use action::last_action;
pub(crate) use digest::Digest;
pub(crate) use entry::{Entry, Fingerprint, Phase, Speaker, of_run, same_words, stable_hash};
pub(crate) use prompt::resume_prompt;
pub(crate) use summary::{brief, transcript_text};
pub(crate) use tasks::pending_tasks;
pub(crate) use todo::Todo;
