//! The ancestors of a process.

use std::collections::HashSet;

use super::identity::Identity;
use super::table;

/// No process of a real system has this many ancestors.
const LONGEST: usize = 256;
/// How often the process table is read again when it changes during the walk.
const ATTEMPTS: usize = 3;

/// A process and its ancestors, nearest first. The leader of its session is included: it is an ancestor
/// of every process in the session, also of those whose parent has ended.
pub(crate) struct Lineage {
    pub processes: Vec<Identity>,
    /// False where a process ended before it could be looked at: then the list proves nothing.
    pub whole: bool,
}

/// Makes this process, and the program that it execs, the parent of orphaned descendants. A child that
/// has left its parent, its session and its environment is recognised by nothing else.
#[cfg(target_os = "linux")]
pub(crate) fn adopt_orphans() {
    // Old kernels refuse it. Such children are then not recognised.
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        tracing::debug!(%error, "orphaned descendants cannot be adopted");
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn adopt_orphans() {}

/// The lineage of a process, from the process table.
pub(crate) fn lineage(pid: i32) -> Lineage {
    let mut found = Lineage {
        processes: Vec::new(),
        whole: false,
    };
    for _ in 0..ATTEMPTS {
        found = walk(pid);
        if found.whole {
            break;
        }
    }
    found
}

fn walk(pid: i32) -> Lineage {
    let mut processes: Vec<Identity> = Vec::new();
    let mut visited = HashSet::new();
    // With the start time of its descendant: an ancestor is never younger.
    let mut pending = vec![(pid, u64::MAX, true)];
    let mut whole = true;
    while let Some((pid, younger, required)) = pending.pop() {
        if pid <= 0 || !visited.insert(pid) {
            continue;
        }
        if processes.len() >= LONGEST {
            whole = false;
            break;
        }
        let row = table::row_of(pid).filter(|row| row.started <= younger);
        let Some((row, identity)) = row.and_then(|row| Some((row, Identity::of_pid(pid)?))) else {
            // The leader of a session may have ended. A parent always exists.
            whole &= !required;
            continue;
        };
        whole &= identity.started == row.started;
        processes.push(identity);
        // Pushed last, taken first: the parent.
        pending.push((row.session, row.started, false));
        pending.push((row.parent, row.started, true));
    }
    Lineage { processes, whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_descends_from_its_parents_and_no_other_process() {
        let own = Identity::of_this_process();
        let found = lineage(own.pid);
        assert!(found.whole);
        assert_eq!(found.processes.first(), Some(&own));
        let parent = i32::try_from(std::os::unix::process::parent_id()).unwrap();
        assert!(found.processes.iter().any(|process| process.pid == parent));
        let mut other = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let other_pid = i32::try_from(other.id()).unwrap();
        let theirs = lineage(other_pid);
        assert!(theirs.processes.contains(&own));
        assert!(
            !found
                .processes
                .iter()
                .any(|process| process.pid == other_pid)
        );
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(!lineage(other_pid).whole, "one that is gone proves nothing");
    }
}
