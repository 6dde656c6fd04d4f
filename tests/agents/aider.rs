//! Aider, which has no sessions: a resumed one starts anew and is told what happened.

use crate::acts;
use crate::drafts;
use crate::own_commands;
use crate::refusing;
use crate::stage::Stage;
use crate::support::until;
use crate::talking;

#[test]
fn a_resumed_one_is_told_where_it_was() {
    let stage = Stage::of("aider");
    let instance = stage.start_talking("cycle", "the tent is blue");
    stage.turn(&instance, "and the stove is red");
    let paused = stage.pause(&instance, &[]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    assert_eq!(paused["resumable"], true);
    let before = stage.model.requests().len();
    stage.resume(&instance);
    let told = told_again(&stage, before);
    assert!(told.contains("the tent is blue"), "{told}");
}

/// From its history in the worktree, without what another chat had left there.
#[test]
fn its_conversation_is_in_the_log() {
    let stage = Stage::of("aider");
    let history = "\n# aider chat started at 2026-01-02 03:04:05\n\n#### an old prompt  \n\nan old answer\n\n";
    std::fs::write(
        stage.repository.path.join(".aider.chat.history.md"),
        history,
    )
    .unwrap();
    stage.repository.commit("with an old history");
    acts::tell_what_was_said(&stage);
    let log = stage.camp.biv(["log", "said"]).run().ok().stdout;
    assert!(!log.contains("an old"), "{log}");
    assert_eq!(log.matches("the soup is hot").count(), 2, "{log}");
    let shown = stage.camp.biv(["show", "said", "--json"]).run().ok().json();
    let action = &shown["pause"]["last_action"];
    assert_eq!(*action, "said: I have read: the soup is hot", "{shown:#}");
}

#[test]
fn a_pause_in_the_middle_of_an_answer_after_an_hour_of_work() {
    let stage = Stage::of("aider");
    let instance = stage.start_talking("hour", "the first word");
    talking::take_every_prompt(&stage, &instance, &[]);
    talking::refuse_an_unknown_command(&stage, &instance);
    acts::take_a_large_prompt(&stage, &instance, "\t");
    drafts::leave_a_draft_alone(&stage, &instance);
    refusing::take_a_no(&stage, &instance);
    stage.send(&instance, "model:slow 100");
    stage.wait(&instance, "busy");
    stage.see(&instance, "slowly5");
    let paused = stage.pause(&instance, &["--now"]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
}

#[test]
fn a_command_of_the_user_is_work() {
    let stage = Stage::of("aider");
    let instance = stage.start_talking("own", "the first word");
    own_commands::count_as_work(&stage, &instance);
    // It offers to show its model what the command has printed.
    stage.wait(&instance, "approval");
}

#[test]
fn a_pause_in_a_dialog_answers_nothing() {
    let stage = Stage::of("aider");
    let instance = stage.start("asks", "model:run touch allowed");
    stage.wait(&instance, "approval");
    let paused = stage.pause(&instance, &[]);
    let action = paused["pause"]["last_action"].as_str().unwrap_or_default();
    assert!(action.contains("touch allowed"), "{paused:#}");
    stage.resume(&instance);
    assert!(!instance.worktree.join("allowed").exists());
}

#[test]
fn a_kill_in_the_middle_of_an_answer() {
    let stage = Stage::of("aider");
    // Without a first prompt the task is known from the conversation alone.
    let instance = crate::support::Instance::from_json(&stage.new("killed", &[]).ok().json());
    stage.wait(&instance, "idle");
    stage.turn(&instance, "the map is old");
    stage.send(&instance, "model:slow 100");
    stage.see(&instance, "slowly5");
    stage.kill(&instance);
    let before = stage.model.requests().len();
    stage.resume(&instance);
    let told = told_again(&stage, before);
    assert!(told.contains("the map is old"), "{told}");
}

/// The prompt by which a new aider is told what happened to the old one.
fn told_again(stage: &Stage, before: usize) -> String {
    until("it was told", || stage.model.requests().len() > before);
    let asked = stage.model.requests();
    assert_eq!(asked.len(), before + 1, "{}", stage.model.told());
    asked[before].prompt().to_owned()
}

#[test]
fn a_prompt_right_after_a_resume() {
    talking::take_a_prompt_right_after_a_resume(&Stage::of("aider"), 2);
}
