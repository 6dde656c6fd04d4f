//! `biv move`: an instance goes to the other machine, works there, and comes back.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::pair::{Pair, Words};
use crate::portable::portable;
use crate::support::{Camp, Instance, until};

/// The main repository of a worktree.
fn main_of(camp: &Camp, worktree: &Path) -> PathBuf {
    let common = camp.repository_at(worktree).git(&[
        "rev-parse",
        "--path-format=absolute",
        "--git-common-dir",
    ]);
    let common = PathBuf::from(common.trim());
    match common.file_name() {
        Some(name) if name == ".git" => common.parent().unwrap().to_owned(),
        _ => common,
    }
}

/// A rebase that stopped at a conflict, a dirty index, and files of all kinds.
fn make_a_mess(camp: &Camp, worktree: &Path) {
    let work = camp.repository_at(worktree);
    work.write(".gitignore", "ignored/\n*.log\n");
    work.write("src/lib.rs", "ours\n");
    work.commit("ours");
    work.git(&["checkout", "-q", "-b", "aside", "HEAD~1"]);
    work.write("src/lib.rs", "theirs\n");
    work.commit("theirs");
    work.git(&["checkout", "-q", "-"]);
    assert!(!work.try_git(&["rebase", "-q", "aside"]).status.success());
    work.write("staged.txt", "staged\n");
    work.git(&["add", "staged.txt"]);
    work.write("staged.txt", "and changed\n");
    work.write("untracked.txt", "untracked\n");
    work.write("ignored/build.o", "build output\n");
    work.write("run.log", "a log\n");
}

fn text_of(camp: &Camp, instance: &Instance) -> String {
    let log = camp.biv(["log", &instance.id, "--json"]).run().ok();
    log.stdout
}

fn moved(pair: &Pair, words: &[&str]) -> Value {
    pair.biv(words).with_json().run().ok().json()
}

#[test]
fn it_goes_there_in_the_middle_of_a_rebase_works_there_and_comes_back() {
    let pair = Pair::new(Words::Joined);
    let repository = pair.here.repository("app");
    let one = pair
        .here
        .start(&repository, "one", &["-p", "remember the number 7"]);
    one.wait_idle(&pair.here);
    make_a_mess(&pair.here, &one.worktree);
    let before = portable(&repository.path, &one.worktree);
    let told = text_of(&pair.here, &one);
    assert!(told.contains("the number 7"), "{told}");

    let answer = moved(&pair, &["move", "one", "far"]);
    let names: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "already", "bytes", "host", "instance", "lease", "left", "notes", "resumed", "trouble"
        ]
    );
    assert_eq!(answer["host"], "far", "{answer}");
    assert_eq!(answer["resumed"], true, "{answer}");
    let shown = pair.here.show(&one);
    assert_eq!(shown["state"], "away");
    assert_eq!(shown["away"]["host"], "far");
    assert!(!one.worktree.exists());

    let there = pair.biv(&["show", "far:one", "--json"]).run().ok().json();
    assert_eq!(there["state"], "running");
    let there = Instance::from_json(&there);
    assert_eq!(there.id, one.id);
    assert!(there.worktree.starts_with(pair.there.root()));
    let main = main_of(&pair.there, &there.worktree);
    assert_eq!(portable(&main, &there.worktree), before);
    assert_eq!(text_of(&pair.there, &there), told);
    let seen = pair.biv(&["peek", "far:one", "-n", "200"]).run().ok();
    assert!(seen.stdout.contains("the number 7"), "{seen:?}");

    // It works there.
    drop(
        pair.biv(&["send", "far:one", "and the number 8"])
            .run()
            .ok(),
    );
    there.wait_idle(&pair.there);
    let work = pair.there.repository_at(&there.worktree);
    work.write("src/lib.rs", "both\n");
    work.git(&["add", "src/lib.rs", "staged.txt"]);
    work.git(&["-c", "core.editor=true", "rebase", "--continue"]);
    work.write("untracked.txt", "changed there\n");
    let after = portable(&main, &there.worktree);
    let told = text_of(&pair.there, &there);
    assert!(told.contains("the number 8"), "{told}");

    let answer = moved(&pair, &["move", "one", "--take-back"]);
    assert_eq!(answer["host"], Value::Null, "{answer}");
    assert_eq!(answer["resumed"], true, "{answer}");
    let back = Instance::from_json(&pair.here.show(&one));
    assert_eq!(back.worktree, one.worktree);
    assert_eq!(portable(&repository.path, &back.worktree), after);
    assert_eq!(text_of(&pair.here, &back), told);
    let seen = pair.biv(&["peek", "one", "-n", "200"]).run().ok();
    assert!(seen.stdout.contains("the number 7"), "{seen:?}");
    assert!(seen.stdout.contains("the number 8"), "{seen:?}");
    assert!(pair.there.list().is_empty());
    let gone = pair.biv(&["resume", "far:one"]).run().fails(4);
    assert!(gone.stderr.contains("another machine"), "{gone:?}");

    // And there once more, into the record that it has there.
    let answer = moved(&pair, &["move", "one", "far"]);
    assert_eq!(answer["resumed"], true, "{answer}");
    let again = pair.biv(&["show", "far:one", "--json"]).run().ok().json();
    let again = Instance::from_json(&again);
    assert_eq!(again.id, one.id);
    assert_eq!(portable(&main, &again.worktree), after);
    until("both prompts are known there", || {
        again.prompts(&pair.there).len() == 2
    });
}

