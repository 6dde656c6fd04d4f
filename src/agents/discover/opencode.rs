//! OpenCode stores its sessions in a database, each with its directory, and has a command that lists them.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use super::{Discovered, DiscoveryContext};
use crate::agents::transcripts::{Database, resolved_directory};
use crate::model::Timestamp;
use crate::process::Command;

/// OpenCode took 6 s to list its sessions on a slow machine, and over 20 s on one that had much else to do.
const DEADLINE: Duration = Duration::from_secs(60);

/// The session from its databases; None where there is no database.
pub(super) fn recorded(
    databases: &[PathBuf],
    context: &DiscoveryContext<'_>,
) -> Option<Discovered> {
    let since = Timestamp::new(context.since.into());
    let newest = |path: &PathBuf| {
        let cwd = resolved_directory(context.cwd);
        Database::open(path).ok()?.newest(cwd.to_str()?, since).ok()
    };
    let told: Vec<Option<Option<String>>> = databases.iter().map(newest).collect();
    match told.iter().flatten().flatten().next() {
        Some(session) => Some(Discovered::Found(session.clone())),
        None if told.is_empty() => None,
        None if told.iter().all(Option::is_some) => Some(Discovered::Nothing),
        None => Some(Discovered::Unclear),
    }
}

/// The session from its list command: for versions without a database.
pub(super) fn listed(program: &Path, context: &DiscoveryContext<'_>) -> Discovered {
    // It lists the sessions of the repository, in whichever of its worktrees it runs.
    let directory = Some(context.cwd).filter(|cwd| cwd.is_dir());
    let listed = Command::new(program)
        .args(["session", "list", "--format", "json"])
        .directory(directory.unwrap_or(context.repository))
        .deadline(DEADLINE)
        .text();
    match listed {
        Ok(listed) => newest(&listed, &resolved_directory(context.cwd), context.since),
        Err(_) => Discovered::Unclear,
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

/// The session of this run in this directory that was used last.
fn newest(listed: &str, cwd: &Path, since: SystemTime) -> Discovered {
    // It prints nothing where there are none.
    let listed = Some(listed.trim()).filter(|text| !text.is_empty());
    let Ok(sessions) = serde_json::from_str::<Vec<Listed>>(listed.unwrap_or("[]")) else {
        return Discovered::Unclear;
    };
    let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
    sessions
        .into_iter()
        .filter(|session| Path::new(&session.directory) == cwd)
        .filter(|session| Duration::from_millis(session.created) >= since)
        .max_by_key(|session| session.updated)
        .map_or(Discovered::Nothing, |session| Discovered::Found(session.id))
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
        assert_eq!(found("/w/one"), Discovered::Found("ses_c".to_owned()));
        assert_eq!(found("/w/three"), Discovered::Nothing);
        assert_eq!(newest("", Path::new("/w"), since), Discovered::Nothing);
        assert_eq!(
            newest("not json", Path::new("/w"), since),
            Discovered::Unclear
        );
    }
}
