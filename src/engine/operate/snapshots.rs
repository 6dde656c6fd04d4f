//! What is saved of an instance: listed, and written into a new directory.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::engine::base::{Core, Error, Scope};
use crate::git::Repo;
use crate::model::{Timestamp, Title};
use crate::vault::{list_saved, write_saved};

/// How many letters of a commit name a snapshot.
const SHORT: usize = 10;

/// One saved state of the work of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SnapshotView {
    /// The first letters of its commit.
    pub snapshot: String,
    pub at: Timestamp,
    /// `autoyes` where it was saved before a command was accepted, else `operation`: a pause, a restart or a kill.
    pub by: &'static str,
    /// The instance still needs it.
    pub in_use: bool,
}

/// All that is saved of an instance, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SnapshotList {
    pub title: Title,
    pub snapshots: Vec<SnapshotView>,
}

/// Files that were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SnapshotWritten {
    pub snapshot: String,
    pub at: Timestamp,
    pub directory: PathBuf,
}

impl Core {
    /// What pauses, restarts, kills and autoyes have saved of an instance.
    pub(crate) fn snapshots(&self, given: &str) -> Result<SnapshotList, Error> {
        let record = self.find(given, Scope::WithKilled)?.record;
        let repository = Repo::discover(&record.repository.root)?;
        let snapshots = list_saved(&repository, &record.id)?
            .into_iter()
            .map(|saved| SnapshotView {
                snapshot: short(&saved.commit),
                at: saved.at,
                by: if saved.in_passing {
                    "autoyes"
                } else {
                    "operation"
                },
                in_use: saved.in_use,
            })
            .collect();
        Ok(SnapshotList {
            title: record.title,
            snapshots,
        })
    }

    /// Writes the files of a snapshot into a directory that does not exist yet.
    pub(crate) fn write_snapshot(
        &self,
        given: &str,
        snapshot: &str,
        directory: &Path,
    ) -> Result<SnapshotWritten, Error> {
        let record = self.find(given, Scope::WithKilled)?.record;
        let repository = Repo::discover(&record.repository.root)?;
        let known = list_saved(&repository, &record.id)?;
        let named = |commit: &str| !snapshot.is_empty() && commit.starts_with(snapshot);
        let mut found = known.iter().filter(|saved| named(&saved.commit));
        let (Some(saved), None) = (found.next(), found.next()) else {
            return Err(Error::NoSuchSnapshot {
                title: record.title,
                given: snapshot.to_owned(),
            });
        };
        // Nothing that is there is written over: this fails where the name is taken.
        std::fs::create_dir(directory).map_err(Error::files("create", directory))?;
        let directory = directory
            .canonicalize()
            .map_err(Error::files("read", directory))?;
        write_saved(&repository, &saved.commit, &directory)?;
        Ok(SnapshotWritten {
            snapshot: short(&saved.commit),
            at: saved.at,
            directory,
        })
    }
}

fn short(commit: &str) -> String {
    commit.chars().take(SHORT).collect()
}
