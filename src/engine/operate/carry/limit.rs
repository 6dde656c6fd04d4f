//! How much another machine may send here.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::engine::base::{Core, Error};
use crate::git::GitError;
use crate::git::disk::free_bytes;
use crate::hosts::HostError;

/// Space that stays free whatever another machine sends.
const KEPT_FREE: u64 = 64 << 20;

/// The most that is taken, and why.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Limit {
    pub bytes: u64,
    /// The directory whose disk has no space for more; None: the user's own limit.
    disk: Option<PathBuf>,
}

impl Limit {
    /// For what is this machine's own.
    pub(in crate::engine) fn none() -> Self {
        Self {
            bytes: u64::MAX,
            disk: None,
        }
    }

    fn exceeded(&self) -> Error {
        match &self.disk {
            Some(path) => GitError::DiskFull { path: path.clone() }.into(),
            None => HostError::SentTooMuch { limit: self.bytes }.into(),
        }
    }
}

impl Core {
    /// How much may come into a directory at once, if it is stored so many times.
    pub(in crate::engine) fn arrival_limit(
        &self,
        directory: &Path,
        copies: u64,
    ) -> Result<Limit, Error> {
        let share = free_bytes(directory)?.saturating_sub(KEPT_FREE) / copies;
        Ok(match self.settings().hosts.fetch_limit {
            limit if limit > 0 && limit < share => Limit {
                bytes: limit,
                disk: None,
            },
            _ => Limit {
                bytes: share,
                disk: Some(directory.to_owned()),
            },
        })
    }
}

/// Writes what another machine sends. What is larger is an error, and the file is the caller's to delete.
pub(in crate::engine) fn write_sent(
    mut input: impl Read,
    mut file: &File,
    limit: &Limit,
    unwritable: impl FnOnce(std::io::Error) -> Error,
) -> Result<(), Error> {
    let written = std::io::copy(&mut input.by_ref().take(limit.bytes), &mut file)
        // One byte more tells a whole one from one that was cut off.
        .and_then(|_| input.take(1).read(&mut [0]));
    match written {
        Ok(0) => Ok(()),
        Ok(_) => Err(limit.exceeded()),
        Err(error) => Err(unwritable(error)),
    }
}
