//! Worktrees in nasty but real states, each made from scratch with plain files and the git program.
//!
//! Used by the tests of the vault and by those of the whole program: both must bring every one of
//! them back exactly.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository and one worktree of it, in a directory of its own.
pub(crate) struct Lab {
    pub(crate) home: PathBuf,
    /// The main checkout, or the bare repository.
    pub(crate) main: PathBuf,
    pub(crate) worktree: PathBuf,
}

/// What kind of repository a state needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    Plain,
    Sha256,
    Reftable,
    Bare,
    Shallow,
    Partial,
    Unborn,
}

pub(crate) struct State {
    pub(crate) name: &'static str,
    pub(crate) base: Base,
    pub(crate) build: fn(&Lab),
}

impl State {
    /// Makes the state below an empty directory.
    pub(crate) fn make(&self, home: &Path) -> Lab {
        let lab = Lab::new(home, self.base);
        (self.build)(&lab);
        lab
    }
}

impl Lab {
    pub(crate) fn new(home: &Path, base: Base) -> Self {
        let lab = Self {
            home: home.to_owned(),
            main: home.join("main"),
            worktree: home.join("wt"),
        };
        std::fs::create_dir_all(&lab.main).unwrap();
        let mut init = vec!["init", "-q", "-b", "main"];
        match base {
            Base::Sha256 => init.push("--object-format=sha256"),
            Base::Reftable => init.push("--ref-format=reftable"),
            _ => {}
        }
        lab.git_in(&lab.main, &init);
        lab.configure(&lab.main);
        if base == Base::Unborn {
            lab.add_unborn(&lab.worktree);
            lab.git_in(&lab.main, &["prune", "--expire=now"]);
            return lab;
        }
        lab.fill();
        match base {
            Base::Bare | Base::Shallow | Base::Partial => lab.become_clone(base),
            _ => {}
        }
        lab.git_in(
            &lab.main,
            &[
                "worktree",
                "add",
                "-q",
                "-b",
                "work",
                lab.worktree.to_str().unwrap(),
                "main",
            ],
        );
        std::fs::write(lab.worktree.join("own.txt"), "own work\n").unwrap();
        lab.git(&["add", "own.txt"]);
        lab.git(&["commit", "-qm", "own"]);
        lab
    }

    /// A worktree on the branch `work`, which has no commit yet. From git 2.42 on `worktree add
    /// --orphan` makes one; before, it takes a commit for the moment.
    pub(crate) fn add_unborn(&self, at: &Path) {
        let tree = ["hash-object", "-t", "tree", "-w", "/dev/null"];
        let tree = self.git_in(&self.main, &tree);
        let commit = self.git_in(&self.main, &["commit-tree", "-m", "none", &tree]);
        let path = at.to_str().unwrap();
        let add = [
            "worktree",
            "add",
            "-q",
            "--detach",
            "--no-checkout",
            path,
            &commit,
        ];
        self.git_in(&self.main, &add);
        let git_dir = self.git_in(at, &["rev-parse", "--absolute-git-dir"]);
        std::fs::remove_file(Path::new(&git_dir).join("logs/HEAD")).unwrap();
        self.git_in(at, &["symbolic-ref", "HEAD", "refs/heads/work"]);
    }

    fn configure(&self, dir: &Path) {
        const SETTINGS: &str = "[user]\n\tname = Tester\n\temail = tester@example.com\n\
            [gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n\
            [protocol \"file\"]\n\tallow = always\n";
        let common = self.git_in(dir, &["rev-parse", "--git-common-dir"]);
        let file = dir.join(common).join("config");
        let configured = std::fs::read_to_string(&file).unwrap() + SETTINGS;
        std::fs::write(&file, configured).unwrap();
    }

    /// Two commits on `main`; `other` and `third` change the same lines.
    fn fill(&self) {
        let main = &self.main;
        let numbered: String = (1..=40).map(|n| format!("line {n}\n")).collect();
        std::fs::create_dir_all(main.join("dir/sub")).unwrap();
        std::fs::write(main.join("a.txt"), &numbered).unwrap();
        std::fs::write(main.join("b.txt"), "b\n").unwrap();
        std::fs::write(main.join("dir/c.txt"), "c\n").unwrap();
        std::fs::write(main.join("dir/sub/d.txt"), "d\n").unwrap();
        std::fs::write(main.join("empty"), "").unwrap();
        std::fs::write(main.join("bin.dat"), [0, 1, 2, 255, 0, 13, 10]).unwrap();
        std::fs::write(main.join("run.sh"), "#!/bin/sh\n").unwrap();
        chmod(&main.join("run.sh"), 0o755);
        std::os::unix::fs::symlink("a.txt", main.join("link")).unwrap();
        std::fs::write(
            main.join(".gitignore"),
            "*.log\nbuild/\n.env\nnode_modules/\n",
        )
        .unwrap();
        self.git_in(main, &["add", "-A"]);
        self.git_in(main, &["commit", "-qm", "first"]);
        for branch in ["other", "third"] {
            self.git_in(main, &["checkout", "-q", "-b", branch, "main"]);
            std::fs::write(
                main.join("a.txt"),
                numbered.replace("line 7\n", &format!("{branch} 7\n")),
            )
            .unwrap();
            std::fs::write(main.join(format!("{branch}.txt")), branch).unwrap();
            self.git_in(main, &["add", "-A"]);
            self.git_in(main, &["commit", "-qm", branch]);
        }
        self.git_in(main, &["checkout", "-q", "main"]);
        std::fs::write(main.join("b.txt"), "b\nmain\n").unwrap();
        self.git_in(main, &["commit", "-qam", "second"]);
    }

