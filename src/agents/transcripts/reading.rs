//! One transcript, read on from where it was left.

use std::path::PathBuf;

use super::bookmark::{Batch, Bookmark, check};
use super::json_lines::JsonLines;
use super::{aider, opencode};
use crate::agents::TranscriptFormat;
use crate::model::Timestamp;

/// The transcript of one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TranscriptFile {
    pub path: PathBuf,
    pub(super) form: Form,
}

/// How a transcript is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    JsonLines(TranscriptFormat),
    /// One session of a database.
    Database {
        session: String,
    },
    /// The chats of a worktree since then, and a file that tells when each prompt was typed.
    Chats {
        typed: PathBuf,
        since: Timestamp,
    },
}

/// Whether a reading goes on or has to begin again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continuity {
    Continues,
    /// The file is not the one that was read: what comes may be known already.
    Anew,
}

#[derive(Debug)]
pub(crate) struct Reading {
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
    /// Goes on at the bookmark, or begins again where that does not fit any more. `now` is the time
    /// of lines that tell none.
    pub(crate) fn read_on(
        self,
        bookmark: Option<Bookmark>,
        now: Timestamp,
    ) -> std::io::Result<(Reading, Continuity)> {
        let fresh = Bookmark {
            last: matches!(self.form, Form::JsonLines(_)).then_some(now),
            ..Bookmark::default()
        };
        let (bookmark, continuity) = match bookmark {
            None => (fresh, Continuity::Continues),
            Some(bookmark) if self.still_has(&bookmark)? => (bookmark, Continuity::Continues),
            Some(_) => (fresh, Continuity::Anew),
        };
        let reader = match &self.form {
            Form::JsonLines(format) => {
                Reader::JsonLines(JsonLines::open(*format, &self.path, bookmark)?)
            }
            Form::Database { session } => {
                let session = opencode::Session::open(&self.path, session, bookmark);
                Reader::Database(session.map_err(std::io::Error::other)?)
            }
            Form::Chats { typed, since } => {
                Reader::Chats(aider::Chat::open(&self.path, typed, *since, bookmark, now)?)
            }
        };
        let path = self.path;
        Ok((Reading { path, reader }, continuity))
    }

    /// Whether there is anything behind the bookmark.
    pub(crate) fn has_more(&self, bookmark: &Bookmark) -> bool {
        match &self.form {
            // Whether there is more is told by reading it, and so is what is wrong.
            Form::Database { session } => {
                opencode::Session::open(&self.path, session, bookmark.clone())
                    .and_then(|mut session| session.next())
                    .map_or(true, |batch| batch.is_some())
            }
            Form::JsonLines(_) | Form::Chats { .. } => std::fs::metadata(&self.path)
                .is_ok_and(|metadata| metadata.len() != bookmark.offset),
        }
    }

    /// Whether it is still what was read up to there. In a database only what is behind the place counts.
    fn still_has(&self, bookmark: &Bookmark) -> std::io::Result<bool> {
        match self.form {
            Form::Database { .. } => Ok(true),
            Form::JsonLines(_) | Form::Chats { .. } => {
                Ok(check(&self.path, bookmark.offset)? == Some(bookmark.check))
            }
        }
    }
}

impl Reading {
    /// The next entries; None at the end of what is written so far.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<Batch>> {
        match &mut self.reader {
            Reader::JsonLines(lines) => lines.next(&self.path),
            Reader::Database(session) => session.next().map_err(std::io::Error::other),
            Reader::Chats(chat) => chat.next(&self.path),
        }
    }
}
