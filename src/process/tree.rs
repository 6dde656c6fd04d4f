//! Finding and ending all processes that belong to an agent.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::identity::{Identity, Signal};
use super::lineage::lineage;
use super::table;

/// How soon a tree is looked at again after SIGTERM: most end at once.
const FIRST_PROBE: Duration = Duration::from_millis(2);
const PROBE: Duration = Duration::from_millis(10);

/// Processes that did not end on SIGKILL (stuck in the kernel). Files that they use must not be moved.
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

/// Every process of an agent: the leader, the processes of its session, all their descendants with the
/// sessions they started, and every process with the marker variable.
pub(crate) fn tree_of(leader: Option<&Identity>, marker: &str) -> Vec<Identity> {
    let rows = table::rows();
    let known = leader.filter(|leader| leader.is_alive());
    members(&rows, known.into_iter(), marker)
}

/// The same, with processes that are already known to belong to the agent and still run.
fn members<'a>(
    rows: &[table::Row],
    known: impl Iterator<Item = &'a Identity>,
    marker: &str,
) -> Vec<Identity> {
    let known: HashSet<i32> = known.map(|process| process.pid).collect();
    let mut members: HashSet<i32> = rows
        .iter()
        .filter(|row| known.contains(&row.pid) || table::has_variable(row.pid, marker))
        .map(|row| row.pid)
        .collect();
    loop {
        let before = members.len();
        let more: Vec<i32> = rows
            .iter()
            .filter(|row| members.contains(&row.parent) || members.contains(&row.session))
            .map(|row| row.pid)
            .collect();
        members.extend(more);
        if members.len() == before {
            break;
        }
    }
    // When an agent runs `biv`, this process has the marker too. This process and its ancestors
    // are never ended.
    let mut ancestor = i32::try_from(std::process::id()).unwrap_or(0);
    while let Some(row) = rows.iter().find(|row| row.pid == ancestor) {
        members.remove(&row.pid);
        ancestor = row.parent;
    }
    rows.iter()
        .filter(|row| members.contains(&row.pid) && !row.zombie)
        .filter_map(|row| Identity::of_pid(row.pid).filter(|now| now.started == row.started))
        .collect()
}

/// The processes of an agent that is about to be ended.
///
/// A process that started its own session with an empty environment is recognised only by its parents.
/// When they end, that link is lost. So every process that was ever seen in the tree is remembered.
#[derive(Debug)]
pub(crate) struct Tree {
    marker: String,
    seen: HashSet<Identity>,
}

impl Tree {
    /// Looks at the processes as they are now.
    pub(crate) fn of(leader: Option<&Identity>, marker: &str) -> Self {
        Self {
            marker: marker.to_owned(),
            seen: tree_of(leader, marker).into_iter().collect(),
        }
    }

    /// Whether none was seen.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Adds the processes that were started since.
    pub(crate) fn refresh(&mut self, leader: Option<&Identity>) {
        self.seen.extend(tree_of(leader, &self.marker));
        self.look();
    }

    /// Those that still run, with those started since.
    fn look(&mut self) -> Vec<Identity> {
        let rows = table::rows();
        let alive = self.seen.iter().filter(|process| process.is_alive());
        let members = members(&rows, alive, &self.marker);
        self.seen.extend(members.iter().cloned());
        members
    }

    /// Ends all of them: SIGTERM, then SIGKILL after `grace`. Looks again until none is left.
    pub(crate) fn stop(mut self, grace: Duration) -> Result<(), Survivors> {
        let mut told: HashSet<Identity> = HashSet::new();
        let deadline = Instant::now() + grace;
        let mut probe = FIRST_PROBE;
        loop {
            let tree = self.look();
            if tree.is_empty() {
                return Ok(());
            }
            if Instant::now() >= deadline {
                break;
            }
            for process in tree {
                if told.insert(process.clone()) {
                    process.signal(Signal::TERM);
                    // A stopped process (SIGSTOP, Ctrl+Z) does not handle SIGTERM before SIGCONT.
                    process.signal(Signal::CONT);
                }
            }
            std::thread::sleep(probe);
            probe = PROBE.min(probe * 2);
        }
        let last = Instant::now() + Duration::from_secs(5);
        loop {
            let tree = self.look();
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
}

/// Processes of this user that have this working directory, were started after `since` and have no
/// terminal, with their names. A shell or an editor of the user has a terminal.
pub(crate) fn processes_in(directory: &Path, since: &Identity) -> Vec<(Identity, String)> {
    let own = lineage(Identity::of_this_process().pid).processes;
    table::rows()
        .into_iter()
        .filter(|row| !row.zombie && row.started >= since.started)
        .filter(|row| !own.iter().any(|process| process.pid == row.pid))
        .filter_map(|row| {
            let name = table::detached_in(row.pid, directory)?;
            let process = Identity::of_pid(row.pid)?;
            (process.started == row.started && process.boot == since.boot)
                .then_some((process, name))
        })
        .collect()
}

/// The resident memory of these processes, in bytes.
pub(crate) fn memory_of(processes: &[Identity]) -> u64 {
    processes
        .iter()
        .map(|process| table::memory(process.pid))
        .sum()
}

/// Ends the whole tree; see [`Tree::stop`].
pub(crate) fn stop_tree(
    leader: Option<&Identity>,
    marker: &str,
    grace: Duration,
) -> Result<(), Survivors> {
    Tree::of(leader, marker).stop(grace)
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
