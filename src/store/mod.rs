//! Records, journals and locks on disk: one directory per instance, and the directory is the list.
//!
//! Nobody holds a copy to write back. A record is replaced whole or not at all, its `rev` grows by
//! one, and what cannot be read is left alone: it is never reset to empty.

mod audit;
mod conversation;
mod directory;
mod document;
mod environment;
mod error;
mod heard;
mod instances;
mod journal;
mod jsonl;
mod lock;
mod queue;
mod replace;
mod switch;

pub(crate) use audit::{Audit, AuditEntry, AuditLine};
pub(crate) use conversation::{ConversationDir, ConversationReader, Cut, Imports};
pub(crate) use directory::ensure_private;
pub(crate) use document::{Document, read_if_there, set_aside, write_document};
pub(crate) use error::StoreError;
pub(crate) use heard::Heard;
pub(crate) use instances::{InstanceDir, Loaded, Store};
pub(crate) use journal::JournalFile;
pub(crate) use jsonl::{Tail, append_line, read_lines};
pub(crate) use lock::{Lock, LockMode};
pub(crate) use replace::{replace_file, replace_unsynced};