    fn become_clone(&self, base: Base) {
        let origin = self.home.join("origin");
        std::fs::rename(&self.main, &origin).unwrap();
        self.git_in(&origin, &["config", "uploadpack.allowFilter", "true"]);
        let url = format!("file://{}", origin.display());
        let options: &[&str] = match base {
            Base::Bare => &["--bare"],
            Base::Shallow => &["--depth=1", "--no-single-branch"],
            _ => &["--filter=blob:none"],
        };
        let mut args = vec!["-c", "protocol.file.allow=always", "clone", "-q"];
        args.extend_from_slice(options);
        args.extend_from_slice(&[&url, self.main.to_str().unwrap()]);
        self.git_in(&self.home, &args);
        self.configure(&self.main);
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        match path.strip_prefix("../") {
            Some(beside) => self.home.join(beside),
            None => self.worktree.join(path),
        }
    }

    pub(crate) fn write(&self, path: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
        let path = self.worktree.join(path.as_ref());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.at(path)).unwrap();
    }

    /// Runs git in the worktree; it must succeed.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.worktree, args)
    }

    pub(crate) fn git_in(&self, dir: &Path, args: &[&str]) -> String {
        let output = raw_git(dir, args);
        assert!(
            output.status.success(),
            "git {args:?} in {}: {}",
            dir.display(),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Runs git in the worktree; it must fail (a conflict, a stop in the middle).
    pub(crate) fn git_fails(&self, args: &[&str]) {
        let output = raw_git(&self.worktree, args);
        assert!(!output.status.success(), "git {args:?} was to fail");
    }

    /// The worktree's admin directory.
    pub(crate) fn admin(&self) -> PathBuf {
        PathBuf::from(self.git(&["rev-parse", "--absolute-git-dir"]))
    }

    /// A repository elsewhere, to become a submodule or nested.
    fn library(&self) -> String {
        let dir = self.home.join("library");
        if !dir.exists() {
            std::fs::create_dir(&dir).unwrap();
            self.git_in(&dir, &["init", "-q", "-b", "main"]);
            self.configure(&dir);
            std::fs::write(dir.join("lib.c"), "int lib;\n").unwrap();
            self.git_in(&dir, &["add", "-A"]);
            self.git_in(&dir, &["commit", "-qm", "library"]);
        }
        dir.to_str().unwrap().to_owned()
    }

    fn add_submodule(&self) {
        let library = self.library();
        self.git(&[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            &library,
            "sub",
        ]);
        self.git(&["commit", "-qm", "submodule"]);
    }

    pub(crate) fn nest(&self, path: &str) -> PathBuf {
        let dir = self.at(path);
        std::fs::create_dir_all(&dir).unwrap();
        self.git_in(&dir, &["init", "-q", "-b", "inner"]);
        self.configure(&dir);
        std::fs::write(dir.join("inner.txt"), "inner\n").unwrap();
        self.git_in(&dir, &["add", "-A"]);
        self.git_in(&dir, &["commit", "-qm", "inner"]);
        dir
    }

    /// Changes `a.txt` on the worktree's own branch in the line that `other` changed too.
    fn conflicting(&self) {
        let text = std::fs::read_to_string(self.at("a.txt")).unwrap();
        self.write("a.txt", text.replace("line 7\n", "mine 7\n"));
        self.git(&["commit", "-qam", "mine"]);
    }
}

pub(crate) fn raw_git(dir: &Path, args: &[&str]) -> std::process::Output {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.as_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(dir)
        .env("LC_ALL", "C")
        .env("GIT_EDITOR", "true")
        // Behind every commit git starts a process that finds nothing to do.
        .args(["-c", "maintenance.auto=false"])
        .args(args)
        .output()
        .unwrap()
}

pub(crate) fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn bytes(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}

const fn state(name: &'static str, build: fn(&Lab)) -> State {
    State {
        name,
        base: Base::Plain,
        build,
    }
}

const fn state_in(base: Base, name: &'static str, build: fn(&Lab)) -> State {
    State { name, base, build }
}

/// A bit of everything, for repositories of a special kind.
fn mixed(lab: &Lab) {
    lab.write("a.txt", "staged\n");
    lab.git(&["add", "a.txt"]);
    lab.write("a.txt", "on disk\n");
    lab.write("new/untracked", "u\n");
    lab.write("added", "added\n");
    lab.git(&["add", "added"]);
    lab.write("x.log", "ignored\n");
    lab.remove("dir/c.txt");
}

fn filter(lab: &Lab, name: &str, clean: &str, smudge: &str) {
    lab.git(&["config", &format!("filter.{name}.clean"), clean]);
    lab.git(&["config", &format!("filter.{name}.smudge"), smudge]);
}

#[path = "state_files.rs"]
mod state_files;
#[path = "state_repositories.rs"]
mod state_repositories;

/// Every state, by name.
pub(crate) fn all() -> Vec<State> {
    let mut states = state_files::files();
    states.extend(state_files::indexes());
    states.extend(state_repositories::operations());
    states.extend(state_repositories::conversions());
    states.extend(state_repositories::repositories());
    let version = raw_git(Path::new("."), &["version"]).stdout;
    if !knows_reftable(&String::from_utf8_lossy(&version)) {
        eprintln!("this git knows no reftable: its states are left out");
        states.retain(|state| state.base != Base::Reftable);
    }
    states
}

/// `git version 2.45.1 …` and later.
fn knows_reftable(version: &str) -> bool {
    let number = version.split_whitespace().nth(2).unwrap_or_default();
    let mut parts = number.split('.').map(|part| part.parse().unwrap_or(0));
    let (major, minor): (u32, u32) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    (major, minor) >= (2, 45)
}
