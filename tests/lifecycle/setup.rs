//! What a repository wants done in each fresh worktree.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Answer, Camp, Process, Repository, until_told};

fn repository_with(camp: &Camp, setup: &str) -> Repository {
    let repository = camp.repository("app");
    repository.write(".gitignore", ".env\ncache\nsecrets/\nnode_modules\n");
    repository.write(".bivouac.toml", setup);
    repository.commit("set-up");
    repository.write(".env", "TOKEN=abc\n");
    repository.write("cache/big.bin", "cached\n");
    repository.write("secrets/a/b.txt", "deep\n");
    repository
}

fn new_in(camp: &Camp, repository: &Repository, more: &[&str]) -> Answer {
    let arguments = [&["new", "x", "-a", "demo"], more].concat();
    camp.biv(arguments).within(&repository.path).run()
}

#[test]
fn files_are_copied_and_linked_from_the_main_checkout() {
    let camp = Camp::new();
    let setup = "[setup]\ncopy = [\".env\", \"secrets\", \"README.md\", \"not-there\"]\nlink = [\"cache\"]\n";
    let repository = repository_with(&camp, setup);
    repository.write("README.md", "# Changed in the main checkout\n");
    drop(new_in(&camp, &repository, &[]).ok());
    let worktree = camp.list().remove(0).worktree;
    let read = |name: &str| std::fs::read_to_string(worktree.join(name)).unwrap();
    assert_eq!(read(".env"), "TOKEN=abc\n");
    assert_eq!(read("secrets/a/b.txt"), "deep\n");
    assert_eq!(
        read("README.md"),
        "# A repository\n",
        "nothing is overwritten"
    );
    assert_eq!(
        std::fs::read_link(worktree.join("cache")).unwrap(),
        repository.path.join("cache")
    );
    std::fs::write(worktree.join(".env"), "changed").unwrap();
    let original = std::fs::read_to_string(repository.path.join(".env")).unwrap();
    assert_eq!(original, "TOKEN=abc\n", "a copy is a copy");
}

