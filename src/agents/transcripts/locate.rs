//! Finds the file of a session among those that an agent has written.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::reading::{TranscriptFile, TranscriptForm};
use crate::agents::TranscriptFormat;

/// The header of a transcript is on its first line and is short.
const HEADER: u64 = 64 * 1024;

/// The result of a search for a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TranscriptLookup {
    Found(TranscriptFile),
    /// The agent stores its transcripts here, and there is none with this reference.
    Absent,
    /// Unknown: the agent has no transcripts that can be read, or they are elsewhere.
    Unknown,
}

pub(super) fn locate(format: TranscriptFormat, root: &Path, reference: &str) -> TranscriptLookup {
    let found: Vec<PathBuf> = match format {
        TranscriptFormat::Claude => {
            let projects = root.join("projects");
            let name = format!("{reference}.jsonl");
            children(&projects)
                .into_iter()
                .map(|project| project.join(&name))
                .collect()
        }
        TranscriptFormat::Codex => {
            let places = [root.join("sessions"), root.join("archived_sessions")];
            places
                .iter()
                .flat_map(|place| rollouts(place, reference, 4))
                .collect()
        }
        TranscriptFormat::Gemini => {
            let projects = root.join("tmp");
            let short = reference.get(..8).unwrap_or(reference);
            let end = format!("-{short}.jsonl");
            children(&projects)
                .iter()
                .flat_map(|project| children(&project.join("chats")))
                .filter(|path| {
                    name_of(path).starts_with("session-") && name_of(path).ends_with(&end)
                })
                .filter(|path| header_names(path, reference))
                .collect()
        }
        TranscriptFormat::Demo => {
            vec![root.join("demo").join(format!("{reference}.jsonl"))]
        }
        TranscriptFormat::Opencode
        | TranscriptFormat::Aider
        | TranscriptFormat::Described
        | TranscriptFormat::None => {
            return TranscriptLookup::Unknown;
        }
    };
    // There may be a copy of the same conversation; the longer file is complete.
    let longest = found
        .into_iter()
        .filter_map(|path| {
            Some((
                std::fs::metadata(&path)
                    .ok()
                    .filter(|file| file.is_file())?
                    .len(),
                path,
            ))
        })
        .max();
    match longest {
        Some((_, path)) => {
            let form = TranscriptForm::JsonLines(format);
            TranscriptLookup::Found(TranscriptFile { path, form })
        }
        // Before its first turn an agent has a data directory without transcripts.
        None if root.is_dir() => TranscriptLookup::Absent,
        None => TranscriptLookup::Unknown,
    }
}

/// Codex has the reference at the end of the file name, in directories by year, month and day.
fn rollouts(directory: &Path, reference: &str, depth: usize) -> Vec<PathBuf> {
    let end = format!("-{reference}.jsonl");
    children(directory)
        .into_iter()
        .flat_map(|path| {
            let name = name_of(&path);
            if name.starts_with("rollout-") {
                if name.ends_with(&end) {
                    vec![path]
                } else {
                    Vec::new()
                }
            } else if depth > 0 && path.is_dir() {
                rollouts(&path, reference, depth - 1)
            } else {
                Vec::new()
            }
        })
        .collect()
}

pub(super) fn children(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect()
}

pub(super) fn name_of(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

fn header_names(path: &Path, reference: &str) -> bool {
    let header = || -> Option<Value> {
        let mut line = Vec::new();
        let file = File::open(path).ok()?.take(HEADER);
        BufReader::new(file).read_until(b'\n', &mut line).ok()?;
        serde_json::from_slice(&line).ok()
    };
    header()
        .is_some_and(|header| header.get("sessionId").and_then(Value::as_str) == Some(reference))
}
