//! Results on standard output, talk on standard error, errors in one form.

use crate::support::Camp;

#[test]
fn an_empty_camp_says_how_to_begin() {
    let camp = Camp::new();
    let answer = camp.biv(["list"]).run().ok();
    insta::assert_snapshot!(answer.stdout, @"No instances. Start one with `biv new`, or see it all with `biv demo`.");
    assert_eq!(answer.stderr, "");
    // Looking makes nothing.
    assert!(!camp.home().exists(), "{}", camp.home().display());
}

#[test]
fn without_a_terminal_there_is_no_terminal_ui() {
    let camp = Camp::new();
    let answer = camp.biv([""; 0]).run().fails(2);
    insta::assert_snapshot!(answer.said(), @r"
    error: the terminal UI needs a terminal
      hint: `biv list` shows your instances, `biv --help` all commands
    ");
    let answer = camp.biv(["--json"]).run().fails(2);
    assert_eq!(answer.json()["error"]["code"], "usage");
}

#[test]
fn without_a_terminal_a_review_comes_from_a_file() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "feature", &[]);
    let answer = camp.biv(["review", "feature"]).run().fails(2);
    insta::assert_snapshot!(answer.said(), @r"
    error: a review in the UI needs a terminal
      hint: `--from FILE` sends the comments of a file, `--from -` those of standard input
    ");
    // In a terminal it would open; `--json` asks for no UI.
    let answer = camp.biv(["review", "--json", "feature"]).run().fails(2);
    assert_eq!(answer.error()["code"], "usage");
    assert_eq!(instance.prompts(&camp).len(), 0);
}

#[test]
fn an_error_is_a_sentence_its_cause_and_a_hint() {
    let camp = Camp::new();
    let answer = camp.biv(["show", "nobody"]).run().fails(3);
    assert_eq!(answer.stdout, "");
    insta::assert_snapshot!(answer.said(), @r"
    error: there is no instance `nobody`
      hint: `biv list` shows all instances
    ");
}

#[test]
fn a_new_instance_is_announced_and_listed() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let answer = camp
        .biv(["new", "fix the login", "-a", "demo"])
        .within(&repository.path)
        .run()
        .ok();
    let instance = camp.list().remove(0);
    let id = &instance.id;
    assert_eq!(
        answer.printed(),
        format!(
            "fix the login is running with demo on biv/fix-the-login\n  \
             worktree [HOME]/worktrees/app/fix-the-login-{}\n  \
             attach with `biv attach 'fix the login'`\n",
            &id[..5]
        )
    );
    instance.wait_idle(&camp);
    let list = camp.biv(["list"]).run().ok().stdout;
    let mut lines = list.lines();
    let heading: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(
        heading,
        [
            "TITLE", "STATE", "AGENT", "BRANCH", "DIFF", "ACTIVE", "LAST", "LINE"
        ]
    );
    let row = lines.next().unwrap();
    assert!(
        row.starts_with("fix the login  ready  demo   biv/fix-the-login"),
        "{row}"
    );
    let shown = camp.biv(["show", "fix the login"]).run().ok().stdout;
    assert!(
        shown.starts_with("fix the login\n  state        ready\n"),
        "{shown}"
    );
    let verbose = camp.biv(["show", "-v", "fix the login"]).run().ok().stdout;
    assert!(verbose.contains("activity     idle ("), "{verbose}");
}

#[test]
fn quiet_says_nothing_but_the_result_and_verbose_says_each_step() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let create = |title: &str, flag: &str| {
        camp.biv(["new", title, "-a", "demo", flag])
            .within(&repository.path)
            .run()
            .ok()
    };
    assert_eq!(create("silent", "-q").stderr, "");
    let verbose = create("talkative", "-v").stderr;
    for step in [
        "claim-names",
        "add-worktree",
        "open-session",
        "start-agent",
        "record",
    ] {
        assert!(
            verbose.contains(&format!("create talkative: {step} (")),
            "{verbose}"
        );
    }
    let killed = camp.biv(["kill", "-y", "silent"]).run().ok();
    assert_eq!(killed.stdout, "");
    assert!(
        killed
            .stderr
            .starts_with("Killed `silent`. Bring it back with: biv undo-kill ")
    );
    let killed = camp.biv(["kill", "-y", "-q", "talkative"]).run().ok();
    assert_eq!(
        (killed.stdout, killed.stderr),
        (String::new(), String::new())
    );
}

#[test]
fn a_kill_without_a_yes_is_refused_without_a_terminal() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "precious", &[]);
    let answer = camp.biv(["kill", "precious"]).run().fails(2);
    insta::assert_snapshot!(answer.said(), @r"
    error: killing needs confirmation, and there is no terminal to ask on
      hint: `biv kill -y …`; `biv undo-kill` brings it back
    ");
    assert_eq!(camp.list().len(), 1);
    // A mistake in the last name costs the first one nothing.
    drop(
        camp.biv(["kill", "-y", "precious", "nobody"])
            .run()
            .fails(3),
    );
    assert_eq!(camp.list().len(), 1);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let camp = Camp::new();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_biv"))
        .arg("man")
        .env_clear()
        .envs(camp.environment())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
