//! Operations in progress, conversions between disk and repository, and odd repositories.

use super::{Base, State, chmod, filter, mixed, state, state_in};

pub(super) fn operations() -> Vec<State> {
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

pub(super) fn conversions() -> Vec<State> {
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

pub(super) fn repositories() -> Vec<State> {
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
            l.write("new", "replaced\n");
            let new = l.git(&["hash-object", "-w", "new"]);
            std::fs::remove_file(l.at("new")).unwrap();
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
