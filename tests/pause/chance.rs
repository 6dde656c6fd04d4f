//! Random things that happen while an instance is paused, through the whole program. Each path has a
//! pair of what the instance has there and what the branch gets there, of which it is known whether
//! they fit; so each case has one outcome. (`vault::tests::meanwhile` has the same for thousands of
//! cases below the program.)

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::ground::{Ground, long, state};

/// What an instance has somewhere, what the branch gets there, and whether that is a conflict.
struct Pair {
    name: &'static str,
    mine: fn(&Path),
    theirs: fn(&Path),
    clashes: bool,
    /// Where the bytes of the instance are, below its worktree.
    bytes: &'static str,
    /// Whether a snapshot holds them.
    saved: bool,
}

/// No two of them touch the same path.
const PAIRS: &[Pair] = &[
    Pair {
        name: "an untracked file",
        mine: |dir| put(dir, "p0", "mine 0\n"),
        theirs: |_| {},
        clashes: false,
        bytes: "p0",
        saved: true,
    },
    Pair {
        name: "an untracked file that the branch adds",
        mine: |dir| put(dir, "p1", "mine 1\n"),
        theirs: |dir| put(dir, "p1", "theirs 1\n"),
        clashes: true,
        bytes: "p1",
        saved: true,
    },
    Pair {
        name: "an ignored directory, a file comes",
        mine: |dir| put(dir, "build/x", "mine 2\n"),
        theirs: |dir| put(dir, "build", "theirs 2\n"),
        clashes: true,
        bytes: "build/x",
        saved: false,
    },
    Pair {
        name: "an ignored file, a directory comes",
        mine: |dir| put(dir, "keep.log", "mine 3\n"),
        theirs: |dir| put(dir, "keep.log/x", "theirs 3\n"),
        clashes: true,
        bytes: "keep.log",
        saved: false,
    },
    Pair {
        name: "an ignored file, the same comes",
        mine: |dir| put(dir, "same.log", "mine 4\n"),
        theirs: |dir| put(dir, "same.log", "mine 4\n"),
        clashes: false,
        bytes: "same.log",
        saved: false,
    },
    Pair {
        name: "a changed file",
        mine: |dir| put(dir, "b.txt", "mine 5\n"),
        theirs: |_| {},
        clashes: false,
        bytes: "b.txt",
        saved: true,
    },
    Pair {
        name: "a changed file that the branch changes",
        mine: |dir| put(dir, "dir/c.txt", "mine 6\n"),
        theirs: |dir| put(dir, "dir/c.txt", "theirs 6\n"),
        clashes: true,
        bytes: "dir/c.txt",
        saved: true,
    },
    Pair {
        name: "a changed file that the branch deletes",
        mine: |dir| put(dir, "run.sh", "mine 7\n"),
        theirs: |dir| std::fs::remove_file(dir.join("run.sh")).unwrap(),
        clashes: true,
        bytes: "run.sh",
        saved: true,
    },
    Pair {
        name: "an untracked link that the branch has files below",
        mine: |dir| {
            put(dir, "p8-target/mine", "mine 8\n");
            std::os::unix::fs::symlink("p8-target", dir.join("p8")).unwrap();
        },
        theirs: |dir| put(dir, "p8/x", "theirs 8\n"),
        clashes: true,
        bytes: "p8-target/mine",
        saved: true,
    },
    Pair {
        name: "a nested repository, a file comes",
        mine: |dir| {
            put(dir, "p9/inner", "mine 9\n");
            put(dir, "p9/.git/HEAD", "ref: refs/heads/main\n");
            put(dir, "p9/.git/objects/x", "mine\n");
            put(dir, "p9/.git/refs/heads/.keep", "");
        },
        theirs: |dir| put(dir, "p9", "theirs 9\n"),
        clashes: true,
        bytes: "p9/inner",
        saved: false,
    },
    Pair {
        name: "an unchanged file, a directory comes",
        mine: |_| {},
        theirs: |dir| {
            std::fs::remove_file(dir.join("a.txt")).unwrap();
            put(dir, "a.txt/x", "theirs 10\n");
        },
        clashes: false,
        bytes: "own.txt",
        saved: true,
    },
    Pair {
        name: "something ignored beside what the branch deletes",
        mine: |dir| put(dir, "dir/sub/x.log", "mine 11\n"),
        theirs: |dir| std::fs::remove_file(dir.join("dir/sub/d.txt")).unwrap(),
        clashes: false,
        bytes: "dir/sub/x.log",
        saved: false,
    },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Nothing,
    Rebased,
    Deleted,
    Renamed,
    Elsewhere,
    PathTaken,
    RepositoryMoved,
}

