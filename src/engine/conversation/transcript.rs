//! Imports conversations from the agents' transcripts into the store.

use std::os::unix::fs::MetadataExt;

use crate::agents::{Bookmark, Continuity, TranscriptLookup, TranscriptQuery};
use crate::conversation::{ConversationEntry, Speaker, brief, last_action, of_run, pending_tasks};
use crate::engine::base::{Core, Error, now};
use crate::model::{InstanceRecord, Timestamp};
use crate::store::{ConversationDir, Imports, InstanceDir, Lock};

/// How many entries are searched for the agent's last action and its list of tasks.
const LOOKED_BACK: usize = 1000;

/// Stands for the reference of an agent that has none and writes into its worktree.
const WORKTREE: &str = "worktree";

/// What an import has brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::engine) struct Imported {
    pub entries: usize,
    /// Lines of the transcript that could not be understood.
    pub skipped: u64,
}

/// The state of the work, for the pause record and for views.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::engine) struct WorkState {
    pub last_action: Option<String>,
    pub pending_tasks: Vec<String>,
    pub summary: Option<String>,
}

impl Core {
    /// Brings what is new in the agent's transcript into the store. Doing it again adds nothing.
    pub(in crate::engine) fn import_conversation(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
    ) -> Result<Imported, Error> {
        let conversation = dir.conversation();
        let mut imported = Imported::default();
        for reference in self.references(dir, record) {
            if !self.has_news(&conversation, record, &reference)? {
                continue;
            }
            let lock = conversation.lock()?;
            let mut imports = conversation.imports()?;
            let more = self.import(&conversation, &lock, &mut imports, record, &reference)?;
            imported.entries += more.entries;
            imported.skipped += more.skipped;
        }
        Ok(imported)
    }

    /// Notes a prompt that is about to be typed. Another process may import the agent's version of it
    /// before [`Self::record_sent`] is reached: the note shows that it is the same prompt.
    pub(in crate::engine) fn note_prompt(
        &self,
        dir: &InstanceDir,
        prompt: &str,
    ) -> Result<Timestamp, Error> {
        let conversation = dir.conversation();
        let at = now();
        let lock = conversation.lock()?;
        let mut imports = conversation.imports()?;
        imports.note_sent(at, prompt);
        conversation.save_imports(&lock, &mut imports)?;
        Ok(at)
    }

    /// Takes the note of a prompt back that was not sent.
    pub(in crate::engine) fn forget_prompt(
        &self,
        dir: &InstanceDir,
        noted: Timestamp,
        prompt: &str,
    ) -> Result<(), Error> {
        let conversation = dir.conversation();
        let lock = conversation.lock()?;
        let mut imports = conversation.imports()?;
        imports.forget_sent(noted, prompt);
        Ok(conversation.save_imports(&lock, &mut imports)?)
    }

    /// Whether the agent's transcript has a prompt that was noted.
    pub(in crate::engine) fn has_told(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        noted: &Result<Timestamp, Error>,
        prompt: &str,
    ) -> bool {
        let Ok(noted) = noted else { return false };
        if let Err(error) = self.import_conversation(dir, record) {
            tracing::debug!(%error, "import the conversation to find a prompt");
        }
        let imports = dir.conversation().imports();
        imports.is_ok_and(|imports| !imports.awaits(*noted, prompt))
    }

    /// Records a prompt that was noted and has been sent, unless the transcript tells of it already.
    pub(in crate::engine) fn record_sent(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        prompt: &str,
        noted: Timestamp,
    ) -> Result<(), Error> {
        let conversation = dir.conversation();
        let lock = conversation.lock()?;
        let mut imports = conversation.imports()?;
        for reference in self.references(dir, record) {
            self.import(&conversation, &lock, &mut imports, record, &reference)?;
        }
        if !imports.write_sent(noted, prompt) {
            return Ok(());
        }
        let entry = ConversationEntry::new(noted, Speaker::User, prompt)
            .with("source", "biv")
            .with("run", record.run.as_str());
        conversation.append(&lock, &[entry])?;
        Ok(conversation.save_imports(&lock, &mut imports)?)
    }

    /// The last prompt of the agent, from any source.
    pub(in crate::engine) fn last_prompt(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
    ) -> Option<String> {
        if let Err(error) = self.import_conversation(dir, record) {
            tracing::debug!(%error, "import the conversation to find the last prompt");
        }
        let tailed = dir.conversation().tail(LOOKED_BACK).ok()?;
        let mut entries = tailed.entries.into_iter().rev();
        let asked = entries.find(|entry| entry.speaker == Speaker::User)?;
        Some(asked.content)
    }

    /// The agent's last action, its pending tasks and a summary; empty if nothing is known.
    pub(in crate::engine) fn work_state(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
    ) -> WorkState {
        let Ok(tailed) = dir.conversation().tail(LOOKED_BACK) else {
            return WorkState::default();
        };
        let entries = of_run(tailed.entries, record.run.as_str());
        WorkState {
            last_action: last_action(&entries),
            pending_tasks: pending_tasks(&entries),
            summary: brief(&entries),
        }
    }

