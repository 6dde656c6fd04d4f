//! Errors of the state on disk.

use std::path::{Path, PathBuf};

use crate::lifecycle::JournalError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("cannot {action} {}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} belongs to another user (uid {owner})", path.display())]
    ForeignOwner { path: PathBuf, owner: u32 },
    #[error("{} has format {found}, which this version of biv does not know", path.display())]
    Newer { path: PathBuf, found: u64 },
    #[error("{} cannot be understood: {message}", path.display())]
    Corrupt { path: PathBuf, message: String },
    /// Valid JSON, but with a value that this version does not know.
    #[error("{} holds something that this version of biv does not know: {message}", path.display())]
    Unknown { path: PathBuf, message: String },
    #[error("{} was changed by another process", path.display())]
    Stale { path: PathBuf },
    #[error("another operation holds {}: {holder}", path.display())]
    Busy { path: PathBuf, holder: String },
}

impl StoreError {
    /// For `map_err`: the action is a verb, as in "cannot write …".
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    pub(super) fn journal(path: &Path) -> impl FnOnce(JournalError) -> Self {
        let path = path.to_owned();
        move |error| match error {
            JournalError::Newer(found) => Self::Newer {
                path,
                found: u64::from(found),
            },
            other => Self::Corrupt {
                path,
                message: other.to_string(),
            },
        }
    }

    /// Whether there is no such file.
    pub(crate) fn is_missing_file(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    }

    /// Whether the disk is full or the quota used up.
    pub(crate) fn is_out_of_space(&self) -> bool {
        matches!(self, Self::Io { source, .. } if matches!(
            source.kind(),
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
        ))
    }
}
