//! Agents that tell of themselves by hooks.

use crate::stage::Stage;
use crate::support::Instance;

/// The agent's hooks tell what it does, and nothing is seen of them.
#[track_caller]
pub(crate) fn hear_its_hooks(stage: &Stage) {
    let instance = stage.start_talking("tells", "the first word");
    stage.wait_hook(&instance, "Stop");
    stage.send(&instance, "model:slow 100");
    stage.wait(&instance, "busy");
    stage.wait_hook(&instance, "UserPromptSubmit");
    // Its own word is the better source than what it draws.
    let source = stage.camp.show(&instance)["activity_source"].clone();
    let source = source.as_str().unwrap_or_default();
    assert!(
        ["hook UserPromptSubmit", "registry busy"].contains(&source),
        "{source}"
    );
    // No hook may tell of this, and yet it is known.
    stage.press(&instance, &["Escape"]);
    stage.wait(&instance, "idle");
    stage.send(&instance, "model:run touch allowed");
    stage.wait(&instance, "approval");
    let told = stage.hook(&instance);
    // Claude tells of it once more after a while.
    let event = told["event"].as_str().unwrap_or_default();
    assert!(
        ["PermissionRequest", "Notification"].contains(&event),
        "{told}"
    );
    assert_eq!(told["earlier"], serde_json::json!([]), "{told}");
    assert_eq!(told["session"], stage.camp.show(&instance)["session_ref"]);
    let screen = stage.screen(&instance);
    assert!(!screen.to_lowercase().contains("hook"), "{screen}");
}

/// A biv that was removed while its agent runs: the agent goes on and shows nothing of it.
#[track_caller]
pub(crate) fn outlive_biv(stage: &Stage) {
    let program = stage.camp.root().join("own biv");
    std::fs::copy(env!("CARGO_BIN_EXE_biv"), &program).unwrap();
    let repository = stage.repository.path.to_str().unwrap();
    let made = std::process::Command::new(&program)
        .args([
            "new",
            "--json",
            "left",
            "-a",
            stage.agent,
            "--repo",
            repository,
        ])
        .current_dir(stage.camp.root())
        .env_clear()
        .envs(stage.camp.environment())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let instance = Instance::from_json(&serde_json::from_slice(&made.stdout).unwrap());
    stage.wait(&instance, "idle");
    std::fs::remove_file(&program).unwrap();
    stage.turn(&instance, "is anybody there?");
    let screen = stage.screen(&instance);
    assert!(
        screen.contains("I have read: is anybody there?"),
        "{screen}"
    );
    let screen = screen.to_lowercase();
    assert!(
        !screen.contains("hook") && !screen.contains("not found"),
        "{screen}"
    );
    // No process of ours has seen the turn.
    let told = stage.hook(&instance);
    assert!(!["UserPromptSubmit", "Stop"].contains(&told["event"].as_str().unwrap_or_default()));
}