    /// Whether the conversation of this reference has entries; None if that is not known. One that was
    /// imported and whose transcript is gone counts: the agent must be asked to resume it, and may
    /// answer that it does not know it.
    pub(in crate::engine) fn has_turns(
        &self,
        record: &InstanceRecord,
        reference: &str,
    ) -> Option<bool> {
        let provider = self.provider_of(record).ok()?;
        let sought = sought(record, reference);
        let told = provider.has_turns(sought, &self.host);
        if provider.transcript_of(sought, &self.host) != TranscriptLookup::Absent {
            return told;
        }
        let imports = self.store.instance(&record.id).conversation().imports();
        let imported =
            imports.is_ok_and(|imports| imports.sources.contains_key(&source(record, reference)));
        if told == Some(false) && imported {
            Some(true)
        } else {
            told
        }
    }

    /// Whether the agent has a file of this conversation, with turns or without.
    pub(in crate::engine) fn has_transcript(
        &self,
        record: &InstanceRecord,
        reference: &str,
    ) -> bool {
        self.provider_of(record).is_ok_and(|provider| {
            let found = provider.transcript_of(sought(record, reference), &self.host);
            matches!(found, TranscriptLookup::Found(_))
        })
    }

    /// When the agent has last reported something or written into its conversation. A database has the
    /// conversations of others too, and is left out.
    pub(in crate::engine) fn last_written(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
    ) -> Option<Timestamp> {
        let reported = dir.hook_report().map(|heard| heard.at);
        let provider = self.provider_of(record).ok();
        let written = |reference: String| {
            let found = provider?.transcript_of(sought(record, &reference), &self.host);
            let TranscriptLookup::Found(file) = found else {
                return None;
            };
            let is_database = file.path.extension().is_some_and(|ending| ending == "db");
            let metadata = std::fs::metadata(&file.path).ok();
            Timestamp::from_epoch(metadata.filter(|_| !is_database)?.mtime())
        };
        let references = self.references(dir, record);
        references
            .into_iter()
            .filter_map(written)
            .chain(reported)
            .max()
    }

    /// A look without a lock, so that nothing is written where nothing has happened.
    fn has_news(
        &self,
        conversation: &ConversationDir,
        record: &InstanceRecord,
        reference: &str,
    ) -> Result<bool, Error> {
        let TranscriptLookup::Found(file) = self
            .provider_of(record)?
            .transcript_of(sought(record, reference), &self.host)
        else {
            return Ok(false);
        };
        let bookmark = bookmark(&conversation.imports()?, &source(record, reference));
        Ok(bookmark.is_none_or(|bookmark| file.has_more(&bookmark)))
    }

    fn import(
        &self,
        conversation: &ConversationDir,
        lock: &Lock,
        imports: &mut Imports,
        record: &InstanceRecord,
        reference: &str,
    ) -> Result<Imported, Error> {
        let mut imported = Imported::default();
        let provider = self.provider_of(record)?;
        let sought = sought(record, reference);
        let TranscriptLookup::Found(file) = provider.transcript_of(sought, &self.host) else {
            return Ok(imported);
        };
        let source = source(record, reference);
        let bookmark = bookmark(imports, &source);
        if bookmark
            .as_ref()
            .is_some_and(|bookmark| !file.has_more(bookmark))
        {
            return Ok(imported);
        }
        let path = file.path.clone();
        let (mut reading, continuity) = file
            .read_on(bookmark, now())
            .map_err(Error::files("read", &path))?;
        let mut known = match continuity {
            Continuity::Continues => conversation.unacknowledged(imports)?,
            Continuity::Anew => conversation.known()?,
        };
        let mut anything = imports.sources.contains_key(&source);
        while let Some(batch) = reading.next().map_err(Error::files("read", &path))? {
            anything |= !batch.entries.is_empty();
            let fresh: Vec<ConversationEntry> = batch
                .entries
                .into_iter()
                .filter(|entry| !known.has(entry))
                .filter_map(|entry| imports.admit(entry))
                .map(|entry| entry.with("run", record.run.as_str()))
                .collect();
            conversation.append(lock, &fresh)?;
            imported.entries += fresh.len();
            imported.skipped += batch.skipped;
            imports.skipped += batch.skipped;
            // A bookmark means that there are entries, so none is written for a header alone.
            if let Ok(bookmark) = serde_json::to_value(batch.bookmark)
                && anything
            {
                imports.sources.insert(source.clone(), bookmark);
            }
            conversation.save_imports(lock, imports)?;
        }
        Ok(imported)
    }

    /// The conversations of this process, oldest first: those that its hooks told of, and the current one.
    pub(super) fn references(&self, dir: &InstanceDir, record: &InstanceRecord) -> Vec<String> {
        let provider = self.provider_of(record);
        if provider.is_ok_and(|provider| provider.writes_into_the_worktree()) {
            return vec![WORKTREE.to_owned()];
        }
        let mut references: Vec<String> = dir
            .hook_report()
            .map(|heard| heard.earlier.into_iter().chain(heard.session).collect())
            .unwrap_or_default();
        if let Some(known) = &record.session_ref
            && !references.contains(known)
        {
            references.insert(0, known.clone());
        }
        references
    }
}

pub(super) fn sought<'a>(record: &'a InstanceRecord, reference: &'a str) -> TranscriptQuery<'a> {
    TranscriptQuery {
        reference,
        worktree: &record.worktree.path,
        below: record.below(),
        since: record.created_at,
    }
}

/// The name of a transcript among all that an instance ever had.
pub(super) fn source(record: &InstanceRecord, reference: &str) -> String {
    format!("{}:{reference}", record.agent)
}

fn bookmark(imports: &Imports, source: &str) -> Option<Bookmark> {
    serde_json::from_value(imports.sources.get(source)?.clone()).ok()
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
