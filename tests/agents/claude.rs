//! Claude Code.

use std::path::Path;

use crate::acts;
use crate::drafts;
use crate::hooks;
use crate::menus;
use crate::own_commands;
use crate::queueing;
use crate::refusing;
use crate::stage::Stage;
use crate::support::{Instance, until};
use crate::talking;

#[test]
fn a_pause_at_the_prompt() {
    let stage = Stage::of("claude");
    let instance = acts::pause_at_the_prompt(&stage);
    let asked = stage.model.request_with("the tent is blue");
    assert_eq!(asked.session, instance.session_ref, "the id that was given");
}

/// It files its conversations under the directory in which it was started.
#[test]
fn a_conversation_in_a_subdirectory_goes_on() {
    let stage = Stage::of("claude");
    stage.repository.write("web/app/index.txt", "page\n");
    stage.repository.commit("web");
    let call = stage.camp.biv(["new", "--json", "below", "-a", "claude"]);
    let call = call.args(["-p", "the tent is blue"]);
    let made = call.within(stage.repository.path.join("web/app")).run();
    let instance = Instance::from_json(&made.ok().json());
    stage.model.request_with("the tent is blue");
    stage.wait(&instance, "idle");
    let paused = stage.pause(&instance, &[]);
    assert_eq!(paused["subdirectory"], "web/app");
    let resumed = stage.resume(&instance);
    assert_eq!(resumed["session_ref"], paused["session_ref"]);
    assert_eq!(resumed["subdirectory"], "web/app");
    stage.turn(&instance, "and the stove is red");
    let asked = stage.model.request_with("and the stove is red");
    asked.remembers("user", "the tent is blue");
    let log = stage.camp.biv(["log", &instance.id]).run().ok().stdout;
    assert!(log.contains("I have read: and the stove is red"), "{log}");
}

#[test]
fn a_pause_in_the_middle_of_an_answer() {
    let stage = Stage::of("claude");
    acts::pause_in_the_middle_of_an_answer(&stage);
    // Claude keeps what it had received.
    let asked = stage.model.request_with("where were we");
    asked.remembers("assistant", "slowly1 slowly2");
}

#[test]
fn a_pause_in_a_dialog() {
    acts::pause_in_a_dialog(&Stage::of("claude"));
}

#[test]
fn a_kill_in_the_middle_of_an_answer() {
    acts::survive_a_kill(&Stage::of("claude"));
}

#[test]
fn a_pause_before_the_first_turn_keeps_the_reference() {
    let stage = Stage::of("claude");
    let instance = acts::pause_before_the_first_turn(&stage);
    let shown = stage.camp.show(&instance);
    assert_eq!(shown["session_ref"], instance.session_ref.unwrap());
}

#[test]
fn clear_starts_another_conversation_which_is_followed() {
    let stage = Stage::of("claude");
    let instance = stage.start_talking("follows", "the first word");
    acts::follow_a_new_conversation(&stage, &instance, "/clear");
}

#[test]
fn what_was_said_before_clear_stays_in_the_log_without_a_look() {
    let stage = Stage::of("claude");
    let instance = stage.start_talking("clears", "in the first one");
    for prompt in ["in the second one", "in the third one"] {
        stage.press(&instance, &["-l", "/clear"]);
        stage.submit_by_hand(&instance);
        stage.turn_by_hand(&instance, prompt);
    }
    // The hook of the turn before may still be the last one that was heard.
    let log = || stage.camp.biv(["log", &instance.id]).run().ok().stdout;
    until("the last answer is in the log", || {
        log().contains("I have read: in the third one")
    });
    let log = log();
    let places: Vec<Option<usize>> = ["first", "second", "third"]
        .map(|which| log.find(&format!("I have read: in the {which} one")))
        .to_vec();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{log}"
    );
}

#[test]
fn a_conversation_that_is_lost_is_refused() {
    acts::refuse_what_the_agent_does_not_know(&Stage::of("claude"), ".claude/projects");
}

#[test]
fn a_worktree_that_is_built_anew() {
    acts::rebuild_its_worktree(&Stage::of("claude"));
}

#[test]
fn what_was_said_is_in_the_log() {
    acts::tell_what_was_said(&Stage::of("claude"));
}

