//! Shell commands that the user runs at the agent's prompt, past its model: acts for every agent.

use crate::stage::Stage;
use crate::support::Instance;

/// In the shell mode whatever is submitted runs as a command, without a question: no prompt goes there.
#[track_caller]
pub(crate) fn keep_prompts_out_of_shell_mode(stage: &Stage, instance: &Instance) {
    stage.press(instance, &["!"]);
    stage.wait(instance, "menu");
    let prompt = "touch written-by-a-prompt";
    let refused = stage.camp.biv(["send", &instance.id, prompt]);
    let refused = refused.run().fails(4).stderr;
    for part in ["the shell mode of ", "runs as a command", "Esc closes it"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    stage.close_menu(instance);
    stage.turn(instance, prompt);
    assert!(!instance.worktree.join("written-by-a-prompt").exists());
}

/// The agent is busy while a command of the user runs, as in a turn.
#[track_caller]
pub(crate) fn count_as_work(stage: &Stage, instance: &Instance) {
    stage.press(instance, &["!"]);
    // Typed at once, the mark would be a part of a paste.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let command = "while [ ! -e done ]; do sleep 0.2; done";
    stage.press(instance, &["-l", command]);
    stage.see(instance, command);
    stage.submit_by_hand(instance);
    stage.wait(instance, "busy");
    std::fs::write(instance.worktree.join("done"), "").unwrap();
}
