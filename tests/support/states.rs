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
            lab.git_in(
                &lab.main,
                &[
                    "worktree",
                    "add",
                    "-q",
                    "--orphan",
                    "-b",
                    "work",
                    lab.at("../wt").to_str().unwrap(),
                ],
            );
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

    fn configure(&self, dir: &Path) {
        self.git_in(dir, &["config", "user.name", "Tester"]);
        self.git_in(dir, &["config", "user.email", "tester@example.com"]);
        self.git_in(dir, &["config", "gc.auto", "0"]);
        self.git_in(dir, &["config", "advice.detachedHead", "false"]);
        self.git_in(dir, &["config", "protocol.file.allow", "always"]);
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

    fn nest(&self, path: &str) -> PathBuf {
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

/// Every state, by name.
pub(crate) fn all() -> Vec<State> {
    let mut states = files();
    states.extend(indexes());
    states.extend(operations());
    states.extend(conversions());
    states.extend(repositories());
    states
}

fn files() -> Vec<State> {
    vec![
        state("clean", |_| {}),
        state("modified", |l| l.write("a.txt", "changed\n")),
        state("mixed", mixed),
        state("untracked", |l| l.write("new", "x")),
        state("untracked-deep", |l| l.write("p/q/r/s/new", "x")),
        state("untracked-many", |l| {
            for n in 0..300 {
                l.write(format!("many/{n}"), format!("{n}"));
            }
        }),
        state("ignored", |l| {
            l.write("x.log", "log");
            l.write("build/out/o.bin", [0; 9000]);
            l.write(".env", "SECRET=1");
        }),
        state("deleted", |l| l.remove("a.txt")),
        state("deleted-directory", |l| {
            std::fs::remove_dir_all(l.at("dir")).unwrap()
        }),
        state("deleted-all", |l| {
            for name in [
                "a.txt",
                "b.txt",
                "bin.dat",
                "empty",
                "run.sh",
                "link",
                ".gitignore",
                "own.txt",
            ] {
                l.remove(name);
            }
            std::fs::remove_dir_all(l.at("dir")).unwrap();
        }),
        state("empty-directories", |l| {
            std::fs::create_dir_all(l.at("void/a/b")).unwrap();
            std::fs::create_dir_all(l.at("dir/void")).unwrap();
            chmod(&l.at("void/a"), 0o711);
        }),
        state("modes", |l| {
            l.write("secret", "s");
            chmod(&l.at("secret"), 0o600);
            chmod(&l.at("a.txt"), 0o444);
            chmod(&l.at("b.txt"), 0o755);
            chmod(&l.at("dir/c.txt"), 0o640);
            l.write("sticky/f", "f");
            chmod(&l.at("sticky"), 0o1777);
            l.write("suid", "f");
            chmod(&l.at("suid"), 0o4755);
        }),
        state("read-only-directory", |l| {
            l.write("ro/f", "f");
            chmod(&l.at("ro"), 0o555);
            chmod(&l.at("dir/sub"), 0o500);
        }),
        state("executable-bit", |l| {
            chmod(&l.at("run.sh"), 0o644);
            chmod(&l.at("a.txt"), 0o755);
        }),
        state("symlinks", |l| {
            std::os::unix::fs::symlink("nowhere", l.at("dangling")).unwrap();
            std::os::unix::fs::symlink("dir", l.at("to-dir")).unwrap();
            std::os::unix::fs::symlink("/etc/hostname", l.at("outside")).unwrap();
            std::os::unix::fs::symlink(".", l.at("loop")).unwrap();
            l.remove("link");
            std::os::unix::fs::symlink("b.txt", l.at("link")).unwrap();
        }),
        state("file-became-symlink", |l| {
            l.remove("a.txt");
            std::os::unix::fs::symlink("b.txt", l.at("a.txt")).unwrap();
        }),
        state("symlink-became-file", |l| {
            l.remove("link");
            l.write("link", "a.txt");
        }),
        state("file-became-directory", |l| {
            l.remove("a.txt");
            l.write("a.txt/inside", "x");
        }),
        state("directory-became-file", |l| {
            std::fs::remove_dir_all(l.at("dir")).unwrap();
            l.write("dir", "a file now");
        }),
        state("directory-became-symlink", |l| {
            std::fs::rename(l.at("dir"), l.at("moved")).unwrap();
            std::os::unix::fs::symlink("moved", l.at("dir")).unwrap();
        }),
        state("symlinked-directory-outside", |l| {
            std::fs::rename(l.at("dir"), l.at("../elsewhere")).unwrap();
            std::os::unix::fs::symlink("../elsewhere", l.at("dir")).unwrap();
        }),
        state("odd-names", |l| {
            for name in [
                &b"new\nline"[..],
                b"tab\t",
                b"\"quoted\"",
                b"back\\slash",
                b"-dash",
                b"--",
                b" lead",
                b"trail ",
                b"star*",
                b"[x]",
                b"\xff\xfe",
                b":(glob)x",
                b"#hash",
                b"\x01\x7f",
                b"sub\ndir/f",
                b"\xe2\x80\xae",
            ] {
                l.write(bytes(name), name);
            }
            l.git(&["add", "--", "-dash", "trail "]);
            l.git(&["commit", "-qm", "odd"]);
            l.write("-dash", "changed");
            l.write("trail ", "changed");
        }),
        state("names-like-git", |l| {
            l.write("git~1", "x");
            l.write(".gitfoo", "x");
            l.write(".git.bak", "x");
            l.write("sub/.GIT/config", "x");
            l.write("sub/.gitmodules", "x");
        }),
        state("long-names", |l| l.write("n".repeat(250), "x")),
        state("deep", |l| l.write(vec!["d"; 60].join("/") + "/f", "x")),
        state("case-twins", |l| {
            l.write("Readme", "1");
            l.write("README", "2");
        }),
        state("unicode-twins", |l| {
            l.write("caf\u{e9}", "1");
            l.write("cafe\u{301}", "2");
        }),
        state("hard-links", |l| {
            l.write("one", "linked");
            std::fs::hard_link(l.at("one"), l.at("two")).unwrap();
            std::fs::hard_link(l.at("b.txt"), l.at("b-twin")).unwrap();
            std::fs::write(l.at("../outer"), "outer").unwrap();
            std::fs::hard_link(l.at("../outer"), l.at("shared")).unwrap();
        }),
        state("fifo-and-socket", |l| {
            assert!(
                Command::new("mkfifo")
                    .arg(l.at("pipe"))
                    .status()
                    .unwrap()
                    .success()
            );
            drop(std::os::unix::net::UnixListener::bind(l.at("s")).unwrap());
            l.write("beside", "x");
        }),
        state("big-and-binary", |l| {
            let noise: Vec<u8> = (0..3_000_000_u32)
                .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
                .collect();
            l.write("big.bin", &noise);
            l.write("bin.dat", [0, 13, 10, 0, 255]);
            l.write("nul", [0; 10]);
        }),
        state("same-size-same-second", |l| {
            l.write("b.txt", "b\nMAIN\n");
            l.git(&["add", "b.txt"]);
            l.write("b.txt", "b\nmain\n");
        }),
        state("touched-only", |l| {
            let text = std::fs::read(l.at("a.txt")).unwrap();
            l.remove("a.txt");
            l.write("a.txt", text);
        }),
        state("old-times", |l| {
            l.write("old", "x");
            let file = std::fs::File::options()
                .write(true)
                .open(l.at("old"))
                .unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::new(1, 5))
                .unwrap();
            let file = std::fs::File::options()
                .write(true)
                .open(l.at("a.txt"))
                .unwrap();
            file.set_modified(std::time::UNIX_EPOCH - std::time::Duration::new(1000, 0))
                .unwrap();
        }),
        state("temporary-junk", |l| {
            l.write(".a.txt.swp", "x");
            l.write("a.txt~", "x");
            l.write("a.txt.orig", "x");
        }),
    ]
}

fn indexes() -> Vec<State> {
    vec![
        state("staged", |l| {
            l.write("a.txt", "staged\n");
            l.git(&["add", "a.txt"]);
        }),
        state("staged-and-unstaged", |l| {
            l.write("a.txt", "staged\n");
            l.git(&["add", "a.txt"]);
            l.write("a.txt", "more\n");
        }),
        state("staged-new-then-deleted", |l| {
            l.write("n", "n\n");
            l.git(&["add", "n"]);
            l.remove("n");
        }),
        state("staged-deletion", |l| drop(l.git(&["rm", "-q", "a.txt"]))),
        state("deleted-but-kept", |l| {
            drop(l.git(&["rm", "-q", "--cached", "a.txt"]))
        }),
        state("deleted-but-kept-changed", |l| {
            l.git(&["rm", "-q", "--cached", "a.txt"]);
            l.write("a.txt", "still here, changed\n");
        }),
        state("staged-rename", |l| {
            drop(l.git(&["mv", "a.txt", "renamed.txt"]))
        }),
        state("staged-mode", |l| {
            drop(l.git(&["update-index", "--chmod=+x", "a.txt"]))
        }),
        state("staged-type-change", |l| {
            l.remove("a.txt");
            std::os::unix::fs::symlink("b.txt", l.at("a.txt")).unwrap();
            l.git(&["add", "a.txt"]);
        }),
        state("staged-only-in-index", |l| {
            l.write("a.txt", "only in the index\n");
            l.git(&["add", "a.txt"]);
            l.git(&["restore", "--source=HEAD", "--worktree", "a.txt"]);
        }),
        state("intent-to-add", |l| {
            l.write("soon", "soon\n");
            l.git(&["add", "-N", "soon"]);
        }),
        state("intent-to-add-deleted", |l| {
            l.write("soon", "soon\n");
            l.git(&["add", "-N", "soon"]);
            l.remove("soon");
        }),
        state("skip-worktree", |l| {
            l.git(&["update-index", "--skip-worktree", "a.txt", "b.txt"]);
            l.write("a.txt", "hidden change\n");
            l.remove("b.txt");
        }),
        state("assume-unchanged", |l| {
            l.git(&["update-index", "--assume-unchanged", "a.txt", "dir/c.txt"]);
            l.write("a.txt", "hidden change\n");
            l.remove("dir/c.txt");
        }),
        state("index-lock-held", |l| {
            mixed(l);
            std::fs::write(l.admin().join("index.lock"), "").unwrap();
        }),
        state("index-missing", |l| {
            std::fs::remove_file(l.admin().join("index")).unwrap()
        }),
        state("index-empty", |l| {
            l.git(&["read-tree", "--empty"]);
        }),
        state("index-version-4", |l| {
            l.git(&["update-index", "--index-version", "4"]);
            mixed(l);
        }),
        state("split-index", |l| {
            l.git(&["update-index", "--split-index"]);
            mixed(l);
        }),
        state("untracked-cache", |l| {
            l.git(&["update-index", "--force-untracked-cache"]);
            mixed(l);
            l.git(&["status"]);
        }),
        state("skip-hash", |l| {
            l.git(&[
                "-c",
                "index.skipHash=true",
                "update-index",
                "--force-write-index",
            ]);
            mixed(l);
        }),
        state("resolve-undo", |l| {
            l.conflicting();
            l.git_fails(&["merge", "-q", "other"]);
            l.write("a.txt", "resolved\n");
            l.git(&["add", "a.txt"]);
        }),
        state("conflict-kinds", |l| {
            l.git(&["rm", "-q", "a.txt"]);
            l.write("other.txt", "mine\n");
            l.git(&["add", "-A"]);
            l.git(&["commit", "-qm", "delete and add"]);
            l.git_fails(&["merge", "-q", "other"]);
        }),
        state("conflict-without-merge", |l| {
            let blobs: Vec<String> = ["main", "other", "third"]
                .iter()
                .map(|branch| l.git(&["rev-parse", &format!("{branch}:a.txt")]))
                .collect();
            l.git(&["rm", "-q", "--cached", "a.txt"]);
            for (stage, blob) in blobs.iter().enumerate() {
                let line = format!("100644 {blob} {}\ta.txt", stage + 1);
                let script = format!("printf '%s\\n' '{line}' | git update-index --index-info");
                assert!(
                    Command::new("sh")
                        .arg("-c")
                        .arg(script)
                        .current_dir(&l.worktree)
                        .status()
                        .unwrap()
                        .success()
                );
            }
        }),
        state("dangling-staged-blob", |l| {
            l.write("precious", "only git has this\n");
            l.git(&["add", "precious"]);
            l.write("precious", "");
        }),
    ]
}

fn operations() -> Vec<State> {
    vec![
        state("merge-conflict", |l| {
            l.conflicting();
            l.git_fails(&["merge", "-q", "other"]);
        }),
        state("merge-half-resolved", |l| {
            l.conflicting();
            l.git_fails(&["merge", "-q", "other"]);
            l.write("a.txt", "half\n");
            l.write("extra", "x");
        }),
        state("merge-not-committed", |l| {
            drop(l.git(&["merge", "-q", "--no-commit", "--no-ff", "other"]))
        }),
        state("merge-squash", |l| {
            drop(l.git(&["merge", "-q", "--squash", "other"]))
        }),
        state("merge-autostash", |l| {
            l.conflicting();
            l.write("b.txt", "dirty\n");
            l.git_fails(&["merge", "-q", "--autostash", "other"]);
        }),
        state("rebase-conflict", |l| {
            l.conflicting();
            l.git_fails(&["rebase", "-q", "other"]);
        }),
        state("rebase-autostash", |l| {
            l.conflicting();
            l.write("b.txt", "stashed by rebase\n");
            l.git_fails(&["rebase", "-q", "--autostash", "other"]);
        }),
        state("rebase-edit", |l| {
            l.conflicting();
            l.git(&[
                "-c",
                "sequence.editor=sed -i 1s/pick/edit/",
                "rebase",
                "-q",
                "-i",
                "HEAD~2",
            ]);
            l.write("own.txt", "amending\n");
        }),
        state("rebase-exec-failed", |l| {
            l.git_fails(&["rebase", "-q", "-x", "false", "HEAD~1"])
        }),
        state("rebase-apply", |l| {
            l.conflicting();
            l.git_fails(&["rebase", "-q", "--apply", "other"]);
        }),
        state("rebase-merges", |l| {
            l.git(&["merge", "-q", "--no-edit", "third"]);
            l.write("a.txt", "all new\n");
            l.git(&["commit", "-qam", "all new"]);
            l.git_fails(&["rebase", "-q", "--rebase-merges", "other"]);
        }),
        state("cherry-pick-conflict", |l| {
            l.conflicting();
            l.git_fails(&["cherry-pick", "other"]);
        }),
        state("cherry-pick-sequence", |l| {
            l.conflicting();
            l.git_fails(&["cherry-pick", "other", "third"]);
        }),
        state("revert-conflict", |l| {
            l.conflicting();
            l.write("a.txt", "later\n");
            l.git(&["commit", "-qam", "later"]);
            l.git_fails(&["revert", "--no-edit", "HEAD~1"]);
        }),
        state("bisect", |l| {
            for n in 0..5 {
                l.write("n", format!("{n}\n"));
                l.git(&["add", "n"]);
                l.git(&["commit", "-qm", "n"]);
            }
            l.git(&["bisect", "start", "-q", "HEAD", "HEAD~4"]);
            l.write("scratch", "while bisecting");
        }),
        state("am-conflict", |l| {
            l.conflicting();
            let patch = l.git(&["format-patch", "-1", "--stdout", "other"]);
            std::fs::write(l.at("../patch"), patch + "\n").unwrap();
            l.git_fails(&["am", "-q", "../patch"]);
        }),
        state("detached", |l| {
            l.git(&["checkout", "-q", "--detach"]);
            mixed(l);
        }),
        state("detached-unreachable", |l| {
            l.git(&["checkout", "-q", "--detach"]);
            l.write("only", "on no branch\n");
            l.git(&["add", "only"]);
            l.git(&["commit", "-qm", "on no branch"]);
            l.git(&["commit", "-q", "--amend", "-m", "amended"]);
        }),
        state("only-in-reflog", |l| {
            l.write("lost", "reset away\n");
            l.git(&["add", "lost"]);
            l.git(&["commit", "-qm", "lost"]);
            l.git(&["reset", "-q", "--hard", "HEAD~1"]);
        }),
        state("own-refs", |l| {
            let commit = l.git(&["commit-tree", "-m", "private", "HEAD^{tree}"]);
            l.git(&["update-ref", "refs/worktree/mine", &commit]);
        }),
        state("stash-of-user", |l| {
            l.write("a.txt", "stashed\n");
            l.git(&["stash", "-q"]);
            l.write("a.txt", "after\n");
        }),
    ]
}

fn conversions() -> Vec<State> {
    vec![
        state("autocrlf-true", |l| {
            l.git(&["config", "core.autocrlf", "true"]);
            l.write("crlf.txt", "one\r\ntwo\r\n");
            l.git(&["add", "crlf.txt"]);
            l.git(&["commit", "-qm", "crlf"]);
            l.write("a.txt", "dos\r\nunix\n");
        }),
        state("autocrlf-input", |l| {
            l.git(&["config", "core.autocrlf", "input"]);
            l.write("crlf.txt", "one\r\ntwo\r\n");
            l.git(&["add", "crlf.txt"]);
            l.git(&["commit", "-qm", "crlf"]);
            l.write("b.txt", "x\r\n");
        }),
        state("eol-attribute-mixed", |l| {
            l.write(".gitattributes", "*.txt text eol=crlf\n");
            l.write("mixed.txt", "unix\ndos\r\n");
            l.git(&["add", "-A"]);
            l.git(&["commit", "-qm", "attributes"]);
        }),
        state("encoding-utf16", |l| {
            l.write(
                ".gitattributes",
                "*.u16 text working-tree-encoding=UTF-16LE-BOM\n",
            );
            let text: Vec<u8> = "\u{feff}h\u{e4}\n"
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect();
            l.write("t.u16", &text);
            l.git(&["add", "-A"]);
            l.git(&["commit", "-qm", "utf16"]);
        }),
        state("ident", |l| {
            l.write(".gitattributes", "*.id ident\n");
            l.write("v.id", "$Id$\n");
            l.git(&["add", "-A"]);
            l.git(&["commit", "-qm", "ident"]);
            l.remove("v.id");
            l.git(&["checkout", "-q", "v.id"]);
        }),
        state("filter-one-way", |l| {
            filter(l, "strip", "grep -v SECRET || true", "cat");
            l.write(".gitattributes", "*.conf filter=strip\n");
            l.write("my.conf", "a\nSECRET=1\nb\n");
            l.git(&["add", "-A"]);
            l.git(&["commit", "-qm", "filtered"]);
            l.write("new.conf", "SECRET=2\n");
        }),
        state("filter-changed", |l| {
            filter(l, "upper", "tr a-z A-Z", "tr A-Z a-z");
            l.write(".gitattributes", "*.up filter=upper\n");
            l.write("x.up", "abc\n");
            l.git(&["add", "-A"]);
            l.git(&["commit", "-qm", "filtered"]);
            l.write("x.up", "changed\n");
        }),
        state("filter-broken", |l| {
            l.write("x.br", "plain\n");
            l.git(&["add", "-A"]);
            l.git(&["commit", "-qm", "plain"]);
            filter(l, "broken", "false", "false");
            l.git(&["config", "filter.broken.required", "true"]);
            l.write(".gitattributes", "*.br filter=broken\n");
            l.write("x.br", "changed\n");
            l.write("y.br", "new\n");
        }),
        state("attributes-changed-later", |l| {
            l.write("x.txt", "a\r\nb\r\n");
            l.git(&["add", "-A"]);
            l.git(&["commit", "-qm", "raw"]);
            std::thread::sleep(std::time::Duration::from_millis(20));
            l.git(&["status"]);
            l.write(".gitattributes", "*.txt text\n");
        }),
        state("file-mode-off", |l| {
            l.git(&["config", "core.fileMode", "false"]);
            chmod(&l.at("a.txt"), 0o755);
            l.write("b.txt", "x\n");
            chmod(&l.at("b.txt"), 0o755);
        }),
        state("symlinks-off", |l| {
            l.git(&["config", "core.symlinks", "false"]);
            l.remove("link");
            l.write("link", "a.txt");
        }),
    ]
}

fn repositories() -> Vec<State> {
    vec![
        state("nested-repository", |l| {
            let inner = l.nest("inner");
            std::fs::write(inner.join("inner.txt"), "changed\n").unwrap();
            std::fs::write(inner.join("untracked"), "u\n").unwrap();
            l.write("beside", "x");
        }),
        state("nested-without-commit", |l| {
            std::fs::create_dir(l.at("inner")).unwrap();
            l.git_in(&l.at("inner"), &["init", "-q"]);
            l.write("inner/f", "f");
        }),
        state("nested-ignored", |l| drop(l.nest("build/inner"))),
        state("nested-worktree", |l| {
            l.git(&["worktree", "add", "-q", "-b", "inside", "inside"]);
            l.write("inside/new", "x");
        }),
        state("submodule", |l| l.add_submodule()),
        state("submodule-dirty", |l| {
            l.add_submodule();
            l.write("sub/lib.c", "int changed;\n");
            l.write("sub/new", "x");
            l.configure(&l.at("sub"));
            l.write("sub/committed", "c");
            l.git_in(&l.at("sub"), &["add", "committed"]);
            l.git_in(&l.at("sub"), &["commit", "-qm", "not pushed"]);
        }),
        state("submodule-staged", |l| {
            let library = l.library();
            l.git(&[
                "-c",
                "protocol.file.allow=always",
                "submodule",
                "--quiet",
                "add",
                &library,
                "sub",
            ]);
        }),
        state("submodule-not-initialised", |l| {
            l.add_submodule();
            l.git(&["submodule", "--quiet", "deinit", "-f", "sub"]);
        }),
        state("gitlink-without-module", |l| {
            l.nest("inner");
            l.git(&["add", "inner"]);
        }),
        state("sparse-checkout", |l| {
            l.git(&["sparse-checkout", "set", "--cone", "dir"]);
            l.write("dir/c.txt", "changed\n");
        }),
        state("sparse-no-cone", |l| {
            l.git(&["sparse-checkout", "set", "--no-cone", "/*.txt", "!/b.txt"]);
            l.write("b.txt", "present although sparse\n");
        }),
        state("sparse-index", |l| {
            l.git(&[
                "sparse-checkout",
                "set",
                "--cone",
                "--sparse-index",
                "other",
            ]);
            l.write("a.txt", "changed\n");
        }),
        state("hooks", |l| {
            let hooks = l.main.join(".git/hooks");
            std::fs::create_dir_all(&hooks).unwrap();
            for name in [
                "post-checkout",
                "pre-commit",
                "post-index-change",
                "reference-transaction",
            ] {
                let script = format!(
                    "#!/bin/sh\necho {name} >> '{}'\n",
                    l.at("../hook-ran").display()
                );
                std::fs::write(hooks.join(name), script).unwrap();
                chmod(&hooks.join(name), 0o755);
            }
            l.write("a.txt", "changed\n");
            l.write("n", "n");
        }),
        state("hooks-in-tree", |l| {
            l.git(&["config", "core.hooksPath", ".husky"]);
            let script = format!("#!/bin/sh\necho x >> '{}'\n", l.at("../hook-ran").display());
            l.write(".husky/post-checkout", script);
            chmod(&l.at(".husky/post-checkout"), 0o755);
            l.write("a.txt", "changed\n");
        }),
        state("signing-broken", |l| {
            l.git(&["config", "commit.gpgSign", "true"]);
            l.git(&["config", "gpg.program", "/bin/false"]);
            l.write("a.txt", "changed\n");
        }),
        state("no-identity", |l| {
            l.git(&["config", "--unset", "user.name"]);
            l.git(&["config", "--unset", "user.email"]);
            l.git(&["config", "user.useConfigOnly", "true"]);
            l.write("a.txt", "changed\n");
        }),
        state("odd-configuration", |l| {
            for (key, value) in [
                ("core.quotePath", "true"),
                ("core.preloadIndex", "false"),
                ("core.checkStat", "minimal"),
                ("core.trustctime", "false"),
                ("diff.noprefix", "true"),
                ("diff.external", "/bin/false"),
                ("status.showUntrackedFiles", "no"),
                ("status.relativePaths", "true"),
                ("index.version", "4"),
                ("core.fsmonitor", "/bin/false"),
                ("color.ui", "always"),
                ("core.pager", "/bin/false"),
            ] {
                l.git(&["config", key, value]);
            }
            mixed(l);
        }),
        state("worktree-config", |l| {
            l.git(&["config", "extensions.worktreeConfig", "true"]);
            l.git(&["config", "--worktree", "core.abbrev", "12"]);
            mixed(l);
        }),
        state("locked", |l| {
            l.git_in(
                &l.main,
                &[
                    "worktree",
                    "lock",
                    "--reason",
                    "mine",
                    l.worktree.to_str().unwrap(),
                ],
            );
            l.write("a.txt", "changed\n");
        }),
        state("replaced-object", |l| {
            let old = l.git(&["rev-parse", "HEAD:b.txt"]);
            std::fs::write(l.at("../new"), "replaced\n").unwrap();
            let new = l.git(&["hash-object", "-w", "../new"]);
            l.git(&["replace", &old, &new]);
            l.write("a.txt", "changed\n");
        }),
        state("info-exclude", |l| {
            std::fs::create_dir_all(l.main.join(".git/info")).unwrap();
            std::fs::write(l.main.join(".git/info/exclude"), "*.mine\n").unwrap();
            l.write("x.mine", "x");
            l.write("y", "y");
        }),
        state("gitignore-everything", |l| {
            l.write(".gitignore", "*\n");
            l.write("hidden", "work\n");
            l.write("hidden-dir/f", "work\n");
        }),
        state_in(Base::Sha256, "sha256", mixed),
        state_in(Base::Sha256, "sha256-merge", |l| {
            l.conflicting();
            l.git_fails(&["merge", "-q", "other"]);
        }),
        state_in(Base::Reftable, "reftable", mixed),
        state_in(Base::Reftable, "reftable-rebase", |l| {
            l.conflicting();
            l.git_fails(&["rebase", "-q", "other"]);
        }),
        state_in(Base::Reftable, "reftable-own-refs", |l| {
            let commit = l.git(&["commit-tree", "-m", "private", "HEAD^{tree}"]);
            l.git(&["update-ref", "refs/worktree/mine", &commit]);
            l.write("lost", "reset away\n");
            l.git(&["add", "lost"]);
            l.git(&["commit", "-qm", "lost"]);
            l.git(&["reset", "-q", "--hard", "HEAD~1"]);
        }),
        state_in(Base::Bare, "bare-main", mixed),
        state_in(Base::Shallow, "shallow", mixed),
        state_in(Base::Partial, "partial-clone", mixed),
        state_in(Base::Unborn, "unborn-empty", |_| {}),
        state_in(Base::Unborn, "unborn-staged", |l| {
            l.write("first", "first\n");
            l.git(&["add", "first"]);
            l.write("first", "changed\n");
            l.write("second", "second\n");
        }),
    ]
}
