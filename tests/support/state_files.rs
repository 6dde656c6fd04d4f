//! States of files on disk, and of the index.

use std::process::Command;

use super::{State, bytes, chmod, mixed, state};

pub(super) fn files() -> Vec<State> {
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

pub(super) fn indexes() -> Vec<State> {
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
