//! A worktree in some state, under management in a camp of its own.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::fingerprint::{answers, fingerprint};
use crate::states::{Lab, State, all};
use crate::support::mount::scratch;
use crate::support::{Answer, Camp, Instance};

/// The agent of most tests: it prints a line and waits. It counts as safe as soon as it is still.
const AGENT: &str = r#"
display = "Still"
command = ["{shell}"]
command_from_args = true
[session]
reference = "none"
strategy = "replay"
[keys]
interrupt = ["C-c"]
cancel = ["C-c"]
exit = ["C-d"]
submit = ["Enter"]
[stop]
by = "signal"
[input]
settle_ms = 0
verify = "none"
[ready]
quiet_ms = 20
[transcript]
format = "none"
[capabilities]
native_resume = false
hooks = false
transcript = false
"#;

/// What the agent does: one process, which says that it is there and waits for input. One that did
/// neither that nor end would be watched for a third of a second at every start.
const COMMAND: [&str; 3] = ["sh", "-c", "echo I am here; exec cat"];

pub(crate) struct Ground {
    // The camp goes first: nothing of it may run when the worktree is taken away.
    pub(crate) camp: Camp,
    pub(crate) lab: Lab,
    pub(crate) instance: Instance,
    /// What the worktree and its repository were like when the agent was started.
    pub(crate) before: Vec<String>,
    _directory: TempDir,
}

impl Ground {
    /// The state in a worktree that was made by hand and is adopted.
    pub(crate) fn adopted(state: &State) -> Self {
        let camp = camp();
        let directory = tempfile::tempdir_in(scratch()).unwrap();
        let lab = state.make(&directory.path().canonicalize().unwrap());
        let before = fingerprint(&lab.main, &lab.worktree);
        let worktree = lab.worktree.to_str().unwrap();
        let call = camp.biv(["adopt", "--json", worktree, "t", "-a", "still", "--"]);
        let instance = Instance::from_json(&call.args(COMMAND).run().ok().json());
        Self {
            camp,
            lab,
            instance,
            before,
            _directory: directory,
        }
    }

    /// The state in a worktree that `biv new` has made.
    pub(crate) fn made(state: &State) -> Self {
        Self::made_below(state, &scratch())
    }

    pub(crate) fn made_below(state: &State, disk: &Path) -> Self {
        let camp = camp_below(disk);
        let directory = tempfile::tempdir_in(disk).unwrap();
        let mut lab = Lab::new(&directory.path().canonicalize().unwrap(), state.base);
        let instance = start(&camp, &lab, "t");
        lab.worktree.clone_from(&instance.worktree);
        (state.build)(&lab);
        let before = fingerprint(&lab.main, &lab.worktree);
        Self {
            camp,
            lab,
            instance,
            before,
            _directory: directory,
        }
    }

    pub(crate) fn biv(&self, command: &[&str]) -> Answer {
        self.call(command).run()
    }

    /// `biv COMMAND INSTANCE ARGUMENTS…`, not yet made.
    pub(crate) fn call(&self, command: &[&str]) -> crate::support::Call<'_> {
        let (verb, rest) = command.split_first().expect("a command");
        self.camp
            .biv([*verb, &self.instance.id])
            .args(rest.iter().copied())
    }

    pub(crate) fn show(&self) -> Value {
        self.camp.show(&self.instance)
    }

    /// What is different from how it was; empty where nothing is.
    pub(crate) fn differences(&self) -> Vec<String> {
        if !self.lab.worktree.is_dir() {
            return vec!["the worktree is gone".to_owned()];
        }
        let now = fingerprint(&self.lab.main, &self.lab.worktree);
        let mut found = differing(&self.before, &now);
        if let Ok(hooks) = std::fs::read_to_string(self.lab.home.join("hook-ran")) {
            found.push(format!("hooks ran: {hooks}"));
        }
        found
    }

    /// The main checkout, the refs and the configuration; not which worktrees there are.
    pub(crate) fn surroundings(&self) -> Vec<String> {
        // Files of git's own come and go, and those of the checkout are known by its status.
        let mut lines = answers(&self.lab.main, &self.lab.main);
        lines.retain(|line| !line.starts_with("worktrees: "));
        lines
    }

    /// `<repository>/bivouac`, where worktrees are parked.
    pub(crate) fn parking(&self) -> PathBuf {
        let common = self
            .lab
            .git_in(&self.lab.main, &["rev-parse", "--git-common-dir"]);
        self.lab.main.join(common).join("bivouac")
    }

    /// Makes its last operation one of years ago.
    pub(crate) fn grow_old(&self) {
        let mut record = self.record();
        for key in ["paused_at", "killed_at"] {
            if !record[key].is_null() {
                record[key] = "2020-01-01T00:00:00Z".into();
            }
        }
        self.write_record(&record);
    }

    pub(crate) fn write_record(&self, record: &Value) {
        let path = self.camp.instances_dir().join(&self.instance.id);
        let bytes = serde_json::to_vec(record).unwrap();
        std::fs::write(path.join("record.json"), bytes).unwrap();
    }

    /// The journal of its last operation, line by line.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let path = self.camp.instances_dir().join(&self.instance.id);
        std::fs::read_to_string(path.join("journal.jsonl"))
            .unwrap()
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }
}

/// `biv new TITLE` from the branch `work` of the laboratory.
pub(crate) fn start(camp: &Camp, lab: &Lab, title: &str) -> Instance {
    let main = lab.main.to_str().unwrap();
    let call = camp.biv([
        "new", "--json", title, "-a", "still", "--repo", main, "--base", "work", "--",
    ]);
    Instance::from_json(&call.args(COMMAND).run().ok().json())
}

pub(crate) fn differing(before: &[String], after: &[String]) -> Vec<String> {
    let lacking = |sign: &str, these: &[String], those: &[String]| -> Vec<String> {
        these
            .iter()
            .filter(|line| !those.contains(line))
            .map(|line| format!("{sign} {line}"))
            .collect()
    };
    let mut found = lacking("-", before, after);
    found.extend(lacking("+", after, before));
    found
}

/// A camp that knows the agent `still`.
pub(crate) fn camp() -> Camp {
    camp_below(&scratch())
}

pub(crate) fn camp_below(disk: &Path) -> Camp {
    let camp = Camp::below(disk);
    let agents = camp.home().join("config/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(agents.join("still.toml"), AGENT).unwrap();
    camp
}

/// Whether there is time for everything: `scripts/test --long`.
pub(crate) fn long() -> bool {
    ["BIV_LONG", "BIV_TEST_LONG"]
        .iter()
        .any(|name| std::env::var_os(name).is_some())
}

/// The states that `STATE` names, or all.
pub(crate) fn states() -> Vec<State> {
    let only = std::env::var("STATE").ok();
    all()
        .into_iter()
        .filter(|state| {
            only.as_ref()
                .is_none_or(|only| only.split(',').any(|name| name == state.name))
        })
        .collect()
}

pub(crate) fn state(name: &str) -> State {
    all()
        .into_iter()
        .find(|state| state.name == name)
        .unwrap_or_else(|| panic!("there is no state {name}"))
}
