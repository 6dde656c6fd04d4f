//! Codex.

use serde_json::Value;

use crate::acts;
use crate::drafts;
use crate::hooks;
use crate::menus;
use crate::own_commands;
use crate::queueing;
use crate::refusing;
use crate::stage::Stage;
use crate::support::Instance;
use crate::talking;

#[test]
fn a_pause_at_the_prompt() {
    let stage = Stage::of("codex");
    let instance = acts::pause_at_the_prompt(&stage);
    let asked = stage.model.request_with("the tent is blue");
    assert_eq!(asked.session, instance.session_ref, "found at the start");
}

#[test]
fn a_pause_in_the_middle_of_an_answer() {
    acts::pause_in_the_middle_of_an_answer(&Stage::of("codex"));
}

#[test]
fn a_pause_in_a_dialog() {
    acts::pause_in_a_dialog(&Stage::of("codex"));
}

#[test]
fn a_kill_in_the_middle_of_an_answer() {
    acts::survive_a_kill(&Stage::of("codex"));
}

#[test]
fn a_pause_before_the_first_turn_starts_anew() {
    acts::pause_before_the_first_turn(&Stage::of("codex"));
}

#[test]
fn new_starts_another_conversation_which_is_followed() {
    let stage = Stage::of("codex");
    let instance = stage.start_talking("follows", "the first word");
    acts::follow_a_new_conversation_after(&stage, &instance, || {
        stage.send(&instance, "/new");
        // In a worktree it asks in which one to go on.
        stage.wait(&instance, "menu");
        stage.see(&instance, "Use current Git worktree");
        stage.press(&instance, &["Enter"]);
    });
}

#[test]
fn a_conversation_that_is_lost_is_refused() {
    acts::refuse_what_the_agent_does_not_know(&Stage::of("codex"), ".codex/sessions");
}

#[test]
fn a_worktree_that_is_built_anew() {
    acts::rebuild_its_worktree(&Stage::of("codex"));
}

#[test]
fn what_was_said_is_in_the_log() {
    acts::tell_what_was_said(&Stage::of("codex"));
}

#[test]
fn a_prompt_arrives_alone() {
    let stage = Stage::of("codex");
    let instance = stage.start_talking("drafted", "the first word");
    drafts::take_a_prompt_alone(&stage, &instance);
    drafts::leave_a_draft_below_a_blank_line(&stage, &instance, "C-j");
}

#[test]
fn two_of_one_repository() {
    acts::keep_two_apart(&Stage::of("codex"));
}

#[test]
fn a_large_prompt_is_exact() {
    let stage = Stage::of("codex");
    let instance = Instance::from_json(&stage.new("large", &[]).ok().json());
    acts::take_a_large_prompt(&stage, &instance, "\t");
}

#[test]
fn its_hooks_tell_what_it_does() {
    let stage = Stage::of("codex");
    hooks::hear_its_hooks(&stage);
    let config = std::fs::read_to_string(stage.home(".codex/config.toml")).unwrap();
    assert!(!config.contains("hooks"), "{config}");
}

#[test]
fn it_does_not_notice_that_biv_is_gone() {
    hooks::outlive_biv(&Stage::of("codex"));
}

#[test]
fn it_ends_by_itself_and_comes_back() {
    let stage = Stage::of("codex");
    let instance = stage.start_talking("leaves", "the first turn");
    stage.send(&instance, "/quit");
    stage.wait_state(&instance, "completed");
    stage.resume(&instance);
    stage.turn(&instance, "back again");
    let asked = stage.model.request_with("back again");
    asked.remembers("user", "the first turn");
}

#[test]
fn a_folder_that_is_not_trusted_is_a_persons_matter() {
    let stage = Stage::for_a_stranger("codex");
    stage.write_home(".codex/config.toml", &stage.codex_config());
    acts::leave_its_question_to_a_person(&stage, "Trust and continue");
    let config = std::fs::read_to_string(stage.home(".codex/config.toml")).unwrap();
    assert!(!config.contains("trust_level"), "{config}");
}

#[test]
fn a_journey_to_another_home() {
    acts::travel("codex");
}

#[test]
fn every_prompt_arrives() {
    let stage = Stage::of("codex");
    let instance = stage.start_talking("words", "the first word");
    talking::take_every_prompt(&stage, &instance, &["! touch must-not-run"]);
    talking::refuse_an_unknown_command(&stage, &instance);
    menus::say_and_leave_alone(&stage, &instance, "/model");
    own_commands::keep_prompts_out_of_shell_mode(&stage, &instance);
    refusing::take_a_no(&stage, &instance);
    queueing::stop_at_a_failure(&stage, &instance);
}

#[test]
fn a_first_prompt_waits_until_the_folder_is_trusted() {
    let stage = Stage::for_a_stranger("codex");
    stage.write_home(".codex/config.toml", &stage.codex_config());
    talking::keep_the_first_prompt(&stage, &["trust this folder", "Enter"], |instance| {
        stage.confirm(instance, "Up", "› 1. Trust and continue");
    });
}

