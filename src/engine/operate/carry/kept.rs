//! Exports that are kept as files of a directory: one that the user names, or one of this home for other machines.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::engine::base::{Core, Error, RemoteError};
use crate::engine::operate::carry::limit::{Limit, write_sent};
use crate::model::ExportName;
use crate::store::ensure_private;

const SUFFIX: &str = ".biv";

/// Begins the name of one that is not all there yet.
const UNFINISHED: &str = ".biv-";

/// What was not written for this long was left by a process that was killed.
const ABANDONED: Duration = Duration::from_secs(2 * 3600);

/// The exports in a directory, in their order. Other files do not count.
pub(in crate::engine) fn kept_in(directory: &Path) -> Result<Vec<ExportName>, Error> {
    let entries = std::fs::read_dir(directory).map_err(Error::files("read", directory))?;
    let mut names: Vec<ExportName> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            ExportName::parse(name.to_str()?.strip_suffix(SUFFIX)?)
        })
        .collect();
    names.sort();
    Ok(names)
}

/// Keeps an export, under another name until all of it is there, in place of these. Without them nothing is
/// replaced.
pub(in crate::engine) fn keep(
    directory: &Path,
    name: &ExportName,
    content: &mut dyn Read,
    replaced: &[ExportName],
    expected: &str,
    limit: &Limit,
) -> Result<(), Error> {
    let path = file(directory, name);
    let failed = |error| Error::files("write", &path)(error);
    let mut kept = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(directory)
        .map_err(failed)?;
    write_sent(content, kept.as_file(), limit, failed)?;
    kept.as_file().sync_all().map_err(failed)?;
    // Where a connection was cut, the input has ended early.
    if hash_of(kept.as_file_mut()).map_err(failed)? != expected {
        return Err(RemoteError::NotWhole.into());
    }
    let persisted = match replaced.contains(name) {
        true => kept.persist(&path),
        false => kept.persist_noclobber(&path),
    };
    persisted.map_err(|error| failed(error.error))?;
    for old in replaced.iter().filter(|old| *old != name) {
        let path = file(directory, old);
        std::fs::remove_file(&path).map_err(Error::files("remove", &path))?;
    }
    let synced = File::open(directory).and_then(|opened| opened.sync_all());
    synced.map_err(Error::files("write", directory))
}

/// Opens an export. What is no plain file is refused: reading it could take forever.
pub(in crate::engine) fn open_kept(directory: &Path, name: &ExportName) -> Result<File, Error> {
    let path = file(directory, name);
    let found = path
        .symlink_metadata()
        .map_err(Error::files("read", &path))?;
    if !found.is_file() {
        let problem = "it is no plain file".to_owned();
        return Err(crate::git::GitError::ExportRefused { problem }.into());
    }
    File::open(&path).map_err(Error::files("read", &path))
}

/// The SHA-256 of a file, from its beginning; it is read from there afterwards.
pub(in crate::engine) fn hash_of(file: &mut File) -> std::io::Result<String> {
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            length => hash.update(&piece[..length]),
        }
    }
    file.rewind()?;
    let bytes = hash.finalize();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn file(directory: &Path, name: &ExportName) -> PathBuf {
    directory.join(format!("{name}{SUFFIX}"))
}

/// Deletes what was cut off. What cannot be deleted is left for the next time.
fn sweep(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let written = entry.metadata().and_then(|found| found.modified()).ok();
        let age = written.and_then(|at| at.elapsed().ok());
        if name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes())
            && age.is_some_and(|age| age > ABANDONED)
            && let Err(error) = std::fs::remove_file(entry.path())
        {
            tracing::debug!(%error, ?name, "delete what is left of an export");
        }
    }
}

impl Core {
    /// Where the exports of other machines are kept.
    fn exports_directory(&self) -> Result<PathBuf, Error> {
        let directory = self.home.state.join("exports");
        ensure_private(&directory)?;
        Ok(directory)
    }

    /// The exports that other machines have put here.
    pub(crate) fn exports_here(&self) -> Result<Vec<ExportName>, Error> {
        kept_in(&self.exports_directory()?)
    }

    /// Keeps the export of another machine; in place of older ones of the same instance if that is wanted.
    pub(crate) fn keep_export(
        &self,
        name: &ExportName,
        hash: &str,
        replace: bool,
        content: &mut dyn Read,
    ) -> Result<(), Error> {
        let directory = self.exports_directory()?;
        let older: Vec<ExportName> = kept_in(&directory)?
            .into_iter()
            .filter(|other| replace && other.id() == name.id())
            .collect();
        sweep(&directory);
        let limit = self.arrival_limit(&directory, 1)?;
        keep(&directory, name, content, &older, hash, &limit)
    }

    pub(crate) fn open_export(&self, name: &ExportName) -> Result<File, Error> {
        open_kept(&self.exports_directory()?, name)
    }
}
