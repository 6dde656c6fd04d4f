//! A home of its own, and the same work done by hand beside it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{BIV, files, git, until_there};

/// Keeps the server of what is done by hand.
const KEEP: [&str; 5] = ["new-session", "-d", "-s", "keep", "cat"];

pub(crate) struct Camp {
    directory: tempfile::TempDir,
}

/// A worktree and a session made with git and tmux alone.
pub(crate) struct ByHand {
    pub took: f64,
    pub worktree: PathBuf,
    pub again: PathBuf,
    pub branch: String,
}

/// What an operation has told of its steps.
pub(crate) struct Steps {
    told: String,
}

impl Steps {
    /// Milliseconds from the beginning of one step to that of another.
    pub(crate) fn between(&self, from: &str, to: &str) -> f64 {
        let at = |step: &str| -> f64 {
            self.told
                .lines()
                .find(|line| line.contains(step))
                .and_then(|line| line.rsplit('(').next()?.split(' ').next()?.parse().ok())
                .unwrap_or(f64::NAN)
        };
        at(to) - at(from)
    }
}

impl Camp {
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("biv-bench-").tempdir();
        let Ok(directory) = directory else {
            panic!("no temporary directory");
        };
        Self { directory }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// A place beside the home.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    /// A repository with this many files.
    pub(crate) fn repository(&self, tracked: usize) -> PathBuf {
        let path = self.root().join("repository");
        files(&path, "src", tracked);
        std::fs::write(path.join(".gitignore"), "node_modules/\n").ok();
        git(&path, &["init", "-q", "-b", "main"]);
        git(&path, &["add", "."]);
        git(&path, &["commit", "-q", "-m", "first"]);
        path
    }

    pub(crate) fn biv(&self, args: &[&str]) -> String {
        self.biv_in(self.root(), args)
    }

