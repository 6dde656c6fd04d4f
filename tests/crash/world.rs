//! What must hold after a crash and the command that followed it.

use std::path::PathBuf;

use crate::support::{Camp, Instance, Repository, processes_with};

/// The moments around a step at which the process can be made to die.
pub(crate) const MOMENTS: [&str; 2] = ["before", "after"];

/// Commands that a person might type next; each brings everything to rest.
const NEXT: [&[&str]; 3] = [&["list"], &["doctor"], &["show", "crashed"]];

/// The next command, whatever it says.
pub(crate) fn next_command(camp: &Camp, number: usize) {
    let answer = camp.biv(NEXT[number % NEXT.len()]).run();
    assert!(
        matches!(answer.status, Some(0 | 1 | 3)),
        "`{}` ended with {:?}: {}",
        answer.call,
        answer.status,
        answer.stderr
    );
}

/// Session, worktree, branch, process and record of each instance exist together or not at all.
#[track_caller]
pub(crate) fn assert_nothing_orphaned(camp: &Camp, repository: &Repository, place: &str) {
    let instances = camp.list();
    let present: Vec<&Instance> = instances
        .iter()
        .filter(|instance| camp.show(instance)["state"] != "paused")
        .collect();
    assert_eq!(
        sorted(camp.sessions()),
        sorted(present.iter().map(|i| format!("biv-{}", i.id)).collect()),
        "{place}: sessions"
    );
    let expected = sorted(present.iter().map(|i| i.worktree.clone()).collect());
    assert_eq!(
        sorted(repository.worktrees()),
        expected,
        "{place}: worktrees"
    );
    let on_disk = directories(&camp.home().join("worktrees/app"));
    assert_eq!(on_disk, expected, "{place}: directories");

    let records = all_records(camp);
    for branch in repository.branches() {
        let known = records
            .iter()
            .any(|record| record["branch"]["name"] == branch.as_str());
        assert!(
            known || branch == "main",
            "{place}: the branch {branch} belongs to no instance"
        );
    }
    for snapshot in repository.snapshots() {
        let known = records
            .iter()
            .filter_map(|record| record["id"].as_str())
            .any(|id| snapshot.contains(id));
        assert!(
            known,
            "{place}: the snapshot {snapshot} belongs to no instance"
        );
    }
    // Agents are told by their mark and by the camp in their environment.
    let mine = processes_with(&format!("BIV_HOME={}", camp.home().display()));
    let mut agents = Vec::new();
    for instance in &instances {
        let own = instance.processes();
        assert!(own.len() <= 1, "{place}: two agents run: {own:?}");
        agents.extend(own.into_iter().map(|process| process.pid));
    }
    for process in mine {
        assert!(
            agents.contains(&process.pid),
            "{place}: {process:?} belongs to no instance"
        );
    }
    // At rest: the doctor finds nothing.
    let json = camp.biv(["doctor", "--json"]).run().json();
    for finding in json["findings"].as_array().into_iter().flatten() {
        let fine = finding["check"] == "agents" || finding["health"] == "good";
        assert!(fine, "{place}: {finding}");
    }
}

/// Every record on disk, killed ones too.
fn all_records(camp: &Camp) -> Vec<serde_json::Value> {
    directories(&camp.instances_dir())
        .into_iter()
        .map(|directory| {
            let text = std::fs::read_to_string(directory.join("record.json"))
                .unwrap_or_else(|error| panic!("{} has no record: {error}", directory.display()));
            serde_json::from_str(&text).unwrap()
        })
        .collect()
}

fn directories(parent: &std::path::Path) -> Vec<PathBuf> {
    sorted(
        std::fs::read_dir(parent)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_dir())
            .collect(),
    )
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

/// Work of several kinds, and a proof of it.
pub(crate) fn leave_work(repository: &Repository, instance: &Instance) -> String {
    let inside = repository.seen_from(&instance.worktree);
    inside.write("README.md", "# Changed\n");
    inside.write("staged.txt", "staged\n");
    inside.git(&["add", "staged.txt"]);
    inside.write("untracked.txt", "untracked\n");
    proof(repository, instance)
}

/// What git says of the work, with the content of every file.
pub(crate) fn proof(repository: &Repository, instance: &Instance) -> String {
    let inside = repository.seen_from(&instance.worktree);
    let status = inside.git(&["status", "--porcelain=v2", "--branch"]);
    let contents: Vec<String> = ["README.md", "staged.txt", "untracked.txt"]
        .iter()
        .map(|name| std::fs::read_to_string(instance.worktree.join(name)).unwrap_or_default())
        .collect();
    format!("{status}\n{contents:?}")
}