#[test]
fn a_command_needs_consent_once_and_again_when_it_changes() {
    let camp = Camp::new();
    let run = |script: &str| format!("[setup]\nrun = \"{script}\"\n");
    let repository = repository_with(&camp, &run("pwd > where; echo $BIV_MAIN_CHECKOUT >> where"));
    let answer = new_in(&camp, &repository, &[]).fails(1);
    insta::assert_snapshot!(answer.said(), @r"
    error: the repository's set-up command needs your consent: pwd > where; echo $BIV_MAIN_CHECKOUT >> where
      hint: read it, then `biv new --trust-setup` runs it from now on; `--no-setup` skips it
    ");
    assert_eq!(camp.list().len(), 0);
    assert_eq!(repository.branches(), ["main"]);

    drop(new_in(&camp, &repository, &["--no-setup"]).ok());
    let without = camp.list().remove(0);
    assert!(!without.worktree.join("where").exists());
    camp.kill(&without);

    drop(new_in(&camp, &repository, &["--trust-setup"]).ok());
    let trusted = camp.list().remove(0);
    let text = std::fs::read_to_string(trusted.worktree.join("where")).unwrap();
    let expected = format!(
        "{}\n{}\n",
        trusted.worktree.display(),
        repository.path.display()
    );
    assert_eq!(text, expected);
    camp.kill(&trusted);

    // Consent holds for this text, and for this text alone.
    drop(new_in(&camp, &repository, &[]).ok());
    repository.write(".bivouac.toml", &run("echo something else"));
    let changed = camp
        .biv(["new", "y", "-a", "demo", "--json"])
        .within(&repository.path);
    assert_eq!(changed.run().fails(1).error()["code"], "consent_needed");
    // And for this repository alone.
    let other = camp.repository("other");
    other.write(
        ".bivouac.toml",
        &run("pwd > where; echo $BIV_MAIN_CHECKOUT >> where"),
    );
    drop(new_in(&camp, &other, &[]).fails(1));
}

#[test]
fn a_failing_command_is_shown_and_nothing_is_left() {
    let camp = Camp::new();
    let script = "echo making; echo 'no rule to make target' >&2; exit 2";
    let repository = repository_with(&camp, &format!("[setup]\nrun = \"{script}\"\n"));
    let answer = new_in(&camp, &repository, &["--trust-setup"]).fails(1);
    insta::assert_snapshot!(answer.said(), @r"
    running the repository's set-up: echo making; echo 'no rule to make target' >&2; exit 2
    error: cannot create `x`
      cause: the repository's set-up command failed with exit status: 2: echo making; echo 'no rule to make target' >&2; exit 2
      | making
      | no rule to make target
      hint: correct it in .bivouac.toml, or skip it with `--no-setup`
    ");
    assert_eq!(camp.list().len(), 0);
    assert_eq!(repository.branches(), ["main"]);
    assert_eq!(repository.worktrees(), Vec::<std::path::PathBuf>::new());
    assert_eq!(camp.sessions(), Vec::<String>::new());
}

#[test]
fn a_file_that_leads_out_of_the_repository_or_is_wrong_is_refused() {
    let camp = Camp::new();
    for (setup, expected) in [
        (
            "[setup]\ncopy = [\"../x\"]\n",
            "leads out of the repository",
        ),
        (
            "[setup]\nlink = [\"/etc/passwd\"]\n",
            "leads out of the repository",
        ),
        ("[setup]\ncopi = [\"x\"]\n", "copi"),
        ("[setup\n", ".bivouac.toml is wrong"),
    ] {
        let repository = camp.repository("app");
        repository.write(".bivouac.toml", setup);
        let answer = new_in(&camp, &repository, &[]).fails(1);
        assert!(answer.stderr.contains(expected), "{}", answer.stderr);
        assert!(answer.stderr.contains("hint: "), "{}", answer.stderr);
    }
    assert_eq!(camp.list().len(), 0);
}

/// Git takes a link for a file, and `node_modules/` for directories alone.
#[test]
fn a_linked_directory_is_ignored_as_the_directory_is() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.write(".gitignore", "node_modules/\ncache\nfile\nweb/dist/\n");
    let links = "[\"node_modules\", \"cache\", \"file\", \"web/dist\"]";
    repository.write(".bivouac.toml", &format!("[setup]\nlink = {links}\n"));
    repository.commit("set-up");
    repository.write("node_modules/left-pad/index.js", "left\n");
    repository.write("node_modules/.bin/tool", "tool\n");
    repository.write("cache/big.bin", "cached\n");
    repository.write("file", "a file\n");
    repository.write("web/dist/page.html", "page\n");
    let config = std::fs::read(repository.path.join(".git/config")).unwrap();
    drop(new_in(&camp, &repository, &[]).ok());
    let worktree = camp.list().remove(0).worktree;
    assert_eq!(
        repository.seen_from(&worktree).git(&["status", "--short"]),
        ""
    );
    let read = |name: &str| std::fs::read_to_string(worktree.join(name)).unwrap();
    assert_eq!(read("node_modules/left-pad/index.js"), "left\n");
    assert_eq!(read("node_modules/.bin/tool"), "tool\n");
    assert_eq!(read("web/dist/page.html"), "page\n");
    assert!(worktree.join("node_modules/left-pad").is_symlink());
    // Where git ignores the link as well, the whole is shared.
    assert!(worktree.join("cache").is_symlink());
    assert_eq!(read("file"), "a file\n");
    // The user's own is as it was.
    assert_eq!(
        std::fs::read(repository.path.join(".git/config")).unwrap(),
        config
    );
    assert!(
        !repository.path.join(".git/info/exclude").exists() || {
            let exclude =
                std::fs::read_to_string(repository.path.join(".git/info/exclude")).unwrap();
            !exclude.contains("node_modules")
        }
    );

    // It is paused and comes back, and what was linked is untouched.
    drop(camp.biv(["pause", "x"]).run().ok());
    drop(camp.biv(["resume", "x"]).run().ok());
    assert_eq!(read("node_modules/left-pad/index.js"), "left\n");
    assert!(repository.path.join("node_modules/.bin/tool").is_file());
}

/// What the set-up has brought is not work of the agent, ignored by git or not.
#[test]
fn an_agent_that_ends_at_once_leaves_nothing_of_the_set_up() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.write(".gitignore", "node_modules/\n");
    let setup = "[setup]\ncopy = [\"plain.env\", \"deep/settings\", \"README.md\"]\n\
                 link = [\"node_modules\", \"shown\"]\n";
    repository.write(".bivouac.toml", setup);
    repository.commit("set-up");
    repository.write("node_modules/left-pad/index.js", "left\n");
    repository.write("shown/file", "shown\n");
    repository.write("plain.env", "TOKEN=abc\n");
    repository.write("deep/settings/a", "a\n");
    let arguments = ["new", "short", "-a", "shell", "--", "sh", "-c", "exit 3"];
    let failed = camp.biv(arguments).within(&repository.path).run().fails(1);
    assert!(failed.stderr.contains("exit status 3"), "{}", failed.stderr);
    assert_eq!(camp.list().len(), 0);
    assert_eq!(repository.branches(), ["main"]);
    assert_eq!(repository.worktrees(), Vec::<PathBuf>::new());
    for original in [
        "node_modules/left-pad/index.js",
        "shown/file",
        "plain.env",
        "deep/settings/a",
    ] {
        assert!(repository.path.join(original).is_file(), "{original}");
    }

    // One that has changed something stays, with all of it.
    let script = "echo mine >>plain.env; exit 3";
    let arguments = ["new", "worked", "-a", "shell", "--", "sh", "-c", script];
    drop(camp.biv(arguments).within(&repository.path).run().fails(1));
    let worktree = camp.list().remove(0).worktree;
    let read = |name: &str| std::fs::read_to_string(worktree.join(name)).unwrap();
    assert_eq!(read("plain.env"), "TOKEN=abc\nmine\n");
    assert_eq!(read("deep/settings/a"), "a\n");
    assert_eq!(read("shown/file"), "shown\n");
    assert_eq!(read("README.md"), "# A repository\n");
}

