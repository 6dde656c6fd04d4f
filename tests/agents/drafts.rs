//! A text that was typed and not sent: a prompt does not go with it, and a pause does not lose it.

use crate::stage::{BETWEEN_LOOKS, PATIENCE, Stage};
use crate::support::Instance;
use crate::support::wait::until_within;

/// A prompt arrives alone. What the agent itself put back into its input box makes room for it; half a
/// sentence of a person does not, and is neither sent along nor lost.
#[track_caller]
pub(crate) fn take_a_prompt_alone(stage: &Stage, instance: &Instance) {
    stage.send(instance, "model:hang\nuntil you are told to stop");
    stage.model.request_with("until you are told to stop");
    stage.wait(instance, "busy");
    stage.press(instance, &["Escape"]);
    stage.wait(instance, "idle");
    stage.turn(instance, "a whole one");
    let asked = stage.model.request_with("a whole one");
    assert_eq!(asked.prompt().trim(), "a whole one");
    leave_a_draft_alone(stage, instance);
}

/// The first line of what a person has typed may be blank: a prompt is refused all the same.
#[track_caller]
pub(crate) fn leave_a_draft_below_a_blank_line(stage: &Stage, instance: &Instance, newline: &str) {
    stage.press(instance, &[newline]);
    stage.press(instance, &["-l", "below a blank line"]);
    stage.see(instance, "below a blank line");
    let refused = stage.camp.biv(["send", &instance.id, "over it"]).run();
    assert!(refused.fails(4).stderr.contains("input box"));
    stage.submit_by_hand(instance);
    let asked = stage.model.request_with("below a blank line");
    assert_eq!(asked.prompt().trim(), "below a blank line");
    stage.wait(instance, "idle");
}

