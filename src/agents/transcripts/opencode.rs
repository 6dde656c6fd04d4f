//! OpenCode: `opencode.db`, an SQLite database with the conversations of all directories.
//!
//! A session has messages, a message has parts, and both are changed in place while the agent works. A part
//! is imported once it cannot change any more: a text that has ended, a tool with a result, any part of a
//! complete message. Parts after an open part are imported after it.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde_json::Value;

use super::bookmark::{Batch, Bookmark, Position, RowKey};
use super::value::{call, is_true, listed, result, text, todos};
use crate::conversation::{ConversationEntry, Speaker};
use crate::model::Timestamp;

/// How long to wait for another process: readers wait only for a rebuild of the database.
const HELD: Duration = Duration::from_millis(500);
/// How many bytes are read per batch.
const BATCH: usize = 1024 * 1024;
/// A longer part is skipped, to bound memory.
const LONGEST: i64 = 8 * 1024 * 1024;

/// A database of OpenCode, opened read-only.
#[derive(Debug)]
pub(in crate::agents) struct Database(Connection);

#[derive(Debug)]
struct Message {
    row: RowKey,
    data: Value,
}

#[derive(Debug)]
pub(super) struct Session {
    database: Database,
    id: String,
    bookmark: Bookmark,
}

impl Database {
    pub(in crate::agents) fn open(path: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(HELD)?;
        Ok(Self(connection))
    }

    /// Whether this session has messages.
    pub(super) fn holds(&self, session: &str) -> rusqlite::Result<bool> {
        let one = "SELECT 1 FROM message WHERE session_id = ?1 LIMIT 1";
        let found = self.0.query_row(one, [session], |_| Ok(()));
        Ok(found.optional()?.is_some())
    }

    /// The messages of a session, oldest first: id, time and content.
    pub(super) fn messages(&self, session: &str) -> rusqlite::Result<Vec<(String, i64, Value)>> {
        let mut messages = self.0.prepare(
            "SELECT id, time_created, data FROM message \
             WHERE session_id = ?1 AND length(data) <= ?2 ORDER BY time_created, id",
        )?;
        let mut rows = messages.query(params![session, LONGEST])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let data = serde_json::from_str(&row.get::<_, String>(2)?).unwrap_or_default();
            found.push((row.get(0)?, row.get(1)?, data));
        }
        Ok(found)
    }

    /// The open tool calls of a directory's sessions, including those of sub-agents: commands and paths. A
    /// later prompt of the user may exist already.
    pub(super) fn open_calls(&self, directory: &str) -> rusqlite::Result<Vec<String>> {
        let mut parts = self.0.prepare(
            "SELECT part.data FROM session JOIN part ON part.message_id = ( \
                 SELECT id FROM message WHERE session_id = session.id \
                 AND json_valid(data) AND json_extract(data, '$.role') = 'assistant' \
                 ORDER BY time_created DESC, id DESC LIMIT 1) \
             WHERE session.directory = ?1 AND length(part.data) <= ?2",
        )?;
        let mut rows = parts.query(params![directory, LONGEST])?;
        let mut open = Vec::new();
        while let Some(row) = rows.next()? {
            let part: Value = serde_json::from_str(&row.get::<_, String>(0)?).unwrap_or_default();
            if text(&part, "type") == Some("tool")
                && !is_settled(true, &part)
                && let Some(input) = part.pointer("/state/input")
            {
                let subjects = ["command", "filePath"].iter();
                open.extend(subjects.filter_map(|key| text(input, key).map(str::to_owned)));
            }
        }
        Ok(open)
    }

    /// The session of this directory that was used last, of those that began since then. Sessions of
    /// sub-agents, which have a parent, are left out.
    pub(in crate::agents) fn newest(
        &self,
        directory: &str,
        since: Timestamp,
    ) -> rusqlite::Result<Option<String>> {
        let newest = "SELECT id FROM session \
             WHERE directory = ?1 AND time_created >= ?2 AND parent_id IS NULL \
             ORDER BY time_updated DESC LIMIT 1";
        let since = since.seconds_since_epoch().saturating_mul(1000);
        let found = self
            .0
            .query_row(newest, params![directory, since], |row| row.get(0));
        found.optional()
    }
}

