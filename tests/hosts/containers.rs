//! A container is the other machine: Podman for real, reached by `podman exec -i`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::portable::portable;
use crate::support::terminal::Terminal;
use crate::support::{Call, Camp, Instance, Repository, until};

const NAME: &str = "pod";

/// Its programs are those of this machine, read-only; all else is its own. It has neither biv nor a network.
struct Container {
    podman: Vec<String>,
    directory: TempDir,
}

impl Container {
    /// None where there is no engine that works, and says why.
    fn start() -> Option<Self> {
        if std::env::var_os("BIV_TEST_NO_CONTAINERS").is_some() {
            eprintln!("left out: it runs a container");
            return None;
        }
        let mut why = "podman is not installed".to_owned();
        for runtime in ["crun", "runc"] {
            match Self::with(runtime) {
                Ok(container) => return Some(container),
                Err(Some(said)) => why = said,
                Err(None) => {}
            }
        }
        eprintln!("left out: no container can be run here: {why}");
        None
    }

    fn with(runtime: &str) -> Result<Self, Option<String>> {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name).display().to_string();
        let options = [
            ("--runtime", runtime.to_owned()),
            ("--root", place("storage")),
            ("--runroot", place("run")),
            ("--storage-driver", "vfs".to_owned()),
            ("--cgroup-manager", "cgroupfs".to_owned()),
            ("--events-backend", "none".to_owned()),
        ];
        let mut podman = vec!["podman".to_owned()];
        for (name, value) in options {
            podman.extend([name.to_owned(), value]);
        }
        let container = Self { podman, directory };
        let root = container.root();
        for name in [
            "usr", "etc", "tmp", "root", "proc", "sys", "dev", "run", "var",
        ] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in ["bin", "sbin", "lib", "lib64"] {
            std::os::unix::fs::symlink(format!("usr/{name}"), root.join(name)).unwrap();
        }
        let root = root.display().to_string();
        let run = [
            "run",
            "-d",
            "--init",
            "--name",
            NAME,
            "--network",
            "none",
            "--ulimit",
            "nofile=1024:1024",
            "--ulimit",
            "nproc=4096:4096",
            "-v",
            "/usr:/usr:ro",
            "-v",
            "/etc:/etc:ro",
            "--rootfs",
            &root,
            "sleep",
            "infinity",
        ];
        // Its init, which reaps orphans, is a package of its own.
        let plain: Vec<&str> = run
            .iter()
            .copied()
            .filter(|word| *word != "--init")
            .collect();
        let mut said = None;
        for words in [&run[..], &plain] {
            let Some(output) = container.try_podman(words) else {
                return Err(None);
            };
            if output.status.success() {
                return Ok(container);
            }
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            said = text.lines().last().map(str::to_owned);
            drop(container.try_podman(&["rm", "-f", "-t", "0", NAME]));
        }
        Err(said)
    }

    /// Its root directory, seen from here.
    fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    /// None where there is no podman.
    fn try_podman(&self, words: &[&str]) -> Option<Output> {
        Command::new(&self.podman[0])
            .args(&self.podman[1..])
            .args(words)
            .stdin(Stdio::null())
            .output()
            .ok()
    }

    #[track_caller]
    fn podman(&self, words: &[&str]) {
        let output = self.try_podman(words).unwrap();
        assert!(output.status.success(), "podman {words:?}: {output:?}");
    }

    fn connect(&self) -> String {
        format!("{} exec -i {NAME}", self.podman.join(" "))
    }

    /// Where its biv keeps an instance, seen from here.
    fn instance(&self, id: &str) -> PathBuf {
        let state = ".local/state/bivouac/instances";
        self.root().join("root").join(state).join(id)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        drop(self.try_podman(&["rm", "-f", "-t", "0", NAME]));
    }
}

/// The fields end in this order: the container first.
struct Machines {
    container: Container,
    repository: Repository,
    here: Camp,
}

impl Machines {
    fn biv<'a>(&'a self, words: &[&str]) -> Call<'a> {
        self.here.biv(words)
    }

    /// Who has it, of all that the two sides list.
    fn holders(&self, title: &str) -> Vec<Option<String>> {
        let listing = self.biv(&["list", "--json"]).run().ok().json();
        let views = listing["instances"].as_array().unwrap();
        let held = |view: &&Value| view["title"] == title && view["state"] != "away";
        let host = |view: &Value| view["host"].as_str().map(str::to_owned);
        views.iter().filter(held).map(host).collect()
    }

    /// What git and the files say of a worktree there.
    fn look_there(&self) -> String {
        let look = "git status --porcelain=v2 --ignored; git ls-files --stage; \
                    sha256sum staged.txt untracked.txt ignored/build.o";
        let words = ["exec", "pod:one", "--", "sh", "-c", look];
        self.biv(&words).run().ok().stdout
    }
}

fn make_dirty(camp: &Camp, worktree: &Path) {
    let work = camp.repository_at(worktree);
    work.write(".gitignore", "ignored/\n");
    work.write("staged.txt", "staged\n");
    work.git(&["add", "."]);
    work.write("staged.txt", "and changed\n");
    work.write("untracked.txt", "untracked\n");
    // Large enough that a move takes a moment.
    std::fs::create_dir_all(worktree.join("ignored")).unwrap();
    let bytes: Vec<u8> = (0_u32..1 << 20)
        .flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    std::fs::write(worktree.join("ignored/build.o"), bytes).unwrap();
}

