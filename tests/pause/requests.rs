//! What is asked of a pause or a resume, and what is answered.

use std::os::unix::fs::PermissionsExt;

use crate::ground::{Ground, camp, state};
use crate::support::{Camp, until};

fn events(camp: &Camp) -> Vec<String> {
    let text = std::fs::read_to_string(camp.home().join("state/events.jsonl")).unwrap_or_default();
    text.lines()
        .map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            event["type"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn asking_for_what_already_is_changes_nothing() {
    let ground = Ground::made(&state("mixed"));
    let before = (events(&ground.camp), ground.record());
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(before, (events(&ground.camp), ground.record()));
    drop(ground.biv(&["pause"]).ok());
    let before = (events(&ground.camp), ground.record());
    let answer = ground.biv(&["pause"]).ok();
    assert!(
        answer.said().contains("paused already"),
        "{}",
        answer.said()
    );
    assert_eq!(before, (events(&ground.camp), ground.record()));
    assert_eq!(ground.losses(&["paused"]), Vec::<String>::new());
}

#[test]
fn each_change_is_told_once_and_in_order() {
    let ground = Ground::made(&state("clean"));
    drop(ground.biv(&["pause", "--reason", "idle"]).ok());
    assert_eq!(ground.show()["pause"]["reason"], "idle");
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(
        events(&ground.camp),
        [
            "instance:created",
            "instance:running",
            "instance:pausing",
            "instance:paused",
            "instance:resuming",
            "instance:resumed",
        ]
    );
}

#[test]
fn what_has_ended_cannot_be_paused() {
    let camp = camp();
    let repository = camp.repository("app");
    let instance = camp.start_shell(&repository, "t", "true");
    instance.wait_for(&camp, "state", "completed");
    let answer = camp.biv(["pause", &instance.id]).run().fails(4);
    assert!(answer.said().contains("completed"), "{}", answer.said());
    assert!(answer.said().contains("hint: "), "{}", answer.said());
}

#[test]
fn a_session_that_its_agent_does_not_know_any_more_is_not_resumed() {
    let camp = camp();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "t", &["-p", "/print hello"]);
    instance.wait_screen(&camp, "hello");
    instance.wait_idle(&camp);
    repository
        .seen_from(&instance.worktree)
        .write("work", "mine\n");
    drop(camp.biv(["pause", &instance.id]).run().ok());
    let session = camp
        .home()
        .join("state/demo")
        .join(instance.session_ref.as_deref().unwrap());
    // The file is there, but it is no conversation of this agent any more.
    std::fs::write(session.with_extension("jsonl"), "").unwrap();
    std::fs::remove_file(session.with_extension("jsonl")).unwrap();
    let resumed = camp.biv(["resume", "--json", &instance.id]).run();
    if resumed.status == Some(0) {
        // Nothing was ever said under this reference, as far as anyone can tell.
        assert_eq!(camp.show(&instance)["state"], "running");
    } else {
        let resumed = resumed.fails(5);
        let error = resumed.error();
        for key in [
            "instance",
            "run_id",
            "provider",
            "provider_session_ref",
            "reason",
        ] {
            assert!(!error["details"][key].is_null(), "{key} in {error}");
        }
        assert!(
            error["hint"].as_str().unwrap().contains("biv restart"),
            "{error}"
        );
        assert_eq!(camp.show(&instance)["state"], "paused");
        assert_eq!(instance.processes().len(), 0);
    }
    let file = instance.worktree.join("work");
    drop(camp.biv(["restart", "-y", &instance.id]).run().ok());
    assert_eq!(std::fs::read_to_string(file).unwrap(), "mine\n");
}

/// An agent of the user's own whose program refuses to resume, and later is not there at all.
#[test]
fn an_agent_that_cannot_come_back_leaves_a_paused_instance() {
    let camp = camp();
    let repository = camp.repository("app");
    let program = camp.root().join("agent");
    let script = "#!/bin/sh\ncase \"$*\" in *--resume*) echo No conversation found with session ID; exit 1;; esac\n\
                  echo ready; exec sleep 100000\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = std::fs::read_to_string(camp.home().join("config/agents/still.toml")).unwrap();
    let text = text
        .replace("[\"{shell}\"]", &format!("[\"{}\"]", program.display()))
        .replace("command_from_args = true\n", "")
        .replace(
            "reference = \"none\"\nstrategy = \"replay\"",
            "reference = \"assigned\"\nfresh = [\"--session-id\", \"{session}\"]\nstrategy = \"native\"\nresume = [\"--resume\", \"{session}\"]\nunknown = ['^No conversation found']",
        );
    std::fs::write(camp.home().join("config/agents/forgetful.toml"), text).unwrap();
    let path = repository.path.to_str().unwrap();
    let call = camp.biv(["new", "--json", "t", "-a", "forgetful", "--repo", path]);
    let instance = crate::support::Instance::from_json(&call.run().ok().json());
    repository
        .seen_from(&instance.worktree)
        .write("work", "mine\n");

    drop(camp.biv(["pause", &instance.id]).run().ok());
    let answer = camp.biv(["resume", "--json", &instance.id]).run().fails(5);
    let error = answer.error();
    assert_eq!(error["details"]["provider"], "forgetful", "{error}");
    assert!(
        error["hint"].as_str().unwrap().contains("biv restart"),
        "{error}"
    );
    assert_eq!(camp.show(&instance)["state"], "paused");
    assert_eq!(instance.processes().len(), 0);
    assert_eq!(crate::rest::unrest(&camp, &instance), Vec::<String>::new());

    let away = camp.root().join("uninstalled");
    std::fs::rename(&program, &away).unwrap();
    let answer = camp.biv(["resume", &instance.id]).run();
    assert_ne!(answer.status, Some(0));
    assert!(answer.said().contains("agent"), "{}", answer.said());
    assert_eq!(camp.show(&instance)["state"], "paused");
    std::fs::rename(&away, &program).unwrap();

    drop(camp.biv(["restart", "-y", &instance.id]).run().ok());
    until("the fresh agent runs", || instance.processes().len() == 1);
    let work = std::fs::read_to_string(instance.worktree.join("work")).unwrap();
    assert_eq!(work, "mine\n");
}

#[test]
fn a_restart_links_its_runs() {
    let ground = Ground::made(&state("mixed"));
    drop(ground.biv(&["restart", "-y"]).ok());
    drop(ground.biv(&["pause"]).ok());
    drop(ground.biv(&["restart", "-y"]).ok());
    let runs = ground.call(&["runs", "--json"]).run().ok().json();
    let runs = runs["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for pair in runs.windows(2) {
        assert_eq!(pair[0]["superseded_by_run_id"], pair[1]["run_id"]);
        assert_eq!(pair[1]["restart_of_run_id"], pair[0]["run_id"]);
    }
    assert_eq!(ground.show()["run_id"], runs[2]["run_id"]);
    assert_eq!(ground.losses(&["running"]), Vec::<String>::new());
}

#[test]
fn the_users_own_world_is_untouched() {
    let ground = Ground::adopted(&state("hooks"));
    let stash = |ground: &Ground| ground.lab.git_in(&ground.lab.main, &["stash", "list"]);
    let before = (ground.surroundings(), stash(&ground));
    drop(ground.biv(&["pause"]).ok());
    assert_eq!(before, (ground.surroundings(), stash(&ground)));
    drop(ground.biv(&["resume"]).ok());
    drop(ground.biv(&["restart", "-y"]).ok());
    assert_eq!(ground.losses(&["running"]), Vec::<String>::new());
}

/// Paused before its first turn, an agent has nothing to resume; it is there again all the same.
#[test]
fn an_agent_without_a_turn_goes_on_after_a_pause_that_was_cut_off() {
    let camp = camp();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "t", &[]);
    instance.wait_idle(&camp);
    let call = camp.biv(["pause", &instance.id]);
    drop(call.crash_at("pause:snapshot:after").run().crashed());
    drop(camp.biv(["list"]).run().ok());
    instance.wait_idle(&camp);
    assert_eq!(camp.show(&instance)["state"], "running");
    assert_eq!(instance.processes().len(), 1);
}

