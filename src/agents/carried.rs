//! The files of an agent's own session, on their way to another machine, user and path.
//!
//! Measured: Claude Code resumes a session by its id from whichever project directory, and Codex finds a
//! rollout by its name below `sessions`; both tell the model the directory that the file names. So the file
//! goes where the agent of that user would have written it, and the old path in it becomes the new one. Gemini
//! looks in the project of its directory only, and tells the model the directory anew at each start.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::gemini_project;
use super::transcripts::{TranscriptLookup, TranscriptQuery};
use super::{Host, Provider, TranscriptFormat};

/// A larger file does not travel.
const LARGEST: u64 = 256 << 20;

/// The longest project name that Claude Code uses as it is.
const LONGEST_SLUG: usize = 200;

/// A file of a session: where it lies below the agent's directory, in the terms of its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Whether the agent goes on with its session on another machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionTravel {
    /// Its files are known and can be written.
    Files,
    /// The agent prints and reads it itself.
    Commands,
    /// Its files lie in the worktree and travel with it.
    Worktree,
    /// It begins a new one there.
    Stays,
}

impl Provider {
    pub(crate) fn session_travel(&self) -> SessionTravel {
        if self.session_commands().is_some() {
            return SessionTravel::Commands;
        }
        match self.transcript().format {
            TranscriptFormat::Claude
            | TranscriptFormat::Codex
            | TranscriptFormat::Gemini
            | TranscriptFormat::Demo => SessionTravel::Files,
            TranscriptFormat::Aider => SessionTravel::Worktree,
            TranscriptFormat::Opencode | TranscriptFormat::Described | TranscriptFormat::None => {
                SessionTravel::Stays
            }
        }
    }

    /// The files of a session; none where it has no turn yet, or cannot travel.
    pub(crate) fn session_files(
        &self,
        query: TranscriptQuery<'_>,
        host: &Host,
    ) -> Vec<SessionFile> {
        let format = self.transcript().format;
        let (TranscriptLookup::Found(file), SessionTravel::Files, Some(root)) = (
            self.transcript_of(query, host),
            self.session_travel(),
            self.own_directory(host),
        ) else {
            return Vec::new();
        };
        let small = std::fs::metadata(&file.path).is_ok_and(|found| found.len() <= LARGEST);
        let (true, Ok(bytes)) = (small, std::fs::read(&file.path)) else {
            return Vec::new();
        };
        let name = match format {
            // The directory is another one there.
            TranscriptFormat::Codex => file
                .path
                .strip_prefix(&root)
                .ok()
                .and_then(|path| path.to_str())
                .map(str::to_owned),
            _ => file
                .path
                .file_name()
                .and_then(|name| name.to_str())
                .map(str::to_owned),
        };
        name.map(|name| SessionFile { name, bytes })
            .into_iter()
            .collect()
    }

