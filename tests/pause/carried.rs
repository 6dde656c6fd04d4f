//! Every nasty state goes to another home, another clone and another path, and is the same there.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::crowd;
use crate::ground::{Ground, camp, differing, long, states};
use crate::portable::portable;
use crate::states::{State, raw_git};

const WAYS: [(&str, &[&str]); 2] = [("parked", &[]), ("thinned", &["--remove-worktree"])];

/// States of which a part cannot travel. The export says it, and only lines with these words may differ.
const SAID: &[(&str, &[&str])] = &[
    ("modes", &["path suid", "suid"]),
    ("fifo-and-socket", &["path pipe", "path socket", "path "]),
    ("hard-links", &["path shared"]),
    ("nested-worktree", &["path ", "status: "]),
    ("submodule", SUBMODULE),
    ("submodule-not-initialised", SUBMODULE),
    ("submodule-dirty", SUBMODULE),
    ("submodule-staged", SUBMODULE),
    ("reftable", &["log: ", "admin "]),
    ("reftable-rebase", &["log: ", "admin "]),
    ("reftable-own-refs", &["log: ", "admin "]),
    ("sparse-checkout", SPARSE),
    ("sparse-no-cone", SPARSE),
    ("sparse-index", SPARSE),
    ("worktree-config", &["admin config.worktree"]),
];

const SUBMODULE: &[&str] = &["path ", "admin modules/", "status: ", "submodules: "];
const SPARSE: &[&str] = &["admin config.worktree", "status: ", "entries: ", "flags: "];

/// What git makes of the same files and entries by itself: a split index is written whole, and a file that git
/// has not looked at yet is filtered when it does.
const BY_GIT: &[(&str, &str)] = &[("split-index", "flags: "), ("filter-broken", "status: ")];

/// The repository at another place, without anything that only the instance has.
fn clone_of(ground: &Ground, directory: &Path) -> PathBuf {
    let main = directory.join("another/repository");
    std::fs::create_dir_all(main.parent().unwrap()).unwrap();
    let copied = Command::new("cp")
        .arg("-a")
        .args([&ground.lab.main, &main])
        .status()
        .unwrap();
    assert!(copied.success());
    let common = ground.lab.git_in(&main, &["rev-parse", "--git-common-dir"]);
    let common = main.join(common);
    for name in ["worktrees", "bivouac"] {
        drop(std::fs::remove_dir_all(common.join(name)));
    }
    for reference in ground
        .lab
        .git_in(&main, &["for-each-ref", "--format=%(refname)"])
        .lines()
        .filter(|name| name.starts_with("refs/bivouac") || *name == "refs/heads/work")
    {
        ground.lab.git_in(&main, &["update-ref", "-d", reference]);
    }
    for args in [
        &[
            "reflog",
            "expire",
            "--all",
            "--expire=now",
            "--expire-unreachable=now",
        ][..],
        &["gc", "-q", "--prune=now"],
    ] {
        drop(raw_git(&main, args));
    }
    main
}

fn travel(state: &State, way: &[&str]) -> Vec<String> {
    let ground = Ground::adopted(state);
    let before = portable(&ground.lab.main, &ground.lab.worktree);
    drop(ground.biv(&[&["pause"], way].concat()).ok());
    let directory = tempfile::tempdir_in(crate::support::mount::scratch()).unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let file = directory.join("export");
    let file = file.to_str().unwrap();
    let exported = ground.biv(&["export", "-o", file, "--plain", "--with-ignored", "--json"]);
    if exported.status != Some(0) {
        return vec![format!("export: {}", exported.stdout)];
    }
    let exported = exported.json();
    let main = clone_of(&ground, &directory);
    let worktree = directory.join("there/wt");
    let elsewhere = camp();
    let arrived = elsewhere
        .biv(["import", file, "--json", "--with-nested", "--repo"])
        .arg(&main)
        .arg("--at")
        .arg(&worktree)
        .run();
    if arrived.status != Some(0) {
        return vec![format!("import: {}", arrived.stdout)];
    }
    let arrived = arrived.json();
    assert_eq!(arrived["manifest"], exported["manifest"]);
    assert_eq!(arrived["instance"]["state"], "paused");
    let id = arrived["instance"]["id"].as_str().unwrap();
    let resumed = elsewhere.biv(["resume", id]).run();
    if resumed.status != Some(0) {
        return vec![format!("resume: {}", resumed.said())];
    }
    let now = portable(&main, &worktree);
    drop(elsewhere.biv(["kill", "--yes", id]).run());
    unsaid(state, &exported, differing(&before, &now))
}

/// What differs although nothing was said of it.
fn unsaid(state: &State, exported: &Value, mut differing: Vec<String>) -> Vec<String> {
    differing.retain(|line| {
        let known =
            |(name, word): &(&str, &str)| *name == state.name && line[2..].starts_with(word);
        !BY_GIT.iter().any(known)
    });
    if let Some((_, words)) = SAID.iter().find(|(name, _)| *name == state.name) {
        assert!(
            exported["left"]
                .as_array()
                .is_some_and(|left| !left.is_empty()),
            "{}: nothing was said",
            state.name
        );
        differing.retain(|line| !words.iter().any(|word| line[2..].starts_with(word)));
    }
    differing
}

#[test]
fn every_state_is_the_same_in_another_home_and_clone() {
    let states: Vec<(usize, State)> = states().into_iter().enumerate().collect();
    // Both ways where there is time, else one after the other.
    let results = crowd::each(&states, |(number, state)| {
        WAYS.iter()
            .enumerate()
            .filter(|(way, _)| long() || way % 2 == number % 2)
            .map(|(_, (name, way))| (*name, travel(state, way)))
            .collect::<Vec<_>>()
    });
    let mut failures = Vec::new();
    for ((_, state), result) in states.iter().zip(results) {
        match result {
            Ok(ways) => failures.extend(
                ways.into_iter()
                    .filter(|(_, wrong)| !wrong.is_empty())
                    .map(|(way, wrong)| format!("{} {way}: {}", state.name, wrong.join("\n    "))),
            ),
            Err(panic) => failures.push(format!("{}: {panic}", state.name)),
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
