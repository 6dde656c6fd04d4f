//! Claude Code records the session of each of its processes in `sessions/<pid>.json`. The file is updated by
//! `/clear`, and stays when the process is killed.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::Value;

use super::{Discovered, DiscoveryContext};
use crate::model::Activity;
use crate::process::Identity;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Registered {
    pid: i32,
    session_id: String,
    /// The kernel's start time of the process, because pids are reused.
    proc_start: Option<Value>,
    /// `idle`, `busy` or `waiting`.
    status: Option<String>,
    waiting_for: Option<String>,
    /// Milliseconds since the epoch.
    status_updated_at: Option<u64>,
}

pub(super) fn registered(home: &Path, context: &DiscoveryContext<'_>) -> Discovered {
    let leader = context.leader.cloned();
    // With a wrapper script, the agent is a child of the process that was started.
    let others = context.pids.iter().filter_map(|pid| Identity::of_pid(*pid));
    leader
        .into_iter()
        .chain(others)
        .find_map(|process| entry_of(home, &process))
        .map_or(Discovered::Unclear, |entry| {
            Discovered::Found(entry.session_id)
        })
}

/// The activity that the process records, its own name for it, and since when.
pub(super) fn status(home: &Path, process: &Identity) -> Option<(Activity, String, SystemTime)> {
    let entry = entry_of(home, process)?;
    let since = UNIX_EPOCH + Duration::from_millis(entry.status_updated_at?);
    let status = entry.status?;
    let activity = match (status.as_str(), entry.waiting_for.as_deref()) {
        ("busy", _) => Activity::Busy,
        // `shell`: at its prompt, while a shell runs in the background.
        ("idle" | "shell", _) => Activity::Idle,
        ("waiting", Some("input needed")) => Activity::Question,
        ("waiting", Some("permission prompt")) => Activity::Approval,
        _ => return None,
    };
    Some((activity, status, since))
}

fn entry_of(home: &Path, process: &Identity) -> Option<Registered> {
    let file = home.join("sessions").join(format!("{}.json", process.pid));
    let entry: Registered = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    let started = match entry.proc_start.as_ref()? {
        Value::String(text) => text.parse().ok(),
        number => number.as_u64(),
    };
    // A sealed agent has the pid of its launcher in a namespace of its own, and began later. As long as the
    // launcher runs, no other process outside can have had that pid since.
    let is_newer = started.is_some_and(|started| started > process.started) && process.is_alive();
    let same = entry.pid == process.pid && (started == Some(process.started) || is_newer);
    let usable = uuid::Uuid::try_parse(&entry.session_id).is_ok();
    (same && usable).then_some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_entry_of_this_very_process_counts() {
        let home = tempfile::tempdir().unwrap();
        let sessions = home.path().join("sessions");
        std::fs::create_dir(&sessions).unwrap();
        let own = Identity::of_this_process();
        let known = || entry_of(home.path(), &own).map(|entry| entry.session_id);
        assert_eq!(known(), None);
        let id = "33333333-0000-4333-8444-555555555607";
        let write = |started: u64| {
            let pid = own.pid;
            let text = format!(
                r#"{{"pid":{pid},"sessionId":"{id}","cwd":"/w","procStart":"{started}","status":"idle","statusUpdatedAt":1794724127602}}"#
            );
            std::fs::write(sessions.join(format!("{pid}.json")), text).unwrap();
        };
        write(own.started);
        assert_eq!(known().as_deref(), Some(id));
        let (activity, said, _) = status(home.path(), &own).unwrap();
        assert_eq!((activity, said.as_str()), (Activity::Idle, "idle"));
        write(own.started - 1);
        assert_eq!(known(), None, "an earlier process of this pid");
        assert_eq!(status(home.path(), &own), None);
    }
}