#[test]
fn a_prompt_arrives_alone() {
    let stage = Stage::of("claude");
    let instance = stage.start_talking("drafted", "the first word");
    drafts::take_a_prompt_alone(&stage, &instance);
    drafts::leave_a_draft_below_a_blank_line(&stage, &instance, "C-j");
}

#[test]
fn two_of_one_repository() {
    acts::keep_two_apart(&Stage::of("claude"));
}

#[test]
fn a_large_prompt_is_exact() {
    let stage = Stage::of("claude");
    let instance = Instance::from_json(&stage.new("large", &[]).ok().json());
    acts::take_a_large_prompt(&stage, &instance, "    ");
}

#[test]
fn its_hooks_tell_what_it_does() {
    let stage = Stage::of("claude");
    // The user's own hooks run beside ours.
    let mark = stage.camp.root().join("users-hook");
    let hook =
        serde_json::json!({ "type": "command", "command": format!("touch {}", mark.display()) });
    let settings = serde_json::json!({
        "permissions": { "defaultMode": "default" },
        "hooks": { "Stop": [{ "hooks": [hook] }] },
    });
    stage.write_home(".claude/settings.json", &settings.to_string());
    hooks::hear_its_hooks(&stage);
    assert!(mark.exists());
    let kept = std::fs::read_to_string(stage.home(".claude/settings.json")).unwrap();
    assert_eq!(kept, settings.to_string());
}

#[test]
fn it_does_not_notice_that_biv_is_gone() {
    hooks::outlive_biv(&Stage::of("claude"));
}

#[test]
fn it_ends_by_itself_and_comes_back() {
    let stage = Stage::of("claude");
    let instance = stage.start_talking("leaves", "the first turn");
    // No command looks between the change of the conversation and the end.
    stage.press(&instance, &["-l", "/clear"]);
    stage.submit_by_hand(&instance);
    stage.turn_by_hand(&instance, "the turn after it");
    stage.press(&instance, &["-l", "/exit"]);
    stage.submit_by_hand(&instance);
    stage.wait_state(&instance, "completed");
    stage.resume(&instance);
    stage.turn(&instance, "back again");
    let asked = stage.model.request_with("back again");
    asked.remembers("user", "the turn after it");
    assert!(!asked.said_by("user").contains(&"the first turn"));
}

#[test]
fn a_folder_that_is_not_trusted_is_a_persons_matter() {
    let stage = Stage::of("claude");
    let config = stage.home(".claude.json");
    let mut known: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&config).unwrap()).unwrap();
    known["projects"] = serde_json::json!({});
    std::fs::write(&config, known.to_string()).unwrap();
    blocked(&stage, "trust this folder");
}

#[test]
fn a_key_that_was_never_approved_is_a_persons_matter() {
    let stage = Stage::of("claude");
    let config = stage.home(".claude.json");
    let mut known: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&config).unwrap()).unwrap();
    known["customApiKeyResponses"] = serde_json::json!({});
    std::fs::write(&config, known.to_string()).unwrap();
    blocked(&stage, "API key");
}

#[track_caller]
fn blocked(stage: &Stage, shown: &str) {
    let instance = acts::leave_its_question_to_a_person(stage, shown);
    stage.pause(&instance, &[]);
    stage.resume(&instance);
    stage.wait(&instance, "blocked");
    assert!(stage.model.requests().is_empty(), "{}", stage.model.told());
}

/// A server that it has started: it takes prompts, waits for nobody, and a pause names what it stops.
#[test]
fn background_work_is_not_a_turn() {
    let stage = Stage::of("claude");
    let instance = stage.start("serves", "model:background sleep 3001");
    stage.model.request_with("model:background");
    stage.see(&instance, "1 shell");
    stage.wait(&instance, "idle");
    let shown = stage.camp.show(&instance);
    assert_eq!(shown["background"], "1 shell", "{shown:#}");
    let listed = stage.camp.biv(["list"]).run().ok().stdout;
    assert!(listed.contains("ready · 1 shell"), "{listed}");
    drop(
        stage
            .camp
            .biv(["wait", &instance.id, "--for", "idle"])
            .run()
            .ok(),
    );
    let sent = stage
        .camp
        .biv(["send", "--json", &instance.id, "and the tests"]);
    assert_eq!(sent.run().ok().json()["sent"], true);
    stage.model.request_with("and the tests");
    stage.wait(&instance, "idle");
    let paused = stage.camp.biv(["pause", "--now", &instance.id]).run().ok();
    assert!(paused.stderr.contains("sleep 3001"), "{}", paused.stderr);
    let shown = stage.camp.show(&instance);
    assert_eq!(shown["pause"]["forced"], false, "{shown:#}");
    assert_eq!(
        shown["pause"]["stopped"],
        serde_json::json!(["sleep 3001"]),
        "{shown:#}"
    );
    assert_eq!(instance.processes().len(), 0);
    stage.resume(&instance);
    stage.turn(&instance, "go on");
    let asked = stage.model.request_with("go on");
    asked.remembers("user", "and the tests");
}

