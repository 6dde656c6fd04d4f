//! From what an agent asks for to accept, reject or "ask the user".
//!
//! Pure: what it must know of the disk it asks for by [`Ground`], time is handed in. Two questions
//! are asked of every request, by different means. *Is there harm in it?* is asked generously, of
//! every part, in every disguise; one yes rejects. *Is all of it harmless?* is asked strictly, of what
//! two readers read alike; one no leaves it to the user.

mod arguments;
mod choose;
mod decide;
mod examples;
mod file;
mod ledger;
mod paths;
mod redact;
mod rule;
mod search;
mod shell;
#[cfg(test)]
pub(crate) mod tests;
mod text;

pub(crate) use choose::{can_be_accepted, fingerprint, keys, request};
pub(crate) use decide::{Decision, PartRuling, Request, Ruling};
pub(crate) use examples::Failure;
pub(crate) use file::{Layer, Mistake, OnReject, Policy, Source};
pub(crate) use ledger::{Halt, Past, allowed};
pub(crate) use paths::{Ground, Site};
pub(crate) use redact::redacted;
pub(crate) use text::is_hidden;

/// A short name for a text: the same for the same text, and for no other.
pub(crate) fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
