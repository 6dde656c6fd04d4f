//! An edit, a test and a commit, unattended: and a force push that is not.

use serde_json::Value;

use crate::stage::Stage;
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
