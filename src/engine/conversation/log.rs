//! Reads a conversation, entry by entry.

use crate::conversation::{ConversationEntry, Speaker};
use crate::engine::base::{Core, Error, Found, Scope};
use crate::model::{InstanceId, InstanceRecord, RestingState, printable_line};
use crate::store::{ConversationReader, InstanceDir};

/// Where reading begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFrom {
    Start,
    /// With so many of the last entries.
    Last(usize),
}

/// A conversation that is being read.
#[derive(Debug)]
pub(crate) struct Log<'e> {
    core: &'e Core,
    dir: InstanceDir,
    record: InstanceRecord,
    reader: ConversationReader,
    /// Why it may not be up to date.
    stale: Option<Error>,
}

impl Core {
    /// The conversation of an instance, brought up to date first. Killed ones have theirs too.
    pub(crate) fn log(&self, given: &str, from: LogFrom) -> Result<Log<'_>, Error> {
        let found = self.find_any(given)?;
        let (dir, record) = (found.dir, found.record);
        let stale = self.import_conversation(&dir, &record).err();
        let conversation = dir.conversation();
        let start = match from {
            LogFrom::Start => 0,
            LogFrom::Last(count) => conversation.tail(count)?.start,
        };
        let reader = conversation.reader(start)?;
        Ok(Log {
            core: self,
            dir,
            record,
            reader,
            stale,
        })
    }

    /// The living instance of this name, or else the killed one.
    pub(in crate::engine) fn find_any(&self, given: &str) -> Result<Found, Error> {
        match self.find(given, Scope::Living) {
            Err(Error::NoSuchInstance { .. } | Error::Ended { .. }) => {
                self.find(given, Scope::WithKilled)
            }
            other => other,
        }
    }
}

impl Log<'_> {
    /// The next entries; none at the end.
    pub(crate) fn next(&mut self) -> Result<Vec<ConversationEntry>, Error> {
        Ok(self.reader.next()?)
    }

    /// Imports new entries. Returns whether more may still come.
    pub(crate) fn refresh(&mut self) -> Result<bool, Error> {
        self.record = self.dir.record()?;
        self.stale = self.core.import_conversation(&self.dir, &self.record).err();
        self.reader.follow()?;
        Ok(self.record.state != RestingState::Killed)
    }

    /// Lines that could not be read.
    pub(crate) fn skipped(&self) -> u64 {
        self.reader.skipped()
    }

    /// Why it may not be up to date, once.
    pub(crate) fn take_stale(&mut self) -> Option<Error> {
        self.stale.take()
    }
}

/// How many entries are looked through for the last words of an agent.
const RECENT: usize = 12;

impl Core {
    /// The first line of what the agent said last, as far as its conversation was read.
    pub(crate) fn last_words(&self, id: &InstanceId) -> Option<String> {
        let conversation = self.store.instance(id).conversation();
        if conversation.length() == 0 {
            return None;
        }
        let recent = conversation.tail(RECENT).ok()?;
        let said = recent
            .entries
            .iter()
            .rev()
            .find(|entry| entry.speaker == Speaker::Assistant)?;
        let mut lines = said.content.lines().map(str::trim);
        let line = lines.find(|line| line.chars().any(char::is_alphanumeric))?;
        Some(printable_line(line))
    }

    /// Reads what the agent has said since its conversation was read last.
    pub(crate) fn import_last_words(&self, id: &InstanceId) {
        let dir = self.store.instance(id);
        let imported = dir
            .record()
            .map_err(Error::from)
            .and_then(|record| self.import_conversation(&dir, &record));
        if let Err(error) = imported {
            tracing::debug!(%error, "the last words of an agent are those that were read before");
        }
    }
}