    pub(crate) fn biv_in(&self, directory: &Path, args: &[&str]) -> String {
        let output = Command::new(BIV)
            .current_dir(directory)
            .args(args)
            .env("BIV_HOME", self.root().join("home"))
            .stdin(Stdio::null())
            .output();
        let Ok(output) = output else {
            panic!("biv {args:?} cannot be started");
        };
        assert!(
            output.status.success(),
            "biv {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn id(&self, title: &str) -> String {
        let shown = self.biv(&["show", title, "--json"]);
        let value: serde_json::Value = serde_json::from_str(&shown).unwrap_or_default();
        value["id"].as_str().unwrap_or_default().to_owned()
    }

    /// A hook of this instance's agent, as the agent runs it.
    pub(crate) fn hook(&self, id: &str, event: &str, input: &str) {
        let started = Command::new(BIV)
            .args(["hook", "claude", event])
            .env("BIV_HOME", self.root().join("home"))
            .env("BIV_INSTANCE", id)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        let Ok(mut hook) = started else {
            panic!("biv hook cannot be started");
        };
        if let Some(mut stdin) = hook.stdin.take() {
            stdin.write_all(input.as_bytes()).ok();
        }
        assert!(hook.wait().is_ok_and(|status| status.success()));
    }

    /// Milliseconds of CPU that the tmux server has used so far.
    pub(crate) fn server_cpu(&self) -> f64 {
        let known = self.home().join("run/tmux.sock.server");
        let text = std::fs::read_to_string(known).unwrap_or_default();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let pid = value["pid"]
            .as_u64()
            .and_then(|pid| u32::try_from(pid).ok());
        pid.map_or(0.0, super::cpu_of)
    }

    /// Types into the terminal of an instance, which then shows it.
    pub(crate) fn say(&self, id: &str, text: &str) {
        let target = format!("=biv-{id}:");
        self.tmux(&["send-keys", "-t", &target, text, "Enter"]);
    }

    /// The home's own tmux server, asked by hand.
    pub(crate) fn tmux(&self, args: &[&str]) -> String {
        let output = Command::new("tmux")
            .current_dir(self.home().join("run"))
            .args(["-S", "tmux.sock"])
            .args(args)
            .stdin(Stdio::null())
            .output();
        output.map_or_else(
            |_| String::new(),
            |output| String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    }

    pub(crate) fn worktree(&self, title: &str) -> PathBuf {
        let shown = self.biv(&["show", title, "--json"]);
        let value: serde_json::Value = serde_json::from_str(&shown).unwrap_or_default();
        PathBuf::from(value["worktree"].as_str().unwrap_or_default())
    }

    /// A tmux server of its own for what is done by hand, that runs already.
    fn raw_tmux(&self, args: &[&str]) {
        let socket = self.root().join("raw.sock");
        if !socket.exists() && args != KEEP {
            self.raw_tmux(&KEEP);
        }
        let status = Command::new("tmux")
            .args(["-S", socket.to_str().unwrap_or_default(), "-f", "/dev/null"])
            .args(args)
            .stdin(Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "tmux {args:?}");
    }

    /// What a look asks at the very least, of Bivouac's own server and of a repository.
    pub(crate) fn raw_looks(&self, repository: &Path) {
        let socket = self.home().join("run/tmux.sock");
        let quiet = |command: &mut Command| {
            let done = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
            assert!(done.is_ok_and(|status| status.success()), "{command:?}");
        };
        quiet(
            Command::new("tmux")
                .arg("-S")
                .arg(socket)
                .args(["-N", "ls"]),
        );
        let listed = ["worktree", "list"];
        quiet(Command::new("git").current_dir(repository).args(listed));
    }

    /// What bringing a parked worktree back is at the very least: a rename and a session.
    pub(crate) fn raw_session_and_rename(&self, name: &str) -> f64 {
        let (here, there) = (
            self.root().join(name),
            self.root().join(format!("{name}-back")),
        );
        std::fs::create_dir(&here).ok();
        self.raw_tmux(&["list-sessions"]);
        let started = Instant::now();
        std::fs::rename(&here, &there).ok();
        let path = there.to_str().unwrap_or_default();
        self.raw_tmux(&["new-session", "-d", "-s", name, "-c", path, "cat"]);
        started.elapsed().as_secs_f64() * 1000.0
    }

    /// `git worktree add` and `tmux new-session` on a server that runs already.
    pub(crate) fn raw_new(&self, repository: &Path, n: usize) -> ByHand {
        self.raw_tmux(&["has-session", "-t", "keep"]);
        let worktree = self.root().join(format!("raw{n}"));
        let branch = format!("raw{n}");
        let path = worktree.to_str().unwrap_or_default();
        let started = Instant::now();
        git(repository, &["worktree", "add", "-q", "-b", &branch, path]);
        self.raw_tmux(&["new-session", "-d", "-s", &branch, "-c", path, "cat"]);
        ByHand {
            took: started.elapsed().as_secs_f64() * 1000.0,
            again: self.root().join(format!("again{n}")),
            worktree,
            branch,
        }
    }

    /// `biv new`, until the agent's process runs: its own first act is to leave a mark.
    pub(crate) fn until_agent_runs(&self, repository: &Path, n: usize) -> f64 {
        let mark = self.root().join(format!("mark{n}"));
        let script = format!("touch {}; exec cat", mark.display());
        let title = format!("t{n}");
        let new = ["new", &title, "-a", "shell", "--", "sh", "-c", &script];
        until_there(&mark, || self.biv_in(repository, &new))
    }

    /// The part of a resume that is git's: from the beginning until the session is opened.
    pub(crate) fn resume_git_part(&self, title: &str) -> f64 {
        self.steps(&["resume", title])
            .between("bring-worktree", "open-session")
    }

    /// When each step of an operation began, told by the program itself.
    pub(crate) fn steps(&self, args: &[&str]) -> Steps {
        let output = Command::new(BIV)
            .current_dir(self.root())
            .arg("-v")
            .args(args)
            .env("BIV_HOME", self.home())
            .stdin(Stdio::null())
            .output();
        let told = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
        Steps {
            told: told.unwrap_or_default(),
        }
    }

    /// Long enough for an agent that has said nothing to count as being at rest, and for the disk to
    /// have what was written before.
    pub(crate) fn settle(&self) {
        written_out();
        std::thread::sleep(Duration::from_secs(7));
    }

    /// Copies the record of one paused instance as often as wanted, under other ids.
    pub(crate) fn multiply_records(&self, count: usize) {
        self.settle();
        self.biv(&["pause", "agent 0", "--keep-worktree"]);
        let shown = self.biv(&["show", "agent 0", "--json"]);
        let value: serde_json::Value = serde_json::from_str(&shown).unwrap_or_default();
        let id = value["id"].as_str().unwrap_or_default().to_owned();
        let instances = self.root().join("home/state/instances");
        let record =
            std::fs::read_to_string(instances.join(&id).join("record.json")).unwrap_or_default();
        for n in 0..count {
            let other: String = format!("{n:010}")
                .bytes()
                .map(|digit| char::from(b"bcdfghjkmn"[usize::from(digit - b'0')]))
                .collect();
            let directory = instances.join(&other);
            std::fs::create_dir_all(directory.join("runs")).ok();
            let text = record
                .replace(&id, &other)
                .replace("agent 0", &format!("copy {n}"));
            std::fs::write(directory.join("record.json"), text).ok();
        }
    }
}

impl Drop for Camp {
    fn drop(&mut self) {
        if self.home().join("run/daemon.sock").exists() {
            self.biv(&["daemon", "stop"]);
        }
        for (directory, socket) in [
            (self.root().join("home/run"), "tmux.sock"),
            (self.root().to_owned(), "raw.sock"),
        ] {
            if directory.join(socket).exists() {
                Command::new("tmux")
                    .current_dir(&directory)
                    .args(["-S", socket, "kill-server"])
                    .stderr(Stdio::null())
                    .status()
                    .ok();
            }
        }
    }
}

/// Everything that was written is on the disk: otherwise the first to sync pays for the others.
pub(crate) fn written_out() {
    let synced = std::process::Command::new("sync").status();
    assert!(synced.is_ok_and(|status| status.success()), "sync failed");
}
