//! What is sent arrives or is refused, and what is open is said: acts for every agent.

use crate::stage::Stage;
use crate::support::{Instance, until};

/// Prompts that the input box would take for something else arrive as they are, but for white space around
/// them; what cannot arrive is refused before anything is typed.
#[track_caller]
pub(crate) fn take_every_prompt(stage: &Stage, refused: &[&str]) -> Instance {
    let instance = stage.start("words", "the first word");
    stage.model.request_with("the first word");
    stage.wait(&instance, "idle");
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
            assert_eq!(stage.model.requests().len(), before);
            continue;
        }
        drop(sent.ok());
        until(&format!("{prompt:?} has arrived"), || {
            let requests = stage.model.requests();
            let new = requests.get(before..).unwrap_or_default();
            new.iter()
                .any(|request| request.prompt().trim().starts_with(prompt))
        });
        stage.wait(&instance, "idle");
    }
    assert!(!instance.worktree.join("must-not-run").exists());
    instance
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
    answer(&instance);
    stage.model.request_with("the prompt that waits");
    stage.wait(&instance, "idle");
    until("the queue is done", || {
        stage.camp.show(&instance)["queue"]["waiting"] == 0
    });
    let told = stage.model.requests();
    let times = told
        .iter()
        .filter(|request| request.prompt().contains("the prompt that waits"));
    assert_eq!(times.count(), 1, "{}", stage.model.told());
}

/// A menu that the user has opened: a state of its own, said at once, and left alone.
#[track_caller]
pub(crate) fn say_that_a_menu_is_open(stage: &Stage) {
    let instance = Instance::from_json(&stage.new("menus", &[]).ok().json());
    stage.wait(&instance, "idle");
    stage.send(&instance, "/model");
    stage.wait(&instance, "menu");
    let refused = stage.camp.biv(["send", &instance.id, "in between"]).run();
    let refused = refused.fails(4);
    assert!(refused.stderr.contains("a menu of "), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("Esc closes it"),
        "{}",
        refused.stderr
    );
    stage.wait(&instance, "menu");
    stage.press(&instance, &["Escape"]);
    stage.wait(&instance, "idle");
    stage.turn(&instance, "the menu is closed");
    let asked = stage.model.request_with("the menu is closed");
    assert!(
        asked
            .said_by("user")
            .iter()
            .all(|said| !said.contains("in between"))
    );
}
