//! Files that are kept on a git remote, each as a commit under a ref of its own.
//!
//! They are pushed and fetched by a repository that holds nothing else and goes away afterwards: nothing of the
//! user's repository can be sent along, whatever its settings say, and nothing that is fetched gets into it.

use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use super::call::{fields, git};
use super::disk::free_bytes;
use super::{GitError, Repo, ScratchDir};
use crate::process::{Command, crash};

/// A clone does not fetch them.
const REFS: &str = "refs/bivouac-exports/";

/// The content is cut into pieces: servers refuse large files.
const PIECE: u64 = 32 << 20;

/// More pieces are not ours: a terabyte.
const MOST_PIECES: usize = 1 << 15;

/// Kept free beyond what is fetched.
const RESERVE: u64 = 64 << 20;

/// The most memory that git may ask for at once: an object that claims to be huge ends it.
const MOST_MEMORY: &str = "256m";

/// Long enough for a slow line and a large file.
const DEADLINE: Duration = Duration::from_secs(3600);

/// How long a remote may take to say what it has.
const ASKING: Duration = Duration::from_secs(60);

/// No list of refs is longer.
const LONGEST_LIST: u64 = 16 << 20;

/// Whatever the user's configuration says: nothing but the named refs is sent or fetched, no program of the
/// repository is run, and what comes in is checked and stays a pack.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "push.followTags=false",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
    "fetch.recurseSubmodules=no",
    "fetch.fsckObjects=true",
    "fetch.unpackLimit=1",
    "fetch.writeCommitGraph=false",
    // What is encrypted cannot be compressed.
    "core.compression=0",
    "pack.compression=0",
];

/// Settings of the user's repository that say how a remote is reached.
const REACHING: &[&str] = &["credential.", "http.", "protocol.", "ssh.", "url."];
const REACHING_EXACTLY: &[&str] = &["core.askpass", "core.gitproxy", "core.sshcommand"];

/// The files of one remote.
#[derive(Debug)]
pub(crate) struct RemoteFiles {
    repo: Repo,
    url: String,
    settings: Vec<(String, String)>,
    scratch: ScratchDir,
}

/// A file on a remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteFile {
    pub name: String,
    commit: String,
}

/// Which way the bytes go: a remote may have an address for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Push,
    Fetch,
}

impl Repo {
    /// The address of a remote that this repository has by this name.
    pub(crate) fn remote_address(
        &self,
        name: &str,
        direction: Direction,
    ) -> Result<Option<String>, GitError> {
        let keys = match direction {
            Direction::Push => &["pushurl", "url"][..],
            Direction::Fetch => &["url"],
        };
        for key in keys {
            let key = format!("remote.{name}.{key}");
            let output = self.git().args(["config", "--get-all", &key]).output()?;
            let text = output.stdout_text();
            if let Some(url) = text.lines().next().filter(|_| output.success()) {
                return Ok(Some(url.to_owned()));
            }
        }
        Ok(None)
    }

    /// The files that are kept at this address, which is reached as this repository reaches its remotes.
    pub(crate) fn remote_files(&self, url: &str) -> Result<RemoteFiles, GitError> {
        self.sweep_scratch();
        let scratch = ScratchDir::new(self, "remote-")?;
        git()
            .args(["init", "--quiet", "--bare", "--template="])
            .arg(format!("--object-format={}", self.object_format()))
            .arg(scratch.path())
            .run()?;
        let listing = self
            .git()
            .args(["config", "--local", "--includes", "--list", "-z"])
            .run()?;
        let reaches = |key: &str| {
            REACHING.iter().any(|prefix| key.starts_with(prefix)) || REACHING_EXACTLY.contains(&key)
        };
        let settings = fields(&listing)
            .filter_map(|field| std::str::from_utf8(field).ok()?.split_once('\n'))
            .filter(|(key, _)| reaches(key))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        Ok(RemoteFiles {
            repo: self.clone(),
            url: url.to_owned(),
            settings,
            scratch,
        })
    }
}