#[test]
fn one_that_is_away_is_refused_with_the_name_of_its_host() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    let one = pair.here.start_shell(&repository, "one", "exec sleep 600");
    drop(pair.biv(&["move", "one", "far"]).run().ok());
    for words in [
        &["send", "one", "hello"][..],
        &["queue", "one", "hello"],
        &["answer", "one", "1"],
        &["exec", "one", "--", "true"],
        &["open", "one"],
        &["path", "one"],
        &["peek", "one"],
        &["diff", "one"],
        &["pause", "one"],
        &["resume", "one"],
        &["restart", "-y", "one"],
        &["kill", "-y", "one"],
        &["rename", "one", "two"],
        &["timeout", "one", "5m"],
        &["autoyes", "one", "on"],
        &["land", "one"],
        &["push", "one"],
        &["export", "one", "-o", "/dev/null", "--plain"],
        &["move", "one", "near"],
    ] {
        if words.contains(&"near") {
            pair.add("near", Words::Exact, "");
        }
        let refused = pair.biv(words).run().fails(4);
        assert!(
            refused.stderr.contains("`one` is on the host `far`"),
            "{words:?}: {refused:?}"
        );
        assert!(refused.stderr.contains("far:one"), "{words:?}: {refused:?}");
        let spoken = [&words[..1], &["--json"], &words[1..]].concat();
        let json = pair.biv(&spoken).run().fails(4).error();
        assert_eq!(json["code"], "away", "{words:?}");
    }
    // All means all that are here.
    drop(pair.biv(&["kill", "-y", "--all"]).run().ok());
    assert_eq!(pair.here.show(&one)["state"], "away");
    assert_eq!(
        pair.biv(&["show", "far:one", "--json"]).run().ok().json()["state"],
        "running"
    );
    // What is known of it here can still be looked at.
    drop(pair.biv(&["log", "one"]).run().ok());
    let listed = pair.biv(&["list", "--local"]).run().ok().stdout;
    assert!(listed.contains("→ far"), "{listed}");
    let everywhere = pair.biv(&["list"]).run().ok().stdout;
    assert!(everywhere.contains("far:one"), "{everywhere}");
    assert!(!everywhere.contains("→ far"), "one row: {everywhere}");
    // Its name there is enough to bring it back.
    drop(pair.biv(&["move", "far:one", "."]).run().ok());
    assert_eq!(pair.here.show(&one)["state"], "running");
    let already = pair.biv(&["move", "one", "--take-back"]).run().ok();
    assert!(already.stdout.contains("is here"), "{already:?}");
}

/// Without the host nobody could bring it back.
#[test]
fn a_host_that_has_instances_is_not_forgotten_and_show_says_who_has_them() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    let one = pair.here.start_shell(&repository, "one", "exec sleep 600");
    let told = |name: &str| {
        let shown = pair.biv(&["show", name]).run().ok().stdout;
        let line = shown.lines().find(|line| line.starts_with("  lease"));
        line.map(|line| {
            line.split_whitespace()
                .skip(1)
                .collect::<Vec<_>>()
                .join(" ")
        })
    };
    assert_eq!(told("one"), None);
    assert_eq!(pair.here.show(&one)["lease"], Value::Null);
    drop(pair.biv(&["move", "one", "far"]).run().ok());
    assert_eq!(told("one").unwrap(), "number 1: the host `far` has it");
    assert_eq!(told("far:one").unwrap(), "number 1: this machine has it");
    assert_eq!(pair.here.show(&one)["lease"], 1);

    let refused = pair.biv(&["host", "remove", "far"]).run().fails(4);
    assert!(refused.stderr.contains("`one`"), "{refused:?}");
    assert!(
        refused.stderr.contains("biv drain far --to ."),
        "{refused:?}"
    );
    drop(pair.biv(&["move", "one", "--take-back"]).run().ok());
    assert_eq!(told("one").unwrap(), "number 2: this machine has it");
    drop(pair.biv(&["host", "remove", "far"]).run().ok());

    // By force it is forgotten, and known again by the same name.
    pair.add("far", Words::Exact, "");
    drop(pair.biv(&["move", "one", "far"]).run().ok());
    drop(pair.biv(&["host", "remove", "far", "--force"]).run().ok());
    drop(pair.biv(&["move", "one", "--take-back"]).run().fails(3));
    pair.add("far", Words::Exact, "");
    drop(pair.biv(&["move", "one", "--take-back"]).run().ok());
    assert_eq!(pair.here.show(&one)["state"], "running");
}

