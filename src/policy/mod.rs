//! Decides on an agent's request: accept, reject or leave it to the user.
//!
//! Pure: it sees the disk only through [`PathResolver`], and the caller passes the time. Each request is
//! checked twice, by different means. The check for harm is broad: it looks at every part in every
//! disguise, and one match rejects. The check for acceptance is strict: it looks only at text that two
//! parsers read alike, and one doubt leaves the decision to the user.

mod arguments;
mod choose;
mod decide;
mod examples;
mod file;
mod glob;
mod limits;
mod outward;
mod paths;
mod permit;
mod reach;
mod redact;
mod rule;
mod search;
mod shell;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod tree;
mod walk;

pub(crate) use choose::{can_be_accepted, fingerprint, keys, request};
pub(crate) use decide::{Decision, PartRuling, Request, Ruling, Seal};
pub(crate) use examples::ExampleFailure;
pub(crate) use file::{Layer, OnReject, Policy, PolicyFileError, PolicySource};
pub(crate) use limits::{NoAnswer, PastDecision, allowed};
pub(crate) use paths::{Entry, EntryKind, PathContext, PathResolver};
pub(crate) use redact::redacted;
pub(crate) use text::is_hidden;

/// A hash of a text, in hexadecimal.
pub(crate) fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
