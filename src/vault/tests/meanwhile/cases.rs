//! Which worktrees there are, and what happens to them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;

use super::super::states::Lab;
use super::model::{above, bytes};

/// Few names, so that both sides meet. `build` and `*.log` are ignored.
pub(super) const PATHS: &[&str] = &[
    "a",
    "b",
    "d",
    "d/a",
    "d/e/a",
    "build",
    "build/a",
    "build/d/a",
    "x.log",
    "x.log/a",
    "d/x.log",
    "n",
    "n/a",
    "l",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    File { text: u8, mode: u32 },
    Link(u8),
    Directory,
    Nested,
    Nothing,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Edit {
    pub(super) path: usize,
    pub(super) thing: Thing,
    pub(super) staged: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Stop,
    Keep,
    Markers,
}

/// What happens besides commits on the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Nothing,
    Rebased,
    Deleted,
    Renamed,
    Elsewhere,
    PathTaken,
    RepositoryMoved,
    MergeInProgress,
}

#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) base: Vec<Edit>,
    pub(super) mine: Vec<Edit>,
    pub(super) theirs: Vec<Edit>,
    pub(super) event: Event,
    pub(super) how: How,
    pub(super) thinned: bool,
    pub(super) collected: bool,
    pub(super) taken_back: bool,
}

pub(super) fn file() -> impl Strategy<Value = Thing> {
    (
        0_u8..10,
        prop::sample::select(vec![0o644, 0o755, 0o600, 0o444]),
    )
        .prop_map(|(text, mode)| Thing::File { text, mode })
}

pub(super) fn edits(
    thing: impl Strategy<Value = Thing>,
    most: usize,
) -> impl Strategy<Value = Vec<Edit>> {
    let edit = (0..PATHS.len(), thing, any::<bool>()).prop_map(|(path, thing, staged)| Edit {
        path,
        thing,
        staged,
    });
    prop::collection::vec(edit, 0..most)
}

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let tracked = || prop_oneof![4 => file(), 1 => (0_u8..4).prop_map(Thing::Link)];
    let mine = prop_oneof![
        5 => file(),
        1 => (0_u8..4).prop_map(Thing::Link),
        1 => Just(Thing::Directory),
        1 => Just(Thing::Nested),
        2 => Just(Thing::Nothing),
    ];
    let theirs = prop_oneof![
        5 => file(),
        1 => (0_u8..4).prop_map(Thing::Link),
        2 => Just(Thing::Nothing),
    ];
    let event = prop_oneof![
        8 => Just(Event::Nothing),
        1 => Just(Event::Rebased),
        1 => Just(Event::Deleted),
        1 => Just(Event::Renamed),
        1 => Just(Event::Elsewhere),
        1 => Just(Event::PathTaken),
        2 => Just(Event::RepositoryMoved),
        1 => Just(Event::MergeInProgress),
    ];
    let how = prop::sample::select(vec![How::Stop, How::Keep, How::Markers]);
    (
        edits(tracked(), 7),
        edits(mine, 7),
        edits(theirs, 5),
        event,
        how,
        any::<(bool, bool, bool)>(),
    )
        .prop_map(|(base, mine, theirs, event, how, flags)| Case {
            base,
            mine,
            theirs,
            event,
            how,
            thinned: flags.0,
            collected: flags.1,
            taken_back: flags.2,
        })
}

pub(super) fn number_of_cases() -> u32 {
    let asked = std::env::var("BIV_TEST_CASES").ok();
    let long = std::env::var_os("BIV_TEST_LONG").is_some();
    asked
        .and_then(|number| number.parse().ok())
        .unwrap_or(if long { 3000 } else { 32 })
}

/// Puts something at a path, whatever was there or above it.
pub(super) fn put(top: &Path, edit: &Edit, owner: &str) {
    let name = PATHS[edit.path];
    let path = top.join(name);
    for above in above(name.as_bytes()).iter().rev() {
        let dir = top.join(bytes(above));
        if std::fs::symlink_metadata(&dir).is_ok_and(|found| !found.is_dir()) {
            std::fs::remove_file(&dir).unwrap();
        }
    }
    match std::fs::symlink_metadata(&path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(&path).unwrap(),
        Ok(_) => std::fs::remove_file(&path).unwrap(),
        Err(_) => {}
    }
    if edit.thing == Thing::Nothing {
        return;
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    match edit.thing {
        Thing::File { text, mode } => {
            std::fs::write(&path, content(name, text, owner)).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        Thing::Link(target) => {
            let targets = ["a", "d", "../outside", "nowhere"];
            std::os::unix::fs::symlink(targets[usize::from(target)], &path).unwrap();
        }
        Thing::Directory => std::fs::create_dir(&path).unwrap(),
        Thing::Nested => {
            // Beside every checkout.
            copy(&top.parent().unwrap().join("empty"), &path);
            std::fs::write(path.join("inner"), format!("inner {name}\n")).unwrap();
        }
        Thing::Nothing => {}
    }
}

/// Nine lines of which one is the owner's, so that two sides merge or clash; sometimes no text at
/// all, and sometimes the same on both sides.
pub(super) fn content(name: &str, text: u8, owner: &str) -> Vec<u8> {
    let mut lines: Vec<String> = (0..9).map(|line| format!("{name} {line}")).collect();
    match text {
        8 => return [b"\0", owner.as_bytes(), name.as_bytes()].concat(),
        9 => lines[4] = format!("{name}, the same for all"),
        _ if owner == "base" => {}
        _ => lines[usize::from(text % 3) * 4] = format!("{owner} {name} {text}"),
    }
    (lines.join("\n") + "\n").into_bytes()
}

/// An empty repository.
pub(super) fn init(dir: &Path) {
    std::fs::create_dir_all(dir).unwrap();
    let lab = Lab {
        home: dir.to_owned(),
        main: dir.to_owned(),
        worktree: dir.to_owned(),
    };
    lab.git(&["init", "-q", "-b", "main", "--template="]);
    let config = dir.join(".git/config");
    let own = "[user]\nname = Tester\nemail = tester@example.com\n[gc]\nauto = 0\n";
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text + own).unwrap();
}

pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}