/// What does not come along is nowhere else: it is kept on the side that it stayed on, and named.
#[test]
fn ignored_files_that_were_not_sent_are_kept_on_both_sides() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    let one = pair.here.start_shell(&repository, "one", "exec sleep 600");
    let work = pair.here.repository_at(&one.worktree);
    work.write(".gitignore", "*.env\n");
    work.write("here.env", "KEY=1\n");
    let words = ["move", "one", "far", "--without-ignored"];
    let sent = pair.biv(&words).run().ok().stderr;
    assert!(sent.contains("1 ignored files"), "{sent}");
    let there = pair.biv(&["show", "far:one", "--json"]).run().ok().json();
    let there = Instance::from_json(&there);
    pair.there
        .repository_at(&there.worktree)
        .write("there.env", "KEY=2\n");
    let words = ["move", "one", "--take-back", "--without-ignored"];
    let back = pair.biv(&words).run().ok().stderr;
    assert!(back.contains("stays there: .: 1 ignored files"), "{back}");
    let (_, kept) = back.split_once("is kept in ").expect(&back);
    let kept = Path::new(kept.split(' ').next().unwrap());
    let text = std::fs::read_to_string(kept.join("here.env")).unwrap();
    assert_eq!(text, "KEY=1\n");
    // Time lets go neither of them.
    for camp in [&pair.here, &pair.there] {
        let settings = camp.home().join("config/config.toml");
        let before = std::fs::read_to_string(&settings).unwrap_or_default();
        let soon = "\n[snapshots]\nkeep = \"1s\"\npark = \"1s\"\n";
        std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
        std::fs::write(&settings, before + soon).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1100));
        drop(camp.biv(["gc"]).run().ok());
    }
    assert!(kept.join("here.env").exists());
    let trace = pair
        .there
        .biv(["list", "--local", "--state", "away", "--json"]);
    let trace = trace.run().ok().json();
    assert_eq!(trace["instances"][0]["title"], "one", "{trace}");
}

/// A worktree that the user made is still the user's after a journey: `kill` leaves it where it is.
#[test]
fn an_adopted_worktree_comes_back_as_an_adopted_one() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    let own = repository.path.with_file_name("own");
    let path = own.display().to_string();
    repository.git(&["worktree", "add", "-q", "-b", "own", &path]);
    pair.here
        .repository_at(&own)
        .write("untracked.txt", "before\n");
    let adopt = ["adopt", &path, "own", "-a", "shell", "--", "sleep", "600"];
    drop(pair.biv(&adopt).run().ok());
    drop(pair.biv(&["move", "own", "far"]).run().ok());
    assert!(!own.exists(), "it is put away while it is there");
    drop(pair.biv(&["move", "own", "--take-back"]).run().ok());
    let untracked = || std::fs::read_to_string(own.join("untracked.txt"));
    assert_eq!(untracked().unwrap(), "before\n");
    drop(pair.biv(&["kill", "-y", "own"]).run().ok());
    assert_eq!(untracked().unwrap(), "before\n");
}

#[test]
fn what_would_fail_there_is_said_before_it_is_stopped_here() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    let one = pair.here.start_shell(&repository, "one", "exec sleep 600");
    let processes = one.processes().len();
    pair.cut();
    let refused = pair.biv(&["move", "one", "far"]).run().fails(1);
    assert!(refused.stderr.contains("cannot be reached"), "{refused:?}");
    let unknown = pair.biv(&["move", "one", "nowhere"]).run().fails(3);
    assert!(unknown.stderr.contains("no host `nowhere`"), "{unknown:?}");
    assert_eq!(pair.here.show(&one)["state"], "running");
    assert_eq!(one.processes().len(), processes);
    assert!(pair.here.show(&one)["paused_at"].is_null());
}

/// A prompt that is queued while it is sent must not stay behind.
#[test]
fn what_is_queued_while_it_is_sent_stops_the_move() {
    let pair = Pair::strangers();
    let here = pair.here.environment();
    let biv = env!("CARGO_BIN_EXE_biv");
    let variables: Vec<String> = here
        .iter()
        .map(|(name, value)| format!("'{name}={value}'"))
        .collect();
    // The link queues a prompt here, once, while the instance is sent: its words are hexadecimal.
    let arrive: String = b"__arrive"
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let done = pair.here.root().join("queued");
    let first = format!(
        "case \"$*\" in *{arrive}*) [ -e '{0}' ] || env -i {1} '{biv}' queue one meanwhile > '{0}' < /dev/null ;; esac",
        done.display(),
        variables.join(" ")
    );
    pair.add("far", Words::Exact, &first);
    let repository = pair.here.repository("app");
    let one = pair.here.start(&repository, "one", &[]);
    one.wait_idle(&pair.here);
    drop(pair.biv(&["pause", "one"]).run().ok());
    let call = pair.biv(&["move", "one", "far", "--no-resume"]).run();
    let queued = |camp: &Camp| {
        let queue = camp.biv(["queue", "one", "--json"]).run().ok().json();
        queue["entries"].to_string().contains("meanwhile")
    };
    let call = call.fails(1);
    assert!(call.stderr.contains("has changed"), "{call:?}");
    assert!(queued(&pair.here));
    assert_eq!(pair.here.show(&one)["state"], "paused");
    drop(pair.biv(&["move", "one", "far", "--no-resume"]).run().ok());
    assert!(queued(&pair.there));
}
