//! Reads one transcript from a bookmark.

use std::path::PathBuf;

use super::bookmark::{Batch, Bookmark, check};
use super::json_lines::JsonLines;
use super::{aider, opencode};
use crate::agents::TranscriptFormat;
use crate::agents::described::LineRules;
use crate::agents::json_path::JsonPath;
use crate::model::Timestamp;

/// The transcript of one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TranscriptFile {
    pub path: PathBuf,
    pub(super) form: TranscriptForm,
}

/// The storage format of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TranscriptForm {
    JsonLines(TranscriptFormat),
    /// JSON lines that the provider file describes.
    Described {
        lines: LineRules,
        time: Option<JsonPath>,
    },
    /// One session of a database.
    Database {
        session: String,
    },
    /// The chats of a worktree since a time, and the file with the times of the prompts.
    Chats {
        typed: PathBuf,
        since: Timestamp,
    },
}

/// Whether reading continues or starts over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continuity {
    Continues,
    /// The file is not the one that was read before: entries may be known already.
    Anew,
}

#[derive(Debug)]
pub(crate) struct TranscriptReading {
    path: PathBuf,
    reader: Reader,
}

#[derive(Debug)]
enum Reader {
    JsonLines(JsonLines),
    Database(opencode::Session),
    Chats(aider::Chat),
}

impl TranscriptFile {
    /// Continues at the bookmark, or starts over if the file has changed. `now` is the time for lines
    /// without one.
    pub(crate) fn read_on(
        self,
        bookmark: Option<Bookmark>,
        now: Timestamp,
    ) -> std::io::Result<(TranscriptReading, Continuity)> {
        let fresh = Bookmark {
            last: self.is_json_lines().then_some(now),
            ..Bookmark::default()
        };
        let (bookmark, continuity) = match bookmark {
            None => (fresh, Continuity::Continues),
            Some(bookmark) if self.still_has(&bookmark)? => (bookmark, Continuity::Continues),
            Some(_) => (fresh, Continuity::Anew),
        };
        let reader = match &self.form {
            TranscriptForm::JsonLines(format) => {
                Reader::JsonLines(JsonLines::open(*format, &self.path, bookmark)?)
            }
            TranscriptForm::Described { lines, time } => {
                let (lines, time) = (lines.clone(), time.clone());
                let lines = JsonLines::described(lines, time, &self.path, bookmark)?;
                Reader::JsonLines(lines)
            }
            TranscriptForm::Database { session } => {
                let session = opencode::Session::open(&self.path, session, bookmark);
                Reader::Database(session.map_err(std::io::Error::other)?)
            }
            TranscriptForm::Chats { typed, since } => {
                Reader::Chats(aider::Chat::open(&self.path, typed, *since, bookmark, now)?)
            }
        };
        let path = self.path;
        Ok((TranscriptReading { path, reader }, continuity))
    }

    /// Whether there is anything after the bookmark.
    pub(crate) fn has_more(&self, bookmark: &Bookmark) -> bool {
        match &self.form {
            // Only reading shows whether there is more.
            TranscriptForm::Database { session } => {
                opencode::Session::open(&self.path, session, bookmark.clone())
                    .and_then(|mut session| session.next())
                    .map_or(true, |batch| batch.is_some())
            }
            TranscriptForm::JsonLines(_)
            | TranscriptForm::Described { .. }
            | TranscriptForm::Chats { .. } => std::fs::metadata(&self.path)
                .is_ok_and(|metadata| metadata.len() != bookmark.offset),
        }
    }

    fn is_json_lines(&self) -> bool {
        matches!(
            self.form,
            TranscriptForm::JsonLines(_) | TranscriptForm::Described { .. }
        )
    }

    /// Whether the content before the bookmark is unchanged. For a database only the position counts.
    fn still_has(&self, bookmark: &Bookmark) -> std::io::Result<bool> {
        match self.form {
            TranscriptForm::Database { .. } => Ok(true),
            TranscriptForm::JsonLines(_)
            | TranscriptForm::Described { .. }
            | TranscriptForm::Chats { .. } => {
                Ok(check(&self.path, bookmark.offset)? == Some(bookmark.check))
            }
        }
    }
}

impl TranscriptReading {
    /// The next entries; None at the end of what is written so far.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<Batch>> {
        match &mut self.reader {
            Reader::JsonLines(lines) => lines.next(&self.path),
            Reader::Database(session) => session.next().map_err(std::io::Error::other),
            Reader::Chats(chat) => chat.next(&self.path),
        }
    }
}
