//! Agents that ask once more after "Allow always", with what that would allow.

use crate::stage::Stage;
use crate::support::Instance;

#[track_caller]
pub(crate) fn confirm_what_is_allowed_always(stage: &Stage, instance: &Instance) {
    stage.send(instance, "model:run touch one");
    stage.wait_dialog(instance);
    let answer = |choice: &str| {
        let pressed = stage.camp.biv(["answer", "--json", &instance.id, choice]);
        pressed.run().ok().json()
    };
    assert_eq!(answer("2")["label"], "Allow always");
    stage.wait(instance, "question");
    let asks = &stage.camp.show(instance)["asks"];
    assert_eq!(asks["text"], "always allow · touch *", "{asks}");
    assert!(!instance.worktree.join("one").exists());
    assert_eq!(answer("2")["label"], "Cancel");
    stage.wait_dialog(instance);
    answer("2");
    stage.wait(instance, "question");
    assert_eq!(answer("1")["label"], "Confirm");
    stage.wait(instance, "idle");
    assert!(instance.worktree.join("one").exists());
    // It is not asked about any more.
    stage.turn(instance, "model:run touch two");
    assert!(instance.worktree.join("two").exists());
}
