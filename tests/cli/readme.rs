//! The README's tour is run, and what the documentation says of commands, settings and agents is
//! compared with the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Camp, until_told};

/// Commands that only look are run again until they show what is expected: agents take their time.
const LOOKING: [&str; 5] = ["biv list", "biv show", "biv peek", "biv diff", "biv runs"];

#[test]
fn the_tour_is_what_happens() {
    let camp = Camp::new();
    let programs = camp.root().join("bin");
    std::fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_biv"), programs.join("biv")).unwrap();
    let mut place = camp.root();
    let steps = steps(&section("README.md", "## Five-minute tour"));
    assert!(steps.len() > 15, "the tour was found");
    for (command, expected) in steps {
        if let Some(directory) = command.strip_prefix("cd ") {
            place.push(directory);
            continue;
        }
        let mut seen = None;
        let looks_only = LOOKING.iter().any(|start| command.starts_with(start));
        let describe = || format!("`{command}` shows what the README says:\n{expected}");
        until_told(describe, || {
            let output = run(&camp, &programs, &place, &command);
            let as_expected = matches(&expected, &output);
            seen = Some(output);
            (as_expected || !looks_only).then_some(())
        });
        let seen = seen.unwrap();
        assert!(
            matches(&expected, &seen),
            "`{command}` should show\n{expected}\nbut shows\n{seen}"
        );
    }
}

/// What the command prints, on both streams as a terminal would show them.
fn run(camp: &Camp, programs: &Path, place: &PathBuf, command: &str) -> String {
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(place)
        .env_clear()
        .envs(camp.environment())
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "`{command}` failed:\n{text}");
    text
}

/// Each `$ ` line with the lines that stand below it.
fn steps(section: &str) -> Vec<(String, String)> {
    let mut steps: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in section.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push((command.to_owned(), String::new())),
                (None, Some((_, expected))) => {
                    expected.push_str(line);
                    expected.push('\n');
                }
                (None, None) => panic!("output without a command: {line}"),
            },
            (false, _) => {}
        }
    }
    steps
}

/// `…` on a line of its own stands for any lines, `[..]` within a line for anything.
pub(crate) fn matches(expected: &str, seen: &str) -> bool {
    let expected: Vec<&str> = expected.lines().collect();
    let seen: Vec<&str> = seen.lines().map(str::trim_end).collect();
    lines_match(&expected, &seen)
}

fn lines_match(expected: &[&str], seen: &[&str]) -> bool {
    match expected {
        [] => seen.is_empty(),
        ["…", rest @ ..] => (0..=seen.len()).any(|skipped| lines_match(rest, &seen[skipped..])),
        [line, rest @ ..] => {
            seen.first().is_some_and(|first| line_matches(line, first))
                && lines_match(rest, &seen[1..])
        }
    }
}

fn line_matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.trim_end().split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn wildcards_stand_for_what_they_should() {
    for (expected, seen, outcome) in [
        ("a\n", "a\n", true),
        ("a\n", "a\nb\n", false),
        ("a\n…\n", "a\nb\nc\n", true),
        ("…\nc\n", "a\nc\n", true),
        ("…\nc\n", "a\n", false),
        ("x [..] z\n", "x y z\n", true),
        ("x [..] z\n", "x y\n", false),
        ("[..]\n", "anything\n", true),
        ("", "", true),
        ("", "unexpected\n", false),
    ] {
        assert_eq!(
            matches(expected, seen),
            outcome,
            "{expected:?} against {seen:?}"
        );
    }
}

#[test]
fn every_command_is_in_the_table_and_nothing_else() {
    let camp = Camp::new();
    let help = camp.biv(["--help"]).run().ok().stdout;
    let mut known: Vec<String> = help
        .lines()
        .skip_while(|line| *line != "Work with agents:")
        .take_while(|line| !line.ends_with("ptions:"))
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    let mut told: Vec<String> = section("docs/commands.md", "## All commands")
        .lines()
        .filter_map(|line| line.strip_prefix("| `biv "))
        .filter_map(|line| line.split([' ', '`']).next())
        .map(str::to_owned)
        .collect();
    known.sort();
    told.sort();
    assert_eq!(told, known);
}

