//! A place of its own for each test: home, configuration, repositories, tmux server.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::{Answer, Instance, Repository, processes_with, until};

/// No call takes this long; one that does hangs.
const DEADLINE: Duration = Duration::from_secs(180);

pub(crate) struct Camp {
    directory: TempDir,
    /// `BIV_HOME` as it is given, which may be relative to a call's directory.
    home: PathBuf,
    /// What a tier needs beside the rest: where its agents lie, whom they may ask.
    more: Vec<(String, String)>,
    /// Whom the program runs as, where that is not the tester.
    user: Option<u32>,
}

impl Camp {
    pub(crate) fn new() -> Self {
        Self::with_home("home")
    }

    /// A camp whose home is at this path below it.
    pub(crate) fn with_home(path: &str) -> Self {
        Self::at(&std::env::temp_dir(), path)
    }

    /// A camp below this directory: in memory, or on a disk that a test has made.
    pub(crate) fn below(directory: &Path) -> Self {
        Self::at(directory, "home")
    }

    fn at(directory: &Path, path: &str) -> Self {
        require_programs();
        let directory = tempfile::Builder::new()
            .prefix("biv-")
            .tempdir_in(directory)
            .unwrap();
        let root = directory.path().canonicalize().unwrap();
        let camp = Self {
            home: root.join(path),
            directory,
            more: Vec::new(),
            user: None,
        };
        std::fs::create_dir_all(camp.root().join("user/tmp")).unwrap();
        std::fs::write(
            camp.root().join("user/gitconfig"),
            "[user]\n\tname = Ada\n\temail = ada@example.org\n\
             [init]\n\tdefaultBranch = main\n[core]\n\tautocrlf = false\n",
        )
        .unwrap();
        camp
    }

    /// The same camp with this in the environment of every call.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.more.retain(|(known, _)| known != name);
        self.more.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same camp for a user who is not root, also where the tests run as root: all that is in it so far
    /// becomes that user's.
    pub(crate) fn of_a_plain_user(mut self) -> Self {
        const NOBODY: u32 = 65_534;
        if rustix::process::geteuid().is_root() {
            let owner = format!("{NOBODY}:{NOBODY}");
            let chown = Command::new("chown")
                .args(["-R", &owner])
                .arg(self.root())
                .status();
            assert!(chown.unwrap().success());
            self.user = Some(NOBODY);
        }
        self
    }