#[derive(Debug, Clone)]
struct Case {
    pairs: Vec<usize>,
    event: Event,
    how: &'static str,
    thinned: bool,
    collected: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    let event = prop_oneof![
        6 => Just(Event::Nothing),
        1 => Just(Event::Rebased),
        1 => Just(Event::Deleted),
        1 => Just(Event::Renamed),
        1 => Just(Event::Elsewhere),
        1 => Just(Event::PathTaken),
        2 => Just(Event::RepositoryMoved),
    ];
    (
        prop::sample::subsequence((0..PAIRS.len()).collect::<Vec<_>>(), 0..4),
        event,
        prop::sample::select(vec!["stop", "keep", "markers"]),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(pairs, event, how, thinned, collected)| Case {
            pairs,
            event,
            how,
            thinned,
            collected,
        })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if long() { 200 } else { 12 },
        max_shrink_iters: 20,
        ..ProptestConfig::default()
    })]

    #[test]
    fn nothing_is_lost_whatever_happens_meanwhile(case in cases()) {
        try_out(&case);
    }
}

fn try_out(case: &Case) {
    let mut ground = Ground::made(&state("clean"));
    let pairs: Vec<&Pair> = case.pairs.iter().map(|number| &PAIRS[*number]).collect();
    for pair in &pairs {
        (pair.mine)(&ground.lab.worktree);
    }
    let before: Vec<Vec<u8>> = pairs
        .iter()
        .map(|pair| std::fs::read(ground.lab.at(pair.bytes)).unwrap())
        .collect();
    let pause: &[&str] = if case.thinned {
        &["pause", "--remove-worktree"]
    } else {
        &["pause"]
    };
    drop(ground.biv(pause).ok());
    let branch = ground.instance.branch.clone().unwrap();
    happen(&mut ground, case, &branch, &pairs);

    let directory = ground.lab.main.clone();
    let answer = ground
        .call(&["resume", "--on-conflict", case.how])
        .within(&directory)
        .run();
    let moves = !matches!(
        case.event,
        Event::Deleted | Event::Renamed | Event::Elsewhere
    );
    let clashes = moves && pairs.iter().any(|pair| pair.clashes);
    let status = match (case.event, case.how) {
        (Event::Elsewhere | Event::PathTaken, _) => 1,
        (_, "stop") if clashes => 6,
        _ => 0,
    };
    assert_eq!(answer.status, Some(status), "{}", answer.said());
    if status != 0 {
        assert_eq!(ground.state(), "paused");
        clear(&ground, case);
        // Kept, it is as it was; the branch stays what it is.
        let again = ground.call(&["resume", "--on-conflict", "keep"]);
        let again = again.within(&directory).run().ok();
        has_every_byte(&ground, &pairs, &before, &again.stderr);
    } else {
        has_every_byte(&ground, &pairs, &before, &answer.stderr);
    }
    let kept = clashes && (case.how == "keep" || status != 0);
    let shown = ground.show();
    let expected = if kept {
        format!("{branch}-kept")
    } else {
        branch
    };
    assert_eq!(shown["branch"], expected.as_str());
    if kept {
        for (pair, bytes) in pairs.iter().zip(&before) {
            let now = std::fs::read(ground.lab.at(pair.bytes)).unwrap_or_default();
            assert_eq!(now, *bytes, "{}", pair.name);
        }
    }
    assert_eq!(ground.unrest(), Vec::<String>::new());
}

