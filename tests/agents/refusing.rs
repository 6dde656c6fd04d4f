//! "No" to a dialog, from the command line: nothing runs, and nothing of the answer is left behind.

use crate::stage::Stage;
use crate::support::Instance;

#[track_caller]
pub(crate) fn take_a_no(stage: &Stage, instance: &Instance) {
    stage.send(instance, "model:run touch refused");
    // A hook tells of it before it is drawn.
    stage.wait_dialog(instance);
    let answer = stage.camp.biv(["answer", "--json", &instance.id, "no"]);
    let answered = answer.run().ok().json();
    assert_eq!(
        answered["gone"],
        true,
        "{answered:#}\n{}",
        stage.screen(instance)
    );
    stage.wait(instance, "idle");
    // A prompt that meets the rest of an answer would be sent along with it.
    stage.send(instance, "what is next");
    let asked = stage.model.request_with("what is next");
    // Claude Code adds what was interrupted, Aider its rules.
    let mut lines = asked.prompt().lines();
    assert!(
        lines.any(|line| line == "what is next"),
        "{}",
        asked.prompt()
    );
    stage.wait(instance, "idle");
    assert!(!instance.worktree.join("refused").exists());
}