impl Session {
    pub(super) fn open(path: &Path, id: &str, bookmark: Bookmark) -> rusqlite::Result<Self> {
        Ok(Self {
            database: Database::open(path)?,
            id: id.to_owned(),
            bookmark,
        })
    }

    /// The next entries; None at the end of what is complete so far.
    pub(super) fn next(&mut self) -> rusqlite::Result<Option<Batch>> {
        let mut reached = self.bookmark.position.clone();
        let mut position = reached.clone().unwrap_or_default();
        let mut found = Found::default();
        // One transaction: what is written during it is read the next time.
        let look = self.database.0.unchecked_transaction()?;
        let mut messages = look.prepare(
            "SELECT time_created, id, data FROM message \
             WHERE session_id = ?1 AND (time_created, id) >= (?2, ?3) ORDER BY time_created, id",
        )?;
        let mut rows =
            messages.query(params![self.id, position.message.at, position.message.id])?;
        while let Some(row) = rows.next()? {
            let message = Message {
                row: RowKey {
                    at: row.get(0)?,
                    id: row.get(1)?,
                },
                data: serde_json::from_str(&row.get::<_, String>(2)?).unwrap_or_default(),
            };
            if message.row != position.message {
                position = Position {
                    message: message.row.clone(),
                    ..Position::default()
                };
            } else if position.over {
                continue;
            }
            let over = message.is_over(&look, &self.id)?;
            let through = message.read(&look, &mut position, over, &mut found)?;
            if through {
                message.end(&mut found);
                position.over = true;
            }
            // A message without imported parts is read again later.
            if position.over || position.part != RowKey::default() {
                reached = Some(position.clone());
            }
            if !through {
                break;
            }
        }
        drop(rows);
        drop(messages);
        look.finish()?;
        if reached == self.bookmark.position {
            return Ok(None);
        }
        self.bookmark.position = reached;
        Ok(Some(Batch {
            entries: found.entries,
            skipped: found.skipped,
            bookmark: self.bookmark.clone(),
        }))
    }
}

#[derive(Debug, Default)]
struct Found {
    entries: Vec<ConversationEntry>,
    skipped: u64,
    bytes: usize,
}

impl Message {
    fn is_of_agent(&self) -> bool {
        text(&self.data, "role") == Some("assistant")
    }