/// A set-up command that tells its process, and has one more that does not listen.
fn long_setup(camp: &Camp) -> (Repository, PathBuf) {
    let pids = camp.root().join("pids");
    let script = format!(
        "trap '' TERM; setsid sh -c 'echo $$ >>{0}; exec sleep 641' & echo $$ >>{0}; \
         while :; do date >>written; sleep 0.05; done",
        pids.display()
    );
    let repository = repository_with(camp, &format!("[setup]\nrun = \"{script}\"\n"));
    (repository, pids)
}

fn running(pids: &Path) -> Vec<Process> {
    until_told(
        || "the set-up runs".to_owned(),
        || {
            let text = std::fs::read_to_string(pids).ok()?;
            let found: Vec<Process> = text
                .lines()
                .filter_map(|pid| pid.parse().ok())
                .map(|pid| Process {
                    pid,
                    command: "set-up".to_owned(),
                })
                .collect();
            (found.len() == 2).then_some(found)
        },
    )
}

#[test]
fn a_set_up_that_is_interrupted_ends_before_its_worktree_goes() {
    for signal in [Signal::INT, Signal::TERM] {
        let camp = Camp::new();
        std::fs::create_dir_all(camp.home().join("config")).unwrap();
        let config = camp.home().join("config/config.toml");
        std::fs::write(config, "[pause]\nstop = \"300ms\"\n").unwrap();
        let (repository, pids) = long_setup(&camp);
        let arguments = ["new", "x", "-a", "demo", "--trust-setup"];
        let mut call = camp.biv(arguments).within(&repository.path).in_background();
        let setup = running(&pids);
        kill_process(Pid::from_child(&call), signal).unwrap();
        assert_eq!(call.wait().unwrap().code(), Some(130));
        for process in &setup {
            assert!(!process.is_alive(), "{process:?} goes on");
        }
        assert_eq!(camp.list().len(), 0);
        assert_eq!(repository.branches(), ["main"]);
        assert_eq!(repository.worktrees(), Vec::<PathBuf>::new());
    }
}

/// Of many, those under way are taken back and the others are not begun.
#[test]
fn many_that_are_interrupted_leave_nothing() {
    let camp = Camp::new();
    std::fs::create_dir_all(camp.home().join("config")).unwrap();
    let config = camp.home().join("config/config.toml");
    std::fs::write(config, "[pause]\nstop = \"300ms\"\n").unwrap();
    let begun = camp.root().join("begun");
    let setup = format!("[setup]\nrun = \"echo >>{}; sleep 641\"\n", begun.display());
    let repository = repository_with(&camp, &setup);
    let arguments = ["new", "x", "-n", "40", "-a", "demo", "--trust-setup"];
    let mut call = camp.biv(arguments).within(&repository.path).in_background();
    let count = || std::fs::read_to_string(&begun).map_or(0, |text| text.lines().count());
    until_told(
        || "a set-up runs".to_owned(),
        || (count() > 0).then_some(()),
    );
    kill_process(Pid::from_child(&call), Signal::INT).unwrap();
    assert_eq!(call.wait().unwrap().code(), Some(130));
    assert!(count() < 40, "{} were begun", count());
    assert_eq!(camp.list().len(), 0);
    assert_eq!(repository.branches(), ["main"]);
    assert_eq!(repository.worktrees(), Vec::<PathBuf>::new());
}

