//! The conversation of an instance on disk: lines that only ever grow.
//!
//! | file | holds |
//! |---|---|
//! | `current.jsonl` | the conversation; after a compaction a summary and what came since |
//! | `archive-0001.jsonl` … | what was summed up, line for line; with `current.jsonl` the whole history |
//! | `imports.json` | how far each transcript was read, and which prompts were sent |
//!
//! Nothing is rewritten in place. A compaction writes the archive, then puts a new current file in
//! the place of the old one in one step: a crash leaves the old one or the new one.

mod archive;
mod backwards;
mod directory;
mod imports;
mod reader;
#[cfg(test)]
mod tests;

pub(crate) use archive::Cut;
pub(crate) use directory::ConversationDir;
pub(crate) use imports::Imports;
pub(crate) use reader::ConversationReader;