/// An operation that cannot come to its end is shown with the reason, and goes on once that is gone.
#[test]
fn a_pause_that_cannot_go_on_can_be_looked_at() {
    let ground = Ground::made(&state("mixed"));
    let call = ground.call(&["pause"]);
    drop(call.crash_at("pause:close-session:after").run().crashed());
    let parking = ground.lab.main.join(".git/bivouac");
    let aside = ground.lab.main.join(".git/bivouac-aside");
    if parking.exists() {
        std::fs::rename(&parking, &aside).unwrap();
    }
    std::fs::write(&parking, "in the way").unwrap();
    let shown = ground.show();
    assert_eq!(shown["state"], "pausing");
    let told = shown["stuck"].as_str().unwrap();
    assert!(told.contains("free-worktree"), "{told}");
    assert!(told.contains("bivouac"), "{told}");
    std::fs::remove_file(&parking).unwrap();
    if aside.exists() {
        std::fs::rename(&aside, &parking).unwrap();
    }
    let shown = ground.show();
    assert_eq!(shown["state"], "paused");
    assert_eq!(shown["stuck"], serde_json::Value::Null);
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.losses(&["running"]), Vec::<String>::new());
}

/// A worktree that its owner lent goes back to its place when the instance is killed while paused.
#[test]
fn an_adopted_worktree_goes_back_when_its_paused_instance_is_killed() {
    for way in [&["pause"][..], &["pause", "--remove-worktree"]] {
        let ground = Ground::adopted(&state("mixed"));
        drop(ground.biv(way).ok());
        assert!(!ground.lab.worktree.exists());
        drop(ground.biv(&["kill", "-y"]).ok());
        assert_eq!(ground.differences(), Vec::<String>::new(), "{way:?}");
        // And it can still be had back.
        drop(ground.biv(&["undo-kill"]).ok());
        drop(ground.biv(&["resume"]).ok());
        assert_eq!(ground.losses(&["running"]), Vec::<String>::new(), "{way:?}");
    }
}

/// What stands at its place is left alone; the work stays where it is kept.
#[test]
fn an_adopted_worktree_whose_place_is_taken_stays_put_away() {
    let ground = Ground::adopted(&state("mixed"));
    drop(ground.biv(&["pause"]).ok());
    std::fs::create_dir(&ground.lab.worktree).unwrap();
    std::fs::write(ground.lab.worktree.join("mine"), "mine").unwrap();
    let killed = ground.biv(&["kill", "-y"]).ok();
    assert!(
        killed.stderr.contains("stays put away"),
        "{}",
        killed.stderr
    );
    assert!(ground.lab.worktree.join("mine").exists());
    std::fs::remove_dir_all(&ground.lab.worktree).unwrap();
    drop(ground.biv(&["undo-kill"]).ok());
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.losses(&["running"]), Vec::<String>::new());
}
