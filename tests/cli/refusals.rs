//! What stands in the way of a new instance: one sentence, a hint, the right exit status, and
//! nothing left behind.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::{Answer, Camp, Repository};

/// A directory to stand first on PATH, with one program in it.
fn fake(camp: &Camp, name: &str, script: &str) -> PathBuf {
    let directory = camp.root().join("fake");
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

/// A PATH that has everything that is on ours but for one program.
fn path_without(camp: &Camp, missing: &str) -> PathBuf {
    let directory = camp.root().join(format!("without-{missing}"));
    std::fs::create_dir_all(&directory).unwrap();
    for program in ["sh", "cat", "sleep", "tmux", "git", "env"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|place| place.join(program))
            .find(|path| path.is_file());
        if let (true, Some(found)) = (program != missing, found) {
            drop(std::os::unix::fs::symlink(found, directory.join(program)));
        }
    }
    directory
}

/// Nothing of a refused creation is anywhere.
#[track_caller]
fn assert_nothing_left(camp: &Camp, repository: Option<&Repository>) {
    let left: Vec<_> = std::fs::read_dir(camp.instances_dir())
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(left.is_empty(), "records: {left:?}");
    assert_eq!(camp.sessions(), Vec::<String>::new());
    if let Some(repository) = repository {
        assert_eq!(repository.branches(), ["main"]);
        assert_eq!(repository.worktrees(), Vec::<PathBuf>::new());
        assert_eq!(repository.snapshots(), Vec::<String>::new());
        assert_eq!(repository.git(&["status", "--porcelain"]), "");
    }
}

fn new_in(camp: &Camp, directory: &Path, more: &[&str]) -> Answer {
    let arguments = [&["new", "x", "-a", "demo"], more].concat();
    camp.biv(arguments).within(directory).run()
}

#[test]
fn an_old_tmux_is_refused() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let path = fake(&camp, "tmux", "echo 'tmux 3.1c'");
    let path = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
    let answer = camp
        .biv(["new", "x", "-a", "demo"])
        .within(&repository.path)
        .env("PATH", &path)
        .run()
        .fails(1);
    insta::assert_snapshot!(answer.said(), @r"
    error: tmux 3.1c is too old: at least 3.2 is needed
      hint: install tmux 3.2 or newer (Debian, Ubuntu: apt install tmux; macOS: brew install tmux)
    ");
    assert_nothing_left(&camp, Some(&repository));
    let doctor = camp.biv(["doctor"]).env("PATH", &path).run().fails(1);
    assert!(doctor.stdout.contains("✗ tmux: tmux 3.1c is too old"));
}

#[test]
fn an_old_git_is_refused() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|place| place.join("git"))
        .find(|path| path.is_file())
        .unwrap();
    let script = format!(
        "case \"$*\" in *--version*|version) echo 'git version 2.20.1';; *) exec '{}' \"$@\";; esac",
        real.display()
    );
    let path = fake(&camp, "git", &script);
    let path = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
    let answer = camp
        .biv(["new", "x", "-a", "demo"])
        .within(&repository.path)
        .env("PATH", &path)
        .run()
        .fails(1);
    assert!(
        answer.stderr.starts_with("error: git 2.20.1 is too old; "),
        "{}",
        answer.stderr
    );
    assert!(answer.stderr.contains("hint: install a newer git"));
    assert_nothing_left(&camp, Some(&repository));
    let doctor = camp.biv(["doctor"]).env("PATH", &path).run().fails(1);
    assert!(doctor.stdout.contains("✗ git: git 2.20.1 is too old"));
}

#[test]
fn a_missing_tmux_or_git_is_named() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    for (missing, sentence) in [
        ("tmux", "error: tmux is not installed, or not on PATH\n"),
        ("git", "error: git is not installed, or not on PATH\n"),
    ] {
        let answer = camp
            .biv(["new", "x", "-a", "demo"])
            .within(&repository.path)
            .env("PATH", path_without(&camp, missing))
            .run()
            .fails(1);
        assert!(answer.stderr.starts_with(sentence), "{}", answer.stderr);
        assert!(
            answer.stderr.contains("hint: install "),
            "{}",
            answer.stderr
        );
        assert_nothing_left(&camp, Some(&repository));
    }
    // Looking works without tmux.
    let list = camp.biv(["list"]).env("PATH", path_without(&camp, "tmux"));
    drop(list.run().ok());
}

