//! The small verbs of every day: status, path, exec, open, rename.

use serde_json::Value;

use crate::support::Camp;
use crate::support::terminal::Terminal;

#[test]
fn the_status_counts_what_there_is() {
    let camp = Camp::new();
    let line = || camp.biv(["status"]).run().ok().stdout;
    assert_eq!(line(), "no agents\n");
    let repository = camp.repository("app");
    let asks = camp.start(&repository, "asks", &["-p", "/ask Tea? | Yes | No"]);
    let rests = camp.start(&repository, "rests", &[]);
    let sleeps = camp.start(&repository, "sleeps", &[]);
    asks.wait_for(&camp, "activity", "question");
    rests.wait_for(&camp, "activity", "idle");
    drop(camp.biv(["pause", &sleeps.id]).run().ok());
    assert_eq!(line(), "1 needs you · 1 ready · 1 paused\n");
    let format = ["status", "--format", "{needs_you} of {total}"];
    assert_eq!(camp.biv(format).run().ok().stdout, "1 of 3\n");
    let counts = camp.biv(["status", "--json"]).run().ok().json();
    assert_eq!(counts["needs_you"], 1);
    assert_eq!(counts["paused"], 1);
    let wrong = ["status", "--format", "{bsy}"];
    let said = camp.biv(wrong).run().fails(2).said();
    assert!(said.contains("`{bsy}`") && said.contains("busy"), "{said}");
}

#[test]
fn commands_run_in_the_worktree_with_its_environment() {
    let camp = Camp::new();
    let instance = camp.start(&camp.repository("app"), "one", &[]);
    let path = camp.biv(["path", "one"]).run().ok().stdout;
    assert_eq!(path, format!("{}\n", instance.worktree.display()));
    let script = "pwd; echo $BIV_INSTANCE; touch by-hand; exit 7";
    let ran = camp.biv(["exec", "one", "--", "sh", "-c", script]).run();
    let said = ran.fails(7).stdout;
    assert_eq!(
        said,
        format!("{}\n{}\n", instance.worktree.display(), instance.id)
    );
    assert!(instance.worktree.join("by-hand").exists());
    let open = camp.biv(["open", "one"]).env("VISUAL", "printf '%s|'");
    let opened = open.run().ok().stdout;
    assert_eq!(opened, format!("{}|", instance.worktree.display()));

    // Where there is no worktree in place, that is said.
    drop(camp.biv(["pause", "one"]).run().ok());
    for command in [&["path", "one"][..], &["exec", "one", "--", "true"]] {
        let said = camp.biv(command).run().fails(4).said();
        assert!(said.contains("it is paused"), "{said}");
        assert!(said.contains("biv resume one"), "{said}");
    }
    let missing = ["exec", "one", "--", "no-such-program"];
    drop(camp.biv(["resume", "one"]).run().ok());
    let said = camp.biv(missing).run().fails(127).said();
    assert!(said.contains("cannot run `no-such-program`"), "{said}");
    assert!(!said.contains("doctor"), "{said}");
    let line = camp
        .biv(["exec", "one", "--", "ls -l"])
        .run()
        .fails(127)
        .said();
    assert!(line.contains("`biv exec one -- sh -c '…'`"), "{line}");
    std::fs::write(instance.worktree.join("plain.txt"), "no program\n").unwrap();
    drop(
        camp.biv(["exec", "one", "--", "./plain.txt"])
            .run()
            .fails(126),
    );
}

#[test]
fn a_title_changes_and_everything_else_stays() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let one = camp.start(&repository, "one", &[]);
    let two = camp.start(&repository, "two", &[]);
    let said = camp.biv(["rename", "one", "two"]).run().fails(1).said();
    assert!(said.contains("`two` is taken"), "{said}");
    drop(camp.biv(["rename", "one", ""]).run().fails(2));
    drop(camp.biv(["rename", "one", "an other name"]).run().ok());
    let view = camp.show(&one);
    assert_eq!(view["title"], "an other name");
    assert_eq!(view["branch"].as_str(), one.branch.as_deref());
    let shown = camp.biv(["peek", "an other name"]).run();
    drop(shown.ok());
    drop(camp.biv(["show", "one"]).run().fails(3));

    // Also for one that is paused, and the new title is there after a resume.
    drop(camp.biv(["pause", &two.id]).run().ok());
    drop(camp.biv(["rename", "two", "one"]).run().ok());
    drop(camp.biv(["resume", "one"]).run().ok());
    assert_eq!(camp.show(&two)["title"], "one");
}

