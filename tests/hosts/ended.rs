//! Instances whose agent has ended travel, too: with their conversation, their scrollback and their work.

use crate::pair::{Pair, Words};
use crate::portable::portable;
use crate::support::{Camp, Instance, Repository};

/// An agent that has had a turn, changed some files, and ended.
fn ended(pair: &Pair, repository: &Repository, title: &str, status: u8) -> Instance {
    let prompt = format!("remember the word {title}-word");
    let one = pair.here.start(repository, title, &["-p", &prompt]);
    one.wait_idle(&pair.here);
    let exit = format!("/exit {status}");
    drop(pair.biv(&["send", title, &exit]).run().ok());
    let state = if status == 0 { "completed" } else { "failed" };
    one.wait_for(&pair.here, "state", state);
    let work = pair.here.repository_at(&one.worktree);
    work.write(".gitignore", "ignored/\n");
    work.write("staged.txt", "staged\n");
    work.git(&["add", "."]);
    work.write("staged.txt", &format!("changed by {title}\n"));
    work.write("ignored/build.o", "build output\n");
    one
}

/// The conversation, and what the terminal showed.
fn told(camp: &Camp, id: &str) -> (String, String) {
    let log = camp.biv(["log", id, "--json"]).run().ok().stdout;
    let scrollback = camp.instances_dir().join(id).join("terminal/scrollback");
    let shown = std::fs::read_to_string(scrollback).unwrap_or_default();
    (log, shown)
}

#[test]
fn a_drain_leaves_none_of_them_behind_and_all_come_back() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    let ended = [
        ended(&pair, &repository, "done", 0),
        ended(&pair, &repository, "broken", 3),
    ];
    let before: Vec<String> = ended
        .iter()
        .map(|one| format!("{:?}", portable(&repository.path, &one.worktree)))
        .collect();
    let drained = pair.biv(&["drain", "--to", "far"]).with_json().run();
    let drained = drained.ok().json();
    assert_eq!(drained["moved"].as_array().unwrap().len(), 2, "{drained}");
    for one in &ended {
        assert_eq!(pair.here.show(one)["state"], "away");
        assert!(!one.worktree.exists());
    }
    let arrived = pair.there.list();
    assert_eq!(arrived.len(), 2);
    for one in &arrived {
        let shown = pair.there.show(one);
        assert_eq!(shown["state"], "paused", "{shown:#}");
        let word = format!("{}-word", one.title);
        let (log, scrollback) = told(&pair.there, &one.id);
        assert!(log.contains(&word), "{log}");
        assert!(scrollback.contains(&word), "{scrollback}");
    }
    // One of them goes on there, in its conversation.
    drop(pair.biv(&["resume", "far:done"]).run().ok());
    drop(pair.biv(&["send", "far:done", "and go on"]).run().ok());
    drop(pair.biv(&["wait", "far:done", "--for", "idle"]).run().ok());
    drop(pair.biv(&["drain", "far", "--to", "."]).run().ok());
    assert!(pair.there.list().is_empty());
    let (log, _) = told(&pair.here, &ended[0].id);
    assert!(
        log.contains("done-word") && log.contains("and go on"),
        "{log}"
    );
    drop(pair.biv(&["resume", "broken"]).run().ok());
    for (one, before) in ended.iter().zip(before) {
        let now = format!("{:?}", portable(&repository.path, &one.worktree));
        assert_eq!(now, before, "{}", one.title);
    }
}

#[test]
fn a_move_that_fails_keeps_it_here() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    let one = ended(&pair, &repository, "done", 0);
    let before = format!("{:?}", portable(&repository.path, &one.worktree));
    pair.cut_at(3, false);
    drop(pair.biv(&["move", "done", "far"]).run().fails(1));
    pair.mend();
    assert!(pair.there.list().is_empty());
    drop(pair.biv(&["resume", "done"]).run().ok());
    let now = format!("{:?}", portable(&repository.path, &one.worktree));
    assert_eq!(now, before);
}

#[test]
fn an_export_copies_it_and_changes_nothing() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    let one = ended(&pair, &repository, "broken", 3);
    let before = format!("{:?}", portable(&repository.path, &one.worktree));
    let file = pair.here.root().join("broken.biv");
    let export = [
        "export",
        "broken",
        "--plain",
        "--with-ignored",
        "--with-history",
        "-o",
    ];
    drop(pair.biv(&export).arg(&file).run().ok());
    assert_eq!(pair.here.show(&one)["state"], "failed");
    let now = format!("{:?}", portable(&repository.path, &one.worktree));
    assert_eq!(now, before);

    let target = pair.there.empty_repository("app");
    let import = pair.there.biv(["import", "--repo"]).arg(&target.path);
    drop(import.arg(&file).run().ok());
    let arrived = pair.there.list().pop().unwrap();
    assert_eq!(pair.there.show(&arrived)["state"], "paused");
    let (log, scrollback) = told(&pair.there, &arrived.id);
    assert!(log.contains("broken-word"), "{log}");
    assert!(scrollback.contains("broken-word"), "{scrollback}");
    drop(pair.there.biv(["resume", "broken"]).run().ok());
    let now = format!("{:?}", portable(&target.path, &arrived.worktree));
    assert_eq!(now, before);
}

#[test]
fn a_crash_while_it_is_put_away_loses_nothing() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    for (number, place) in [
        "pause:snapshot:after",
        "pause:close-session:after",
        "pause:free-worktree:after",
        "move:send:before",
    ]
    .into_iter()
    .enumerate()
    {
        let title = format!("one-{number}");
        let one = ended(&pair, &repository, &title, 0);
        let before = format!("{:?}", portable(&repository.path, &one.worktree));
        let crashed = pair.biv(&["move", &title, "far"]).crash_at(place).run();
        assert_eq!(crashed.status, None, "{place}: {crashed:?}");
        let state = pair.here.show(&one)["state"].clone();
        assert!(
            state == "completed" || state == "paused",
            "{place}: {state}"
        );
        drop(pair.biv(&["move", &title, "far"]).run().ok());
        drop(pair.biv(&["move", &title, "--take-back"]).run().ok());
        drop(pair.biv(&["resume", &title]).run().ok());
        let now = format!("{:?}", portable(&repository.path, &one.worktree));
        assert_eq!(now, before, "{place}");
        let (log, _) = told(&pair.here, &one.id);
        assert!(log.contains(&format!("{title}-word")), "{place}: {log}");
        pair.here.kill(&one);
    }
}
