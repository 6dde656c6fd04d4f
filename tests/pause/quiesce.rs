//! How an agent is brought to a safe state, and what of it is left afterwards: nothing.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ground::camp;
use crate::support::{Camp, Instance, until};

fn working(prompt: &str) -> (Camp, Instance) {
    let camp = camp();
    std::fs::write(
        camp.home().join("config/config.toml"),
        "[pause]\ngrace = \"1s\"\nstop = \"1s\"\n",
    )
    .unwrap();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "t", &["-p", prompt]);
    until("it was told", || !instance.prompts(&camp).is_empty());
    (camp, instance)
}

/// How its last turn ended.
fn outcome(camp: &Camp, instance: &Instance) -> Value {
    instance
        .conversation(camp)
        .iter()
        .rev()
        .find(|entry| entry["metadata"]["event"] == "turn_end")
        .map_or(Value::Null, |entry| entry["metadata"]["outcome"].clone())
}

fn pause(camp: &Camp, instance: &Instance, more: &[&str]) -> Value {
    drop(camp.biv(["pause", &instance.id]).args(more).run().ok());
    assert_eq!(instance.processes().len(), 0, "nothing of it is alive");
    let shown = camp.show(instance);
    assert_eq!(shown["state"], "paused");
    shown["pause"].clone()
}

#[test]
fn a_pause_waits_for_the_turn_to_end() {
    let (camp, instance) = working("/busy 2");
    let pause = pause(&camp, &instance, &[]);
    assert_eq!(outcome(&camp, &instance), "done");
    assert_eq!(pause["forced"], false);
}

#[test]
fn now_interrupts_the_turn_at_once() {
    let (camp, instance) = working("/busy 600");
    let begun = Instant::now();
    let pause = pause(&camp, &instance, &["--now"]);
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert_eq!(outcome(&camp, &instance), "interrupted");
    assert_eq!(pause["forced"], false);
}

#[test]
fn a_wait_that_is_over_is_followed_by_an_interrupt() {
    let (camp, instance) = working("/busy 600");
    let begun = Instant::now();
    let pause = pause(&camp, &instance, &["--wait", "1s"]);
    assert!(begun.elapsed() > Duration::from_secs(1));
    assert_eq!(outcome(&camp, &instance), "interrupted");
    assert_eq!(pause["forced"], false);
}

#[test]
fn an_agent_that_ignores_everything_is_stopped_and_that_is_said() {
    let (camp, instance) = working("/ignore-signals\n/busy 600");
    instance.wait_for(&camp, "activity", "busy");
    let answer = camp.biv(["pause", "--now", &instance.id]).run().ok();
    assert!(answer.said().contains("warning: "), "{}", answer.said());
    assert_eq!(instance.processes().len(), 0);
    assert_eq!(camp.show(&instance)["pause"]["forced"], true);
}

#[test]
fn children_go_with_their_agent_wherever_they_went() {
    let (camp, instance) = working("/allow\n/spawn 600\n/daemonize 600");
    until("its children run", || instance.processes().len() >= 3);
    instance.wait_idle(&camp);
    pause(&camp, &instance, &[]);
}

#[test]
fn a_dialog_is_dismissed_and_never_answered() {
    let (camp, instance) = working("/run touch was-run");
    instance.wait_for(&camp, "activity", "approval");
    let pause = pause(&camp, &instance, &[]);
    let said = pause["last_action"].as_str().unwrap_or_default();
    assert!(said.contains("touch was-run"), "{pause}");
    assert_eq!(pause["forced"], false);
    drop(camp.biv(["resume", &instance.id]).run().ok());
    assert!(!instance.worktree.join("was-run").exists());
    // The user is told at once what was declined.
    drop(
        camp.biv(["send", &instance.id, "/run touch other"])
            .run()
            .ok(),
    );
    instance.wait_for(&camp, "activity", "approval");
    let said = camp.biv(["pause", &instance.id]).run().ok().said();
    assert!(said.contains("declining the open dialog"), "{said}");
    assert!(said.contains("touch other"), "{said}");
}

#[test]
fn a_resume_says_what_its_agent_asks_at_the_start() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let agents = camp.home().join("config/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(
        agents.join("asking.toml"),
        "command = [\"sh\", \"-c\", \"echo 'trust it?'; exec cat\"]\n\
         [session]\nstrategy = \"replay\"\n\
         [[rules]]\nname = \"trust\"\nactivity = \"blocked\"\nlast = 5\n\
         any = [\"trust it\"]\nsays = \"It asks whether to trust this folder\"\n\
         [[rules]]\nname = \"prompt\"\nactivity = \"idle\"\nlast = 5\nany = [\"^ready$\"]\n",
    )
    .unwrap();
    let new = ["new", "one", "-a", "asking", "--json"];
    drop(camp.biv(new).within(&repository.path).run().ok());
    drop(camp.biv(["pause", "one"]).run().ok());
    let said = camp.biv(["resume", "--no-prompt", "one"]).run();
    let said = said.ok().said();
    assert!(
        said.contains("waits for you: It asks whether to trust this folder"),
        "{said}"
    );
}

#[test]
fn a_question_is_dismissed_and_never_answered() {
    let (camp, instance) = working("/ask Which way? | left | right");
    instance.wait_for(&camp, "activity", "question");
    let pause = pause(&camp, &instance, &[]);
    let said = pause["last_action"].as_str().unwrap_or_default();
    assert!(said.contains("Which way?"), "{pause}");
    let answers = instance.conversation(&camp);
    assert!(
        !answers.iter().any(|entry| entry["content"] == "left"),
        "{answers:?}"
    );
}

#[test]
fn a_pause_can_be_taken_back_while_it_waits() {
    let (camp, instance) = working("/busy 600");
    let agent = instance.processes();
    let mut pausing = camp
        .biv(["pause", "--wait", "forever", &instance.id])
        .in_background();
    instance.wait_for(&camp, "state", "pausing");
    drop(camp.biv(["pause", "--cancel", &instance.id]).run().ok());
    let status = pausing.wait().unwrap();
    assert!(
        !status.success(),
        "the caller is told that the pause was taken back"
    );
    assert_eq!(camp.show(&instance)["state"], "running");
    assert_eq!(
        instance.processes()[0].pid,
        agent[0].pid,
        "the same agent goes on"
    );
    instance.wait_for(&camp, "activity", "busy");
    assert_eq!(outcome(&camp, &instance), Value::Null, "its turn goes on");
    let answer = camp.biv(["pause", "--cancel", &instance.id]).run().fails(4);
    assert!(answer.said().contains("running"), "{}", answer.said());
}
