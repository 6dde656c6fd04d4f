//! The files that an engine is made of: whether one that has run for days is still as they say.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::engine::base::Core;

/// How the configuration, the files of agents, and the programs whose versions are known look now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sources(Vec<(PathBuf, Option<Stamp>)>);

/// By what a file is known to be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    changed: (i64, i64),
    size: u64,
}

impl Core {
    /// Looked at, not read.
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
