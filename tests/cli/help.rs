//! What is printed about the program itself.

use crate::readme::section;
use crate::support::Camp;
use crate::support::terminal::Terminal;

#[test]
fn version_and_help_go_to_standard_output() {
    let camp = Camp::new();
    let version = camp.biv(["--version"]).run().ok();
    assert_eq!(
        version.stdout,
        format!("biv {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = camp.biv(["--help"]).run().ok();
    for command in [
        "new", "adopt", "list", "attach", "send", "kill", "doctor", "demo",
    ] {
        assert!(
            help.stdout.contains(&format!("  {command} ")),
            "{}",
            help.stdout
        );
    }
    assert!(!help.stdout.contains("__"), "hidden commands stay hidden");
    let wrong = camp.biv(["frobnicate"]).run().fails(2);
    assert_eq!(wrong.stdout, "");
    assert!(wrong.stderr.starts_with("error: "), "{}", wrong.stderr);
    assert!(
        wrong.stderr.contains("  hint: `biv --help` lists"),
        "{}",
        wrong.stderr
    );
    // A mistake in the arguments of a command.
    for (words, hint) in [
        (["kill", "--everything"], "`biv help kill` explains it"),
        (["new", "--attac"], "hint: a similar argument exists"),
        (["send", "one"], "hint: `biv"),
    ] {
        let said = camp.biv(words).run().fails(2).said();
        assert!(said.starts_with("error: ") && said.contains(hint), "{said}");
        assert!(
            !said.contains("tip:") && !said.contains("For more"),
            "{said}"
        );
    }
    let wrong = camp.biv(["answer", "--json"]).run().fails(2).error();
    let message = wrong["message"].as_str().unwrap();
    assert!(message.ends_with("not provided: <INSTANCE>"), "{message}");
    assert_eq!(
        wrong["hint"],
        "`biv help answer` explains it, with examples"
    );
}

#[test]
fn the_ui_is_no_command_and_it_is_said_how_to_open_it() {
    let camp = Camp::new();
    let refused = camp.biv(["ui"]).run().fails(2).stderr;
    let tip = "`biv` without a command opens the terminal UI";
    assert!(refused.contains(tip), "{refused}");
}

#[test]
fn every_command_has_a_manual_page() {
    let camp = Camp::new();
    let page = camp.biv(["man"]).run().ok().stdout;
    assert!(page.contains(".TH biv 1"), "{page}");
    // Exit statuses are told in two places, alike.
    let lines: Vec<&str> = page.lines().collect();
    let commands = section("docs/commands.md", "## Exit status").replace('\n', " ");
    let told = commands.split("Exit status: ").nth(1).unwrap();
    let told = told.split(". ").next().unwrap().split(" · ");
    let statuses: Vec<(&str, &str)> = told.filter_map(|told| told.split_once(' ')).collect();
    assert_eq!(statuses.len(), 10, "{statuses:?}");
    for (status, words) in statuses {
        let bold = format!("\\fB{status}\\fR");
        assert!(
            lines.windows(2).any(|pair| pair == [bold.as_str(), words]),
            "{status} {words} in\n{page}"
        );
    }
    let directory = camp.root().join("man");
    let wrote = camp
        .biv(["man", "--dir", directory.to_str().unwrap()])
        .run()
        .ok();
    assert!(wrote.stdout.starts_with("Wrote "), "{}", wrote.stdout);
    for name in ["biv", "biv-new", "biv-kill", "biv-undo-kill"] {
        assert!(directory.join(format!("{name}.1")).is_file(), "{name}");
    }
}

#[test]
fn a_manual_page_can_be_had_for_each_command() {
    let camp = Camp::new();
    let page = camp.biv(["man", "pause"]).run().ok().stdout;
    assert!(page.contains(".TH biv-pause 1"), "{page}");
    assert!(
        page.contains("biv pause api \\-\\-now"),
        "with examples: {page}"
    );
    let none = camp.biv(["man", "frobnicate"]).run().fails(2);
    assert!(
        none.stderr.contains("no command `frobnicate`"),
        "{}",
        none.stderr
    );
    assert!(none.stderr.contains("hint:"), "{}", none.stderr);
}

/// On a terminal `biv man` opens the page with the user's own `man`.
#[test]
fn the_manual_opens_on_a_terminal() {
    let camp = Camp::new();
    let programs = camp.root().join("programs");
    std::fs::create_dir(&programs).unwrap();
    let man = programs.join("man");
    std::fs::write(
        &man,
        "#!/bin/sh\ngrep TH \"$1\"; echo opened by man; read enough\n",
    )
    .unwrap();
    std::fs::set_permissions(&man, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let line = format!("PATH='{}':$PATH; biv man kill", programs.display());
    let terminal = Terminal::running(&camp, &line);
    terminal.wait_for("opened by man");
    terminal.wait_for(".TH biv-kill 1");
    terminal.press(&["Enter"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn what_is_quiet_prints_nothing_but_what_was_asked_for() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let run = |words: &[&str]| {
        let answer = camp.biv(words).within(&repository.path).run().ok();
        assert_eq!(answer.stderr, "", "{words:?}");
        answer.stdout
    };
    for words in [
        &["new", "calm", "-a", "demo", "-q"][..],
        &["timeout", "calm", "10m", "-q"],
        &["timeout", "calm", "off", "-q"],
        &["queue", "calm", "--clear", "-q"],
        &["autoyes", "calm", "off", "-q"],
        &["pause", "calm", "-q"],
        &["resume", "calm", "-q"],
        &["restart", "-y", "calm", "-q"],
        &["kill", "-y", "calm", "-q"],
        &["undo-kill", "calm", "-q"],
        &["gc", "-q"],
        &["config", "init", "-q"],
        &["daemon", "stop", "-q"],
    ] {
        assert_eq!(run(words), "", "{words:?}");
    }
    assert!(run(&["list", "-q"]).contains("calm"));
    assert!(run(&["timeout", "calm", "-q"]).contains("never paused"));
}

/// What bash asks when the user presses tab behind these words.
fn offered(camp: &Camp, within: &std::path::Path, words: &[&str]) -> Vec<String> {
    let line = [&["--", "biv"], words].concat();
    let answer = camp
        .biv(line)
        .within(within)
        .env("COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_IFS", "\n")
        .run()
        .ok();
    answer.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn completion_offers_what_fits_the_command() {
    let camp = Camp::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = camp.biv(["completions", shell]).run().ok().stdout;
        assert!(script.contains("COMPLETE"), "{shell}: {script}");
    }
    let repository = camp.repository("app");
    camp.start(&repository, "fix the login", &[])
        .wait_idle(&camp);
    camp.start(&repository, "other", &[]).wait_idle(&camp);
    camp.start(&repository, "gone", &[]).wait_idle(&camp);
    drop(camp.biv(["pause", "other"]).run().ok());
    drop(camp.biv(["kill", "-y", "gone"]).run().ok());
    let offered = |words: &[&str]| offered(&camp, &repository.path, words);
    assert_eq!(offered(&["show", "fix"]), ["fix\\ the\\ login"]);
    assert_eq!(offered(&["show", "fix\\ th"]), ["fix\\ the\\ login"]);
    assert_eq!(offered(&["pause", ""])[..1], ["fix\\ the\\ login"]);
    assert!(!offered(&["pause", ""]).contains(&"other".to_owned()));
    assert_eq!(offered(&["resume", "o"]), ["other"]);
    assert_eq!(offered(&["resume", "f"]), [""; 0]);
    assert_eq!(offered(&["undo-kill", "g"]), ["gone"]);
    assert_eq!(offered(&["kill", "g"]), [""; 0]);
    assert_eq!(offered(&["log", "g"]), ["gone"]);
    assert_eq!(offered(&["new", "-a", "cl"]), ["claude"]);
    assert_eq!(offered(&["new", "--base", "biv/o"]), ["biv/other"]);
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let camp = Camp::new();
    let plain = camp.biv(["show", "nobody"]).run().fails(3);
    assert!(!plain.stderr.contains('\x1b'));
    let always = camp
        .biv(["show", "nobody", "--color", "always"])
        .run()
        .fails(3);
    assert!(always.stderr.contains("\x1b["));
    let never = camp
        .biv(["show", "nobody", "--color", "never"])
        .run()
        .fails(3);
    assert!(!never.stderr.contains('\x1b'));
}