    /// The program, run by whom this camp is for.
    fn program(&self) -> (OsString, Vec<OsString>) {
        match self.user {
            None => (program().into(), Vec::new()),
            Some(user) => {
                let change = [format!("--reuid={user}"), format!("--regid={user}")];
                let mut arguments: Vec<OsString> = change.map(OsString::from).into();
                arguments.push("--clear-groups".into());
                arguments.push(program().into());
                ("setpriv".into(), arguments)
            }
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn instances_dir(&self) -> PathBuf {
        self.home.join("state/instances")
    }

    /// The whole environment of a call: nothing of the tester's own but PATH.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let user = self.root().join("user");
        let below = |name: &str| user.join(name).display().to_string();
        [
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", user.display().to_string()),
            ("BIV_HOME", self.home.display().to_string()),
            ("XDG_CONFIG_HOME", below(".config")),
            ("XDG_DATA_HOME", below(".local/share")),
            ("XDG_STATE_HOME", below(".local/state")),
            ("XDG_CACHE_HOME", below(".cache")),
            ("TMPDIR", below("tmp")),
            ("GIT_CONFIG_GLOBAL", below("gitconfig")),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("SHELL", "/bin/sh".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            ("TZ", "UTC".to_owned()),
            // The demo agent is slow on purpose; no user is watching here.
            ("BIV_DEMO_THINK_MS", "10".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .filter(|(name, _)| !self.more.iter().any(|(known, _)| known == name))
        .chain(self.more.iter().cloned())
        .collect()
    }

    /// Names for what is different in every run.
    pub(crate) fn places(&self) -> Vec<(String, &'static str)> {
        vec![
            (self.home.display().to_string(), "[HOME]"),
            (self.root().display().to_string(), "[CAMP]"),
        ]
    }

    /// A repository with one commit on `main`.
    pub(crate) fn repository(&self, name: &str) -> Repository {
        let repository = self.empty_repository(name);
        repository.write("README.md", "# A repository\n");
        repository.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
        repository.commit("first");
        repository
    }

    /// A repository that has no commit yet.
    pub(crate) fn empty_repository(&self, name: &str) -> Repository {
        let path = self.root().join("repositories").join(name);
        std::fs::create_dir_all(&path).unwrap();
        let repository = Repository::at(self, path);
        repository.git(&["init", "-q"]);
        repository
    }

    /// A directory as a repository of this camp, whatever it is.
    pub(crate) fn repository_at(&self, path: &Path) -> Repository {
        Repository::at(self, path.to_owned())
    }

    /// A call of the program, not yet made.
    pub(crate) fn biv<I, S>(&self, arguments: I) -> Call<'_>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Call {
            camp: self,
            arguments: arguments
                .into_iter()
                .map(|argument| argument.as_ref().to_owned())
                .collect(),
            directory: self.root(),
            environment: self.environment(),
            stdin: Vec::new(),
        }
    }

    /// `biv new TITLE -a demo …` in this repository.
    #[track_caller]
    pub(crate) fn start(&self, repository: &Repository, title: &str, more: &[&str]) -> Instance {
        let arguments = ["new", "--json", "-a", "demo"]
            .into_iter()
            .chain(more.iter().copied())
            .chain(["--repo", repository.path.to_str().unwrap()])
            .chain((!title.is_empty()).then_some(title));
        Instance::from_json(&self.biv(arguments).run().ok().json())
    }

    /// `biv new TITLE -a shell -- sh -c COMMAND`
    #[track_caller]
    pub(crate) fn start_shell(
        &self,
        repository: &Repository,
        title: &str,
        command: &str,
    ) -> Instance {
        let repository = repository.path.to_str().unwrap();
        let arguments = [
            "new", "--json", title, "-a", "shell", "--repo", repository, "--", "sh", "-c", command,
        ];
        Instance::from_json(&self.biv(arguments).run().ok().json())
    }

    #[track_caller]
    pub(crate) fn show(&self, instance: &Instance) -> Value {
        self.biv(["show", "--json", &instance.id]).run().ok().json()
    }

    #[track_caller]
    pub(crate) fn kill(&self, instance: &Instance) {
        drop(self.biv(["kill", "-y", &instance.id]).run().ok());
    }

    /// The instances that `list` tells of.
    #[track_caller]
    pub(crate) fn list(&self) -> Vec<Instance> {
        self.biv(["list", "--json"]).run().ok().json()["instances"]
            .as_array()
            .expect("a list of instances")
            .iter()
            .map(Instance::from_json)
            .collect()
    }

    /// The sessions of this home's tmux server.
    pub(crate) fn sessions(&self) -> Vec<String> {
        let output = self.tmux(&["list-sessions", "-F", "#{session_name}"]);
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// A command to this home's tmux server, without ever starting one.
    pub(crate) fn tmux(&self, arguments: &[&str]) -> std::process::Output {
        let run = self.home.join("run");
        let mut command = Command::new("tmux");
        command
            // The path of a socket is limited to 107 bytes; its name alone always fits.
            .args(["-u", "-N", "-S", "tmux.sock"])
            .args(arguments)
            .env_clear()
            .envs(self.environment())
            .stdin(Stdio::null());
        if run.is_dir() {
            command.current_dir(run);
        }
        command.output().expect("tmux runs")
    }

    /// Everything that runs in this camp, its tmux server included.
    fn inhabitants(&self) -> Vec<super::Process> {
        processes_with(&self.root().display().to_string())
    }

    /// Ends the tmux server, and with it what does not resist.
    pub(crate) fn end_server(&self) {
        drop(self.tmux(&["kill-server"]));
        until("the tmux server has ended", || {
            !self
                .inhabitants()
                .iter()
                .any(|process| process.command.starts_with("tmux"))
        });
    }

    /// Stops the daemon of this home, if something has started one.
    fn stop_daemon(&self) {
        if self.home.join("run/daemon.sock").exists() {
            drop(self.biv(["daemon", "stop"]).run());
        }
    }

    /// All but those in worktrees, which are work like everything else there, and those of Qwen, which
    /// it does not take away when it is killed.
    fn sockets(&self) -> Vec<PathBuf> {
        use std::os::unix::ffi::OsStrExt;
        let mut found = Vec::new();
        collect_sockets(&self.root(), &mut found);
        let worktrees = self.home.join("worktrees");
        found.retain(|path| {
            let of_qwen = path
                .iter()
                .any(|part| part.as_bytes().starts_with(b"qwen-socks-"));
            !path.starts_with(&worktrees) && !of_qwen
        });
        found
    }
}

impl Drop for Camp {
    fn drop(&mut self) {
        self.stop_daemon();
        if std::thread::panicking() {
            drop(self.tmux(&["kill-server"]));
            for process in self.inhabitants() {
                process.kill();
            }
            return;
        }
        self.end_server();
        // Those that end on SIGHUP are given the time to do so, of which a busy machine needs much.
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let deadline = std::time::Instant::now() + Duration::from_secs(30);
            until("the camp is empty", || {
                self.inhabitants().is_empty() || std::time::Instant::now() > deadline
            });
        }));
        drop(ended);
        let left = self.inhabitants();
        for process in &left {
            process.kill();
        }
        assert!(left.is_empty(), "processes were left behind: {left:?}");
        // tmux cannot take its own socket away: it knows it by a relative name, from elsewhere.
        let mut sockets = self.sockets();
        sockets.retain(|path| !path.ends_with("run/tmux.sock"));
        assert!(sockets.is_empty(), "sockets were left behind: {sockets:?}");
    }
}

