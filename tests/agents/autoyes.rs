//! An edit, a test and a commit, unattended: and a force push that is not.

use serde_json::Value;

use crate::stage::Stage;
use crate::support::terminal::Terminal;
use crate::support::{Instance, until_told};

/// What autoyes has decided so far, with what became of it.
fn decided(stage: &Stage) -> Vec<(String, String, String)> {
    let audit = stage.camp.biv(["audit", "--json"]).run().ok().json();
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let entries = audit["entries"].as_array().expect("a list").iter();
    entries
        .map(|entry| {
            (
                text(entry, "decision"),
                text(entry, "outcome"),
                text(entry, "command"),
            )
        })
        .collect()
}

#[track_caller]
fn comes_to(stage: &Stage, instance: &Instance, what: &str, holds: impl Fn() -> bool) {
    let told = || {
        let screen = stage.camp.biv(["peek", &instance.id, "-n", "60"]).run();
        format!("{what}: {:?}\n{}", decided(stage), screen.stdout)
    };
    until_told(told, || holds().then_some(()));
}

fn works_unattended(agent: &'static str) {
    let stage = Stage::of(agent);
    stage.repository.write(
        "Makefile",
        "test:\n\ttest -f feature.txt && cp feature.txt tested.txt\n",
    );
    stage.repository.commit("a test");
    let remote = stage.camp.empty_repository("remote.git");
    remote.git(&["config", "core.bare", "true"]);
    let url = remote.path.join(".git").display().to_string();
    stage.repository.git(&["remote", "add", "origin", &url]);

    let instance = Instance::from_json(&stage.new("feature", &[]).ok().json());
    stage.wait(&instance, "idle");
    let on = ["autoyes", "--json", &instance.id, "on", "--for", "1h"];
    assert_eq!(stage.camp.biv(on).run().ok().json()["autoyes"], true);

    let feature = instance.worktree.join("feature.txt");
    stage.send(
        &instance,
        &format!("model:write {} it works", feature.display()),
    );
    comes_to(&stage, &instance, "the file is written", || {
        feature.exists()
    });
    stage.wait(&instance, "idle");

    stage.send(&instance, "model:run make test");
    let tested = instance.worktree.join("tested.txt");
    comes_to(&stage, &instance, "the test has run", || tested.exists());
    stage.wait(&instance, "idle");

    stage.send(
        &instance,
        "model:run git add -A && git commit -m \"add the feature\"",
    );
    let worktree = stage.camp.repository_at(&instance.worktree);
    comes_to(&stage, &instance, "it is committed", || {
        worktree.git(&["log", "--format=%s", "-1"]).trim() == "add the feature"
    });
    stage.wait(&instance, "idle");

    stage.send(&instance, "model:run git push --force origin HEAD");
    comes_to(&stage, &instance, "the push is rejected", || {
        let decided = decided(&stage);
        decided.iter().any(|(decision, outcome, command)| {
            // By a key that was seen to work, or by a word to its hook.
            let done = ["gone", "told"].contains(&outcome.as_str());
            decision == "reject" && done && command.contains("push --force")
        })
    });
    assert_eq!(remote.git(&["for-each-ref"]), "", "nothing was pushed");
    // Not only a no: the model is told why.
    comes_to(&stage, &instance, "the model knows why", || {
        let told = |(_, text): &(String, String)| text.contains("Not allowed by the policy");
        let requests = stage.model.requests();
        requests
            .iter()
            .any(|request| request.messages.iter().any(told))
    });
    drop(stage.camp.biv(["daemon", "stop"]).run().ok());
}

#[test]
fn claude_works_unattended_and_stops_at_a_force_push() {
    works_unattended("claude");
}

#[test]
fn codex_works_unattended_and_stops_at_a_force_push() {
    works_unattended("codex");
}

/// A user who types at the agent's terminal sees the dialog. When the user has gone, it is answered.
#[test]
fn claude_asks_the_person_who_is_typing() {
    let stage = Stage::of("claude");
    let instance = Instance::from_json(&stage.new("visited", &[]).ok().json());
    stage.wait(&instance, "idle");
    let on = ["autoyes", &instance.id, "on"];
    drop(stage.camp.biv(on).run().ok());
    let person = Terminal::running(&stage.camp, &format!("biv attach {}", instance.id));
    person.wait_for("Claude Code");
    person.write("model:run touch allowed");
    person.wait_for("model:run touch allowed");
    person.press(&["Enter"]);
    stage.wait(&instance, "approval");
    let allowed = instance.worktree.join("allowed");
    comes_to(&stage, &instance, "it is left to the person", || {
        let decided = decided(&stage);
        let left = |(_, outcome, _): &(String, String, String)| outcome == "left";
        decided.iter().any(left)
    });
    assert!(!allowed.exists());
    person.press(&["C-q"]);
    person.wait_for("ended with 0");
    comes_to(&stage, &instance, "it is answered", || allowed.exists());
}
