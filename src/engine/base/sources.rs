//! The files that an engine was read from, so that a long-running process notices changes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::engine::base::Core;

/// Stamps of the configuration, the agent files, and the programs whose versions are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sources(Vec<(PathBuf, Option<Stamp>)>);

/// Equal stamps mean that a file has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    changed: (i64, i64),
    size: u64,
}

impl Core {
    /// The stamps of the files; they are not read.
    pub(crate) fn sources(&self) -> Sources {
        let agents = self.home.agents_dir();
        let mut files: Vec<PathBuf> = std::fs::read_dir(&agents)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        files.push(self.home.config_file());
        files.push(self.versions_file());
        files.extend(self.versioned_programs());
        files.sort();
        Sources(
            files
                .into_iter()
                .map(|path| (path.clone(), stamp(&path)))
                .collect(),
        )
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(Stamp {
        file: (metadata.dev(), metadata.ino()),
        changed: (metadata.mtime(), metadata.mtime_nsec()),
        size: metadata.len(),
    })
}
