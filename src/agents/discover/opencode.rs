//! OpenCode keeps its conversations in a database, each with its directory, and lists them when asked.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use super::{Trace, Traces};
use crate::agents::transcripts::{Database, as_inside};
use crate::model::Timestamp;
use crate::process::Command;

/// OpenCode took 6 s to list its sessions on a slow machine, and over 20 s on one that had much else to do.
const DEADLINE: Duration = Duration::from_secs(60);

/// What its databases tell; None where there is none.
pub(super) fn recorded(databases: &[PathBuf], traces: &Traces<'_>) -> Option<Trace> {
    let since = Timestamp::new(traces.since.into());
    let newest = |path: &PathBuf| {
        let cwd = as_inside(traces.cwd);
        Database::open(path).ok()?.newest(cwd.to_str()?, since).ok()
    };
    let told: Vec<Option<Option<String>>> = databases.iter().map(newest).collect();
    match told.iter().flatten().flatten().next() {
        Some(session) => Some(Trace::Found(session.clone())),
        None if told.is_empty() => None,
        None if told.iter().all(Option::is_some) => Some(Trace::Nothing),
        None => Some(Trace::Unclear),
    }
}

/// Before there was a database, and in case there is none again.
pub(super) fn listed(program: &Path, traces: &Traces<'_>) -> Trace {
    // It lists the sessions of a repository, whichever of its worktrees it is asked in.
    let directory = Some(traces.cwd).filter(|cwd| cwd.is_dir());
    let listed = Command::new(program)
        .args(["session", "list", "--format", "json"])
        .directory(directory.unwrap_or(traces.repository))
        .deadline(DEADLINE)
        .text();
    match listed {
        Ok(listed) => newest(&listed, &as_inside(traces.cwd), traces.since),
        Err(_) => Trace::Unclear,
    }
}

#[derive(Debug, Deserialize)]
struct Listed {
    id: String,
    directory: String,
    /// Milliseconds since the epoch, like the next.
    #[serde(default)]
    created: u64,
    #[serde(default)]
    updated: u64,
}

/// The one that was used last of those that this run began in this directory.
fn newest(listed: &str, cwd: &Path, since: SystemTime) -> Trace {
    // It prints nothing at all where there are none.
    let listed = Some(listed.trim()).filter(|text| !text.is_empty());
    let Ok(sessions) = serde_json::from_str::<Vec<Listed>>(listed.unwrap_or("[]")) else {
        return Trace::Unclear;
    };
    let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
    sessions
        .into_iter()
        .filter(|session| Path::new(&session.directory) == cwd)
        .filter(|session| Duration::from_millis(session.created) >= since)
        .max_by_key(|session| session.updated)
        .map_or(Trace::Nothing, |session| Trace::Found(session.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sessions_of_the_same_directory_and_of_this_run_count() {
        let listed = r#"[
            {"id":"ses_a","title":"x","updated":5,"created":4,"directory":"/w/one"},
            {"id":"ses_b","title":"y","updated":9,"created":4,"directory":"/w/two"},
            {"id":"ses_c","title":"z","updated":7,"created":4,"directory":"/w/one"},
            {"id":"ses_d","title":"z","updated":8,"created":1,"directory":"/w/one"}
        ]"#;
        let since = UNIX_EPOCH + Duration::from_millis(2);
        let found = |cwd| newest(listed, Path::new(cwd), since);
        assert_eq!(found("/w/one"), Trace::Found("ses_c".to_owned()));
        assert_eq!(found("/w/three"), Trace::Nothing);
        assert_eq!(newest("", Path::new("/w"), since), Trace::Nothing);
        assert_eq!(newest("not json", Path::new("/w"), since), Trace::Unclear);
    }
}
