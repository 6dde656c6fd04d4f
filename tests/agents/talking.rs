//! What is sent arrives or is refused, and what is open is said: acts for every agent.

use crate::model::Request;
use crate::stage::{BETWEEN_LOOKS, PATIENCE, Stage};
use crate::support::wait::until_within;
use crate::support::{Instance, until};

/// Prompts that the input box would take for something else arrive as they are, but for white space around
/// them; what cannot arrive is refused before anything is typed.
#[track_caller]
pub(crate) fn take_every_prompt(stage: &Stage, instance: &Instance, refused: &[&str]) {
    for prompt in [
        "look at this one \\",
        "! touch must-not-run",
        "/etc/hosts is wrong",
        "# a heading",
        "an emoji 👩\u{200d}💻 and wide 日本",
        "x",
        "exit",
    ] {
        let before = stage.model.requests().len();
        let sent = stage
            .camp
            .biv(["send", "--now", &instance.id, prompt])
            .run();
        if refused.contains(&prompt) {
            let refused = sent.fails(2);
            assert!(refused.stderr.contains("--raw"), "{}", refused.stderr);
            continue;
        }
        drop(sent.ok());
        until(&format!("{prompt:?} has arrived"), || {
            let requests = stage.model.requests();
            let new = requests.get(before..).unwrap_or_default();
            new.iter()
                .any(|request| request.prompt().trim().starts_with(prompt))
        });
        stage.wait(instance, "idle");
    }
    assert!(!instance.worktree.join("must-not-run").exists());
    // Agents ask for more than their prompts at times of their own, so that numbers of requests tell nothing.
    for prompt in refused {
        let asked = stage.model.requests();
        let arrived = |request: &Request| request.prompt().trim().starts_with(prompt);
        assert!(!asked.iter().any(arrived), "{}", stage.model.told());
    }
}

/// A command that the agent does not know: said at once, and the next prompt arrives alone.
#[track_caller]
pub(crate) fn refuse_an_unknown_command(stage: &Stage, instance: &Instance) {
    let unknown = stage
        .camp
        .biv(["send", &instance.id, "/notacommand please"]);
    let unknown = unknown.run().fails(4);
    assert!(
        unknown
            .stderr
            .contains("does not know the command `/notacommand`"),
        "{}",
        unknown.stderr
    );
    stage.turn(instance, "after the unknown command");
    let asked = stage.model.request_with("after the unknown command");
    assert!(
        asked
            .prompt()
            .trim()
            .starts_with("after the unknown command"),
        "{asked:#?}"
    );
}

/// A first prompt that meets a question which only a person can answer: it is said what is open and what Enter
/// would do, and the prompt arrives when the person has answered.
#[track_caller]
pub(crate) fn keep_the_first_prompt(stage: &Stage, said: &[&str], answer: impl FnOnce(&Instance)) {
    let new = stage
        .camp
        .biv(["new", "meets", "-a", stage.agent, "--repo"])
        .arg(&stage.repository.path)
        .args(["-p", "the prompt that waits"]);
    let told = new.run().fails(4).stderr;
    for part in said {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(told.contains("waits in its queue"), "{told}");
    let shown = stage.camp.biv(["show", "meets", "--json"]).run().ok();
    let instance = Instance::from_json(&shown.json());
    assert_eq!(shown.json()["queue"]["waiting"], 1, "{}", shown.stdout);
    stage.wait(&instance, "blocked");
    assert!(stage.model.requests().is_empty(), "{}", stage.model.told());
    let list = stage.camp.biv(["list"]).run().ok().stdout;
    assert!(list.contains(said[0]), "{list}");
    let told = stage.camp.biv(["answer", "meets"]).run().fails(4).stderr;
    for part in said {
        assert!(told.contains(part), "{part}: {told}");
    }
    answer(&instance);
    stage.model.request_with("the prompt that waits");
    stage.wait(&instance, "idle");
    until("the queue is done", || {
        stage.camp.show(&instance)["queue"]["waiting"] == 0
    });
    assert_eq!(stage.model.times_asked("the prompt that waits"), 1);
}

/// `biv resume I && biv send I words`: the prompt is taken at once or waits in the queue, and arrives once; it
/// is never refused.
#[track_caller]
pub(crate) fn take_a_prompt_right_after_a_resume(stage: &Stage, times: usize) {
    let instance = stage.start_talking("woken", "the first word");
    for round in 0..times {
        stage.pause(&instance, &[]);
        drop(stage.camp.biv(["resume", &instance.id]).run().ok());
        let words = format!("awake for the {round}. time");
        send_right_after_a_resume(stage, &instance, &words);
        stage.wait(&instance, "idle");
        assert_eq!(stage.model.times_asked(&words), 1);
    }
}

/// What the model is asked.
#[track_caller]
pub(crate) fn send_right_after_a_resume(
    stage: &Stage,
    instance: &Instance,
    words: &str,
) -> Request {
    drop(stage.camp.biv(["send", &instance.id, words]).run().ok());
    stage.model.request_with(words)
}

/// From one byte to a megabyte: what is sent arrives whole, or is refused before anything is typed, with the limit.
#[track_caller]
pub(crate) fn take_prompts_of_any_size(stage: &Stage) {
    let instance = Instance::from_json(&stage.new("sizes", &[]).ok().json());
    stage.wait(&instance, "idle");
    for size in [1, 4_000, 100_000, 1_000_000] {
        let before = stage.model.requests().len();
        let prompt = prompt_of(size);
        let sent = stage.camp.biv(["send", "--now", &instance.id, "-"]);
        let sent = sent.stdin(&prompt).run();
        if sent.status == Some(2) {
            assert!(sent.stderr.contains("no more than"), "{}", sent.stderr);
            assert_eq!(stage.model.requests().len(), before);
            continue;
        }
        assert_eq!(
            sent.status,
            Some(0),
            "{size} bytes: {}\n{}",
            sent.stderr,
            stage.screen(&instance)
        );
        let what = || format!("all of {size} bytes: {}", stage.screen(&instance));
        until_within(PATIENCE * 2, BETWEEN_LOOKS * 10, what, || {
            let requests = stage.model.requests();
            let new = requests.get(before..).unwrap_or_default();
            let whole = |request: &Request| request.prompt().trim() == prompt;
            new.iter().any(whole).then_some(())
        });
        stage.wait(&instance, "idle");
    }
}

/// Lines that differ, so that nothing can be lost or moved unseen.
pub(crate) fn prompt_of(size: usize) -> String {
    let mut text = String::with_capacity(size + 80);
    let mut number = 0;
    while text.len() < size {
        number += 1;
        text.extend([
            "line ",
            &number.to_string(),
            " of a prompt that is long enough to be cut\n",
        ]);
    }
    text.truncate(size - 1);
    text.push('x');
    text
}