#[test]
fn a_journey_to_another_home() {
    acts::travel("claude");
}

#[test]
fn every_prompt_arrives() {
    let stage = Stage::of("claude");
    let instance = stage.start_talking("words", "the first word");
    talking::take_every_prompt(&stage, &instance, &["exit"]);
    talking::refuse_an_unknown_command(&stage, &instance);
    menus::say_and_leave_alone(&stage, &instance, "/model");
    own_commands::keep_prompts_out_of_shell_mode(&stage, &instance);
    refusing::take_a_no(&stage, &instance);
    // What the agent removes is said, and nothing waits for a review.
    let sent = stage
        .camp
        .biv(["send", "--now", &instance.id, "\u{feff}to the\u{202e} left"]);
    let sent = sent.run().ok();
    assert!(
        sent.stderr.contains("2 invisible characters"),
        "{}",
        sent.stderr
    );
    stage.model.request_with("to the left");
    stage.wait(&instance, "idle");
    // Those who mean it.
    let raw = stage
        .camp
        .biv(["send", "--raw", &instance.id, "! touch meant"]);
    drop(raw.run().ok());
    until("it has run", || instance.worktree.join("meant").exists());
    stage.wait(&instance, "idle");
    queueing::stop_at_a_failure(&stage, &instance);
}

#[test]
fn a_first_prompt_waits_until_the_folder_is_trusted() {
    let stage = Stage::of("claude");
    let config = stage.home(".claude.json");
    let mut known: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&config).unwrap()).unwrap();
    known["projects"] = serde_json::json!({});
    std::fs::write(&config, known.to_string()).unwrap();
    talking::keep_the_first_prompt(
        &stage,
        &["trust this folder", "Enter", "No, exit"],
        |instance| {
            stage.confirm(instance, "Down", "❯ Yes, I trust this folder");
        },
    );
}

#[test]
fn a_question_is_answered_in_own_words() {
    let stage = Stage::of("claude");
    let instance = Instance::from_json(&stage.new("asks", &[]).ok().json());
    acts::answer_in_own_words(&stage, &instance);
    acts::answer_in_an_open_field(&stage, &instance);
    acts::decline_a_question(&stage, &instance);
}

#[test]
fn what_was_typed_outlives_a_pause() {
    drafts::keep_what_was_typed(&Stage::of("claude"), "Enter", "to send now");
}

/// `/add-dir PATH`, for this session.
fn add_directory(stage: &Stage, instance: &Instance, path: &Path) {
    stage.press(instance, &["-l", &format!("/add-dir {}", path.display())]);
    stage.see(instance, "/add-dir ");
    stage.submit_by_hand(instance);
    stage.wait(instance, "menu");
    stage.see(instance, "Yes, for this session");
    stage.press(instance, &["Enter"]);
    let said = format!("Added \\u001b[1m{}\\u001b[22m as a", path.display());
    until("it is in the transcript", || {
        stage.keeps_a_file_of(".claude/projects", &said)
    });
    stage.wait(instance, "idle");
}

/// Whether Claude reads a file without a question.
fn reads(stage: &Stage, instance: &Instance, path: &Path, word: &str) {
    stage.send(instance, &format!("model:read {}", path.display()));
    stage.model.request_with(&path.display().to_string());
    stage.wait(instance, "idle");
    let requests = stage.model.requests();
    let last = requests.last().expect("a request");
    let told = last.said_by("tool");
    assert!(
        told.last().is_some_and(|text| text.contains(word)),
        "{told:?}"
    );
}

