//! Writes objects and refs into the vault through a single stream into `git fast-import`: any hash,
//! one pack for many objects, one process whatever their number. The refs come last.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use super::pack::{Pack, pack_files};
use super::repository::Vault;
use super::stamp::Stamp;
use super::survey::Found;
use super::tree::{Leaf, tree_of, unhex};
use crate::git::GitError;
use crate::git::call::{EMAIL, NAME, bytes_to_path, quoted};
use crate::git::disk::open_file;
use crate::git::index::hex;
use crate::model::Timestamp;

/// The slowest disk for which the deadline is enough.
const BYTES_A_SECOND: u64 = 2_000_000;

/// The bytes of one blob.
#[derive(Debug)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    /// A file or symlink below the import's directory.
    OnDisk(Found),
}

#[derive(Debug, Clone)]
pub(super) enum Object {
    /// The blob of that number in this import.
    Blob(usize),
    /// The commit of that number in this import.
    Commit(usize),
    Id(String),
}

#[derive(Debug)]
pub(super) enum Edit {
    Delete(Vec<u8>),
    Put {
        mode: u32,
        path: Vec<u8>,
        object: Object,
    },
}

#[derive(Debug)]
pub(super) struct Commit {
    pub message: String,
    /// Whose tree the edits start from, and the first parent; an empty tree if None.
    pub from: Option<Object>,
    pub parents: Vec<Object>,
    /// Deletions are made first.
    pub edits: Vec<Edit>,
}

#[derive(Debug)]
pub(super) struct Import {
    /// Where [`Content::OnDisk`] lies.
    pub dir: PathBuf,
    pub at: Timestamp,
    pub blobs: Vec<Content>,
    pub commits: Vec<Commit>,
    /// Further refs, and the numbers of the commits that they name.
    pub also: Vec<(String, usize)>,
}

#[derive(Debug)]
pub(super) struct Imported {
    /// The ids of the commits, in order.
    pub commits: Vec<String>,
    /// Files that were not what their stamp said when they were read.
    pub unsettled: Vec<PathBuf>,
}

impl Import {
    pub(super) fn new(dir: &Path, at: Timestamp) -> Self {
        Self {
            dir: dir.to_owned(),
            at,
            blobs: Vec::new(),
            commits: Vec::new(),
            also: Vec::new(),
        }
    }

    pub(super) fn blob(&mut self, content: Content) -> usize {
        self.blobs.push(content);
        self.blobs.len() - 1
    }

    pub(super) fn commit(&mut self, commit: Commit) -> usize {
        self.commits.push(commit);
        self.commits.len() - 1
    }

    /// Writes everything; `reference` then names the last commit.
    pub(super) fn run(&self, vault: &Vault, reference: &str) -> Result<Imported, GitError> {
        let files: Vec<(usize, &Found)> = self
            .blobs
            .iter()
            .enumerate()
            .filter_map(|(number, blob)| match blob {
                Content::OnDisk(found) => Some((number, found)),
                Content::Bytes(_) => None,
            })
            .collect();
        let pack = pack_files(vault.repo(), &self.dir, &files)?;
        self.run_with(vault, reference, pack)
    }

    /// As [`Self::run`], where some of the blobs are packed already, by their numbers.
    pub(super) fn run_with(
        &self,
        vault: &Vault,
        reference: &str,
        mut pack: Pack,
    ) -> Result<Imported, GitError> {
        remove_crash_reports(vault);
        if !pack.unsettled.is_empty() {
            return Ok(Imported {
                commits: Vec::new(),
                unsettled: pack.unsettled,
            });
        }
        // The copy of a large index, and a long manifest, cost git more than the same in files.
        if !pack.is_empty() {
            for (number, blob) in self.blobs.iter().enumerate() {
                if let Content::Bytes(bytes) = blob {
                    pack.add_blob(number, bytes);
                }
            }
        }
        let stems: Vec<Option<String>> = self
            .commits
            .iter()
            .map(|commit| stem(commit, &mut pack))
            .collect();
        let packed = pack.write(vault)?;
        let bytes: u64 = self.blobs.iter().map(Content::size).sum();
        let command = vault
            .git()
            // A pack, however small: unpacking it would cost another process.
            .args(["-c", "fastimport.unpackLimit=0"])
            // Speed over size: `git gc` compresses again. What is written is on the disk before
            // the ref is.
            .args(["-c", "core.compression=0", "-c", "pack.compression=0"])
            .args(["-c", "core.fsync=committed,loose-object"])
            .args(["-c", "core.fsyncMethod=batch"])
            .args(["fast-import", "--quiet", "--done", "--force", "--depth=0"])
            .arg("--date-format=raw")
            .deadline(Duration::from_secs(60 + bytes / BYTES_A_SECOND));
        let unsettled = Mutex::new(Vec::new());
        let output =
            command.output_fed(|pipe| self.feed(pipe, reference, &packed, &stems, &unsettled))?;
        if !output.success() {
            let said = output.stderr_text();
            if said.contains("No space left on device") {
                return Err(GitError::DiskFull {
                    path: vault.dir().to_owned(),
                });
            }
            return Err(command.status_failure(&output).into());
        }
        let commits: Vec<String> = output.stdout_text().lines().map(str::to_owned).collect();
        if commits.len() != self.commits.len() {
            return Err(GitError::Unexpected {
                call: "git fast-import".to_owned(),
                answer: output.stdout_text(),
            });
        }
        Ok(Imported {
            commits,
            unsettled: unsettled.into_inner().unwrap_or_default(),
        })
    }