impl RemoteFiles {
    pub(crate) fn list(&self) -> Result<Vec<RemoteFile>, GitError> {
        let listing = self
            .reaching(None)?
            .args(["ls-remote", "--refs", "--quiet", "--", &self.url])
            .arg(format!("{REFS}*"))
            .at_most(LONGEST_LIST)
            .deadline(ASKING)
            .text()?;
        let file = |line: &str| {
            let (commit, name) = line.split_once('\t')?;
            let name = name.strip_prefix(REFS)?;
            (commit.bytes().all(|byte| byte.is_ascii_hexdigit()) && !commit.is_empty()).then(|| {
                RemoteFile {
                    name: name.to_owned(),
                    commit: commit.to_owned(),
                }
            })
        };
        Ok(listing.lines().filter_map(file).collect())
    }

    /// Puts a file there in place of these, of which it may be one. The remote takes all of it or nothing, and
    /// refuses if one of them has changed since they were listed.
    pub(crate) fn put(
        &self,
        name: &str,
        content: &mut dyn Read,
        replaced: &[RemoteFile],
    ) -> Result<(), GitError> {
        let commit = self.store(content)?;
        let old = replaced.iter().find(|old| old.name == name);
        let expected = old.map_or("", |old| old.commit.as_str());
        let mut command = self
            .reaching(None)?
            .args(["push", "--quiet", "--no-verify", "--no-signed"])
            .arg(format!("--force-with-lease={REFS}{name}:{expected}"));
        let others: Vec<&RemoteFile> = replaced.iter().filter(|old| old.name != name).collect();
        for old in &others {
            command = command.arg(format!(
                "--force-with-lease={REFS}{}:{}",
                old.name, old.commit
            ));
        }
        if !others.is_empty() {
            command = command.arg("--atomic");
        }
        command = command
            .args(["--", &self.url])
            .arg(format!("{commit}:{REFS}{name}"));
        for old in &others {
            command = command.arg(format!(":{REFS}{}", old.name));
        }
        crash::at("export:push:before");
        command.deadline(DEADLINE).run()?;
        crash::at("export:push:after");
        Ok(())
    }

    /// Fetches a file. What is not made of pieces, or is larger than the disk allows, is refused.
    pub(crate) fn get(&self, file: &RemoteFile, out: &mut dyn Write) -> Result<(), GitError> {
        let most = free_bytes(self.scratch.path())?.saturating_sub(RESERVE) / 2;
        if most == 0 {
            return Err(GitError::DiskFull {
                path: self.repo.common_dir().to_owned(),
            });
        }
        self.reaching(Some(most))?
            .args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"])
            .args(["--", &self.url])
            .arg(format!("+{REFS}{}:{REFS}fetched", file.name))
            .deadline(DEADLINE)
            .run()?;
        let listing = self
            .local()
            .args(["ls-tree", "-z", "--long"])
            .arg(format!("{REFS}fetched"))
            .run()?;
        let mut pieces = Vec::new();
        let mut total = 0_u64;
        for (number, entry) in fields(&listing).enumerate() {
            let (id, size) = piece(entry, number).ok_or_else(|| refused("it is no export"))?;
            total = total.saturating_add(size);
            if number >= MOST_PIECES || total > most {
                return Err(refused("it is too large"));
            }
            pieces.push(id);
        }
        for id in pieces {
            let command = self.local().args(["cat-file", "blob", &id]);
            let (copied, status) = command.streamed(|blob| {
                // `out` is no thread's own: the piece is small.
                let mut bytes = Vec::new();
                blob.take(PIECE + 1).read_to_end(&mut bytes).map(|_| bytes)
            })?;
            let bytes = copied.map_err(GitError::reading("the export"))?;
            if !status.success() {
                return Err(refused("a piece of it is missing"));
            }
            out.write_all(&bytes)
                .map_err(GitError::writing("the export"))?;
        }
        Ok(())
    }

