//! Conversations: entries, the last action, pending tasks and summaries. Pure: no clock, no I/O.
//!
//! The readers of the agents' transcripts make [`ConversationEntry`]s; everything here only reads them.
//! Summaries quote the entries word for word. Nothing is generated and nothing uses the network.

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
pub(crate) use entry::{
    ConversationEntry, Fingerprint, Phase, Speaker, hash_without_whitespace, of_run, stable_hash,
};
pub(crate) use prompt::resume_prompt;
pub(crate) use summary::{brief, transcript_text};
pub(crate) use tasks::pending_tasks;
pub(crate) use todo::Todo;
