//! What an agent goes through in a day: pauses of all kinds, a kill, a dialog that autoyes answers. Each part takes
//! an instance that is at its prompt; those that do not leave it there say so. `said` is an earlier prompt, which the model must get again.
//!
//! Each resume is a start, and some agents take long to start: those go through `whole` with one instance.

use serde_json::Value;

use crate::model::Request;
use crate::stage::{BETWEEN_LOOKS, PATIENCE, Stage};
use crate::support::wait::until_within;
use crate::support::{Instance, until};
use crate::talking;

/// All of it, one part after the other. The instance is paused then.
#[track_caller]
pub(crate) fn whole(stage: &Stage) -> Instance {
    let instance = begun(stage);
    answer_a_dialog(stage, &instance);
    let paused = pauses_and_a_kill(stage, &instance);
    assert_eq!(paused["pause"]["last_action"], "ran `touch answered`");
    tell_what_was_said(stage, &instance);
    instance
}

/// The same for an agent whose dialogs autoyes leaves to the user, and without a look at the log.
#[track_caller]
pub(crate) fn without_autoyes(stage: &Stage) -> Instance {
    let instance = begun(stage);
    pauses_and_a_kill(stage, &instance);
    instance
}

/// A pause before its first turn, and that turn.
#[track_caller]
fn begun(stage: &Stage) -> Instance {
    let instance = stage.start_trusted("day");
    stage.wait(&instance, "idle");
    pause_before_the_first_turn(stage, &instance);
    stage.turn(&instance, "the tent is blue");
    instance
}

/// Both sides are in `biv log`, and what the agent has used is known.
#[track_caller]
pub(crate) fn tell_what_was_said(stage: &Stage, instance: &Instance) {
    let said = ["the tent is blue", "and the stove is red", "where were we"];
    tell_it_once(stage, instance, &said);
    tell_its_usage(stage, instance);
}

/// What was shown of the first pause.
#[track_caller]
fn pauses_and_a_kill(stage: &Stage, instance: &Instance) -> Value {
    let paused = pause_at_the_prompt(stage, instance, "the tent is blue");
    pause_in_the_middle_of_an_answer(stage, instance, "and the stove is red");
    pause_in_a_dialog(stage, instance, "where were we");
    let asked = kill_in_the_middle_of_an_answer(stage, instance);
    asked.remembers("user", "go on without");
    asked.remembers("assistant", "I have read: go on without");
    assert_eq!(
        stage.camp.show(instance)["session_ref"],
        paused["session_ref"]
    );
    stage.pause(instance, &["--now"]);
    paused
}

/// There is nothing to resume, and it comes back all the same.
#[track_caller]
pub(crate) fn pause_before_the_first_turn(stage: &Stage, instance: &Instance) {
    stage.pause(instance, &[]);
    come_back_before_the_first_turn(stage, instance);
}

#[track_caller]
pub(crate) fn come_back_before_the_first_turn(stage: &Stage, instance: &Instance) {
    stage.resume(instance);
    stage.wait(instance, "idle");
    assert!(stage.model.requests().is_empty(), "{}", stage.model.told());
}

