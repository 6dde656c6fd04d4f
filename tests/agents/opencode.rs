//! OpenCode.

use crate::acts;
use crate::allowing;
use crate::day;
use crate::drafts;
use crate::menus;
use crate::own_commands;
use crate::refusing;
use crate::stage::{PATIENT, Stage};
use crate::support::{Instance, until};
use crate::talking;

/// Its database is asked for what was said, which takes no time, and what happened since is added.
#[test]
fn a_day_with_pauses_and_a_kill() {
    let stage = Stage::of("opencode");
    let instance = day::whole(&stage);
    let shown = stage.camp.show(&instance);
    let reference = shown["session_ref"].as_str().unwrap_or_default();
    assert!(reference.starts_with("ses_"), "{shown:#}");
}

#[test]
fn an_hour_of_work() {
    let stage = Stage::of("opencode");
    let instance = stage.start_talking("hour", "the first word");
    talking::take_every_prompt(&stage, &instance, &["exit"]);
    acts::take_a_large_prompt(&stage, &instance, "\t");
    acts::answer_in_own_words(&stage, &instance);
    acts::decline_a_question(&stage, &instance);
    drafts::leave_a_draft_alone(&stage, &instance);
    menus::say_and_leave_alone(&stage, &instance, "/models");
    own_commands::keep_prompts_out_of_shell_mode(&stage, &instance);
    refusing::take_a_no(&stage, &instance);
    allowing::confirm_what_is_allowed_always(&stage, &instance);
    acts::follow_a_new_conversation(&stage, &instance, "/new");
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

/// Its footer wraps there, and its buttons stand closer.
#[test]
fn its_dialog_is_answered_at_80_columns() {
    let stage = Stage::of("opencode");
    let config = stage.camp.home().join("config/config.toml");
    let narrow = format!("{PATIENT}[terminal]\ncolumns = 80\nrows = 40\n");
    std::fs::write(config, narrow).unwrap();
    let instance = stage.start_talking("narrow", "the first word");
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
