//! What every agent that resumes natively must go through, whatever its name.

use crate::stage::{BETWEEN_LOOKS, PATIENCE, Stage};
use crate::support::wait::until_within;
use crate::support::{Instance, until};

/// A turn, a pause at the prompt, a resume: the next request holds the first turn.
#[track_caller]
pub(crate) fn pause_at_the_prompt(stage: &Stage) -> Instance {
    let instance = stage.start("cycle", "the tent is blue");
    stage.model.request_with("the tent is blue");
    stage.wait(&instance, "idle");
    let reference = stage.camp.show(&instance)["session_ref"].clone();
    let paused = stage.pause(&instance, &[]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    let kept = paused["session_ref"].as_str().expect("it is known");
    if let Some(before) = reference.as_str() {
        assert_eq!(kept, before);
    }
    let resumed = stage.resume(&instance);
    assert_eq!(resumed["session_ref"], kept);
    assert_eq!(resumed["resumable"], true);
    stage.turn(&instance, "and the stove is red");
    let asked = stage.model.request_with("and the stove is red");
    asked.remembers("user", "the tent is blue");
    asked.remembers("assistant", "I have read: the tent is blue");
    if let Some(session) = asked.session {
        assert_eq!(session, kept);
    }
    instance
}

/// In the middle of a rebase, with a dirty index and ignored files, it goes to another user's home, another
/// repository and another path, and the model hears what was said before.
#[track_caller]
pub(crate) fn travel(agent: &'static str) {
    let (export, before) = {
        let stage = Stage::of(agent);
        let instance = stage.start("traveller", "the tent is blue");
        stage.model.request_with("the tent is blue");
        stage.wait(&instance, "idle");
        let seen = stage.repository.seen_from(&instance.worktree);
        seen.write(".gitignore", "*.log\n");
        seen.write("clash.txt", "ours\n");
        seen.commit("ours");
        stage.repository.write("clash.txt", "theirs\n");
        stage.repository.commit("theirs");
        assert!(!seen.try_git(&["rebase", "main"]).status.success());
        seen.write("staged.txt", "staged\n");
        seen.git(&["add", "staged.txt"]);
        seen.write("staged.txt", "and changed\n");
        seen.write("ignored.log", "ignored\n");
        let before = seen.git(&["status", "--porcelain=v2", "--ignored"]);
        stage.pause(&instance, &[]);
        let file = stage.camp.root().join("export");
        let call = stage
            .camp
            .biv(["export", &instance.id, "--plain", "--with-ignored"]);
        let call = call.args(["--with-history", "-o"]).arg(&file);
        drop(call.run().ok());
        (std::fs::read(file).unwrap(), before)
    };
    let stage = Stage::of(agent);
    let call = stage.camp.biv(["import", "-", "--json", "--repo"]);
    let call = call.arg(&stage.repository.path).stdin(&export);
    let arrived = call.run().ok().json();
    let instance = Instance::from_json(&arrived["instance"]);
    let shown = stage.resume(&instance);
    assert_eq!(shown["resumable"], true, "{shown:#}");
    let seen = stage.repository.seen_from(&instance.worktree);
    assert_eq!(seen.git(&["status", "--porcelain=v2", "--ignored"]), before);
    stage.turn(&instance, "and the stove is red");
    let asked = stage.model.request_with("and the stove is red");
    asked.remembers("user", "the tent is blue");
    asked.remembers("assistant", "I have read: the tent is blue");
    let log = stage.camp.biv(["log", &instance.id]).run().ok().stdout;
    for said in ["the tent is blue", "and the stove is red"] {
        assert_eq!(
            log.matches(&format!("I have read: {said}")).count(),
            1,
            "{log}"
        );
    }
}

/// The worktree is taken down to the ground and built anew at the same path, and the agent is another
/// process of a program that was not there for a while: the conversation goes on.
#[track_caller]
pub(crate) fn rebuild_its_worktree(stage: &Stage) {
    let instance = stage.start("rebuilt", "the lamp is lit");
    stage.model.request_with("the lamp is lit");
    stage.wait(&instance, "idle");
    std::fs::write(instance.worktree.join("kept.txt"), "kept\n").unwrap();
    let paused = stage.pause(&instance, &["--remove-worktree"]);
    assert!(!instance.worktree.exists());
    let without = stage
        .camp
        .biv(["resume", &instance.id])
        .env("PATH", "/usr/bin:/bin");
    let refused = without.run().fails(1);
    assert!(refused.stderr.contains(stage.agent), "{}", refused.stderr);
    assert_eq!(stage.camp.show(&instance)["state"], "paused");
    let resumed = stage.resume(&instance);
    assert_eq!(resumed["session_ref"], paused["session_ref"]);
    let kept = std::fs::read_to_string(instance.worktree.join("kept.txt"));
    assert_eq!(kept.unwrap(), "kept\n");
    stage.turn(&instance, "is it still lit?");
    let asked = stage.model.request_with("is it still lit?");
    asked.remembers("user", "the lamp is lit");
}

/// Shown as blocked, refused as a place for a prompt, and never answered.
#[track_caller]
pub(crate) fn leave_its_question_to_a_person(stage: &Stage, shown: &str) -> Instance {
    let instance = Instance::from_json(&stage.new("asks", &[]).ok().json());
    stage.wait(&instance, "blocked");
    stage.see(&instance, shown);
    drop(stage.camp.biv(["send", "asks", "hello"]).run().fails(4));
    stage.wait(&instance, "blocked");
    assert!(stage.model.requests().is_empty(), "{}", stage.model.told());
    instance
}

/// A pause in the middle of an answer: interrupted, not forced; the turns before it are all there.
#[track_caller]
pub(crate) fn pause_in_the_middle_of_an_answer(stage: &Stage) -> Instance {
    let instance = stage.start("busy", "the rope is long");
    stage.model.request_with("the rope is long");
    stage.wait(&instance, "idle");
    stage.send(&instance, "model:slow 100");
    stage.wait(&instance, "busy");
    stage.see(&instance, "slowly5");
    let paused = stage.pause(&instance, &["--now"]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    // Nothing is asked of the model behind our back.
    until("the answer was cut off", || {
        stage.model.open_requests() == 0
    });
    stage.resume(&instance);
    stage.turn(&instance, "where were we");
    let asked = stage.model.request_with("where were we");
    asked.remembers("user", "the rope is long");
    asked.remembers("assistant", "I have read: the rope is long");
    instance
}

/// A pause with a permission dialog open: dismissed, told of, never answered.
#[track_caller]
pub(crate) fn pause_in_a_dialog(stage: &Stage) {
    let instance = stage.start("asks", "the kettle is on");
    stage.model.request_with("the kettle is on");
    stage.wait(&instance, "idle");
    stage.send(&instance, "model:run touch allowed");
    stage.wait(&instance, "approval");
    let paused = stage.pause(&instance, &[]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    let action = paused["pause"]["last_action"].as_str().unwrap_or_default();
    assert!(action.contains("touch allowed"), "{paused:#}");
    stage.resume(&instance);
    stage.turn(&instance, "go on without");
    let asked = stage.model.request_with("go on without");
    asked.remembers("user", "the kettle is on");
    asked.remembers("user", "model:run touch allowed");
    assert!(!instance.worktree.join("allowed").exists());
}

/// SIGKILL in the middle of an answer: failed, and resumed with all turns that were finished.
#[track_caller]
pub(crate) fn survive_a_kill(stage: &Stage) {
    let instance = stage.start("killed", "the map is old");
    stage.model.request_with("the map is old");
    stage.wait(&instance, "idle");
    stage.send(&instance, "model:slow 100");
    stage.see(&instance, "slowly5");
    stage.kill(&instance);
    let shown = stage.camp.show(&instance);
    assert_eq!(shown["activity"], "exited");
    assert!(shown["session_ref"].is_string(), "{shown:#}");
    stage.resume(&instance);
    // Gemini takes the prompt that was cut off along with this one, and acts on it.
    stage.send(&instance, "still there?");
    let asked = stage.model.request_with("still there?");
    asked.remembers("user", "the map is old");
    asked.remembers("assistant", "I have read: the map is old");
    asked.remembers("user", "model:slow 100");
}

/// Paused before anything was said: there is nothing to resume, and it comes back all the same.
#[track_caller]
pub(crate) fn pause_before_the_first_turn(stage: &Stage) -> Instance {
    let instance = paused_before_the_first_turn(stage);
    resume_before_the_first_turn(stage, &instance);
    instance
}

#[track_caller]
pub(crate) fn paused_before_the_first_turn(stage: &Stage) -> Instance {
    let instance = stage.start_trusted("untouched");
    stage.wait(&instance, "idle");
    stage.pause(&instance, &[]);
    instance
}

#[track_caller]
pub(crate) fn resume_before_the_first_turn(stage: &Stage, instance: &Instance) {
    stage.resume(instance);
    stage.wait(instance, "idle");
    assert!(stage.model.requests().is_empty(), "{}", stage.model.told());
    remember_across_a_pause(stage, instance);
}

/// The conversation that begins now is the one that a pause takes along.
#[track_caller]
pub(crate) fn remember_across_a_pause(stage: &Stage, instance: &Instance) {
    stage.turn(instance, "the first word");
    stage.pause(instance, &[]);
    stage.resume(instance);
    stage.turn(instance, "the second word");
    let asked = stage.model.request_with("the second word");
    asked.remembers("user", "the first word");
}

/// A command of the agent starts another conversation under us; the pause takes that one along.
#[track_caller]
pub(crate) fn follow_a_new_conversation(stage: &Stage, change: impl FnOnce(&Instance)) {
    let instance = stage.start("follows", "before the change");
    stage.model.request_with("before the change");
    stage.wait(&instance, "idle");
    let before = stage.camp.show(&instance)["session_ref"].clone();
    change(&instance);
    stage.wait(&instance, "idle");
    stage.turn(&instance, "after the change");
    let asked = stage.model.request_with("after the change");
    assert!(!asked.said_by("user").contains(&"before the change"));
    let paused = stage.pause(&instance, &[]);
    assert!(paused["session_ref"].is_string(), "{paused:#}");
    assert_ne!(paused["session_ref"], before);
    let runs = stage.camp.biv(["runs", "--json", &instance.id]).run().ok();
    assert_eq!(
        runs.json()["runs"][0]["provider_session_ref"],
        paused["session_ref"]
    );
    stage.resume(&instance);
    stage.turn(&instance, "and after the pause");
    let asked = stage.model.request_with("and after the pause");
    asked.remembers("user", "after the change");
    assert!(!asked.said_by("user").contains(&"before the change"));
}

/// A conversation that the agent has lost: exit 5, with everything that helps, and nothing in its
/// stead.
#[track_caller]
pub(crate) fn refuse_what_the_agent_does_not_know(stage: &Stage, transcripts: &str) {
    let instance = stage.start("lost", "remember me");
    stage.model.request_with("remember me");
    stage.wait(&instance, "idle");
    let paused = stage.pause(&instance, &[]);
    // Some ask the model for more than the turn.
    let before = stage.model.requests().len();
    std::fs::remove_dir_all(stage.home(transcripts)).unwrap();
    let refused = stage.camp.biv(["resume", &instance.id]).run().fails(5);
    let reference = paused["session_ref"].as_str().unwrap();
    let run = paused["run_id"].as_str().unwrap();
    for part in [
        "lost",
        stage.agent,
        reference,
        run,
        "does not know",
        "biv restart",
    ] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert_eq!(stage.camp.show(&instance)["state"], "paused");
    assert_eq!(instance.processes().len(), 0);
    assert_eq!(
        stage.model.requests().len(),
        before,
        "{}",
        stage.model.told()
    );
}

/// Two instances of one repository at once: each has its own conversation.
#[track_caller]
pub(crate) fn keep_two_apart(stage: &Stage) {
    let one = stage.start("one", "I am the first");
    let two = stage.start("two", "I am the second");
    for (instance, prompt) in [(&one, "I am the first"), (&two, "I am the second")] {
        stage.model.request_with(prompt);
        stage.wait(instance, "idle");
    }
    let paused = stage.camp.biv(["pause", &one.id, &two.id]).run();
    drop(paused.ok());
    let resumed = stage.camp.biv(["resume", &two.id, &one.id]).run();
    drop(resumed.ok());
    stage.turn(&one, "who am I, first?");
    stage.turn(&two, "who am I, second?");
    for (question, own, other) in [
        ("who am I, first?", "I am the first", "I am the second"),
        ("who am I, second?", "I am the second", "I am the first"),
    ] {
        let asked = stage.model.request_with(question);
        asked.remembers("user", own);
        assert!(!asked.said_by("user").contains(&other), "{asked:#?}");
    }
}

/// Both sides of a turn are in `biv log`, from the agent's own transcript.
#[track_caller]
pub(crate) fn tell_what_was_said(stage: &Stage) {
    let instance = stage.start("said", "the soup is hot");
    stage.model.request_with("the soup is hot");
    stage.wait(&instance, "idle");
    let log = || stage.camp.biv(["log", &instance.id]).run().ok().stdout;
    until("the answer is in the log", || {
        log().contains("I have read: the soup is hot")
    });
    stage.pause(&instance, &[]);
    assert_eq!(log().matches("I have read: the soup is hot").count(), 1);
    tell_its_usage(stage, &instance);
}

/// What the agent has used is in its transcript. Aider rounds it, and a transcript that only its file describes
/// does not say where the numbers are: those are named as silent.
fn tell_its_usage(stage: &Stage, instance: &Instance) {
    let used = stage.camp.biv(["usage", "--json", &instance.id]).run().ok();
    let used = used.json();
    if ["aider", "kimi"].contains(&stage.agent) {
        assert_eq!(used["silent"][0], stage.agent, "{used:#}");
        return;
    }
    let one = &used["instances"][0];
    assert!(one["input"].as_u64() > Some(0), "{used:#}");
    assert!(one["output"].as_u64() > Some(0), "{used:#}");
    let turns = one["turns"].as_array().unwrap();
    let spoken: u64 = turns
        .iter()
        .filter_map(|turn| turn["output"].as_u64())
        .sum();
    assert_eq!(Some(spoken), one["output"].as_u64(), "{used:#}");
    let shown = stage.camp.show(instance);
    assert_eq!(shown["usage"]["output"], one["output"], "{shown:#}");
}

/// One instance through all of it: a turn; a pause at the prompt, in the middle of an answer and in a dialog; a
/// SIGKILL. After each resume the model gets the turns before it. For agents that take long to start.
#[track_caller]
pub(crate) fn journey(stage: &Stage) -> Instance {
    let instance = stage.start("journey", "the tent is blue");
    stage.model.request_with("the tent is blue");
    stage.wait(&instance, "idle");
    let paused = stage.pause(&instance, &[]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    let kept = paused["session_ref"]
        .as_str()
        .expect("it is known")
        .to_owned();
    let resumed = stage.resume(&instance);
    assert_eq!(resumed["session_ref"], kept);
    stage.turn(&instance, "and the stove is red");
    let asked = stage.model.request_with("and the stove is red");
    asked.remembers("user", "the tent is blue");
    asked.remembers("assistant", "I have read: the tent is blue");

    stage.send(&instance, "model:slow 100");
    stage.wait(&instance, "busy");
    stage.see(&instance, "slowly5");
    let paused = stage.pause(&instance, &["--now"]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    until("the answer was cut off", || {
        stage.model.open_requests() == 0
    });
    stage.resume(&instance);
    stage.turn(&instance, "where were we");
    let asked = stage.model.request_with("where were we");
    asked.remembers("user", "and the stove is red");

    stage.send(&instance, "model:run touch allowed");
    stage.wait(&instance, "approval");
    let paused = stage.pause(&instance, &[]);
    assert_eq!(paused["pause"]["forced"], false, "{paused:#}");
    stage.resume(&instance);
    stage.turn(&instance, "go on without");
    let asked = stage.model.request_with("go on without");
    asked.remembers("user", "where were we");
    assert!(!instance.worktree.join("allowed").exists());

    stage.send(&instance, "model:slow 90");
    // The words of the first such answer may still be on the screen.
    until("the answer has begun", || stage.model.open_requests() == 1);
    stage.see(&instance, "slowly5");
    stage.kill(&instance);
    stage.resume(&instance);
    stage.send(&instance, "still there?");
    let asked = stage.model.request_with("still there?");
    asked.remembers("user", "go on without");
    assert_eq!(stage.camp.show(&instance)["session_ref"], kept);
    instance
}

/// A dialog is answered by autoyes, and both sides of the turn are in `biv log`.
#[track_caller]
pub(crate) fn answer_a_dialog(stage: &Stage) {
    let instance = stage.start("answered", "the soup is hot");
    stage.model.request_with("the soup is hot");
    stage.wait(&instance, "idle");
    drop(stage.camp.biv(["autoyes", &instance.id, "on"]).run().ok());
    stage.send(&instance, "model:run touch allowed");
    let allowed = instance.worktree.join("allowed");
    let told = || {
        let audit = stage.camp.biv(["audit", "--json"]).run().stdout;
        format!("it is answered: {audit}\n{}", stage.screen(&instance))
    };
    until_within(PATIENCE, BETWEEN_LOOKS, told, || {
        allowed.exists().then_some(())
    });
    stage.wait(&instance, "idle");
    let log = || stage.camp.biv(["log", &instance.id]).run().ok().stdout;
    until("the answer is in the log", || {
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
    assert_eq!(
        log.matches("I have read: the soup is hot").count(),
        1,
        "{log}"
    );
    let shown = stage.pause(&instance, &[]);
    assert_eq!(shown["pause"]["last_action"], "ran `touch allowed`");
}

/// A large prompt of many lines and characters arrives as it was sent, but for what the agent makes
/// of a tab.
#[track_caller]
pub(crate) fn take_a_large_prompt(stage: &Stage, tab: &str) {
    let instance = Instance::from_json(&stage.new("large", &[]).ok().json());
    let line = "0123456789 äöü \"quotes\" 'single' $HOME `ticks`; \\back 日本 👩‍💻 {x} <y> #(z);\n";
    let prompt = format!("begin\n{}\n\tthe end;", line.repeat(120));
    stage.send(&instance, &prompt);
    let prompt = prompt.replace('\t', tab);
    let asked = stage.model.request_with("begin");
    for (at, (arrived, sent)) in asked.prompt().lines().zip(prompt.lines()).enumerate() {
        // OpenCode puts a space behind a paste.
        assert_eq!(arrived.trim_end(), sent, "line {at}");
    }
    // Aider adds a sentence of its own.
    if stage.agent != "aider" {
        assert_eq!(asked.prompt().trim_end().len(), prompt.len());
    }
    stage.wait(&instance, "idle");
    stage.turn(&instance, "a small one;");
}

/// A question is answered in the user's own words, bound to the dialog that was read.
#[track_caller]
pub(crate) fn answer_in_own_words(stage: &Stage) {
    let instance = stage.start("asks", "model:ask Which colour do you like?|red|green");
    stage.wait(&instance, "question");
    let read = || stage.camp.biv(["answer", "--json", &instance.id]).run();
    let asked = read().ok().json();
    let labels: Vec<&str> = asked["choices"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|choice| choice["label"].as_str())
        .collect();
    assert_eq!(labels[..2], ["red", "green"], "{asked:#}");
    let dialog = asked["dialog"].as_str().unwrap().to_owned();
    let words = "neither, I like purple and gold";
    let answer = ["answer", "--json", &instance.id, words, "--dialog", &dialog];
    let answered = stage.camp.biv(answer).run().ok().json();
    assert_eq!(answered["label"], words, "{answered:#}");
    until("the model knows the answer", || {
        let requests = stage.model.requests();
        requests.iter().any(|request| {
            request
                .said_by("tool")
                .iter()
                .any(|said| said.contains(words))
        })
    });
    stage.wait(&instance, "idle");
    // The dialog is gone: nothing is typed.
    drop(stage.camp.biv(answer).run().fails(4));
    assert!(!stage.screen(&instance).ends_with(words));
}