fn happen(ground: &mut Ground, case: &Case, branch: &str, pairs: &[&Pair]) {
    let lab = &ground.lab;
    let git = |args: &[&str]| lab.git_in(&lab.main, args);
    match case.event {
        Event::Deleted => drop(git(&["branch", "-q", "-D", branch])),
        Event::Renamed => drop(git(&["branch", "-q", "-m", branch, "renamed"])),
        Event::Elsewhere => drop(git(&["checkout", "-q", branch])),
        _ => {
            let elsewhere = lab.home.join("elsewhere");
            let path = elsewhere.to_str().unwrap();
            git(&["worktree", "add", "-q", path, branch]);
            for pair in pairs {
                (pair.theirs)(&elsewhere);
            }
            lab.git_in(&elsewhere, &["add", "-A", "-f", "."]);
            let mut commit = vec!["commit", "-q", "--allow-empty", "-m", "theirs"];
            if case.event == Event::Rebased {
                commit.push("--amend");
            }
            lab.git_in(&elsewhere, &commit);
            git(&["worktree", "remove", "--force", path]);
        }
    }
    match case.event {
        Event::PathTaken => std::fs::write(&lab.worktree, "somebody's").unwrap(),
        Event::RepositoryMoved => {
            let new = lab.home.join("moved");
            std::fs::rename(&lab.main, &new).unwrap();
            ground.lab.main = new;
        }
        _ => {}
    }
    if case.collected {
        let lab = &ground.lab;
        lab.git_in(&lab.main, &["reflog", "expire", "--expire=now", "--all"]);
        lab.git_in(&lab.main, &["gc", "-q", "--prune=now"]);
    }
}

/// Takes away what stood in the way of the worktree as a whole.
fn clear(ground: &Ground, case: &Case) {
    match case.event {
        Event::PathTaken => {
            let there = std::fs::read_to_string(&ground.lab.worktree).unwrap();
            assert_eq!(there, "somebody's");
            std::fs::remove_file(&ground.lab.worktree).unwrap();
        }
        Event::Elsewhere => {
            let main = &ground.lab.main;
            drop(ground.lab.git_in(main, &["checkout", "-q", "main"]));
        }
        _ => {}
    }
}

/// In the worktree, under a name that was said, or in the vault where it was saved there.
fn has_every_byte(ground: &Ground, pairs: &[&Pair], before: &[Vec<u8>], said: &str) {
    for (pair, bytes) in pairs.iter().zip(before) {
        let mut places = vec![PathBuf::from(pair.bytes)];
        // `x was in the way and is now y`
        for line in said.lines() {
            if let Some((path, to)) = line.split_once(" was in the way and is now ")
                && let Ok(rest) = Path::new(pair.bytes).strip_prefix(path.trim())
            {
                let to = PathBuf::from(to.trim());
                places.push(if rest.as_os_str().is_empty() {
                    to
                } else {
                    to.join(rest)
                });
            }
        }
        let in_worktree = places.iter().any(|place| {
            std::fs::read(ground.lab.worktree.join(place)).is_ok_and(|found| found == *bytes)
        });
        let within_markers = || {
            let text = String::from_utf8_lossy(bytes).into_owned();
            std::fs::read_to_string(ground.lab.at(pair.bytes))
                .is_ok_and(|found| found.contains("<<<<<<<") && found.contains(&text))
        };
        let in_vault = || pair.saved && is_in_vault(ground, bytes);
        assert!(
            in_worktree || within_markers() || in_vault(),
            "{} is lost: {said}",
            pair.name
        );
    }
}

fn is_in_vault(ground: &Ground, bytes: &[u8]) -> bool {
    let scratch = ground.lab.home.join("bytes");
    std::fs::write(&scratch, bytes).unwrap();
    let path = scratch.to_str().unwrap();
    let main = &ground.lab.main;
    let id = ground
        .lab
        .git_in(main, &["hash-object", "--no-filters", path]);
    let vault = ground.parking().join("vault");
    let found = std::process::Command::new("git")
        .arg("--git-dir")
        .arg(vault)
        .args(["cat-file", "-e", &id])
        .status()
        .unwrap();
    found.success()
}

fn put(dir: &Path, path: &str, content: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}