#[test]
fn a_container_is_a_host_and_one_that_is_killed_in_a_move_loses_nothing() {
    let Some(container) = Container::start() else {
        return;
    };
    let here = Camp::new();
    let it = Machines {
        container,
        repository: here.repository("app"),
        here,
    };
    let config = it.here.home().join("config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[hosts]\ndeadline = \"60s\"\n").unwrap();
    let connect = it.container.connect();
    drop(
        it.biv(&["host", "add", "pod", "--connect", &connect])
            .run()
            .ok(),
    );
    let checked = it.biv(&["host", "check", "pod"]).run().fails(1);
    assert!(checked.stdout.contains("ok  tmux"), "{checked:?}");
    assert!(checked.stdout.contains("has no biv"), "{checked:?}");
    drop(it.biv(&["host", "install", "pod"]).run().ok());
    drop(it.biv(&["host", "check", "pod"]).run().ok());

    work_there(&it);
    let (one, before) = move_and_kill(&it);
    // Moved for good, and the container goes down while it works there.
    drop(it.biv(&["drain", "--to", "pod"]).run().ok());
    assert_eq!(it.holders("one"), [Some("pod".to_owned())]);
    it.container.podman(&["kill", NAME]);
    it.container.podman(&["start", NAME]);
    let shown = it.biv(&["show", "pod:one", "--json"]).run().ok().json();
    assert_eq!(shown["state"], "interrupted", "{shown}");
    // And in the middle of the way back.
    let mut coming = it.biv(&["move", "one", "--take-back"]).in_background();
    std::thread::sleep(std::time::Duration::from_millis(700));
    it.container.podman(&["kill", NAME]);
    drop(coming.wait());
    it.container.podman(&["start", NAME]);
    drop(it.biv(&["move", "one", "--take-back"]).run().ok());
    assert_eq!(it.holders("one"), [None]);
    // Its agent had ended there, so that it rests.
    drop(it.biv(&["resume", "one"]).run().ok());
    assert_eq!(
        format!("{:?}", portable(&it.repository.path, &one.worktree)),
        before
    );
    let seen = it.biv(&["log", "one"]).run().ok().stdout;
    assert!(
        seen.contains("the number 7") && seen.contains("the number 8"),
        "{seen}"
    );
}

/// A new one is started, told, attached to, paused and resumed there.
fn work_there(it: &Machines) {
    let words = ["new", "fix", "--host", "pod", "-a", "demo"];
    drop(it.biv(&words).within(&it.repository.path).run().ok());
    drop(it.biv(&["send", "pod:fix", "what is there"]).run().ok());
    let terminal = Terminal::running(&it.here, "biv attach pod:fix");
    terminal.wait_for("I hear you: “what is there”");
    terminal.write("typed from outside");
    terminal.press(&["Enter"]);
    terminal.wait_for("“typed from outside”, noted");
    terminal.press(&["C-q"]);
    terminal.wait_for("ended with 0");
    drop(terminal);
    drop(it.biv(&["pause", "pod:fix"]).run().ok());
    let listed = it.biv(&["list"]).run().ok().stdout;
    assert!(
        listed.contains("pod:fix") && listed.contains("PAUSED"),
        "{listed}"
    );
    let exit = ["exec", "pod:fix", "--", "sh", "-c", "cat; exit 41"];
    drop(it.biv(&["resume", "pod:fix"]).run().ok());
    let ran = it.biv(&exit).stdin("input").run().fails(41);
    assert_eq!(ran.stdout, "input");
    drop(it.biv(&["kill", "-y", "pod:fix"]).run().ok());
}

/// An instance goes there in vain, then for good, and comes back.
fn move_and_kill(it: &Machines) -> (Instance, String) {
    let prompt = ["-p", "remember the number 7"];
    let one = it.here.start(&it.repository, "one", &prompt);
    one.wait_idle(&it.here);
    make_dirty(&it.here, &one.worktree);
    let tree = || format!("{:?}", portable(&it.repository.path, &one.worktree));
    let before = tree();

    let mut going = it.biv(&["move", "one", "pod"]).in_background();
    let arriving = it.container.instance(&one.id);
    until("it arrives there", || {
        arriving.exists() || going.try_wait().unwrap().is_some()
    });
    it.container.podman(&["kill", NAME]);
    assert_ne!(
        going.wait().unwrap().code(),
        Some(0),
        "it cannot have gone on there"
    );
    assert_eq!(it.here.show(&one)["state"], "running", "it goes on here");
    assert_eq!(tree(), before);
    it.container.podman(&["start", NAME]);

    drop(it.biv(&["move", "one", "pod"]).run().ok());
    assert_eq!(it.holders("one"), [Some("pod".to_owned())]);
    let there = it.look_there();
    assert!(there.contains("! ignored/"), "{there}");
    let seen = it.biv(&["peek", "pod:one", "-n", "200"]).run().ok().stdout;
    assert!(seen.contains("the number 7"), "{seen}");
    drop(it.biv(&["send", "pod:one", "and the number 8"]).run().ok());
    until("it has answered there", || {
        let log = it.biv(&["log", "pod:one"]).run().ok().stdout;
        log.contains("“and the number 8”, noted")
    });
    drop(it.biv(&["move", "one", "--take-back"]).run().ok());
    assert_eq!(it.holders("one"), [None]);
    assert_eq!(tree(), before);
    (one, before)
}
