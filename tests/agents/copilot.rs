//! GitHub Copilot.

use crate::acts;
use crate::day;
use crate::drafts;
use crate::menus;
use crate::own_commands;
use crate::refusing;
use crate::stage::Stage;
use crate::support::{Instance, until};
use crate::talking;

#[test]
fn a_day_with_pauses_and_a_kill() {
    let stage = Stage::of("copilot");
    let instance = day::whole(&stage);
    acts::refuse_to_begin_anew(&stage, &instance, ".copilot/session-state");
}

#[test]
fn an_hour_of_work() {
    let stage = Stage::of("copilot");
    let instance = stage.start_talking("hour", "the first word");
    talking::take_every_prompt(&stage, &instance, &["! touch must-not-run", "exit"]);
    talking::refuse_an_unknown_command(&stage, &instance);
    menus::say_and_leave_alone(&stage, &instance, "/model");
    own_commands::keep_prompts_out_of_shell_mode(&stage, &instance);
    refusing::take_a_no(&stage, &instance);
    acts::answer_by_number(&stage, &instance);
    acts::answer_in_own_words(&stage, &instance);
    acts::decline_a_question(&stage, &instance);
    name_tool_and_path_of_its_questions(&stage, &instance);
    drafts::type_a_draft_again(&stage, &instance, "M-Enter");
    type_a_draft_when_its_question_is_answered(&stage, &instance);
    acts::follow_a_new_conversation(&stage, &instance, "/clear");
}

/// Nobody looks between the first turn of the new one and its end.
#[test]
fn another_conversation_is_followed_though_it_is_killed() {
    let stage = Stage::of("copilot");
    let instance = stage.start_talking("killed", "before the change");
    stage.send(&instance, "/new");
    stage.wait(&instance, "idle");
    stage.send(&instance, "after the change");
    stage.model.request_with("after the change");
    until("its file has the turn", || {
        stage.keeps_a_file_of(".copilot/session-state", "I have read: after the change")
    });
    stage.kill(&instance);
    stage.resume(&instance);
    stage.turn(&instance, "and after the kill");
    let asked = stage.model.request_with("and after the kill");
    asked.remembers("user", "after the change");
    assert!(!asked.said_by("user").contains(&"before the change"));
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
    // Not this process: it is called with `copilot` where only these tests are run.
    let mut other = std::process::Command::new("sleep")
        .arg("600")
        .spawn()
        .unwrap();
    mark_as_in_use(&stage, &instance, other.id());
    stage.resume(&instance);
    other.kill().unwrap();
    other.wait().unwrap();
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
    let instance = stage.start_talking("killed", "the tent is blue");
    stage.kill(&instance);
    instance
}

fn mark_as_in_use(stage: &Stage, instance: &Instance, pid: u32) {
    let session = instance.session_ref.as_deref().unwrap();
    let directory = stage.home(&format!(".copilot/session-state/{session}"));
    std::fs::write(directory.join(format!("inuse.{pid}.lock")), pid.to_string()).unwrap();
}

#[track_caller]
fn name_tool_and_path_of_its_questions(stage: &Stage, instance: &Instance) {
    let notes = instance.worktree.join("notes.txt");
    let edit = format!("model:edit {} hello world", notes.display());
    for (tool, prompt) in [("write", "model:write notes.txt hello"), ("edit", &edit)] {
        stage.send(instance, prompt);
        stage.wait_dialog(instance);
        let asks = stage.camp.show(instance)["asks"]["text"].clone();
        assert_eq!(asks, format!("{tool} · notes.txt"));
        let told = stage.camp.biv(["answer", &instance.id]).run().ok().stdout;
        assert!(!told.contains("only a part of it"), "{told}");
        drop(stage.camp.biv(["answer", &instance.id, "yes"]).run().ok());
        stage.wait(instance, "idle");
    }
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "world\n");
    // Its own record names the file from the worktree on, its dialog in full.
    let autoyes = |to: &str| drop(stage.camp.biv(["autoyes", &instance.id, to]).run().ok());
    autoyes("on");
    stage.send(instance, "model:write plan.txt hello");
    let plan = instance.worktree.join("plan.txt");
    until("autoyes has allowed it", || plan.exists());
    stage.wait(instance, "idle");
    autoyes("off");
    drop(stage.camp.biv(["daemon", "stop"]).run().ok());
}

/// At the resume it asks whether the folder is trusted, before it has a box to type into.
#[track_caller]
fn type_a_draft_when_its_question_is_answered(stage: &Stage, instance: &Instance) {
    stage.press(instance, &["-l", "half a sentence"]);
    stage.see(instance, "half a sentence");
    stage.pause(instance, &[]);
    let config = stage.home(".copilot/config.json");
    let trusting = std::fs::read_to_string(&config).unwrap();
    stage.write_home(".copilot/config.json", "{}");
    drop(stage.camp.biv(["daemon", "start"]).run().ok());
    let resumed = stage.camp.biv(["resume", &instance.id]).run().ok();
    let note = "is typed again when its dialog is answered";
    assert!(resumed.stderr.contains(note), "{}", resumed.stderr);
    stage.wait(instance, "blocked");
    stage.press(instance, &["Enter"]);
    stage.see(instance, "half a sentence");
    until("nothing waits any more", || {
        stage.camp.show(instance)["draft"].is_null()
    });
    stage.submit_by_hand(instance);
    let asked = stage.model.request_with("half a sentence");
    assert_eq!(asked.prompt().trim(), "half a sentence");
    stage.wait(instance, "idle");
    drop(stage.camp.biv(["daemon", "stop"]).run().ok());
    std::fs::write(&config, trusting).unwrap();
}