    /// Stores the content and returns its commit.
    fn store(&self, content: &mut dyn Read) -> Result<String, GitError> {
        let mut tree = Vec::new();
        for number in 0.. {
            let mut piece = Vec::new();
            content
                .take(PIECE)
                .read_to_end(&mut piece)
                .map_err(GitError::reading("the export"))?;
            if piece.is_empty() {
                break;
            }
            let id = self
                .local()
                .args(["hash-object", "-w", "--stdin"])
                .stdin(piece)
                .text()?;
            tree.push(format!("100644 blob {id}\t{}\n", piece_name(number)));
        }
        let tree = self.local().arg("mktree").stdin(tree.concat()).text()?;
        let message = "An instance of Bivouac, encrypted by age\n";
        let commit = self.local().args(["commit-tree", &tree, "-m", message]);
        Ok(commit.text()?)
    }

    /// A call that stays on this machine.
    fn local(&self) -> Command {
        git()
            .arg("--git-dir")
            .arg(self.scratch.path())
            .args(["-c", "core.compression=0"])
            .env("GIT_ALLOC_LIMIT", MOST_MEMORY)
    }

    /// A call that reaches the remote, with the user's transports and credentials. No file that it writes gets
    /// larger than `most` bytes.
    fn reaching(&self, most: Option<u64>) -> Result<Command, GitError> {
        let mut command = match most {
            None => self.repo.transport("git")?,
            Some(most) => {
                let limit = format!("ulimit -f {} && exec git \"$@\"", most / 512);
                self.repo.transport("sh")?.args(["-c", &limit, "git"])
            }
        };
        command = command.arg("--git-dir").arg(self.scratch.path());
        for setting in SETTINGS {
            command = command.arg("-c").arg(setting);
        }
        // In the environment, after those that the user has put there: some of them are secret.
        let first = std::env::var("GIT_CONFIG_COUNT").map_or(0, |count| count.parse().unwrap_or(0));
        for (number, (key, value)) in (first..).zip(&self.settings) {
            command = command
                .env(format!("GIT_CONFIG_KEY_{number}"), key)
                .env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        Ok(command
            .env(
                "GIT_CONFIG_COUNT",
                (first + self.settings.len()).to_string(),
            )
            .env("GIT_ALLOC_LIMIT", MOST_MEMORY))
    }
}

/// Whether git can push to this directory: a bare repository, or the top of a checkout.
pub(crate) fn is_repository(directory: &Path) -> bool {
    let bare = ["HEAD", "objects", "refs"]
        .iter()
        .all(|name| directory.join(name).exists());
    bare || directory.join(".git").exists()
}

fn piece_name(number: usize) -> String {
    format!("{number:06}")
}

/// The id and the size of a piece, from a line of `ls-tree --long`.
fn piece(entry: &[u8], number: usize) -> Option<(String, u64)> {
    let (head, name) = std::str::from_utf8(entry).ok()?.split_once('\t')?;
    let mut words = head.split_ascii_whitespace();
    let (mode, kind, id, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let size = size.parse().ok()?;
    let plain = (mode, kind) == ("100644", "blob") && name == piece_name(number) && size <= PIECE;
    plain.then(|| (id.to_owned(), size))
}

fn refused(problem: &str) -> GitError {
    GitError::ExportRefused {
        problem: problem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pieces_in_their_order_are_read() {
        let id = "a".repeat(40);
        let line = |mode: &str, kind: &str, size: &str, name: &str| {
            piece(format!("{mode} {kind} {id} {size}\t{name}").as_bytes(), 1)
        };
        assert_eq!(
            line("100644", "blob", "     12", "000001"),
            Some((id.clone(), 12))
        );
        let huge = (PIECE + 1).to_string();
        for (mode, kind, size, name) in [
            ("100755", "blob", "12", "000001"),
            ("120000", "blob", "12", "000001"),
            ("040000", "tree", "-", "000001"),
            ("160000", "commit", "-", "000001"),
            ("100644", "blob", "12", "000002"),
            ("100644", "blob", "12", "../../x"),
            ("100644", "blob", &huge, "000001"),
        ] {
            assert_eq!(line(mode, kind, size, name), None, "{mode} {name}");
        }
    }
}