fn collect_sockets(directory: &Path, found: &mut Vec<PathBuf>) {
    use std::os::unix::fs::FileTypeExt;
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_socket() {
            found.push(entry.path());
        } else if kind.is_dir() {
            collect_sockets(&entry.path(), found);
        }
    }
}

/// One call of the program.
#[must_use = "nothing happens until `run()`"]
pub(crate) struct Call<'a> {
    camp: &'a Camp,
    arguments: Vec<OsString>,
    directory: PathBuf,
    environment: Vec<(String, String)>,
    stdin: Vec<u8>,
}

impl Call<'_> {
    pub(crate) fn within(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = directory.as_ref().to_owned();
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.retain(|(known, _)| known != name);
        let value = value.as_ref().to_str().expect("a text").to_owned();
        self.environment.push((name.to_owned(), value));
        self
    }

    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn stdin(mut self, text: impl AsRef<[u8]>) -> Self {
        self.stdin = text.as_ref().to_owned();
        self
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = S>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    pub(crate) fn with_json(mut self) -> Self {
        self.arguments.push("--json".into());
        self
    }

    pub(crate) fn crash_at(self, place: &str) -> Self {
        self.env("BIV_CRASH_AT", place)
    }

    /// Makes the call in a process group of its own and does not wait for it.
    pub(crate) fn in_background(self) -> std::process::Child {
        self.spawned(Stdio::null(), Stdio::null())
    }

    /// The same; what it says goes into a file.
    pub(crate) fn in_background_into(self, file: &Path) -> std::process::Child {
        let said = std::fs::File::create(file).unwrap();
        self.spawned(said.try_clone().unwrap().into(), said.into())
    }

    fn spawned(self, stdout: Stdio, stderr: Stdio) -> std::process::Child {
        use std::os::unix::process::CommandExt;
        let (program, first) = self.camp.program();
        Command::new(program)
            .args(first)
            .args(&self.arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(self.environment)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .process_group(0)
            .spawn()
            .expect("the program runs")
    }

    pub(crate) fn run(self) -> Answer {
        let mut call = String::from("biv");
        for argument in &self.arguments {
            call.push(' ');
            call.extend(argument.to_string_lossy().chars().take(80));
        }
        let (program, first) = self.camp.program();
        let output = assert_cmd::Command::new(program)
            .args(first)
            .args(&self.arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(self.environment)
            .write_stdin(self.stdin)
            .timeout(DEADLINE)
            .output()
            .unwrap_or_else(|error| panic!("`{call}` could not be run: {error}"));
        Answer::of(self.camp, call, output)
    }
}

/// The program under test.
pub(crate) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_biv"))
}

fn require_programs() {
    static CHECKED: OnceLock<()> = OnceLock::new();
    CHECKED.get_or_init(|| {
        for (name, question) in [("tmux", "-V"), ("git", "--version")] {
            let answer = Command::new(name).arg(question).output();
            assert!(
                answer.is_ok_and(|output| output.status.success()),
                "{name} is needed for the tests: run scripts/setup"
            );
        }
    });
}
