//! GitHub Copilot.

use crate::acts;
use crate::drafts;
use crate::stage::Stage;
use crate::support::Instance;
use crate::talking;

#[test]
fn a_day_with_pauses_and_a_kill() {
    acts::journey(&Stage::of("copilot"));
}

#[test]
fn a_pause_before_the_first_turn() {
    acts::pause_before_the_first_turn(&Stage::of("copilot"));
}

#[test]
fn a_conversation_that_is_lost_is_refused() {
    acts::refuse_what_the_agent_does_not_know(&Stage::of("copilot"), ".copilot/session-state");
}

#[test]
fn its_dialog_is_answered_and_all_is_in_the_log() {
    acts::answer_a_dialog(&Stage::of("copilot"));
}

#[test]
fn a_folder_that_is_not_trusted_is_a_persons_matter() {
    acts::leave_its_question_to_a_person(
        &Stage::for_a_stranger("copilot"),
        "Do you trust the files in this folder?",
    );
}

/// A killed one leaves its session marked as in use by its pid, and the next one asks if that pid is alive.
#[test]
fn a_kill_whose_pid_is_given_to_another_process() {
    let stage = Stage::of("copilot");
    let instance = killed_after_a_turn(&stage);
    mark_as_in_use(&stage, &instance, std::process::id());
    stage.resume(&instance);
    stage.turn(&instance, "and the stove is red");
    let asked = stage.model.request_with("and the stove is red");
    asked.remembers("user", "the tent is blue");
}

#[test]
fn a_conversation_that_another_process_uses_is_a_persons_matter() {
    let stage = Stage::of("copilot");
    let instance = killed_after_a_turn(&stage);
    // Any process whose program has this name.
    let other = stage.home("copilot");
    std::fs::copy("/bin/sleep", &other).unwrap();
    let mut other = std::process::Command::new(other)
        .arg("600")
        .spawn()
        .unwrap();
    mark_as_in_use(&stage, &instance, other.id());
    stage.resume(&instance);
    stage.wait(&instance, "blocked");
    let shown = stage.camp.show(&instance);
    let screen = stage.screen(&instance);
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(screen.contains("Session in use"), "{screen}");
    let says = shown["says"].as_str().unwrap_or_default();
    assert!(says.contains("another process"), "{shown:#}");
}

fn killed_after_a_turn(stage: &Stage) -> Instance {
    let instance = stage.start("killed", "the tent is blue");
    stage.model.request_with("the tent is blue");
    stage.wait(&instance, "idle");
    stage.kill(&instance);
    instance
}

fn mark_as_in_use(stage: &Stage, instance: &Instance, pid: u32) {
    let session = instance.session_ref.as_deref().unwrap();
    let directory = stage.home(&format!(".copilot/session-state/{session}"));
    std::fs::write(directory.join(format!("inuse.{pid}.lock")), pid.to_string()).unwrap();
}

#[test]
fn a_draft_is_typed_again() {
    drafts::type_a_draft_again(&Stage::of("copilot"), "M-Enter");
}

#[test]
fn a_prompt_right_after_a_resume() {
    talking::take_a_prompt_right_after_a_resume(&Stage::of("copilot"), 2);
}
