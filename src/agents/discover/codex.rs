//! Codex keeps a lock file open that is named after its session, and writes a rollout file from the first
//! turn on.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use super::{Discovered, DiscoveryContext};

/// The most bytes of the first line, which also has the agent's whole instructions.
const HEADER: u64 = 1024 * 1024;
/// Year, month, day, file.
const DEPTH: usize = 4;

/// The current session of a running Codex. It holds the lock of each session since its start, and briefly
/// that of a hidden session in which it generates a title.
pub(super) fn current(home: Option<&Path>, context: &DiscoveryContext<'_>) -> Discovered {
    let held = held_locks(context.pids);
    if let [only] = held.as_slice() {
        return Discovered::Found(only.clone());
    }
    let written = home.map_or_else(Vec::new, |home| rollouts(home, context));
    let silent: Vec<&String> = held
        .iter()
        .filter(|id| !written.iter().any(|(_, known)| known == *id))
        .collect();
    // A session without a turn is the current one if it began after the last entry of all others.
    // The hidden session begins during a turn, so before that entry.
    let begun = match silent.as_slice() {
        [] => None,
        [only] => begun_at(only).map(|at| (at, (*only).clone())),
        _ => return Discovered::Unclear,
    };
    written
        .into_iter()
        .filter(|(_, id)| held.contains(id))
        .chain(begun)
        .max()
        .map_or(Discovered::Unclear, |(_, id)| Discovered::Found(id))
}

/// The session that an ended Codex wrote last, of those of this run in this directory.
pub(super) fn last(home: &Path, context: &DiscoveryContext<'_>) -> Discovered {
    if !home.is_dir() {
        return Discovered::Unclear;
    }
    rollouts(home, context)
        .into_iter()
        .max()
        .map_or(Discovered::Nothing, |(_, id)| Discovered::Found(id))
}

/// `…/thread-writer-locks/<id>.lock` among the open files.
fn held_locks(pids: &[i32]) -> Vec<String> {
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
    found
}

/// When a session began: its id starts with that time in milliseconds.
fn begun_at(id: &str) -> Option<SystemTime> {
    let id = uuid::Uuid::try_parse(id).ok()?;
    let milliseconds = u64::try_from(id.as_u128() >> 80).ok()?;
    (id.get_version_num() == 7).then(|| UNIX_EPOCH + Duration::from_millis(milliseconds))
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
    /// `"cli"` for a session with the user; an object for sessions that Codex starts itself.
    source: Option<serde_json::Value>,
}

/// The sessions that this run wrote in this directory, with the time of the last write.
fn rollouts(home: &Path, context: &DiscoveryContext<'_>) -> Vec<(SystemTime, String)> {
    let mut files = Vec::new();
    newer(&home.join("sessions"), context.since, DEPTH, &mut files);
    files
        .into_iter()
        .filter_map(|(written, path)| Some((written, conversation(&path, context.cwd)?)))
        .collect()
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
        let host = crate::agents::Host {
            biv: "/biv".into(),
            state: "/state".into(),
            shell: "/bin/sh".into(),
            path: None,
        };
        let context = DiscoveryContext {
            leader: None,
            pids: &[i32::try_from(std::process::id()).unwrap()],
            cwd: Path::new("/w/one"),
            repository: Path::new("/w"),
            since: UNIX_EPOCH,
            host: &host,
        };
        let now = || current(Some(home.path()), &context);
        let found = |id: &str| Discovered::Found(id.to_owned());
        let locks = home.path().join("thread-writer-locks");
        std::fs::create_dir(&locks).unwrap();
        let lock = |id: &str| File::create(locks.join(format!("{id}.lock"))).unwrap();
        assert_eq!(now(), Discovered::Unclear);
        let first = (lock(ID), lock("not-an-id"));
        assert_eq!(now(), found(ID));
        // A second session before the first has a rollout file: ambiguous.
        let later = "02a1dca5-0000-7a52-8bc5-29b2ec9685ec";
        let second = lock(later);
        assert_eq!(now(), Discovered::Unclear);
        // The hidden session for the title, which began before the last entry of the turn.
        let day = home.path().join("sessions/2026/11/15");
        std::fs::create_dir_all(&day).unwrap();
        let rollout = day.join(format!("rollout-x-{ID}.jsonl"));
        std::fs::write(&rollout, meta("/w/one", "\"cli\"")).unwrap();
        let write_at = |seconds| {
            let at = UNIX_EPOCH + Duration::from_secs(seconds);
            File::options()
                .append(true)
                .open(&rollout)
                .and_then(|file| file.set_modified(at))
                .unwrap();
        };
        let begun = begun_at(later).unwrap().duration_since(UNIX_EPOCH).unwrap();
        write_at(begun.as_secs() + 10);
        assert_eq!(now(), found(ID));
        // `/new`, after the last entry of the previous session.
        write_at(begun.as_secs() - 10);
        assert_eq!(now(), found(later));
        drop((first, second));
    }

    fn meta(cwd: &str, source: &str) -> String {
        let payload = format!(r#"{{"id":"{ID}","cwd":"{cwd}","source":{source}}}"#);
        format!("{{\"type\":\"session_meta\",\"payload\":{payload}}}\n{{}}\n")
    }

    #[test]
    fn a_rollout_counts_when_it_is_of_this_directory_and_of_a_person() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("rollout.jsonl");
        let read = |cwd: &str, source: &str| {
            std::fs::write(&file, meta(cwd, source)).unwrap();
            conversation(&file, Path::new("/w/one"))
        };
        assert_eq!(read("/w/one", "\"cli\"").as_deref(), Some(ID));
        assert_eq!(read("/w/two", "\"cli\""), None);
        assert_eq!(read("/w/one", r#"{"subagent":"review"}"#), None);
    }
}