#[test]
fn words_are_found_in_every_conversation_also_of_the_killed() {
    let camp = Camp::new();
    std::fs::create_dir_all(camp.home().join("config")).unwrap();
    let config = camp.home().join("config/config.toml");
    std::fs::write(config, "[compact]\nkeep = 1\n").unwrap();
    let repository = camp.repository("app");
    let one = camp.start(&repository, "one", &["-p", "Remember the green milk"]);
    let two = camp.start(&repository, "two", &["-p", "Remember the blue tea"]);
    for instance in [&one, &two] {
        instance.wait_idle(&camp);
        drop(camp.biv(["send", &instance.id, "What next"]).run().ok());
        instance.wait_idle(&camp);
    }
    // What was said first is in an archive by then.
    let compacted = camp.biv(["compact", "one", "--json"]).run().ok().json();
    assert_eq!(compacted["compacted"], true, "{compacted}");
    drop(camp.biv(["kill", "-y", "one"]).run().ok());
    let found = camp.biv(["search", "MILK", "green", "--json"]).run().ok();
    let found = found.json();
    let first = &found["matches"].as_array().unwrap().last().unwrap();
    assert_eq!(first["title"], "one");
    assert_eq!(first["state"], "killed");
    assert_eq!(first["turn"], 1);
    assert_eq!(first["type"], "user");
    assert_eq!(first["line"], "Remember the green milk");
    let said = camp.biv(["search", "remember"]).run().ok().stdout;
    assert!(
        said.contains("one (killed) turn 1, you: Remember"),
        "{said}"
    );
    assert!(said.contains("two turn 1, you: Remember"), "{said}");
    let none = camp.biv(["search", "coffee"]).run().ok().stdout;
    assert_eq!(none, "Nothing was found.\n");
    drop(camp.biv(["search", " "]).run().fails(2));
}

#[test]
fn a_kill_says_what_is_unmerged_and_a_purge_frees_the_disk() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "one", &[]);
    let within = |line: &str| {
        let ran = camp.biv(["exec", "one", "--", "sh", "-c", line]).run();
        drop(ran.ok());
    };
    within("echo done > done.txt; git add done.txt; git commit -qm done; echo more > more.txt");
    let killed = camp.biv(["kill", "-y", "one", "--purge"]).run().ok();
    let said = killed.said();
    assert!(said.contains("`one` has 1 commit that "), "{said}");
    assert!(said.contains("and uncommitted work."), "{said}");
    assert!(said.contains(" kB are freed."), "{said}");
    drop(camp.biv(["undo-kill", "one"]).run().ok());
    drop(camp.biv(["resume", "one"]).run().ok());
    let text = std::fs::read_to_string(instance.worktree.join("more.txt")).unwrap();
    assert_eq!(text, "more\n");

    // Nothing to say of one that has changed nothing.
    let idle = camp.start(&repository, "two", &[]);
    drop(idle);
    let said = camp.biv(["kill", "-y", "two"]).run().ok().said();
    assert!(!said.contains("has"), "{said}");
}

#[test]
fn a_file_that_is_written_again_as_it_was_is_no_uncommitted_work() {
    let camp = Camp::new();
    let instance = camp.start(&camp.repository("app"), "one", &[]);
    let file = instance.worktree.join("src/lib.rs");
    let text = std::fs::read(&file).unwrap();
    std::fs::write(&file, &text).unwrap();
    drop(camp.biv(["pause", "one"]).run().ok());
    assert_eq!(camp.show(&instance)["dirty"], false);
    drop(camp.biv(["resume", "one"]).run().ok());
    std::fs::write(&file, "other\n").unwrap();
    drop(camp.biv(["pause", "one"]).run().ok());
    assert_eq!(camp.show(&instance)["dirty"], true);
}

#[test]
fn a_run_that_ends_with_a_question_has_a_status_of_its_own() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let run = [
        "run",
        "asks",
        "-a",
        "demo",
        "-p",
        "/ask Tea? | Yes | No",
        "--repo",
    ];
    let said = camp.biv(run).arg(&repository.path).run().fails(8).said();
    assert!(said.contains("`asks` needs you"), "{said}");
    let run = ["run", "says", "-a", "demo", "-p", "hi there", "--repo"];
    drop(camp.biv(run).arg(&repository.path).run().ok());
}

