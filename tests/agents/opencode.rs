//! OpenCode.

use crate::acts;
use crate::drafts;
use crate::stage::{PATIENT, Stage};
use crate::support::{Instance, until};
use crate::talking;

#[test]
fn a_pause_at_the_prompt() {
    acts::pause_at_the_prompt(&Stage::of("opencode"));
}

#[test]
fn a_pause_in_the_middle_of_an_answer() {
    acts::pause_in_the_middle_of_an_answer(&Stage::of("opencode"));
}

#[test]
fn a_pause_in_a_dialog() {
    acts::pause_in_a_dialog(&Stage::of("opencode"));
}

#[test]
fn a_kill_in_the_middle_of_an_answer() {
    acts::survive_a_kill(&Stage::of("opencode"));
}

#[test]
fn a_pause_before_the_first_turn_starts_anew() {
    acts::pause_before_the_first_turn(&Stage::of("opencode"));
}

#[test]
fn a_large_prompt_is_exact() {
    acts::take_a_large_prompt(&Stage::of("opencode"), "\t");
}

/// Its database is asked, which takes no time, and what happened since is added.
#[test]
fn its_conversation_is_in_the_log() {
    let stage = Stage::of("opencode");
    acts::tell_what_was_said(&stage);
    let shown = stage.camp.biv(["show", "said", "--json"]).run().ok().json();
    let reference = shown["session_ref"].as_str().unwrap_or_default();
    assert!(reference.starts_with("ses_"), "{shown:#}");
    let instance = Instance::from_json(&shown);
    stage.resume(&instance);
    stage.send(&instance, "model:run touch allowed");
    stage.wait(&instance, "approval");
    stage.press(&instance, &["Enter"]);
    stage.wait(&instance, "idle");
    let log = || {
        let log = stage.camp.biv(["log", "--json", "said"]).run().ok();
        log.stdout
    };
    until("the tool is in the log", || {
        log().contains("The tool has answered")
    });
    let log = log();
    for said in [
        "the soup is hot",
        "I have read: the soup is hot",
        "touch allowed",
    ] {
        assert!(log.contains(said), "{said}: {log}");
    }
    let answers = log.matches("I have read: the soup is hot").count();
    assert_eq!(answers, 1, "{log}");
    let shown = stage.pause(&instance, &[]);
    assert_eq!(shown["pause"]["last_action"], "ran `touch allowed`");
}

#[test]
fn half_a_sentence_of_a_person_stays() {
    let stage = Stage::of("opencode");
    let instance = stage.start("drafted", "the first word");
    stage.model.request_with("the first word");
    stage.wait(&instance, "idle");
    drafts::leave_a_draft_alone(&stage, &instance);
}

/// Homes lie behind links more often than not.
#[test]
fn its_conversation_is_found_behind_a_link() {
    let stage = Stage::of("opencode");
    let link = stage.camp.root().join("link");
    std::fs::create_dir_all(stage.camp.home()).unwrap();
    std::os::unix::fs::symlink(stage.camp.home(), &link).unwrap();
    let new = stage
        .camp
        .biv(["new", "--json", "linked", "-a", "opencode", "--repo"]);
    let new = new
        .arg(&stage.repository.path)
        .args(["-p", "the path is long"]);
    let instance = Instance::from_json(&new.env("BIV_HOME", &link).run().ok().json());
    assert!(instance.worktree.starts_with(&link), "{instance:?}");
    stage.model.request_with("the path is long");
    stage.wait(&instance, "idle");
    let paused = stage.pause(&instance, &[]);
    let reference = paused["session_ref"].as_str().unwrap_or_default();
    assert!(reference.starts_with("ses_"), "{paused:#}");
    stage.resume(&instance);
    stage.wait(&instance, "idle");
    drop(stage.camp.biv(["autoyes", &instance.id, "on"]).run().ok());
    stage.send(&instance, "model:run touch allowed");
    until("it is answered", || {
        instance.worktree.join("allowed").exists()
    });
}

#[test]
fn every_prompt_arrives() {
    talking::take_every_prompt(&Stage::of("opencode"), &["exit"]);
}

#[test]
fn a_question_is_answered_in_own_words() {
    acts::answer_in_own_words(&Stage::of("opencode"));
}

#[test]
fn a_prompt_right_after_a_resume() {
    talking::take_a_prompt_right_after_a_resume(&Stage::of("opencode"), 2);
}

/// Its footer wraps there, and its buttons stand closer.
#[test]
fn its_dialog_is_answered_at_80_columns() {
    let stage = Stage::of("opencode");
    let config = stage.camp.home().join("config/config.toml");
    let narrow = format!("{PATIENT}[terminal]\ncolumns = 80\nrows = 40\n");
    std::fs::write(config, narrow).unwrap();
    let instance = stage.start("narrow", "the first word");
    stage.model.request_with("the first word");
    stage.wait(&instance, "idle");
    stage.send(&instance, "model:run touch refused");
    stage.wait(&instance, "approval");
    let answer = |choice: &str| {
        let answered = stage.camp.biv(["answer", "--json", &instance.id, choice]);
        answered.run().ok().json()
    };
    let answered = answer("Reject");
    assert_eq!(answered["label"], "Reject", "{answered:#}");
    stage.wait(&instance, "idle");
    stage.send(&instance, "model:run touch allowed");
    stage.wait(&instance, "approval");
    let answered = answer("Allow once");
    assert_eq!(answered["label"], "Allow once", "{answered:#}");
    until("it has run", || instance.worktree.join("allowed").exists());
    assert!(!instance.worktree.join("refused").exists());
    stage.wait(&instance, "idle");
}