#[test]
fn outside_a_repository_there_is_nothing_to_work_on() {
    let camp = Camp::new();
    let directory = camp.root().join("plain");
    std::fs::create_dir(&directory).unwrap();
    let answer = new_in(&camp, &directory, &[]).fails(1);
    insta::assert_snapshot!(answer.said(), @r"
    error: [CAMP]/plain is not inside a git repository
      hint: run it inside a repository, or name one with --repo; `git init` makes one
    ");
    let answer = new_in(&camp, &directory, &["--repo", "nowhere"]).fails(1);
    assert!(
        answer.stderr.contains("does not exist"),
        "{}",
        answer.stderr
    );
    assert_nothing_left(&camp, None);
}

#[test]
fn a_repository_without_commits_has_nothing_to_start_from() {
    let camp = Camp::new();
    let repository = camp.empty_repository("empty");
    let answer = new_in(&camp, &repository.path, &[]).fails(1);
    insta::assert_snapshot!(answer.said(), @r#"
    error: the repository [CAMP]/repositories/empty has no commit yet
      hint: make a first commit: `git commit --allow-empty -m "first"`
    "#);
    assert_nothing_left(&camp, None);
    assert_eq!(repository.branches(), Vec::<String>::new());
}

#[test]
fn a_base_or_branch_that_cannot_be_is_refused() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let check = |more: &[&str], expected: &str| {
        let answer = new_in(&camp, &repository.path, more).fails(1);
        assert!(answer.stderr.contains(expected), "{}", answer.stderr);
        assert!(answer.stderr.contains("hint: "), "{}", answer.stderr);
        assert_nothing_left(&camp, Some(&repository));
    };
    check(&["--base", "nowhere"], "`nowhere` names no commit in ");
    check(&["--branch", "main"], "branch `main` is checked out at ");
    check(&["--branch", "a..b"], "`a..b` is not a valid branch name");
    check(
        &["--branch", "main/sub"],
        "branch `main/sub` cannot exist beside branch `main`",
    );
    check(&["--branch=-x"], "`-x` is not a valid branch name");
}

#[test]
fn an_agent_that_is_not_there_is_named() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let within = |arguments: &[&str]| camp.biv(arguments).within(&repository.path).run();
    let unknown = within(&["new", "x", "-a", "demmo"]).fails(2);
    assert!(
        unknown.stderr.contains("did you mean `demo`?"),
        "{}",
        unknown.stderr
    );
    let missing = within(&["new", "x", "-a", "shell", "--", "no-such-program"]).fails(1);
    insta::assert_snapshot!(missing.said(), @r"
    error: the agent Shell command is not installed: `no-such-program` was not found on PATH
      hint: `biv agents` lists what is installed; `-a demo` needs nothing
    ");
    assert_nothing_left(&camp, Some(&repository));
}

#[test]
fn the_last_words_of_an_agent_that_dies_at_once_are_shown() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let arguments = [
        "new",
        "x",
        "-a",
        "shell",
        "--",
        "sh",
        "-c",
        "echo 'no licence found'; exit 3",
    ];
    let answer = camp.biv(arguments).within(&repository.path).run().fails(1);
    insta::assert_snapshot!(answer.said(), @r"
    error: the agent ended at once, with exit status 3
      | no licence found
      hint: run its command by hand to see what it needs
    ");
    assert_nothing_left(&camp, Some(&repository));
    let answer = camp
        .biv(["--json"].iter().chain(&arguments))
        .within(&repository.path);
    let error = answer.run().fails(1).error();
    assert_eq!(error["details"]["exit_code"], 3);
    assert_eq!(error["details"]["last_words"], "no licence found");
    assert_nothing_left(&camp, Some(&repository));
}

#[test]
fn adoption_has_its_own_refusals() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let adopt = |directory: &Path| {
        let answer = camp.biv(["adopt", "-a", "demo"]).arg(directory).run();
        answer.fails(1).said()
    };
    insta::assert_snapshot!(adopt(&repository.path), @r"
    error: [CAMP]/repositories/app is the main checkout of its repository
      hint: `biv new` makes a worktree of its own for the agent
    ");
    let instance = camp.start(&repository, "mine", &[]);
    let said = adopt(&instance.worktree);
    assert!(said.contains("is managed already, as `mine`"), "{said}");
    assert!(adopt(&camp.root()).contains("is not inside a git repository"));
}

#[test]
fn a_prompt_file_must_be_text() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let file = camp.root().join("prompt");
    std::fs::write(&file, b"\xff\xfe").unwrap();
    let answer = new_in(
        &camp,
        &repository.path,
        &["--prompt-file", file.to_str().unwrap()],
    );
    assert!(answer.fails(1).stderr.contains("it is not UTF-8 text"));
    let answer = new_in(&camp, &repository.path, &["--prompt-file", "nowhere"]);
    assert!(answer.fails(1).stderr.contains("cannot be read"));
    assert_nothing_left(&camp, Some(&repository));
}

#[test]
fn a_run_needs_a_prompt_and_does_not_attach() {
    let camp = Camp::new();
    let run = |more: &[&str]| camp.biv(["run"]).args(more).run().fails(2).said();
    insta::assert_snapshot!(run(&[]), @r"
    error: `biv run` needs a prompt
      hint: give it with -p, or use `biv new` to start without one
    ");
    insta::assert_snapshot!(run(&["-p", "x", "--attach"]), @r"
    error: `biv run` shows the conversation itself, so it does not attach
      hint: use `biv new --attach`, or `biv attach` from another terminal
    ");
}