    /// Writes the files where the agent looks for them when it starts in `directory`, with the new path of the
    /// worktree in place of the old one. A file that is there already stays as it is, unless the session comes
    /// back: then the old file is kept beside it, if the new one does not go on from it. Gives the files that were
    /// written.
    pub(crate) fn place_session(
        &self,
        files: &[SessionFile],
        (old, new): (&Path, &Path),
        directory: &Path,
        comes_back: bool,
        host: &Host,
    ) -> std::io::Result<Vec<PathBuf>> {
        let Some(root) = self.own_directory(host) else {
            return Ok(Vec::new());
        };
        let mut written = Vec::new();
        for file in files {
            let Some(path) = self.session_path(&root, &file.name, directory) else {
                return Err(std::io::Error::other(format!(
                    "`{}` is no name of a session file",
                    file.name
                )));
            };
            if let Some(above) = path.parent() {
                std::fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(above)?;
            }
            if self.transcript().format == TranscriptFormat::Gemini {
                gemini_project::mark(&root, directory)?;
            }
            let made = std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path);
            match made {
                Ok(mut made) => {
                    made.write_all(&moved(&file.bytes, old, new))?;
                    made.sync_all()?;
                    written.push(path);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    if comes_back {
                        replace(&path, &moved(&file.bytes, old, new))?;
                        written.push(path);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }

    /// Where a session file lies for an agent in this directory; None for a name that no agent gives.
    fn session_path(&self, root: &Path, name: &str, directory: &Path) -> Option<PathBuf> {
        let path = Path::new(name);
        let plain = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let stem = path.file_stem()?.to_str()?;
        if !plain || path.extension()? != "jsonl" {
            return None;
        }
        let is_reference = |text: &str| uuid::Uuid::try_parse(text).is_ok();
        match self.transcript().format {
            TranscriptFormat::Claude if is_reference(stem) && path.components().count() == 1 => {
                Some(root.join("projects").join(project(directory)).join(path))
            }
            TranscriptFormat::Demo if is_reference(stem) && path.components().count() == 1 => {
                Some(root.join("demo").join(path))
            }
            TranscriptFormat::Gemini => {
                let (time, start) = stem.strip_prefix("session-")?.rsplit_once('-')?;
                let named = !time.is_empty()
                    && start.len() == 8
                    && start.bytes().all(|byte| byte.is_ascii_hexdigit());
                let chats = gemini_project::of(root, directory).join("chats");
                (named && path.components().count() == 1).then(|| chats.join(path))
            }
            TranscriptFormat::Codex => {
                let end = stem.len().checked_sub(36)?;
                let named = stem.starts_with("rollout-") && is_reference(stem.get(end..)?);
                (named && path.starts_with("sessions")).then(|| root.join(path))
            }
            _ => None,
        }
    }
}

/// Puts a newer version of a session file in the place of the one that was left here.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let before = std::fs::read(path)?;
    if before == bytes {
        return Ok(());
    }
    if !bytes.starts_with(&before) {
        keep_aside(path)?;
    }
    let above = path.parent().unwrap_or(path);
    let mut fresh = tempfile::NamedTempFile::new_in(above)?;
    fresh.write_all(bytes)?;
    fresh.as_file().sync_all()?;
    fresh.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Copies a file beside itself, under a name that is free.
fn keep_aside(path: &Path) -> std::io::Result<()> {
    let mut number = 1;
    loop {
        let aside = path.with_extension(format!("jsonl.before-{number}"));
        match std::fs::hard_link(path, &aside) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            other => return other,
        }
    }
}

/// The name that Claude Code gives the project of a directory.
fn project(directory: &Path) -> String {
    let path = super::transcripts::resolved_directory(directory);
    let mut name: String = path
        .to_string_lossy()
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect();
    name.truncate(LONGEST_SLUG);
    name
}

/// A transcript with another directory in each `cwd`; every other byte stays. What the agent has quoted is
/// escaped and does not match.
fn moved(bytes: &[u8], old: &Path, new: &Path) -> Vec<u8> {
    let json = |path: &Path| {
        let text = Value::from(path.to_str()?).to_string();
        Some(text.trim_end_matches('"').to_owned())
    };
    let (Some(old), Some(new)) = (json(old), json(new)) else {
        return bytes.to_vec();
    };
    const KEY: &[u8] = b"\"cwd\":";
    let pattern = [KEY, old.as_bytes()].concat();
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = find(rest, &pattern) {
        let end = at + pattern.len();
        let whole = matches!(rest.get(end), Some(b'"' | b'/'));
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(KEY);
        out.extend_from_slice(if whole {
            new.as_bytes()
        } else {
            old.as_bytes()
        });
        rest = &rest[end..];
    }
    out.extend_from_slice(rest);
    out
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes
        .windows(pattern.len())
        .position(|window| window == pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Catalog;

    const ID: &str = "067f244d-d2aa-45f1-9be4-c65a829b302f";

    #[test]
    fn only_the_directory_of_a_transcript_changes() {
        let text = concat!(
            "{\"type\":\"user\",\"cwd\":\"/old/wt\",\"message\":\"see /old/wt/a\"}\n",
            "{\"payload\":{\"cwd\":\"/old/wt/sub\"}}\n",
            "{\"cwd\":\"/old/wt-2\"}\n",
            "{\"text\":\"{\\\"cwd\\\":\\\"/old/wt\\\"}\"}\n",
        );
        let moved = moved(text.as_bytes(), Path::new("/old/wt"), Path::new("/new"));
        let moved = String::from_utf8(moved).unwrap();
        assert!(moved.contains("\"cwd\":\"/new\"") && moved.contains("see /old/wt/a"));
        assert!(moved.contains("\"cwd\":\"/new/sub\""));
        assert!(moved.contains("{\"cwd\":\"/old/wt-2\"}\n"));
        assert!(moved.ends_with("\\\"cwd\\\":\\\"/old/wt\\\"}\"}\n"));
    }

    #[test]
    fn no_file_is_written_but_where_a_session_lies() {
        let catalog = Catalog::built_in();
        let root = Path::new("/root");
        let worktree = Path::new("/nowhere/w t");
        let path = |agent: &str, name: &str| {
            let provider = catalog.require(agent).unwrap();
            provider.session_path(root, name, worktree)
        };
        let name = format!("{ID}.jsonl");
        let claude = root.join("projects/-nowhere-w-t").join(&name);
        assert_eq!(path("claude", &name), Some(claude));
        let rollout = format!("sessions/2026/11/15/rollout-2026-11-15T10-00-00-{ID}.jsonl");
        assert_eq!(path("codex", &rollout), Some(root.join(&rollout)));
        let chat = "session-2026-11-15T10-00-067f244d.jsonl";
        let placed = path("gemini", chat).unwrap();
        assert!(placed.starts_with("/root/tmp") && placed.ends_with(format!("chats/{chat}")));
        for (agent, name) in [
            ("claude", "settings.json".to_owned()),
            ("claude", format!("../{name}")),
            ("claude", format!("/etc/{name}")),
            ("claude", format!("a/{name}")),
            ("codex", format!("../sessions/rollout-{ID}.jsonl")),
            ("codex", format!("config/rollout-{ID}.jsonl")),
            ("codex", "sessions/config.toml".to_owned()),
            ("gemini", name.clone()),
            ("gemini", format!("../{chat}")),
            ("gemini", "session-067f244d.jsonl".to_owned()),
            ("gemini", "session-2026-settings.jsonl".to_owned()),
            ("shell", name.clone()),
        ] {
            assert_eq!(path(agent, &name), None, "{agent} {name}");
        }
    }
}
