//! The shape of the source, as data: which room may know which, and how large a file may grow.
//!
//! Rooms are the top-level modules. What is not in a room's row is not to be imported there; a row
//! is changed on purpose, with its reason in `src/ARCHITECTURE.md`.
#![cfg(test)]

mod files;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A room, and the rooms that it may import.
const ROOMS: &[(&str, &[&str])] = &[
    // The base of everything. The place of an agent holds the identity of its process.
    ("process", &[]),
    // Where the lines of the log go; every room writes them with the macros of `tracing`.
    ("logging", &[]),
    ("model", &["process"]),
    ("config", &["model"]),
    // Pure: no clock, no files, no processes.
    ("lifecycle", &["model", "process"]),
    ("detect", &["model"]),
    ("policy", &["model", "detect"]),
    ("conversation", &["model"]),
    // Each talks to one outside thing; none imports another.
    ("git", &["model", "process"]),
    // What keeps the work of a paused instance, built on the plain verbs of git.
    ("vault", &["model", "process", "git"]),
    ("tmux", &["model", "process"]),
    ("store", &["model", "process", "lifecycle", "conversation"]),
    ("agents", &["model", "process", "detect", "conversation"]),
    ("seal", &["model", "process"]),
    ("hosts", &["model", "process", "store"]),
    // The one controller.
    (
        "engine",
        &[
            "model",
            "process",
            "config",
            "lifecycle",
            "detect",
            "policy",
            "conversation",
            "git",
            "vault",
            "tmux",
            "store",
            "agents",
            "seal",
            "hosts",
            "logging",
        ],
    ),
    // The built-in agent plays a foreign program: it knows nothing of Bivouac.
    ("demo", &["model"]),
    // The words for errors, which all faces share.
    ("report", &["engine", "model", "config", "lifecycle"]),
    // The faces: git, tmux, the store and the agents are the engine's business.
    ("daemon", &["engine", "model", "config", "lifecycle"]),
    (
        "cli",
        &[
            "engine",
            "model",
            "config",
            "lifecycle",
            "report",
            "demo",
            "daemon",
            "tui",
            "logging",
        ],
    ),
    (
        "tui",
        &["engine", "model", "config", "lifecycle", "report", "daemon"],
    ),
];

/// Rooms that decide and never act.
const PURE: &[&str] = &["lifecycle", "detect", "policy", "conversation"];

/// What only an effect needs.
const EFFECTS: &[&str] = &[
    "std::fs",
    "std::process",
    "std::net",
    "std::os::unix::net",
    "std::env",
    "std::thread",
    "Instant::now",
    "SystemTime",
    "Utc::now",
];

const LONGEST_FILE: usize = 800;

