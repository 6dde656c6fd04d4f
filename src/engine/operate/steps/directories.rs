//! The directories that the user has added to the agent's session: the next start gets them again.

use std::path::Path;

use crate::agents::TranscriptQuery;
use crate::engine::operate::steps::work::Work;
use crate::model::printable_line;

impl Work<'_> {
    /// Those of a paused instance are in its record. While it runs, and after a crash, the agent's transcript has what
    /// was changed since its start on this machine; what another one has brought along is not read.
    pub(super) fn directories(&self) -> Vec<String> {
        let record = &self.record;
        let known = record.directories.clone();
        let (None, Some(reference)) = (&record.pause, &record.session_ref) else {
            return known;
        };
        let query = TranscriptQuery {
            reference,
            worktree: &record.worktree.path,
            below: record.below(),
            since: record.created_at,
        };
        let since = record.resumed_at.unwrap_or(record.created_at);
        match self.core.provider_of(record) {
            Ok(provider) => provider.added_directories(&known, since, query, &self.core.host),
            Err(_) => known,
        }
    }

    /// The same without those that are gone, which are named.
    pub(super) fn existing_directories(&mut self) -> Vec<String> {
        let (there, gone): (Vec<String>, Vec<String>) = self
            .directories()
            .into_iter()
            .partition(|path| Path::new(path).is_dir());
        for path in gone {
            self.progress.note(&format!(
                "a directory that was added to the session is gone: {}",
                printable_line(&path)
            ));
        }
        there
    }
}
