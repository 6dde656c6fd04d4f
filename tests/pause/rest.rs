//! What must hold of an instance that is at rest, whatever happened before.

use std::path::Path;

use serde_json::Value;

use crate::ground::Ground;
use crate::support::{Camp, Instance, eventually};

impl Ground {
    /// Everything that is wrong with an instance that ought to be at rest now.
    pub(crate) fn unrest(&self) -> Vec<String> {
        self.seen_unrest().1
    }

    /// The state that it is in, and what is wrong with that.
    pub(crate) fn seen_unrest(&self) -> (String, Vec<String>) {
        let shown = self.show();
        let mut wrong = wrong_with(&self.camp, &self.instance, &shown);
        let state = shown["state"].as_str().unwrap_or("").to_owned();
        wrong.extend(self.misplaced(&state));
        (state, wrong)
    }

    /// What is wrong with an instance that ought to be at rest in one of these states, and what of it
    /// does not come back when it is made to run again.
    pub(crate) fn losses(&self, allowed: &[&str]) -> Vec<String> {
        let (state, mut wrong) = self.seen_unrest();
        if !allowed.contains(&state.as_str()) {
            wrong.push(format!("it is {state}, not {}", allowed.join(" or ")));
        }
        let commands: &[&str] = match state.as_str() {
            "paused" | "failed" | "interrupted" | "completed" => &["resume"],
            "killed" => &["undo-kill", "resume"],
            _ => &[],
        };
        for command in commands {
            let answer = self.biv(&[command]);
            if answer.status != Some(0) {
                wrong.push(format!("{command}: {}", answer.said()));
            }
        }
        wrong.extend(self.misplaced("running"));
        let agents = self.instance.processes();
        let state = self.state();
        if state != "running" || agents.len() != 1 {
            wrong.push(format!("it is {state}, with {agents:?}"));
        }
        wrong.extend(self.differences());
        wrong
    }

    pub(crate) fn state(&self) -> String {
        self.show()["state"].as_str().unwrap_or("").to_owned()
    }

    /// Whether worktree, parking place and refs are where this state wants them.
    pub(crate) fn misplaced(&self, state: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut require = |holds: bool, what: &str| {
            if !holds {
                wrong.push(what.to_owned());
            }
        };
        let record = self.record();
        let parking = self.parking();
        let parked = names(&parking)
            .iter()
            .filter(|name| name.contains(&self.instance.id))
            .count();
        let away = record["vault"]["parking"].is_object() && state != "running";
        require(
            self.lab.worktree.exists() != away,
            "the worktree is not where the record says",
        );
        require(
            parked == if away { 2 } else { 0 },
            &format!("{parked} things are parked"),
        );
        let known = self
            .lab
            .git_in(&self.lab.main, &["worktree", "list", "--porcelain", "-z"]);
        let entry = format!("worktree {}\0", self.lab.worktree.display());
        require(
            known.contains(&entry) != away,
            "git and the record do not agree on the worktree",
        );
        let vault = parking.join("vault");
        let refs = if vault.exists() {
            let list = ["for-each-ref", "--format=%(refname)", "refs/bivouac"];
            self.lab.git_in(&vault, &list)
        } else {
            String::new()
        };
        for reference in refs.lines() {
            require(
                reference.contains(&self.instance.id),
                &format!("{reference} belongs to no instance"),
            );
        }
        let snapshot = record["vault"]["snapshot"]["reference"].as_str();
        if let Some(reference) = snapshot.filter(|_| away) {
            require(
                refs.lines().any(|line| line == reference),
                &format!("{reference} is gone"),
            );
        }
        wrong
    }

    pub(crate) fn record(&self) -> Value {
        let path = self.camp.instances_dir().join(&self.instance.id);
        serde_json::from_slice(&std::fs::read(path.join("record.json")).unwrap()).unwrap()
    }
}

/// What is wrong with an instance, apart from its worktree: no operation is open, as many agents and
/// sessions as its state wants, and nothing that a doctor would worry about.
pub(crate) fn unrest(camp: &Camp, instance: &Instance) -> Vec<String> {
    wrong_with(camp, instance, &camp.show(instance))
}

fn wrong_with(camp: &Camp, instance: &Instance, shown: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let state = shown["state"].as_str().unwrap_or("").to_owned();
    let lasting = [
        "running",
        "paused",
        "completed",
        "failed",
        "interrupted",
        "killed",
    ];
    if !lasting.contains(&state.as_str()) {
        wrong.push(format!("it is {state}"));
    }
    let journal = camp
        .instances_dir()
        .join(&instance.id)
        .join("journal.jsonl");
    let last = std::fs::read_to_string(journal).unwrap_or_default();
    let last = last.lines().last().unwrap_or_default();
    if !last.contains("\"committed\"") && !last.contains("\"taken-back\"") {
        wrong.push(format!("its journal is open: {last}"));
    }
    let agents = instance.processes();
    let wanted = usize::from(state == "running");
    if agents.len() != wanted {
        wrong.push(format!("{state}, and these live: {agents:?}"));
    }
    let session = shown["tmux_session"].as_str().unwrap_or("").to_owned();
    let lasting = ["completed", "failed"].contains(&state.as_str());
    let mut sessions = Vec::new();
    // A server may open a session after the one who asked for it was killed; its launcher then finds
    // that it is not wanted, and removes it.
    let settled = eventually(|| {
        sessions = camp.sessions();
        let open = sessions.iter().filter(|name| **name == session).count();
        open == wanted || (lasting && open <= 1)
    });
    if !settled {
        wrong.push(format!("{state}, with the sessions {sessions:?}"));
    }
    let doctor = camp.biv(["doctor", "--json"]).run().json();
    for finding in doctor["findings"].as_array().into_iter().flatten() {
        if finding["health"] != "good" && finding["check"] != "agents" {
            wrong.push(format!("doctor: {} {}", finding["check"], finding["what"]));
        }
    }
    wrong
}

fn names(directory: &Path) -> Vec<String> {
    std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect()
}