/// Its caller is gone: the next command ends it, and only then takes the worktree back.
#[test]
fn a_set_up_whose_caller_was_killed_ends_before_its_worktree_goes() {
    let camp = Camp::new();
    std::fs::create_dir_all(camp.home().join("config")).unwrap();
    let config = camp.home().join("config/config.toml");
    std::fs::write(config, "[pause]\nstop = \"300ms\"\n").unwrap();
    let (repository, pids) = long_setup(&camp);
    let arguments = ["new", "x", "-a", "demo", "--trust-setup"];
    let mut call = camp.biv(arguments).within(&repository.path).in_background();
    let setup = running(&pids);
    call.kill().unwrap();
    call.wait().unwrap();
    assert!(setup.iter().all(Process::is_alive));
    assert_eq!(camp.list().len(), 0);
    for process in &setup {
        assert!(!process.is_alive(), "{process:?} goes on");
    }
    assert_eq!(repository.branches(), ["main"]);
    assert_eq!(repository.worktrees(), Vec::<PathBuf>::new());
}

#[test]
fn nothing_is_taken_in_or_written_through_a_link() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let outside = camp.root().join("outside");
    std::fs::create_dir_all(outside.join("dir")).unwrap();
    std::fs::write(outside.join("secret"), "do not tell\n").unwrap();
    std::fs::write(outside.join("dir/secret"), "do not tell\n").unwrap();
    let link = |target: &Path, name: &str| {
        std::os::unix::fs::symlink(target, repository.path.join(name)).unwrap();
    };
    repository.write(".gitignore", "/ignored*\n");
    // Tracked: in the worktree it leads out of it.
    link(&outside, "out");
    let setup = "[setup]\ncopy = [\"out/secret\", \"ignored-file\", \"ignored-tree\", \"out/new/file\"]\n\
                 link = [\"out/dir\", \"ignored-dir\", \"ignored-round\"]\n";
    repository.write(".bivouac.toml", setup);
    repository.commit("set-up");
    link(&outside.join("secret"), "ignored-file");
    link(&outside.join("dir"), "ignored-dir");
    repository.write("ignored-tree/kept", "kept\n");
    link(&outside.join("secret"), "ignored-tree/secret");
    link(Path::new("kept"), "ignored-tree/alias");
    let fifo = repository.path.join("ignored-tree/fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, fifo, rustix::fs::Mode::RUSR).unwrap();
    link(Path::new("ignored-tree"), "ignored-round");
    let before: Vec<_> = walk(&outside);

    let told = new_in(&camp, &repository, &[]).ok();
    let worktree = camp.list().remove(0).worktree;
    assert_eq!(walk(&outside), before, "something was written outside");
    assert!(!worktree.join("ignored-file").exists());
    assert!(!worktree.join("ignored-file").is_symlink());
    assert!(!worktree.join("ignored-dir").is_symlink());
    assert!(!worktree.join("ignored-tree/secret").is_symlink());
    assert!(worktree.join("ignored-tree/kept").is_file());
    assert!(worktree.join("ignored-tree/alias").is_symlink());
    assert!(worktree.join("ignored-round/kept").is_file());
    for said in [
        "`ignored-file` leads out of the repository",
        "`ignored-dir` leads out of the repository",
        "`ignored-tree/secret` leads out of the repository",
        "`ignored-tree/fifo` is neither a file nor a directory",
    ] {
        assert!(told.stderr.contains(said), "{said}: {}", told.stderr);
    }
    assert!(!told.stderr.contains("do not tell"), "{}", told.stderr);
}

fn walk(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}

#[test]
fn a_set_up_file_that_is_no_file_is_refused_and_not_quoted() {
    let camp = Camp::new();
    let secret = camp.root().join("secret");
    std::fs::write(&secret, "the-secret-word = [\n").unwrap();
    type Make<'a> = &'a dyn Fn(&Path);
    let link =
        |target: PathBuf| move |path: &Path| std::os::unix::fs::symlink(&target, path).unwrap();
    let cases: [(&str, Make<'_>, &str); 5] = [
        ("endless", &link("/dev/zero".into()), "symbolic link"),
        ("secret", &link(secret), "symbolic link"),
        ("dangling", &link("nowhere".into()), "symbolic link"),
        (
            "pipe",
            &|path| rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR).unwrap(),
            "not a regular file",
        ),
        (
            "large",
            &|path| std::fs::write(path, "#".repeat(1024 * 1024 + 1)).unwrap(),
            "larger than 1 MB",
        ),
    ];
    for (name, make, expected) in cases {
        let repository = camp.repository(name);
        make(&repository.path.join(".bivouac.toml"));
        let answer = new_in(&camp, &repository, &[]).fails(1);
        assert!(
            answer.stderr.contains(expected),
            "{name}: {}",
            answer.stderr
        );
        assert!(!answer.stderr.contains("secret-word"), "{}", answer.stderr);
        assert!(answer.stderr.contains("hint: "), "{}", answer.stderr);
    }
    assert_eq!(camp.list().len(), 0);
}