/// Half a sentence of a person in the input box: a prompt is refused, and the half goes on.
#[track_caller]
pub(crate) fn leave_a_draft_alone(stage: &Stage, instance: &Instance) {
    stage.press(instance, &["-l", "half a sentence"]);
    stage.see(instance, "half a sentence");
    let refused = stage.camp.biv(["send", &instance.id, "in between"]).run();
    let refused = refused.fails(4);
    // Several may be named in one command.
    let whose = format!("input box of `{}`", instance.title);
    assert!(refused.stderr.contains(&whose), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
    stage.see(instance, "half a sentence");
    stage.press(instance, &["-l", " and the rest"]);
    stage.see(instance, "half a sentence and the rest");
    stage.submit_by_hand(instance);
    let asked = stage.model.request_with("half a sentence");
    // Aider adds a sentence of its own.
    let prompt = asked.prompt().trim();
    assert!(
        prompt.starts_with("half a sentence and the rest"),
        "{prompt}"
    );
    assert!(!prompt.contains("in between"), "{prompt}");
    stage.wait(instance, "idle");
    stage.turn(instance, "in between");
}

/// A prompt that waits inside the agent and half a sentence in its box: a pause runs neither and keeps both, and
/// they are in the box again after the resume.
#[track_caller]
pub(crate) fn keep_what_was_typed(stage: &Stage, queue: &str, queued: &str) {
    let instance = stage.start_talking("typed", "the first word");
    stage.send(&instance, "model:slow 100");
    stage.see(&instance, "slowly5");
    stage.press(&instance, &["-l", "a waiting one"]);
    stage.see(&instance, "a waiting one");
    stage.press(&instance, &[queue]);
    stage.see(&instance, queued);
    stage.press(&instance, &["-l", "half a sentence"]);
    stage.see(&instance, "half a sentence");
    let paused = stage.pause(&instance, &["--now"]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    let typed = "a waiting one\nhalf a sentence";
    assert_eq!(paused["pause"]["draft"], typed, "{paused:#}");
    stage.resume(&instance);
    let asked = |text: &str| {
        let requests = stage.model.requests();
        requests
            .iter()
            .any(|request| request.prompt().contains(text))
    };
    assert!(!asked("a waiting one"), "{}", stage.model.told());
    stage.submit_by_hand(&instance);
    let asked = stage.model.request_with("half a sentence");
    assert_eq!(asked.prompt().trim(), typed);
    asked.remembers("user", "model:slow 100");
}

/// A row that its box has broken, an empty one and an indented one outlive a pause. The agent would lose them.
#[track_caller]
pub(crate) fn type_a_draft_again(stage: &Stage, instance: &Instance, newline: &str) {
    stage.turn(instance, "a turn before the draft");
    // Gemini takes an answer of equal words for a loop.
    let long: Vec<String> = (0..60).map(|number| format!("word{number}")).collect();
    let long = long.join(" ");
    stage.press(instance, &["-l", &long]);
    stage.see(instance, "word59");
    stage.press(instance, &[newline]);
    stage.press(instance, &[newline]);
    stage.press(instance, &["-l", "  the other half"]);
    stage.see(instance, "the other half");
    let typed = format!("{long}\n\n  the other half");
    let paused = stage.pause(instance, &[]);
    assert_eq!(paused["pause"]["draft"], typed, "{paused:#}");
    stage.resume(instance);
    let shown = stage.camp.show(instance);
    assert_eq!(shown["draft"], serde_json::Value::Null, "{shown:#}");
    stage.submit_by_hand(instance);
    let asked = stage.model.request_with("the other half");
    assert_eq!(asked.prompt().trim(), typed);
    asked.remembers("user", "a turn before the draft");
    stage.wait(instance, "idle");
}

/// More lines than the box shows: a pause is refused, and nothing of them is lost. `--now` keeps what is to be
/// seen, and does not type it again as if it were all.
#[track_caller]
pub(crate) fn keep_a_draft_that_it_cuts(stage: &Stage, instance: &Instance, newline: &str) {
    type_lines(stage, instance, newline, "row");
    let refused = stage.camp.biv(["pause", &instance.id]).run().fails(4);
    let said = &refused.stderr;
    assert!(said.contains("longer than it shows"), "{said}");
    assert!(said.contains("hint: "), "{said}");
    assert_eq!(stage.camp.show(instance)["state"], "running");
    stage.submit_by_hand(instance);
    let asked = stage.model.request_with("row 59");
    let lines: Vec<&str> = asked.prompt().trim().lines().collect();
    assert_eq!(lines.len(), 60, "{lines:?}");
    stage.wait(instance, "idle");

    // Other words than those that were sent and stand above the box.
    type_lines(stage, instance, newline, "line");
    let paused = stage.pause(instance, &["--now"]);
    let draft = paused["pause"]["draft"].as_str().unwrap_or_default();
    assert!(
        draft.starts_with("[more that was not shown]\n"),
        "{paused:#}"
    );
    assert!(draft.ends_with("line 58\nline 59"), "{paused:#}");
    stage.resume(instance);
    let shown = stage.camp.show(instance);
    assert_eq!(shown["draft"], draft, "{shown:#}");
    stage.turn(instance, "go on without it");
}

fn type_lines(stage: &Stage, instance: &Instance, newline: &str, word: &str) {
    for number in 0..60 {
        if number > 0 {
            stage.press(instance, &[newline]);
        }
        stage.press(instance, &["-l", &format!("{word} {number}")]);
    }
    stage.see(instance, &format!("{word} 59"));
}

/// The daemon saves the screen of an agent that it watches: a text that stands there is typed again, though the
/// server was killed.
#[track_caller]
pub(crate) fn outlive_the_server(stage: &Stage) {
    drop(stage.camp.biv(["daemon", "start"]).run().ok());
    let instance = stage.start_talking("outlives", "the first word");
    stage.press(&instance, &["-l", "half a sentence"]);
    stage.see(&instance, "half a sentence");
    let directory = stage.camp.instances_dir().join(&instance.id);
    until_within(
        PATIENCE,
        BETWEEN_LOOKS,
        || "the screen is saved".to_owned(),
        || {
            let saved = std::fs::read_to_string(directory.join("terminal/live")).ok()?;
            saved.contains("half a sentence").then_some(())
        },
    );
    drop(stage.camp.biv(["daemon", "stop"]).run().ok());
    let server = stage.camp.tmux(&["display-message", "-p", "#{pid}"]);
    let server = String::from_utf8_lossy(&server.stdout).trim().to_owned();
    let pid = rustix::process::Pid::from_raw(server.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    stage.wait_state(&instance, "interrupted");
    let shown = stage.camp.show(&instance);
    assert_eq!(shown["draft"], "half a sentence", "{shown:#}");
    stage.resume(&instance);
    stage.see(&instance, "half a sentence");
    stage.submit_by_hand(&instance);
    let asked = stage.model.request_with("half a sentence");
    assert_eq!(asked.prompt().trim(), "half a sentence");
    asked.remembers("user", "the first word");
}
