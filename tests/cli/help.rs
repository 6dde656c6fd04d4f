//! What is printed about the program itself.

use crate::readme::section;
use crate::support::Camp;

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
    assert_eq!(statuses.len(), 9, "{statuses:?}");
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
fn completion_offers_live_titles() {
    let camp = Camp::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = camp.biv(["completions", shell]).run().ok().stdout;
        assert!(script.contains("COMPLETE"), "{shell}: {script}");
    }
    let repository = camp.repository("app");
    camp.start(&repository, "fix the login", &[]);
    camp.start(&repository, "other", &[]);
    // What a shell asks when a person presses tab behind `biv show fix`.
    let offered = camp
        .biv(["--", "biv", "show", "fix"])
        .env("COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "2")
        .env("_CLAP_IFS", "\n")
        .run()
        .ok();
    assert!(offered.stdout.contains("fix"), "{}", offered.stdout);
    assert!(!offered.stdout.contains("other"), "{}", offered.stdout);
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
