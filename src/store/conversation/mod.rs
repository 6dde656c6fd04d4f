//! The conversation of an instance on disk: append-only files of JSON lines.
//!
//! | file | holds |
//! |---|---|
//! | `current.jsonl` | the conversation; after a compaction a summary and what came since |
//! | `archive-0001.jsonl` … | what was summarised, line for line; with `current.jsonl` the whole history |
//! | `imports.json` | how far each transcript was read, and which prompts were sent |
//!
//! Nothing is rewritten in place. A compaction writes the archive, then replaces the current file in one
//! step: a crash leaves the old one or the new one.

mod archive;
mod directory;
mod imports;
mod reader;
mod reverse_lines;
#[cfg(test)]
mod tests;

pub(crate) use archive::Cut;
pub(crate) use directory::ConversationDir;
pub(crate) use imports::Imports;
pub(crate) use reader::ConversationReader;