#[test]
fn an_added_directory_is_there_after_a_pause_and_after_a_crash() {
    let stage = Stage::of("claude");
    let instance = stage.start("adds", "the first turn");
    stage.wait(&instance, "idle");
    let other = stage.camp.root().join("another place");
    let removed = stage.camp.root().join("removed");
    for directory in [&other, &removed] {
        std::fs::create_dir(directory).unwrap();
        add_directory(&stage, &instance, directory);
    }
    std::fs::write(other.join("one.txt"), "the lake is deep").unwrap();
    stage.pause(&instance, &[]);
    std::fs::remove_dir(&removed).unwrap();
    let resumed = stage.camp.biv(["resume", &instance.id]).run().ok();
    let gone = format!("is gone: {}", removed.display());
    assert!(resumed.stderr.contains(&gone), "{}", resumed.stderr);
    stage.wait(&instance, "idle");
    reads(
        &stage,
        &instance,
        &other.join("one.txt"),
        "the lake is deep",
    );

    // Added since, and no pause has recorded it.
    let third = stage.camp.root().join("third");
    std::fs::create_dir(&third).unwrap();
    std::fs::write(third.join("two.txt"), "the hill is high").unwrap();
    add_directory(&stage, &instance, &third);
    drop(stage.camp.tmux(&["kill-server"]));
    stage.wait_state(&instance, "interrupted");
    stage.resume(&instance);
    reads(
        &stage,
        &instance,
        &other.join("one.txt"),
        "the lake is deep",
    );
    reads(
        &stage,
        &instance,
        &third.join("two.txt"),
        "the hill is high",
    );
}

#[test]
fn a_turn_that_ends_with_the_server_is_told() {
    acts::tell_of_a_cut_turn(&Stage::of("claude"));
}

#[test]
fn a_prompt_right_after_a_resume() {
    talking::take_a_prompt_right_after_a_resume(&Stage::of("claude"), 2);
}

#[test]
fn a_prompt_of_any_size() {
    talking::take_prompts_of_any_size(&Stage::of("claude"));
}

#[test]
fn a_draft_that_is_longer_than_the_screen() {
    let stage = Stage::of("claude");
    let instance = stage.start_talking("long", "the first word");
    drafts::keep_a_draft_that_it_cuts(&stage, &instance, "C-j");
}

#[test]
fn a_draft_outlives_the_server() {
    drafts::outlive_the_server(&Stage::of("claude"));
}

/// As behind a gateway, which does not pass its check through.
#[test]
fn a_command_that_auto_mode_cannot_check_is_answered() {
    let stage = Stage::of("claude");
    let settings = serde_json::json!({ "permissions": { "defaultMode": "auto" } });
    stage.write_home(".claude/settings.json", &settings.to_string());
    let instance = stage.start_talking("auto", "the first word");
    let answer = |word| drop(stage.camp.biv(["answer", &instance.id, word]).run().ok());
    let ask = "model:run curl -s http://127.0.0.1:1/ || touch allowed";
    stage.send(&instance, ask);
    stage.wait(&instance, "blocked");
    // It drops keys in the first moment of a dialog.
    stage.submit_by_hand(&instance);
    stage.wait_dialog(&instance);
    answer("no");
    stage.wait(&instance, "idle");
    assert!(!instance.worktree.join("allowed").exists());
    stage.turn(&instance, "and now?");
    stage.send(&instance, ask);
    stage.wait_dialog(&instance);
    answer("yes");
    stage.wait(&instance, "idle");
    assert!(instance.worktree.join("allowed").exists());
}

/// Tab opens a field in a permission, where the number of a choice would be text.
#[test]
fn no_key_goes_into_a_text_that_a_user_has_begun_in_a_dialog() {
    let stage = Stage::of("claude");
    let instance = stage.start_talking("amended", "the first word");
    stage.send(&instance, "model:run touch allowed");
    stage.wait_dialog(&instance);
    stage.select(&instance, "Tab", "and tell Claude what to do next");
    let answer = |word| stage.camp.biv(["answer", &instance.id, word]).run();
    let refused = answer("no").fails(4).stderr;
    assert!(refused.contains("a field for text is open"), "{refused}");
    stage.see(&instance, "and tell Claude what to do next");
    // It closes the field.
    stage.select(&instance, "Tab", "Tab to amend");
    drop(answer("no").ok());
    stage.wait(&instance, "idle");
    assert!(!instance.worktree.join("allowed").exists());
}