#[test]
fn what_was_typed_outlives_a_pause() {
    let stage = Stage::of("codex");
    let instance = queue_in_the_agent(&stage, &["a waiting one"]);
    stage.press(&instance, &["-l", "half a sentence"]);
    stage.see(&instance, "half a sentence");
    let paused = stage.pause(&instance, &["--now"]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    assert_eq!(paused["pause"]["draft"], "half a sentence", "{paused:#}");
    assert_eq!(waiting(&stage, &instance), ["a waiting one"]);
    stage.resume(&instance);
    stage.see(&instance, "half a sentence");
    // What the user has not finished comes first.
    assert_eq!(waiting(&stage, &instance), ["a waiting one"]);
    stage.submit_by_hand(&instance);
    let asked = stage.model.request_with("half a sentence");
    assert_eq!(asked.prompt().trim(), "half a sentence");
    asked.remembers("user", "model:slow 100");
    // The turn before was cut off, so what waits is the user's decision.
    stage.wait(&instance, "idle");
    assert_eq!(waiting(&stage, &instance), ["a waiting one"]);
    queueing::let_it_go_on(&stage, &instance);
    let asked = stage.model.request_with("a waiting one");
    assert_eq!(asked.prompt().trim(), "a waiting one");
    drop(stage.camp.biv(["daemon", "stop"]).run().ok());
}

/// Starts a slow answer, and queues prompts by Codex's own key.
fn queue_in_the_agent(stage: &Stage, prompts: &[&str]) -> Instance {
    let instance = stage.start_talking("typed", "the first word");
    stage.send(&instance, "model:slow 100");
    stage.see(&instance, "slowly5");
    for prompt in prompts {
        for (at, line) in prompt.split('\n').enumerate() {
            if at > 0 {
                // A new line in the box.
                stage.press(&instance, &["C-j"]);
            }
            stage.press(&instance, &["-l", line]);
            stage.see(&instance, line);
        }
        stage.press(&instance, &["Tab"]);
        let first = prompt.lines().next().unwrap();
        stage.see(&instance, &format!("↳ {first}"));
    }
    instance
}

/// The prompts that wait in the queue of the instance.
fn waiting(stage: &Stage, instance: &Instance) -> Vec<String> {
    let queue = stage.camp.biv(["queue", "--json", &instance.id]);
    let listed = queue.run().ok().json();
    let entries = listed["entries"].as_array().expect("a list").iter();
    entries
        .filter(|entry| entry["state"] == "waiting")
        .map(|entry| entry["prompt"].as_str().unwrap().to_owned())
        .collect()
}

/// Codex shows the first rows of each, and an interrupt puts all of them into one box.
#[test]
fn prompts_that_wait_inside_it_go_into_the_queue() {
    let stage = Stage::of("codex");
    let long = "the second one\nhas five lines\n  one of them indented\nand a fourth\nand a fifth";
    let prompts = ["the first that waits", long, "the third that waits"];
    let instance = queue_in_the_agent(&stage, &prompts);
    let paused = stage.pause(&instance, &["--now"]);
    assert_eq!(paused["pause"]["draft"], Value::Null, "{paused:#}");
    assert_eq!(waiting(&stage, &instance), prompts);
    stage.resume(&instance);
    queueing::let_it_go_on(&stage, &instance);
    for prompt in prompts {
        let asked = stage.model.request_with(prompt.lines().next().unwrap());
        assert_eq!(asked.prompt().trim(), prompt);
    }
    drop(stage.camp.biv(["daemon", "stop"]).run().ok());
}

#[test]
fn a_prompt_right_after_a_resume() {
    talking::take_a_prompt_right_after_a_resume(&Stage::of("codex"), 2);
}

#[test]
fn a_prompt_of_any_size() {
    talking::take_prompts_of_any_size(&Stage::of("codex"));
}

#[test]
fn a_draft_that_is_longer_than_the_screen() {
    let stage = Stage::of("codex");
    let instance = stage.start_talking("long", "the first word");
    drafts::keep_a_draft_that_it_cuts(&stage, &instance, "C-j");
}

/// `/statusline` changes what tells its input box from other rows.
#[test]
fn a_status_line_of_the_users_own_does_not_hide_its_prompt() {
    for status in [r#"["model-name"]"#, "[]"] {
        let stage = Stage::of("codex");
        let known = std::fs::read_to_string(stage.home(".codex/config.toml")).unwrap();
        let settings = format!("{known}[tui]\nstatus_line = {status}\n");
        stage.write_home(".codex/config.toml", &settings);
        let instance = stage.start_talking("own", "the first word");
        stage.turn(&instance, "the second word");
        stage.press(&instance, &["-l", "half a text"]);
        stage.see(&instance, "half a text");
        let refused = stage.camp.biv(["send", &instance.id, "the third word"]);
        let refused = refused.run().fails(4).stderr;
        assert!(
            refused.contains("there is a text in the input box"),
            "{refused}"
        );
        stage.press(&instance, &["C-u"]);
        stage.pause(&instance, &[]);
        stage.resume(&instance);
        stage.turn(&instance, "the last word");
    }
}