    fn feed(
        &self,
        pipe: &mut dyn Write,
        reference: &str,
        packed: &HashMap<usize, String>,
        stems: &[Option<String>],
        unsettled: &Mutex<Vec<PathBuf>>,
    ) -> std::io::Result<()> {
        for (number, blob) in self.blobs.iter().enumerate() {
            if packed.contains_key(&number) {
                continue;
            }
            write!(pipe, "blob\nmark :{}\n", number + 1)?;
            match blob {
                Content::Bytes(bytes) => data(pipe, bytes)?,
                Content::OnDisk(found) => {
                    if !self.file(pipe, found)?
                        && let Ok(mut unsettled) = unsettled.lock()
                    {
                        unsettled.push(bytes_to_path(&found.path));
                    }
                }
            }
        }
        for (number, (commit, stem)) in self.commits.iter().zip(stems).enumerate() {
            // Without it the next commit would go on from the one before.
            writeln!(pipe, "reset {reference}\n")?;
            writeln!(
                pipe,
                "commit {reference}\nmark :{}",
                self.mark_of_commit(number)
            )?;
            let seconds = self.at.seconds_since_epoch();
            writeln!(pipe, "committer {NAME} <{EMAIL}> {seconds} +0000")?;
            data(pipe, commit.message.as_bytes())?;
            if let Some(from) = &commit.from {
                writeln!(pipe, "from {}", self.name(from, packed))?;
            }
            for parent in &commit.parents {
                writeln!(pipe, "merge {}", self.name(parent, packed))?;
            }
            for edit in &commit.edits {
                if let Edit::Delete(path) = edit {
                    writeln!(pipe, "D {}", quoted(path))?;
                }
            }
            if let Some(tree) = stem {
                writeln!(pipe, "M 040000 {tree} \"\"")?;
            }
            for edit in &commit.edits {
                if let Edit::Put { mode, path, object } = edit {
                    if stem.is_some() && is_packed(object, packed) {
                        continue;
                    }
                    writeln!(
                        pipe,
                        "M {mode:06o} {} {}",
                        self.name(object, packed),
                        quoted(path)
                    )?;
                }
            }
            writeln!(pipe)?;
        }
        for (name, number) in &self.also {
            let mark = self.mark_of_commit(*number);
            writeln!(pipe, "reset {name}\nfrom :{mark}\n")?;
        }
        for number in 0..self.commits.len() {
            writeln!(pipe, "get-mark :{}", self.mark_of_commit(number))?;
        }
        writeln!(pipe, "done")
    }

    fn mark_of_commit(&self, number: usize) -> usize {
        self.blobs.len() + number + 1
    }

    fn name(&self, object: &Object, packed: &HashMap<usize, String>) -> String {
        match object {
            Object::Blob(number) => match packed.get(number) {
                Some(id) => id.clone(),
                None => format!(":{}", number + 1),
            },
            Object::Commit(number) => format!(":{}", self.mark_of_commit(*number)),
            Object::Id(id) => id.clone(),
        }
    }

