//! All processes that belong to an agent, and their end.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::identity::{Identity, Signal};
use super::table;

/// How soon a tree that was told to end is looked at again: most end at once.
const FIRST_PROBE: Duration = Duration::from_millis(2);
const PROBE: Duration = Duration::from_millis(10);

/// Processes that outlived even SIGKILL (stuck in the kernel); nothing may be moved under them.
#[derive(Debug, thiserror::Error)]
#[error("processes {} cannot be ended", pids(.0))]
pub(crate) struct Survivors(pub Vec<Identity>);

fn pids(survivors: &[Identity]) -> String {
    survivors
        .iter()
        .map(|identity| identity.pid.to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Everything that runs on behalf of an agent: the leader, whoever shares its session, all their
/// descendants, and whoever carries the marker variable (a child that went through `setsid` and
/// was adopted by init has nothing else in common with it).
pub(crate) fn tree_of(leader: Option<&Identity>, marker: &str) -> Vec<Identity> {
    let rows = table::rows();
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let leader = leader.filter(|leader| leader.is_alive());
    let mut members: HashSet<i32> = rows
        .iter()
        .filter(|row| {
            leader.is_some_and(|leader| row.pid == leader.pid || row.session == leader.pid)
                || table::has_variable(row.pid, marker)
        })
        .map(|row| row.pid)
        .collect();
    loop {
        let before = members.len();
        members.extend(
            rows.iter()
                .filter(|row| members.contains(&row.parent))
                .map(|row| row.pid)
                .collect::<Vec<_>>(),
        );
        if members.len() == before {
            break;
        }
    }
    // A command that an agent runs through `biv` itself carries the marker too: never end ourselves
    // or those we descend from.
    let mut ancestor = own;
    while let Some(row) = rows.iter().find(|row| row.pid == ancestor) {
        members.remove(&row.pid);
        ancestor = row.parent;
    }
    rows.iter()
        .filter(|row| members.contains(&row.pid) && !row.zombie)
        .filter_map(|row| Identity::of_pid(row.pid).filter(|now| now.started == row.started))
        .collect()
}

/// What these hold in memory, in bytes.
pub(crate) fn memory_of(processes: &[Identity]) -> u64 {
    processes
        .iter()
        .map(|process| table::memory(process.pid))
        .sum()
}

/// Ends the whole tree: SIGTERM, `grace`, SIGKILL; proved by looking again, newly born children too.
pub(crate) fn stop_tree(
    leader: Option<&Identity>,
    marker: &str,
    grace: Duration,
) -> Result<(), Survivors> {
    let mut told: HashSet<Identity> = HashSet::new();
    let deadline = Instant::now() + grace;
    let mut probe = FIRST_PROBE;
    loop {
        let tree = tree_of(leader, marker);
        if tree.is_empty() {
            return Ok(());
        }
        if Instant::now() >= deadline {
            break;
        }
        for process in tree {
            if told.insert(process.clone()) {
                process.signal(Signal::TERM);
                // One that was stopped (SIGSTOP, ctrl-z) hears nothing until it goes on.
                process.signal(Signal::CONT);
            }
        }
        std::thread::sleep(probe);
        probe = PROBE.min(probe * 2);
    }
    let last = Instant::now() + Duration::from_secs(5);
    loop {
        let tree = tree_of(leader, marker);
        if tree.is_empty() {
            return Ok(());
        }
        if Instant::now() >= last {
            return Err(Survivors(tree));
        }
        for process in &tree {
            process.signal(Signal::KILL);
        }
        std::thread::sleep(PROBE);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;

    use super::*;

    /// Starts a shell as the leader of a group, marked like an agent.
    fn spawn(marker: &str, script: &str) -> (std::process::Child, Identity) {
        let (name, value) = marker.split_once('=').unwrap();
        let child = std::process::Command::new("sh")
            .args(["-c", script])
            .env(name, value)
            .process_group(0)
            .spawn()
            .unwrap();
        let identity = Identity::of_pid(i32::try_from(child.id()).unwrap()).unwrap();
        (child, identity)
    }

    #[test]
    fn children_that_ignore_signals_or_left_the_session_end_too() {
        let marker = format!("BIV_INSTANCE=tree-{}", std::process::id());
        let (mut child, leader) = spawn(
            &marker,
            "trap '' HUP TERM; nohup sleep 61 >/dev/null 2>&1 & setsid sleep 62 & sleep 63",
        );
        let deadline = Instant::now() + Duration::from_secs(10);
        while tree_of(Some(&leader), &marker).len() < 4 {
            assert!(Instant::now() < deadline, "the tree did not grow");
            std::thread::sleep(PROBE);
        }
        // The leader is our own child, so it must be reaped for its end to be seen.
        let reaper = std::thread::spawn(move || child.wait());
        stop_tree(Some(&leader), &marker, Duration::from_millis(200)).unwrap();
        reaper.join().unwrap().unwrap();
        assert_eq!(tree_of(None, &marker), Vec::new());
    }

    #[test]
    fn a_process_without_the_marker_is_left_alone() {
        let marker = format!("BIV_INSTANCE=mine-{}", std::process::id());
        let (mut other, other_identity) = spawn("OTHER=1", "sleep 60");
        stop_tree(None, &marker, Duration::ZERO).unwrap();
        assert!(other_identity.is_alive());
        other_identity.signal(Signal::KILL);
        other.wait().unwrap();
    }
}
