//! Instances that have work to lose, and verbs that are about that.

use std::path::{Path, PathBuf};

use super::Diary;
use crate::dice::Dice;
use crate::support::{Camp, Instance, Repository};

/// An agent that says nothing, over a worktree with changes of every kind.
pub(super) struct Worker {
    pub instance: Instance,
    written: Vec<(PathBuf, String)>,
}

impl Worker {
    pub(super) fn start(camp: &Camp, repository: &Repository, number: usize) -> Self {
        let instance = camp.start_shell(repository, &format!("worker {number}"), "exec cat");
        let mut written = Vec::new();
        for name in ["README.md", "new.txt", "deep/er/new.txt", "staged.txt"] {
            let text = format!("{name} of {}\n", instance.id);
            write(&instance.worktree.join(name), &text);
            written.push((PathBuf::from(name), text));
        }
        let here = repository.seen_from(&instance.worktree);
        here.git(&["add", "staged.txt"]);
        Self { instance, written }
    }

    /// One wish, and what of its answer is not one of those that may come.
    pub(super) fn wish(&self, camp: &Camp, dice: &mut Dice, diary: &Diary) -> Option<String> {
        let id = self.instance.id.as_str();
        let words: &[&str] = match dice.below(12) {
            0..=1 => &["pause", id],
            2 => &["pause", id, "--remove-worktree"],
            3..=4 => &["resume", id],
            5 => &["restart", "-y", id],
            6 => &["kill", "-y", id],
            7 => &["undo-kill", id],
            8 => &["autoyes", id, "on"],
            9 => &["autoyes", id, "off"],
            10 => &["gc"],
            _ => &["list", "--json"],
        };
        let answer = diary.call(id, camp.biv(words.iter().copied()));
        // Of all together: nothing that becomes of one of them is a reason to fail.
        let expected: &[i32] = match words[0] {
            "gc" | "list" => &[0],
            _ => &[0, 3, 4, 7],
        };
        let strange = !answer
            .status
            .is_some_and(|status| expected.contains(&status));
        strange.then(|| format!("{}: {:?} {}", answer.call, answer.status, answer.said()))
    }

    /// What is not as it was written.
    pub(super) fn losses(&self, camp: &Camp) -> Vec<String> {
        let instance = &self.instance;
        let mut losses = Vec::new();
        // Alive, or killed: either way it comes back.
        drop(camp.biv(["undo-kill", &instance.id]).run());
        let resumed = camp.biv(["resume", &instance.id]).run();
        if resumed.status != Some(0) {
            losses.push(format!("{}: {}", instance.title, resumed.said()));
        }
        for (name, text) in &self.written {
            let path = instance.worktree.join(name);
            let found = std::fs::read_to_string(&path);
            if found.as_ref().ok() != Some(text) {
                losses.push(format!("{}: {found:?}", path.display()));
            }
        }
        let agents = instance.processes();
        if agents.len() != 1 {
            losses.push(format!("{}: agents {agents:?}", instance.title));
        }
        losses
    }
}

/// One that is made, and ended again.
pub(super) fn visit(
    camp: &Camp,
    repository: &Repository,
    tag: &str,
    diary: &Diary,
) -> Option<String> {
    let title = format!("visitor {tag}");
    let made = camp
        .biv(["new", &title, "-a", "shell", "--", "cat"])
        .within(&repository.path);
    let made = diary.call(&title, made);
    let ended = diary.call(&title, camp.biv(["kill", "-y", &title]));
    [made, ended]
        .into_iter()
        .find(|answer| answer.status != Some(0))
        .map(|answer| format!("{}: {:?} {}", answer.call, answer.status, answer.said()))
}

/// What is left behind in the home when everything is at rest.
pub(super) fn leftovers(camp: &Camp) -> Vec<String> {
    let mut left = Vec::new();
    let doctor = camp.biv(["doctor"]).run();
    if doctor.status != Some(0) {
        left.push(format!("doctor: {} {}", doctor.stdout, doctor.said()));
    }
    let listed = camp.biv(["list", "--json"]).run().ok().json();
    if listed["unreadable"]
        .as_array()
        .is_some_and(|them| !them.is_empty())
    {
        left.push(format!(
            "records that cannot be read: {}",
            listed["unreadable"]
        ));
    }
    let names = |directory: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(directory).into_iter().flatten();
        entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    };
    let run = names(&camp.home().join("run"));
    left.extend(run.into_iter().filter(|name| name.starts_with("launch-")));
    let instances = names(&camp.instances_dir());
    left.extend(instances.into_iter().filter(|name| name.starts_with('.')));
    left
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