    /// Writes exactly as many bytes as the stamp promised, whatever the file does meanwhile: a
    /// stream that breaks off would make git write a crash report into the user's repository.
    fn file(&self, pipe: &mut dyn Write, found: &Found) -> std::io::Result<bool> {
        let path = self.dir.join(bytes_to_path(&found.path));
        if found.stamp.is_symlink() {
            let target = std::fs::read_link(&path);
            let bytes = target
                .as_ref()
                .map_or(&[][..], |target| target.as_os_str().as_bytes());
            data(pipe, bytes)?;
            return Ok(target.is_ok());
        }
        let size = found.stamp.size;
        writeln!(pipe, "data {size}")?;
        let mut settled = false;
        let mut written = 0;
        if let Some(mut file) = open_file(&path) {
            settled = same(&file, &found.stamp);
            written = copy(&mut file, pipe, size)?;
            settled = settled && written == size && same(&file, &found.stamp);
        }
        std::io::copy(&mut std::io::repeat(0).take(size - written), pipe)?;
        writeln!(pipe)?;
        Ok(settled)
    }
}

fn is_packed(object: &Object, packed: &HashMap<usize, String>) -> bool {
    matches!(object, Object::Blob(number) if packed.contains_key(number))
}

/// The tree of all packed files of a commit that starts from nothing, itself packed.
fn stem(commit: &Commit, pack: &mut Pack) -> Option<String> {
    if commit.from.is_some() {
        return None;
    }
    let ids = &pack.ids;
    let leaves: Vec<Leaf<'_>> = commit
        .edits
        .iter()
        .filter_map(|edit| match edit {
            Edit::Put {
                mode,
                path,
                object: Object::Blob(number),
            } => Some(Leaf {
                mode: *mode,
                path,
                id: unhex(ids.get(number)?),
            }),
            Edit::Put { .. } | Edit::Delete(_) => None,
        })
        .collect();
    if leaves.is_empty() {
        return None;
    }
    let root = tree_of(leaves, &mut |content| pack.add_tree(content));
    Some(hex(&root))
}

/// Git leaves a report in the vault when its importer is cut off, which happens when we are killed.
/// A report that stays does no harm.
fn remove_crash_reports(vault: &Vault) {
    let Ok(entries) = std::fs::read_dir(vault.dir()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.as_bytes().starts_with(b"fast_import_crash_") {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

impl Content {
    fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::OnDisk(found) => found.stamp.size,
        }
    }
}

fn same(file: &File, stamp: &Stamp) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| Stamp::of(&stat) == *stamp)
}

/// Copies up to `limit` bytes; an error of the file ends the copy, one of the pipe is reported.
fn copy(file: &mut File, pipe: &mut dyn Write, limit: u64) -> std::io::Result<u64> {
    let mut buffer = [0; 1 << 16];
    let mut written = 0;
    while written < limit {
        let wanted = buffer
            .len()
            .min(usize::try_from(limit - written).unwrap_or(usize::MAX));
        match file.read(&mut buffer[..wanted]) {
            Ok(0) | Err(_) => break,
            Ok(length) => {
                pipe.write_all(&buffer[..length])?;
                written += length as u64;
            }
        }
    }
    Ok(written)
}

fn data(pipe: &mut dyn Write, bytes: &[u8]) -> std::io::Result<()> {
    writeln!(pipe, "data {}", bytes.len())?;
    pipe.write_all(bytes)?;
    writeln!(pipe)
}

/// Whether git lets a tree hold this path. Stricter than git: what merely resembles `.git` on some
/// filesystem is kept by number instead of by name.
pub(super) fn fits_in_tree(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').all(|component| {
        let lower = component.to_ascii_lowercase();
        let dotgit = lower.strip_prefix(b".git").is_some_and(|rest| {
            rest.first()
                .is_none_or(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')))
        });
        // macOS ignores some characters inside names.
        let hidden = !component.is_ascii()
            && (lower.starts_with(b".") || lower.first().is_some_and(|byte| !byte.is_ascii()))
            && lower.contains(&b'g');
        !(component.is_empty()
            || component == b"."
            || component == b".."
            || dotgit
            || hidden
            || lower.starts_with(b"git~")
            || component.contains(&b'\\'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_refuses_are_told_apart() {
        for path in [
            ".gitignore",
            "a/.github/x",
            "git",
            "-x",
            "a b",
            ".gitmodules",
        ] {
            assert!(fits_in_tree(path.as_bytes()), "{path}");
        }
        for path in [
            ".git",
            "a/.GIT/x",
            "git~1",
            "a\\b",
            ".git ",
            "a//b",
            "../a",
            ".g\u{200c}it",
        ] {
            assert!(!fits_in_tree(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn any_byte_is_quoted() {
        assert_eq!(quoted(b"a\n\"\\\xff"), "\"a\\012\\\"\\\\\\377\"");
    }
}
