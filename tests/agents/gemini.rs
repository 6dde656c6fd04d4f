//! Gemini CLI.

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
fn a_day_with_pauses() {
    let stage = Stage::of("gemini");
    let instance = stage.start_trusted("day");
    stage.wait(&instance, "idle");
    pause_before_the_first_turn(&stage, &instance);
    stage.turn(&instance, "the tent is blue");
    day::answer_a_dialog(&stage, &instance);
    let paused = day::pause_at_the_prompt(&stage, &instance, "the tent is blue");
    assert_eq!(paused["pause"]["last_action"], "ran `touch answered`");
    day::pause_in_a_dialog(&stage, &instance, "and the stove is red");
    stage.pause(&instance, &[]);
    let said = ["the tent is blue", "and the stove is red", "go on without"];
    day::tell_it_once(&stage, &instance, &said);
    day::tell_its_usage(&stage, &instance);
    acts::refuse_to_begin_anew(&stage, &instance, ".gemini/tmp");
}

/// It removes the file of such a session when it ends, unless that takes it too long and it is killed. Where the file
/// is left, Gemini refuses the reference; its next start deletes the file.
fn pause_before_the_first_turn(stage: &Stage, instance: &Instance) {
    let first = instance.session_ref.clone().unwrap();
    stage.pause(instance, &[]);
    let is_left = stage.keeps_a_file_of(".gemini/tmp", &first);
    day::come_back_before_the_first_turn(stage, instance);
    let shown = stage.camp.show(instance);
    assert_eq!(shown["session_ref"] != first, is_left, "{shown:#}");
}

#[test]
fn an_hour_of_work() {
    let stage = Stage::of("gemini");
    let instance = stage.start_talking("hour", "the first word");
    refuse_a_prompt_that_it_would_lose(&stage, &instance);
    acts::take_a_large_prompt(&stage, &instance, "\t");
    talking::take_every_prompt(&stage, &instance, &[]);
    menus::say_and_leave_alone(&stage, &instance, "/model");
    own_commands::keep_prompts_out_of_shell_mode(&stage, &instance);
    refusing::take_a_no(&stage, &instance);
    drafts::take_a_prompt_alone(&stage, &instance);
    drafts::type_a_draft_again(&stage, &instance, "C-j");
    drafts::keep_a_draft_that_it_cuts(&stage, &instance, "C-j");
    acts::follow_a_new_conversation(&stage, &instance, "/clear");
    ask_about_a_loop(&stage, &instance);
}

/// It takes a larger paste and loses it.
#[track_caller]
fn refuse_a_prompt_that_it_would_lose(stage: &Stage, instance: &Instance) {
    let send = |prompt: &str| {
        let sent = stage.camp.biv(["send", "--now", &instance.id, "-"]);
        sent.stdin(prompt).run()
    };
    let refused = send(&talking::prompt_of(50_001));
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("50000"), "{}", refused.stderr);
    // Nothing of it is in the box: the next one arrives alone, and whole.
    let largest = talking::prompt_of(50_000);
    let sent = send(&largest);
    assert_eq!(sent.status, Some(0), "{}", sent.stderr);
    let asked = stage.model.request_with("line 2 of a prompt");
    assert_eq!(asked.prompt().trim(), largest);
    assert_eq!(asked.said_by("user").len(), 2);
    stage.wait(instance, "idle");
}

/// It stops an answer that repeats itself, and waits for a person.
#[track_caller]
fn ask_about_a_loop(stage: &Stage, instance: &Instance) {
    let words = "the tent is blue and the stove is hot, says the man who knows. ".repeat(30);
    stage.send(instance, &format!("model:say {words}"));
    stage.wait(instance, "question");
    let dialog = stage.camp.biv(["answer", "--json", &instance.id]);
    let dialog = dialog.run().ok().json();
    assert_eq!(dialog["question"], "A potential loop was detected");
    let answered = stage.camp.biv(["answer", "--json", &instance.id, "1"]);
    let answered = answered.run().ok().json();
    let label = answered["label"].as_str().unwrap();
    assert!(label.starts_with("Keep loop detection"), "{answered:#}");
    stage.wait(instance, "idle");
    stage.turn(instance, "go on");
}

/// Escape would drop the whole turn: it is stopped as it is, and its prompt is kept.
#[test]
fn a_pause_in_the_middle_of_an_answer_keeps_the_prompt() {
    let stage = Stage::of("gemini");
    let instance = stage.start_talking("busy", "the rope is long");
    stage.send(&instance, "model:slow 100");
    stage.wait(&instance, "busy");
    stage.see(&instance, "slowly5");
    let paused = stage.pause(&instance, &["--now"]);
    // There is no key that would stop the turn and keep its prompt.
    assert_eq!(paused["pause"]["forced"], true, "{paused:#}");
    until("the answer was cut off", || {
        stage.model.open_requests() == 0
    });
    stage.resume(&instance);
    // It takes the prompt that was cut off along with this one, and acts on it.
    stage.send(&instance, "where were we");
    let asked = stage.model.request_with("where were we");
    asked.remembers("user", "the rope is long");
    asked.remembers("user", "model:slow 100");
}

fn that_asks_about_folders() -> Stage {
    let stage = Stage::of("gemini");
    let settings = stage.home(".gemini/settings.json");
    let mut known: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&settings).unwrap()).unwrap();
    known["security"]["folderTrust"]["enabled"] = serde_json::json!(true);
    std::fs::write(&settings, known.to_string()).unwrap();
    stage
}

#[test]
fn a_first_prompt_waits_until_the_folder_is_trusted() {
    let stage = that_asks_about_folders();
    // It ends with 199 after the answer, and is started again.
    talking::keep_the_first_prompt(&stage, &["trust this folder", "Enter"], |instance| {
        stage.confirm(instance, "Up", "● 1. Trust folder");
    });
}

#[test]
fn a_kill_before_the_first_turn() {
    let stage = Stage::of("gemini");
    let instance = stage.start_trusted("untouched");
    stage.wait(&instance, "idle");
    let first = instance.session_ref.clone().unwrap();
    let has_a_file = || stage.keeps_a_file_of(".gemini/tmp", &first);
    until("it has a file of its session", has_a_file);
    stage.kill(&instance);
    assert!(has_a_file());
    stage.resume(&instance);
    acts::remember_across_a_pause(&stage, &instance);
}

#[test]
fn two_of_one_repository() {
    acts::keep_two_apart(&Stage::of("gemini"));
}

#[test]
fn a_folder_that_is_not_trusted_is_a_persons_matter() {
    let stage = that_asks_about_folders();
    acts::leave_its_question_to_a_person(&stage, "Don't trust");
    assert!(!stage.home(".gemini/trustedFolders.json").exists());
}

/// It takes the prompt that was cut off along with the next one, and acts on it.
#[test]
fn a_kill_in_the_middle_of_an_answer() {
    acts::survive_a_kill(&Stage::of("gemini"));
}