/// The conversation goes on under its reference. Returned is what was shown of the pause.
#[track_caller]
pub(crate) fn pause_at_the_prompt(stage: &Stage, instance: &Instance, said: &str) -> Value {
    let reference = stage.camp.show(instance)["session_ref"].clone();
    let paused = stage.pause(instance, &[]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    let kept = paused["session_ref"].as_str().expect("it is known");
    if let Some(before) = reference.as_str() {
        assert_eq!(kept, before);
    }
    let resumed = stage.resume(instance);
    assert_eq!(resumed["session_ref"], kept);
    assert_eq!(resumed["resumable"], true);
    let asked = speak(stage, instance, "and the stove is red");
    asked.remembers("user", said);
    asked.remembers("assistant", &format!("I have read: {said}"));
    if let Some(session) = asked.session {
        assert_eq!(session, kept);
    }
    paused
}

/// Interrupted, not forced; the turns before it are all there.
#[track_caller]
pub(crate) fn pause_in_the_middle_of_an_answer(stage: &Stage, instance: &Instance, said: &str) {
    stage.send(instance, "model:slow 100");
    stage.wait(instance, "busy");
    stage.see(instance, "slowly5");
    let paused = stage.pause(instance, &["--now"]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    // Nothing is asked of the model behind our back.
    until("the answer was cut off", || {
        stage.model.open_requests() == 0
    });
    stage.resume(instance);
    let asked = speak(stage, instance, "where were we");
    asked.remembers("user", said);
    asked.remembers("assistant", &format!("I have read: {said}"));
}

/// A pause with a permission dialog open: dismissed, told of, never answered.
#[track_caller]
pub(crate) fn pause_in_a_dialog(stage: &Stage, instance: &Instance, said: &str) {
    stage.send(instance, "model:run touch allowed");
    stage.wait(instance, "approval");
    let paused = stage.pause(instance, &[]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    let action = paused["pause"]["last_action"].as_str().unwrap_or_default();
    assert!(action.contains("touch allowed"), "{paused:#}");
    stage.resume(instance);
    let asked = speak(stage, instance, "go on without");
    asked.remembers("user", said);
    asked.remembers("user", "model:run touch allowed");
    assert!(!instance.worktree.join("allowed").exists());
}

/// SIGKILL in the middle of an answer: failed, and resumed. Returned is what the model is asked then. The agent may
/// be busy: some take the prompt that was cut off along with the next one, and the model acts on it.
#[track_caller]
pub(crate) fn kill_in_the_middle_of_an_answer(stage: &Stage, instance: &Instance) -> Request {
    // The words of another slow answer may still be on the screen.
    stage.send(instance, "model:slow 90 afterwards");
    stage.see(instance, "afterwards5");
    stage.kill(instance);
    let shown = stage.camp.show(instance);
    assert_eq!(shown["activity"], "exited");
    assert!(shown["session_ref"].is_string(), "{shown:#}");
    stage.resume(instance);
    let asked = talking::send_right_after_a_resume(stage, instance, "still there?");
    asked.remembers("user", "model:slow 90");
    asked
}

/// A dialog is answered by autoyes, and the turn is in `biv log`.
#[track_caller]
pub(crate) fn answer_a_dialog(stage: &Stage, instance: &Instance) {
    drop(stage.camp.biv(["autoyes", &instance.id, "on"]).run().ok());
    stage.send(instance, "model:run touch answered");
    let file = instance.worktree.join("answered");
    let told = || {
        let audit = stage.camp.biv(["audit", "--json"]).run().stdout;
        format!("it is answered: {audit}\n{}", stage.screen(instance))
    };
    until_within(PATIENCE, BETWEEN_LOOKS, told, || {
        file.exists().then_some(())
    });
    stage.wait(instance, "idle");
    let log = || stage.camp.biv(["log", &instance.id]).run().ok().stdout;
    until("the answer is in the log", || {
        log().contains("The tool has answered")
    });
    let log = log();
    assert!(log.contains("touch answered"), "{log}");
    drop(stage.camp.biv(["autoyes", &instance.id, "off"]).run().ok());
}

/// Both sides of each of these turns are in `biv log` once, from the agent's own transcript.
#[track_caller]
pub(crate) fn tell_it_once(stage: &Stage, instance: &Instance, said: &[&str]) {
    let log = stage.camp.biv(["log", &instance.id]).run().ok().stdout;
    for said in said {
        let answer = format!("I have read: {said}");
        assert_eq!(log.matches(&answer).count(), 1, "{said}: {log}");
        assert_eq!(log.matches(said).count(), 2, "{said}: {log}");
    }
}

/// What the agent has used is in its transcript. Aider rounds it, and is named as silent.
#[track_caller]
pub(crate) fn tell_its_usage(stage: &Stage, instance: &Instance) {
    let used = stage.camp.biv(["usage", "--json", &instance.id]).run().ok();
    let used = used.json();
    if stage.agent == "aider" {
        assert_eq!(used["silent"][0], "aider", "{used:#}");
        return;
    }
    let one = &used["instances"][0];
    assert!(one["input"].as_u64() > Some(0), "{used:#}");
    assert!(one["output"].as_u64() > Some(0), "{used:#}");
    let turns = one["turns"].as_array().unwrap();
    let spoken: u64 = turns
        .iter()
        .filter_map(|turn| turn["output"].as_u64())
        .sum();
    assert_eq!(Some(spoken), one["output"].as_u64(), "{used:#}");
    let shown = stage.camp.show(instance);
    assert_eq!(shown["usage"]["output"], one["output"], "{shown:#}");
}

/// A turn right after a resume.
#[track_caller]
fn speak(stage: &Stage, instance: &Instance, words: &str) -> Request {
    let asked = talking::send_right_after_a_resume(stage, instance, words);
    stage.wait(instance, "idle");
    assert_eq!(stage.model.times_asked(words), 1);
    asked
}
