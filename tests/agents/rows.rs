//! A command that takes several rows of a narrow screen, of agents that are answered on their screens.
//!
//! The screen does not tell a line end of the command from the edge of the screen. The agent's own record
//! does.

use serde_json::{Value, json};

use crate::stage::{BETWEEN_LOOKS, PATIENCE, Stage};
use crate::support::Instance;
use crate::support::wait::until_within;

const FIRST: &str = "a_file_with_a_name_that_is_as_long_as_it_has_to_be";
const SECOND: &str = "another_file_with_a_name_that_is_too_long_for_the_row";

fn decisions(stage: &Stage, instance: &Instance) -> Vec<Value> {
    let audit = stage.camp.biv(["audit", "--json", &instance.id]).run().ok();
    let entries = &audit.json()["entries"];
    entries.as_array().cloned().unwrap_or_default()
}

fn reads_rows_by_the_record(agent: &'static str) {
    let stage = Stage::of(agent);
    let config = stage.camp.home().join("config");
    std::fs::create_dir_all(config.join("agents")).unwrap();
    std::fs::write(
        config.join(format!("agents/{agent}.toml")),
        "[hooks]\noff = true\n",
    )
    .unwrap();
    let narrow = "[terminal]\ncolumns = 80\nrows = 40\n";
    std::fs::write(config.join("config.toml"), narrow).unwrap();
    let instance = Instance::from_json(&stage.new("narrow", &["--autoyes"]).ok().json());
    stage.wait(&instance, "idle");

    stage.send(&instance, &format!("model:run touch {FIRST} {SECOND}"));
    let told = || {
        let decided = decisions(&stage, &instance);
        format!("it is accepted: {decided:#?}\n{}", stage.screen(&instance))
    };
    until_within(PATIENCE, BETWEEN_LOOKS, told, || {
        let both = [FIRST, SECOND].map(|name| instance.worktree.join(name).exists());
        (both == [true, true]).then_some(())
    });
    stage.wait(&instance, "idle");

    // The same rows, and a second command.
    let before = decisions(&stage, &instance).len();
    let command = format!("touch {FIRST}\n{SECOND}");
    stage.send(&instance, &format!("model:runs {}", json!(command)));
    let told = || format!("it is left to the user\n{}", stage.screen(&instance));
    let decided = until_within(PATIENCE, BETWEEN_LOOKS, told, || {
        let decided = decisions(&stage, &instance).split_off(before);
        (!decided.is_empty()).then_some(decided)
    });
    assert_eq!(decided[0]["decision"], "manual", "{decided:#?}");
    assert_eq!(decided[0]["outcome"], "left", "{decided:#?}");
}

#[test]
fn claude_without_hooks_is_read_by_its_record() {
    reads_rows_by_the_record("claude");
}

#[test]
fn codex_without_hooks_is_read_by_its_record() {
    reads_rows_by_the_record("codex");
}