#[test]
fn the_settings_are_those_that_are_built_in() {
    let section = section(SETTINGS, "## Settings");
    let [block] = blocks(&section, "toml")[..] else {
        panic!("one block of settings");
    };
    let camp = Camp::new();
    drop(camp.biv(["config", "init"]).run().ok());
    let written = std::fs::read_to_string(camp.home().join("config/config.toml")).unwrap();
    if std::env::var_os("BIV_UPDATE_README").is_some() {
        std::fs::write(path(SETTINGS), text(SETTINGS).replace(block, &written)).unwrap();
        return;
    }
    assert_eq!(
        block, written,
        "BIV_UPDATE_README=1 cargo test --test cli settings updates {SETTINGS}"
    );
}

#[test]
fn the_test_command_is_what_ci_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ci = std::fs::read_to_string(root.join(".ci/run")).unwrap();
    assert!(ci.contains("scripts/test"));
    assert!(text("README.md").contains("scripts/test "));
    assert!(text("README.md").contains("scripts/demo "));
}

/// A stranger reads the README in one go; the rest belongs into `docs/`.
#[test]
fn the_readme_is_short() {
    assert!(text("README.md").lines().count() <= 250);
}

#[test]
fn every_link_between_the_documents_leads_somewhere() {
    let mut documents = vec!["README.md".to_owned(), "CHANGELOG.md".to_owned()];
    for entry in std::fs::read_dir(path("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        documents.push(format!("docs/{name}"));
    }
    for document in documents {
        let directory = path(&document).parent().unwrap().to_owned();
        let text = text(&document);
        for target in text.split("](").skip(1) {
            let target = target.split([')', '#']).next().unwrap_or_default();
            let elsewhere = target.is_empty() || target.starts_with("https://");
            assert!(
                elsewhere || directory.join(target).exists(),
                "{document} links to {target}, which does not exist"
            );
        }
    }
}

const SETTINGS: &str = "docs/configuration.md";

fn path(document: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(document)
}

fn text(document: &str) -> String {
    std::fs::read_to_string(path(document)).unwrap()
}

/// The table of agents says what the files of the agents say.
#[test]
fn the_table_of_agents_is_that_of_biv_agents() {
    let table = section("docs/agents.md", "## What is supported");
    let camp = Camp::new();
    let told = camp.biv(["agents", "--json"]).run().ok().json();
    for agent in told["agents"].as_array().unwrap() {
        let yes = |key: &str| match agent[key].as_bool() {
            Some(true) => "yes",
            _ => "–",
        };
        let limits: Vec<&str> = agent["limits"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|limit| limit.as_str())
            .collect();
        let row = format!(
            "| `{}` | {} | {} | {} | {} |",
            agent["name"].as_str().unwrap(),
            yes("native_resume"),
            yes("hooks"),
            yes("transcript"),
            limits.join("; ")
        );
        assert!(table.contains(&row), "docs/agents.md has no row\n{row}");
    }
}

/// From a heading to the next of its kind.
pub(crate) fn section(document: &str, heading: &str) -> String {
    let text = text(document);
    let from = text
        .find(heading)
        .unwrap_or_else(|| panic!("no {heading} in {document}"));
    let rest = &text[from + heading.len()..];
    rest[..rest.find("\n## ").unwrap_or(rest.len())].to_owned()
}

/// What stands in the blocks of code in this language.
pub(crate) fn blocks<'a>(section: &'a str, language: &str) -> Vec<&'a str> {
    section
        .split(&format!("\n```{language}\n"))
        .skip(1)
        .filter_map(|rest| Some(&rest[..=rest.find("\n```")?]))
        .collect()
}