#[test]
fn a_diff_goes_through_a_pager_on_a_terminal_only() {
    let camp = Camp::new();
    let instance = camp.start(&camp.repository("app"), "one", &[]);
    std::fs::write(instance.worktree.join("new.txt"), "a line\n").unwrap();
    let pager = "sed s/^/paged:/";
    let terminal = Terminal::running(&camp, &format!("GIT_PAGER='{pager}' biv diff one"));
    terminal.wait_for("paged:");
    terminal.wait_for("ended with 0");
    let plain = camp.biv(["diff", "one"]).env("GIT_PAGER", pager).run().ok();
    assert!(plain.stdout.starts_with("diff --git"), "{}", plain.stdout);
}

#[test]
fn submodules_that_are_not_there_are_named() {
    let camp = Camp::new();
    let (repository, library) = (camp.repository("app"), camp.repository("library"));
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q"];
    let from = library.path.to_str().unwrap();
    repository.git(&[&add[..], &[from, "libs/one"]].concat());
    repository.git(&["commit", "-qm", "a submodule"]);
    let new = ["new", "one", "-a", "demo", "--repo"];
    let said = camp.biv(new).arg(&repository.path).run().ok().said();
    assert!(
        said.contains("submodules are not checked out: libs/one"),
        "{said}"
    );
}

#[test]
fn a_wait_for_a_plain_shell_ends_when_its_command_has_ended() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let shell = camp.start_shell(&repository, "plain", "PS1='>> ' exec sh -i");
    shell.wait_screen(&camp, ">>");
    drop(
        camp.biv(["send", "plain", "sleep 4; touch done"])
            .run()
            .ok(),
    );
    let wait = ["wait", "plain", "--for", "idle"];
    drop(camp.biv(wait).run().ok());
    assert!(shell.worktree.join("done").exists());
}

#[test]
fn what_an_instance_takes_on_the_disk_is_counted_on_request() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "large", &[]);
    std::fs::write(instance.worktree.join("notes.bin"), vec![7; 2_500_000]).unwrap();
    assert_eq!(camp.show(&instance)["size"], Value::Null);
    let sizes = || {
        let call = camp.biv(["show", "large", "--size", "--json"]);
        call.run().ok().json()["size"].clone()
    };
    let here = sizes();
    assert!(
        here["worktree_bytes"].as_u64().unwrap() > 2_500_000,
        "{here}"
    );
    assert_eq!(here["put_away_bytes"], Value::Null);
    let said = camp.biv(["show", "large", "--size"]).run().ok().stdout;
    assert!(said.contains("2.5 MB in its worktree"), "{said}");
    let dry = || camp.biv(["gc", "--dry-run", "--json"]).run().ok().json();
    assert_eq!(dry()["put_away"]["worktrees"], 0);

    drop(camp.biv(["pause", "large"]).run().ok());
    let away = sizes();
    assert_eq!(away["worktree_bytes"], Value::Null);
    assert!(
        away["put_away_bytes"].as_u64().unwrap() > 2_500_000,
        "{away}"
    );
    assert!(
        away["repository_saved_bytes"].as_u64().unwrap() > 0,
        "{away}"
    );
    assert_eq!(dry()["put_away"]["worktrees"], 1);
    let said = camp.biv(["gc", "--dry-run"]).run().ok().stdout;
    assert!(said.contains("Put away now: 1 worktree, 2.5 MB"), "{said}");
    // Deleting says what it has deleted, and counts nothing else.
    let done = camp.biv(["gc", "--json"]).run().ok().json();
    assert_eq!(done["put_away"], Value::Null);
}

#[test]
fn a_restart_says_that_the_first_prompt_is_sent_again() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "prompted", &["-p", "the first words"]);
    let bare = camp.start(&repository, "bare", &[]);
    let restarted = |title: &str| camp.biv(["restart", "-y", title]).run().ok().stdout;
    let told = "its first prompt was sent again";
    assert!(restarted("prompted").contains(told));
    assert!(!restarted("bare").contains(told));
    let log = camp.biv(["log", "prompted"]).run().ok().stdout;
    assert_eq!(log.matches("    the first words\n").count(), 2, "{log}");
    assert!(bare.prompts(&camp).is_empty());
    let terminal = crate::support::terminal::Terminal::running(&camp, "biv restart prompted");
    terminal.wait_for("It gets its first prompt again: the first words");
    terminal.write("n");
    terminal.press(&["Enter"]);
    terminal.wait_for("Nothing was changed.");
}