#[test]
fn rooms_import_only_what_their_row_allows() {
    let mut wrong = Vec::new();
    for source in sources() {
        let Some(room) = source.room() else { continue };
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            wrong.push(format!("{}: the room `{room}` has no row", source.name()));
            continue;
        };
        for import in source.imports() {
            if import != room && !allowed.contains(&import.as_str()) {
                wrong.push(format!("{}: `{room}` imports `{import}`", source.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn the_rows_make_no_circle() {
    let mut done: Vec<&str> = Vec::new();
    while done.len() < ROOMS.len() {
        let next = ROOMS.iter().find(|(room, imports)| {
            !done.contains(room) && imports.iter().all(|import| done.contains(import))
        });
        let Some((room, _)) = next else {
            panic!("there is a circle among the rooms that are not {done:?}");
        };
        done.push(room);
    }
}

#[test]
fn pure_rooms_have_no_effects() {
    let mut wrong = Vec::new();
    for source in sources() {
        if !source.room().is_some_and(|room| PURE.contains(&room)) {
            continue;
        }
        for effect in EFFECTS {
            if source.code.contains(effect) {
                wrong.push(format!("{}: {effect}", source.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn processes_are_started_in_one_room() {
    // The demo agent plays a foreign program, and those start children of their own.
    let rooms = ["process", "demo"];
    let wrong: Vec<String> = sources()
        .iter()
        .filter(|source| !source.room().is_some_and(|room| rooms.contains(&room)))
        .filter(|source| source.code.contains("process::Command::new"))
        .filter(|source| source.code.contains("std::process::Command"))
        .map(Source::name)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn files_stay_small() {
    let wrong: Vec<String> = sources()
        .iter()
        .chain(&files_below("tests"))
        .filter(|source| source.lines > LONGEST_FILE)
        .map(|source| format!("{} has {} lines", source.name(), source.lines))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_library_offers_its_main_and_nothing_else() {
    let lib = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let public: Vec<&str> = lib
        .lines()
        .filter(|line| line.starts_with("pub "))
        .collect();
    assert_eq!(public, ["pub fn main() -> std::process::ExitCode {"]);
}

#[test]
fn nothing_is_left_for_later_and_no_test_is_skipped() {
    // Written apart, so that this file may stand under its own rule.
    let marks = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"]].map(|halves| halves.concat());
    let skipped = format!("#[{}", "ignore");
    let mut wrong = Vec::new();
    for source in sources().iter().chain(&files_below("tests")) {
        // In the source a test may be the victim that another test starts and kills.
        let rules = marks
            .iter()
            .chain(source.room().is_none().then_some(&skipped));
        for mark in rules {
            if source.text.contains(mark.as_str()) {
                wrong.push(format!("{}: {mark}", source.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// `src/ARCHITECTURE.md` is read by people who cannot see this table.
#[test]
fn the_map_draws_the_same_arrows() {
    let map = map();
    let mut above: BTreeSet<String> = BTreeSet::new();
    for line in map.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let &[room, _, imports] = cells.as_slice() else {
            panic!("not a row of the code map: {line}");
        };
        let room = room.trim_matches('`');
        let drawn = match imports {
            "all of the above" => above.clone(),
            _ => spans(imports).into_iter().map(str::to_owned).collect(),
        };
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            panic!("the map has a room `{room}`, which is none");
        };
        let allowed = allowed.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(drawn, allowed, "what `{room}` may import");
        above.insert(room.to_owned());
    }
    assert_eq!(above.len(), ROOMS.len(), "each room has its row");
}

#[test]
fn what_the_map_names_is_there() {
    let map = map();
    let code: Vec<Source> = sources();
    let mut missing = Vec::new();
    for span in spans(&map) {
        if let Some((_, name)) = span.rsplit_once("::") {
            let name = name.trim_end_matches("()");
            if !code.iter().any(|source| source.code.contains(name)) {
                missing.push(span);
            }
            continue;
        }
        // A path is checked up to its first placeholder.
        let path = span.split('<').next().unwrap_or_default();
        let first = path.split('/').next().unwrap_or_default();
        let bases = [root(), root().join("src")];
        let is_path = path.ends_with(".rs")
            || path.contains('/') && bases.iter().any(|base| base.join(first).is_dir());
        if is_path && !bases.iter().any(|base| base.join(path).exists()) {
            missing.push(span);
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

fn map() -> String {
    std::fs::read_to_string(root().join("src/ARCHITECTURE.md")).unwrap()
}

/// What stands between backquotes; blocks of code are left out.
fn spans(text: &str) -> Vec<&str> {
    text.split("```")
        .step_by(2)
        .flat_map(|part| part.split('`').skip(1).step_by(2))
        .collect()
}

struct Source {
    path: PathBuf,
    text: String,
    /// Without comments, and without the tests at the end.
    code: String,
    lines: usize,
}

impl Source {
    /// None for `lib.rs` and `main.rs`, which see everything.
    fn room(&self) -> Option<&str> {
        let relative = self.path.strip_prefix(root().join("src")).ok()?;
        let first = relative.components().next()?.as_os_str().to_str()?;
        match first.strip_suffix(".rs") {
            Some("lib" | "main") => None,
            Some(room) => Some(room),
            None => Some(first),
        }
    }

    fn name(&self) -> String {
        let path = self.path.strip_prefix(root()).unwrap_or(&self.path);
        path.display().to_string()
    }

    /// Every room that stands right behind `crate::`, alone or in braces, or is reached upwards.
    fn imports(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (at, _) in self.code.match_indices("crate::") {
            let rest = &self.code[at + "crate::".len()..];
            match rest.strip_prefix('{') {
                Some(group) => found.extend(first_words_of_group(group)),
                None => found.extend(first_word(rest)),
            }
        }
        for (room, _) in ROOMS {
            if self.code.contains(&format!("super::super::{room}::"))
                && self.room() != Some(room)
                && self.depth() <= 2
            {
                found.insert((*room).to_owned());
            }
        }
        found.retain(|word| ROOMS.iter().any(|(room, _)| room == word));
        found
    }

    fn depth(&self) -> usize {
        let below = self.path.strip_prefix(root().join("src"));
        below.map_or(0, |path| path.components().count())
    }
}

fn first_word(text: &str) -> Option<String> {
    let word: String = text
        .chars()
        .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
        .collect();
    (!word.is_empty()).then_some(word)
}

/// `a::{x, y}, b` behind an opening brace → a, b
fn first_words_of_group(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut words = Vec::new();
    let mut item = String::new();
    for letter in group.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => words.extend(first_word(std::mem::take(&mut item).trim())),
            _ if depth == 0 => item.push(letter),
            _ => {}
        }
    }
    words.extend(first_word(item.trim()));
    words
}

#[test]
fn imports_are_found_however_they_are_written() {
    fn check(code: &str, expected: &[&str]) {
        let source = Source {
            path: root().join("src/cli/x.rs"),
            text: String::new(),
            code: code.to_owned(),
            lines: 1,
        };
        let found: Vec<String> = source.imports().into_iter().collect();
        assert_eq!(found, expected, "{code}");
    }
    check("use crate::git::Repo;", &["git"]);
    check("let x = crate::tmux::Server::new();", &["tmux"]);
    check(
        "use crate::{git::{a, b}, store, nothing};",
        &["git", "store"],
    );
    check(
        "use crate::{\n    model::X,\n    engine,\n};",
        &["engine", "model"],
    );
    check("use super::super::store::Lock;", &["store"]);
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<Source> {
    files_below("src")
}

fn files_below(directory: &str) -> Vec<Source> {
    let mut files = Vec::new();
    collect(&root().join(directory), &mut files);
    assert!(!files.is_empty(), "{directory} has no source files");
    files
}

fn collect(directory: &Path, files: &mut Vec<Source>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            files.push(Source {
                lines: text.lines().count(),
                code: code_of(&path, &text),
                path,
                text,
            });
        }
    }
}

/// Tests may use what they like: their files, and their modules at the end of a file, are left out.
fn code_of(path: &Path, text: &str) -> String {
    let is_test_file = path
        .components()
        .any(|part| part.as_os_str().to_string_lossy().trim_end_matches(".rs") == "tests");
    if is_test_file {
        return String::new();
    }
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end]
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}
