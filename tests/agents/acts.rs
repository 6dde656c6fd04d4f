//! What every agent that resumes natively must go through, whatever its name.

use crate::day;
use crate::stage::Stage;
use crate::support::{Instance, until};

/// A turn, a pause at the prompt, a resume: the next request holds the first turn.
#[track_caller]
pub(crate) fn pause_at_the_prompt(stage: &Stage) -> Instance {
    let instance = stage.start_talking("cycle", "the tent is blue");
    day::pause_at_the_prompt(stage, &instance, "the tent is blue");
    instance
}

/// In the middle of a rebase, with a dirty index and ignored files, it goes to another user's home, another
/// repository and another path, and the model hears what was said before.
#[track_caller]
pub(crate) fn travel(agent: &'static str) {
    let (export, before) = {
        let stage = Stage::of(agent);
        let instance = stage.start_talking("traveller", "the tent is blue");
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
    let instance = stage.start_talking("rebuilt", "the lamp is lit");
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
    let instance = stage.start_talking("busy", "the rope is long");
    day::pause_in_the_middle_of_an_answer(stage, &instance, "the rope is long");
    instance
}

/// A pause with a permission dialog open: dismissed, told of, never answered.
#[track_caller]
pub(crate) fn pause_in_a_dialog(stage: &Stage) {
    let instance = stage.start_talking("asks", "the kettle is on");
    day::pause_in_a_dialog(stage, &instance, "the kettle is on");
}

/// SIGKILL in the middle of an answer: failed, and resumed with all turns that were finished.
#[track_caller]
pub(crate) fn survive_a_kill(stage: &Stage) {
    let instance = stage.start_talking("killed", "the map is old");
    let asked = day::kill_in_the_middle_of_an_answer(stage, &instance);
    asked.remembers("user", "the map is old");
    asked.remembers("assistant", "I have read: the map is old");
}

/// The server ends at rest, and in a turn. No daemon has saved a screen: the agent itself tells, which says goodbye.
#[track_caller]
pub(crate) fn tell_of_a_cut_turn(stage: &Stage) {
    let instance = stage.start_talking("cut", "the first word");
    let is_told_after_the_end = || {
        drop(stage.camp.tmux(&["kill-server"]));
        stage.wait_state(&instance, "interrupted");
        !stage.camp.show(&instance)["turn_cut_at"].is_null()
    };
    assert!(!is_told_after_the_end());
    stage.resume(&instance);
    stage.send(&instance, "model:slow 60");
    stage.see(&instance, "slowly3");
    assert!(is_told_after_the_end());
    stage.resume(&instance);
    stage.turn(&instance, "go on");
    assert!(stage.camp.show(&instance)["turn_cut_at"].is_null());
}

/// Paused before anything was said: there is nothing to resume, and it comes back all the same.
#[track_caller]
pub(crate) fn pause_before_the_first_turn(stage: &Stage) -> Instance {
    let instance = stage.start_trusted("untouched");
    stage.wait(&instance, "idle");
    day::pause_before_the_first_turn(stage, &instance);
    remember_across_a_pause(stage, &instance);
    instance
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
pub(crate) fn follow_a_new_conversation(stage: &Stage, instance: &Instance, command: &str) {
    follow_a_new_conversation_after(stage, instance, || stage.send(instance, command));
}

#[track_caller]
pub(crate) fn follow_a_new_conversation_after(
    stage: &Stage,
    instance: &Instance,
    change: impl FnOnce(),
) {
    stage.turn(instance, "before the change");
    let before = stage.camp.show(instance)["session_ref"].clone();
    change();
    stage.wait(instance, "idle");
    stage.turn(instance, "after the change");
    let asked = stage.model.request_with("after the change");
    assert!(!asked.said_by("user").contains(&"before the change"));
    let paused = stage.pause(instance, &[]);
    assert!(paused["session_ref"].is_string(), "{paused:#}");
    assert_ne!(paused["session_ref"], before);
    let runs = stage.camp.biv(["runs", "--json", &instance.id]).run().ok();
    assert_eq!(
        runs.json()["runs"][0]["provider_session_ref"],
        paused["session_ref"]
    );
    stage.resume(instance);
    stage.turn(instance, "and after the pause");
    let asked = stage.model.request_with("and after the pause");
    asked.remembers("user", "after the change");
    assert!(!asked.said_by("user").contains(&"before the change"));
}

/// A conversation that the agent has lost: exit 5, with everything that helps, and nothing in its
/// stead.
#[track_caller]
pub(crate) fn refuse_what_the_agent_does_not_know(stage: &Stage, transcripts: &str) {
    let instance = stage.start_talking("lost", "remember me");
    stage.pause(&instance, &[]);
    refuse_to_begin_anew(stage, &instance, transcripts);
}

/// The same of an instance that is paused already.
#[track_caller]
pub(crate) fn refuse_to_begin_anew(stage: &Stage, instance: &Instance, transcripts: &str) {
    let paused = stage.camp.show(instance);
    // Some ask the model for more than the turn.
    let before = stage.model.requests().len();
    std::fs::remove_dir_all(stage.home(transcripts)).unwrap();
    let refused = stage.camp.biv(["resume", &instance.id]).run().fails(5);
    let reference = paused["session_ref"].as_str().unwrap();
    let run = paused["run_id"].as_str().unwrap();
    for part in [
        &instance.title,
        stage.agent,
        reference,
        run,
        "does not know",
        "biv restart",
    ] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert_eq!(stage.camp.show(instance)["state"], "paused");
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
    let instance = stage.start_talking("said", "the soup is hot");
    let log = || stage.camp.biv(["log", &instance.id]).run().ok().stdout;
    until("the answer is in the log", || {
        log().contains("I have read: the soup is hot")
    });
    stage.pause(&instance, &[]);
    assert_eq!(log().matches("I have read: the soup is hot").count(), 1);
    day::tell_its_usage(stage, &instance);
}

/// A large prompt of many lines and characters arrives as it was sent, but for what the agent makes
/// of a tab.
#[track_caller]
pub(crate) fn take_a_large_prompt(stage: &Stage, instance: &Instance, tab: &str) {
    let line = "0123456789 äöü \"quotes\" 'single' $HOME `ticks`; \\back 日本 👩‍💻 {x} <y> #(z);\n";
    let prompt = format!("begin\n{}\n\tthe end;", line.repeat(120));
    stage.send(instance, &prompt);
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
    stage.wait(instance, "idle");
    stage.turn(instance, "a small one;");
}

/// A question is answered in the user's own words, bound to the dialog that was read.
#[track_caller]
pub(crate) fn answer_in_own_words(stage: &Stage, instance: &Instance) {
    stage.send(instance, "model:ask Which colour do you like?|red|green");
    stage.wait(instance, "question");
    let read = || stage.camp.biv(["answer", "--json", &instance.id]).run();
    let asked = read().ok().json();
    let labels: Vec<&str> = asked["choices"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|choice| choice["label"].as_str())
        .collect();
    // Vibe puts the description behind the label.
    let first: Vec<&str> = labels
        .iter()
        .filter_map(|label| label.split(' ').next())
        .collect();
    assert_eq!(first[..2], ["red", "green"], "{asked:#}");
    let dialog = asked["dialog"].as_str().unwrap().to_owned();
    let words = "neither, I like purple and gold";
    let answer = ["answer", "--json", &instance.id, words, "--dialog", &dialog];
    let answered = stage.camp.biv(answer).run().ok().json();
    assert_eq!(answered["label"], words, "{answered:#}");
    submit_answers(stage, instance);
    the_tool_has_answered(stage, words);
    stage.wait(instance, "idle");
    // The dialog is gone: nothing is typed.
    drop(stage.camp.biv(answer).run().fails(4));
    assert!(!stage.screen(instance).ends_with(words));
}

/// A user has gone to the field for words of one's own, and left it open: keys are a part of the answer there.
#[track_caller]
pub(crate) fn answer_in_an_open_field(stage: &Stage, instance: &Instance) {
    stage.send(instance, "model:ask Which shape do you like?|round|square");
    stage.wait_dialog(instance);
    stage.select(instance, "Down", "❯ 2. ");
    stage.select(instance, "Down", "❯ 3. ");
    let answer = |word: &str| stage.camp.biv(["answer", &instance.id, word]).run();
    let refused = answer("1").fails(4).stderr;
    assert!(refused.contains("a field for text is open"), "{refused}");
    let words = "neither, I like stars";
    drop(answer(words).ok());
    submit_answers(stage, instance);
    the_tool_has_answered(stage, words);
    stage.wait(instance, "idle");
    let requests = stage.model.requests();
    let told: Vec<&str> = requests
        .iter()
        .flat_map(|request| request.said_by("tool"))
        .collect();
    let with_the_key = format!("3{words}");
    assert!(
        !told.iter().any(|told| told.contains(&with_the_key)),
        "{told:#?}"
    );
}

/// A question of the model is answered by the number of a choice, and reaches the model.
#[track_caller]
pub(crate) fn answer_by_number(stage: &Stage, instance: &Instance) {
    stage.send(
        instance,
        "model:ask Which stove is in the tent?|gasoline|firewood",
    );
    stage.wait(instance, "question");
    drop(stage.camp.biv(["answer", &instance.id, "2"]).run().ok());
    submit_answers(stage, instance);
    the_tool_has_answered(stage, "firewood");
    stage.wait(instance, "idle");
}

/// Kimi Code asks once more before it hands the answers over.
#[track_caller]
fn submit_answers(stage: &Stage, instance: &Instance) {
    if stage.agent == "kimi" {
        let submit = ["answer", &instance.id, "Submit"];
        until("the answers are submitted", || {
            stage.camp.biv(submit).run().status == Some(0)
        });
    }
}

#[track_caller]
fn the_tool_has_answered(stage: &Stage, words: &str) {
    until("the model knows the answer", || {
        let requests = stage.model.requests();
        let said = |request: &crate::model::Request| {
            let told = request.said_by("tool");
            told.iter().any(|said| said.contains(words))
        };
        requests.iter().any(said)
    });
}

/// A question is declined: the agent does not get an answer, and takes the next prompt.
#[track_caller]
pub(crate) fn decline_a_question(stage: &Stage, instance: &Instance) {
    stage.send(instance, "model:ask Which lamp shall it be?|brass|paper");
    stage.wait(instance, "question");
    let declined = stage.camp.biv(["answer", "--json", &instance.id, "no"]);
    let declined = declined.run().ok().json();
    assert_eq!(declined["gone"], true, "{declined:#}");
    stage.wait(instance, "idle");
    stage.turn(instance, "after the declined question");
}
