//! Codex holds a lock file open that is named after its conversation, and writes a rollout file from
//! the first turn on.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;

use super::{Trace, Traces};

/// The first line holds the whole instructions of the agent too.
const HEADER: u64 = 1024 * 1024;
/// Year, month, day, file.
const DEPTH: usize = 4;

/// `…/thread-writer-locks/<id>.lock`, held from the start on. Two of them at once (it names
/// conversations in a hidden one) tell nothing; a moment later it is one again.
pub(super) fn held_lock(pids: &[i32]) -> Option<String> {
    let mut found: Vec<String> = pids
        .iter()
        .filter_map(|pid| std::fs::read_dir(format!("/proc/{pid}/fd")).ok())
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|file| {
            let folder = file.parent()?.file_name()?;
            let id = file.file_name()?.to_str()?.strip_suffix(".lock")?;
            let named = folder == "thread-writer-locks" && uuid::Uuid::try_parse(id).is_ok();
            named.then(|| id.to_owned())
        })
        .collect();
    found.sort();
    found.dedup();
    match found.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    }
}

#[derive(Debug, Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    payload: Meta,
}

#[derive(Debug, Deserialize)]
struct Meta {
    id: String,
    cwd: PathBuf,
    /// `"cli"` for a conversation with a person; an object for what Codex starts itself.
    source: Option<serde_json::Value>,
}

/// The conversation that was written last of those that this run began in this directory.
pub(super) fn rollout(home: &Path, traces: &Traces<'_>) -> Trace {
    let sessions = home.join("sessions");
    if !home.is_dir() {
        return Trace::Unclear;
    }
    let mut files = Vec::new();
    newer(&sessions, traces.since, DEPTH, &mut files);
    files.sort();
    files
        .iter()
        .rev()
        .find_map(|(_, path)| conversation(path, traces.cwd))
        .map_or(Trace::Nothing, Trace::Found)
}

fn newer(
    directory: &Path,
    since: SystemTime,
    depth: usize,
    found: &mut Vec<(SystemTime, PathBuf)>,
) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(about) = entry.metadata() else {
            continue;
        };
        if about.is_dir() {
            if depth > 1 {
                newer(&path, since, depth - 1, found);
            }
        } else if let Ok(written) = about.modified()
            && written >= since
            && path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
        {
            found.push((written, path));
        }
    }
}

fn conversation(path: &Path, cwd: &Path) -> Option<String> {
    let mut line = Vec::new();
    let file = File::open(path).ok()?.take(HEADER);
    BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    let line: Line = serde_json::from_slice(&line).ok()?;
    let own = line.kind == "session_meta" && line.payload.cwd == cwd;
    let with_a_person = line.payload.source.is_none_or(|source| source.is_string());
    let usable = uuid::Uuid::try_parse(&line.payload.id).is_ok();
    (own && with_a_person && usable).then_some(line.payload.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1dca4-8ea8-76e0-804b-665c3fe25950";

    #[test]
    fn the_lock_that_a_process_holds_names_its_conversation() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("thread-writer-locks");
        std::fs::create_dir(&folder).unwrap();
        let pids = [i32::try_from(std::process::id()).unwrap()];
        assert_eq!(held_lock(&pids), None);
        let lock = File::create(folder.join(format!("{ID}.lock"))).unwrap();
        let other = File::create(folder.join("not-an-id.lock")).unwrap();
        assert_eq!(held_lock(&pids).as_deref(), Some(ID));
        let second = folder.join("01a1dca5-0000-7a52-8bc5-29b2ec9685ec.lock");
        let second = File::create(second).unwrap();
        assert_eq!(held_lock(&pids), None, "two tell nothing");
        drop((lock, other, second));
    }

    #[test]
    fn a_rollout_counts_when_it_is_of_this_directory_and_of_a_person() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("rollout.jsonl");
        let meta = |cwd: &str, source: &str| {
            let line = format!(
                r#"{{"type":"session_meta","payload":{{"id":"{ID}","cwd":"{cwd}","source":{source}}}}}"#
            );
            std::fs::write(&file, line + "\n{}\n").unwrap();
            conversation(&file, Path::new("/w/one"))
        };
        assert_eq!(meta("/w/one", "\"cli\"").as_deref(), Some(ID));
        assert_eq!(meta("/w/two", "\"cli\""), None);
        assert_eq!(meta("/w/one", r#"{"subagent":"review"}"#), None);
    }
}