    /// Whether the message cannot change any more: it is marked as complete, or the agent has begun
    /// another one. A message of the user has all its parts once another message follows.
    fn is_over(&self, look: &Connection, session: &str) -> rusqlite::Result<bool> {
        let completed = self.data.pointer("/time/completed").is_some();
        if self.is_of_agent() && (completed || self.data.get("error").is_some()) {
            return Ok(true);
        }
        let mut later = look.prepare(
            "SELECT data FROM message WHERE session_id = ?1 AND (time_created, id) > (?2, ?3) \
             ORDER BY time_created, id",
        )?;
        let mut rows = later.query(params![session, self.row.at, self.row.id])?;
        while let Some(row) = rows.next()? {
            let data: Value = serde_json::from_str(&row.get::<_, String>(0)?).unwrap_or_default();
            if !self.is_of_agent() || text(&data, "role") == Some("assistant") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the parts after the position. Returns whether the message was read to its end.
    fn read(
        &self,
        look: &Connection,
        position: &mut Position,
        over: bool,
        found: &mut Found,
    ) -> rusqlite::Result<bool> {
        let mut parts = look.prepare(
            "SELECT time_created, id, CASE WHEN length(data) <= ?4 THEN data END FROM part \
             WHERE message_id = ?1 AND (time_created, id) > (?2, ?3) ORDER BY time_created, id",
        )?;
        let behind = params![self.row.id, position.part.at, position.part.id, LONGEST];
        let mut rows = parts.query(behind)?;
        while let Some(row) = rows.next()? {
            if found.bytes >= BATCH {
                return Ok(false);
            }
            let part = RowKey {
                at: row.get(0)?,
                id: row.get(1)?,
            };
            let data: Option<String> = row.get(2)?;
            let value: Option<Value> = data
                .as_ref()
                .and_then(|data| serde_json::from_str(data).ok());
            match value {
                Some(value) if over || is_settled(self.is_of_agent(), &value) => {
                    self.entries(&part, &value, &mut found.entries);
                }
                Some(_) => return Ok(false),
                None => found.skipped += 1,
            }
            found.bytes += data.map_or(0, |data| data.len());
            position.part = part;
        }
        Ok(over)
    }

    fn entries(&self, part: &RowKey, value: &Value, found: &mut Vec<ConversationEntry>) {
        let first = found.len();
        let at = began(value).unwrap_or(part.at);
        let Some(at) = Timestamp::from_epoch_millis(at) else {
            return;
        };
        match text(value, "type") {
            // Text that the program adds to a prompt is left out.
            Some("text") if is_true(value, "synthetic") || is_true(value, "ignored") => {}
            Some("text") => {
                let speaker = if self.is_of_agent() {
                    Speaker::Assistant
                } else {
                    Speaker::User
                };
                let said = text(value, "text").unwrap_or_default();
                if !said.trim().is_empty() {
                    found.push(ConversationEntry::new(at, speaker, said));
                }
            }
            Some("tool") => tool(value, at, found),
            Some("compaction") => found.push(ConversationEntry::new(
                at,
                Speaker::System,
                "the agent summed up its context",
            )),
            _ => {}
        }
        for entry in found.iter_mut().skip(first) {
            entry
                .metadata
                .insert("id".to_owned(), part.id.as_str().into());
        }
    }

    /// An entry for a message of the agent that ended with an error.
    fn end(&self, found: &mut Found) {
        let Some(error) = self.data.get("error") else {
            return;
        };
        let at = self.data.pointer("/time/completed").and_then(Value::as_i64);
        let Some(at) = Timestamp::from_epoch_millis(at.unwrap_or(self.row.at)) else {
            return;
        };
        let entry = if text(error, "name") == Some("MessageAbortedError") {
            ConversationEntry::new(at, Speaker::System, "interrupted")
        } else {
            let data = error.get("data").and_then(|data| text(data, "message"));
            let message = data.or_else(|| text(error, "name")).unwrap_or("error");
            ConversationEntry::new(at, Speaker::System, message).with("failed", true)
        };
        found.entries.push(entry.with("id", self.row.id.as_str()));
    }
}

/// Whether a part of an incomplete message cannot change any more.
fn is_settled(of_agent: bool, part: &Value) -> bool {
    match text(part, "type") {
        Some("text") => !of_agent || part.pointer("/time/end").is_some(),
        Some("tool") => matches!(
            part.pointer("/state/status").and_then(Value::as_str),
            Some("completed" | "error")
        ),
        _ => true,
    }
}

/// When it began, from the part itself.
fn began(part: &Value) -> Option<i64> {
    part.pointer("/time/start")
        .or_else(|| part.pointer("/state/time/start"))?
        .as_i64()
}

fn tool(part: &Value, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    let nothing = Value::Null;
    let state = part.get("state").unwrap_or(&nothing);
    let input = state.get("input").unwrap_or(&nothing);
    let name = text(part, "tool").unwrap_or("tool");
    let id = text(part, "callID");
    let mut entry = call(at, name, id, input);
    if name == "todowrite"
        && let Some(todos) = todos(input.get("todos"))
    {
        entry = listed(entry, &todos);
    }
    found.push(entry);
    let ended = state.pointer("/time/end").and_then(Value::as_i64);
    let at = ended.and_then(Timestamp::from_epoch_millis).unwrap_or(at);
    let exit = state.pointer("/metadata/exit").and_then(Value::as_i64);
    match text(state, "status") {
        Some("completed") => {
            let output = text(state, "output").unwrap_or_default();
            let failed = exit.is_some_and(|exit| exit != 0);
            found.push(result(at, id, output, failed));
        }
        Some("error") => {
            let output = text(state, "error").unwrap_or_default();
            found.push(result(at, id, output, true));
        }
        // The agent was killed during the call.
        _ => {}
    }
}
