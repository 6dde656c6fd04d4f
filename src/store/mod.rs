//! Records, journals and locks on disk: one directory per instance. There is no separate list.
//!
//! No process caches a record and writes it back later. A record is replaced atomically, its `rev` grows by
//! one, and a file that cannot be read is left alone: it is never reset to empty.

mod audit;
mod conversation;
mod directory;
mod document;
mod environment;
mod error;
mod hook_report;
mod instances;
mod journal;
mod jsonl;
mod limit;
mod lock;
mod pull_request;
mod queue;
mod replace;
mod review;
mod seal;
mod switch;

pub(crate) use audit::{Audit, AuditEntry, AuditLine};
pub(crate) use conversation::{ConversationDir, ConversationReader, Cut, Imports};
pub(crate) use directory::ensure_private;
pub(crate) use document::{Document, read_if_there, set_aside, write_document};
pub(crate) use error::StoreError;
pub(crate) use hook_report::HookReport;
pub(crate) use instances::{InstanceDir, LoadedInstance, Store};
pub(crate) use journal::JournalFile;
pub(crate) use jsonl::{Durability, append_line, read_lines};
pub(crate) use limit::SeenLimit;
pub(crate) use lock::{Lock, LockMode};
pub(crate) use replace::{replace_file, replace_unsynced};
