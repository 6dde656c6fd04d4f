//! A prompt arrives whole, exactly, once, and not before the agent can take it.

use crate::support::{Camp, Instance, until};

fn idle_demo(camp: &Camp, title: &str) -> Instance {
    let repository = camp.repository("app");
    let instance = camp.start(&repository, title, &[]);
    instance.wait_idle(camp);
    instance
}

/// Waits until the agent has written this many prompts down.
#[track_caller]
fn wait_prompts(camp: &Camp, instance: &Instance, count: usize) -> Vec<String> {
    until(&format!("{count} prompts have arrived"), || {
        instance.prompts(camp).len() >= count
    });
    instance.prompts(camp)
}

#[test]
fn any_characters_arrive_as_they_are() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "exact");
    let prompts = [
        "x",
        "it's \"quoted\" and `ticked`",
        "a; b;",
        ";",
        "$HOME ${HOME} $(touch pwned) %H #{pane_id} #(touch pwned)",
        "back\\slash \\n \\\\ end\\",
        "first line\nsecond line\n\nfourth line",
        "emoji 👩‍💻 🇩🇪 e\u{301} 日本語 שלום",
        "-n leading dash",
        "--help",
        "\ttab at the start and the end\t",
        "Enter C-c Escape q",
        "!!  ~  *  [x]  {y}",
    ];
    for (index, prompt) in prompts.iter().enumerate() {
        let sent = camp.biv(["send", "--json", "exact", "-"]).stdin(prompt);
        assert_eq!(sent.run().ok().json()["bytes"], prompt.len());
        wait_prompts(&camp, &instance, index + 1);
    }
    assert_eq!(instance.prompts(&camp), prompts);
    // The same as arguments, where that is something else.
    drop(camp.biv(["send", "exact", "-n leading dash"]).run().ok());
    drop(camp.biv(["send", "exact", "--", "--help"]).run().ok());
    let arrived = wait_prompts(&camp, &instance, prompts.len() + 2);
    assert_eq!(arrived[prompts.len()..], ["-n leading dash", "--help"]);
    assert!(!instance.worktree.join("pwned").exists());
}

#[test]
fn a_megabyte_arrives_whole() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "large");
    let line = "0123456789 äöü \"quotes\" $HOME; \\ 日本\n";
    let text: String = line.repeat(1_048_576 / line.len() + 1) + "the end";
    drop(camp.biv(["send", "large", "-"]).stdin(&text).run().ok());
    let arrived = wait_prompts(&camp, &instance, 1);
    assert_eq!(arrived.len(), 1);
    assert!(
        arrived[0] == text,
        "{} of {} bytes",
        arrived[0].len(),
        text.len()
    );
}

#[test]
fn four_senders_at_once_are_four_whole_messages() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "popular");
    let messages: Vec<String> = (0..4)
        .map(|sender| format!("message {sender}: {}\nits second line", "word ".repeat(200)))
        .collect();
    std::thread::scope(|scope| {
        for message in &messages {
            let camp = &camp;
            scope.spawn(move || drop(camp.biv(["send", "popular", message]).run().ok()));
        }
    });
    let mut arrived = wait_prompts(&camp, &instance, messages.len());
    arrived.sort();
    assert_eq!(arrived, messages);
}

#[test]
fn a_first_prompt_waits_for_an_agent_that_starts_slowly() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let made = camp
        .biv([
            "new",
            "--json",
            "slow",
            "-a",
            "demo",
            "-p",
            "do not lose this",
        ])
        .within(&repository.path)
        .env("BIV_DEMO_START_MS", "1500")
        .run()
        .ok();
    let instance = Instance::from_json(&made.json());
    assert_eq!(wait_prompts(&camp, &instance, 1), ["do not lose this"]);
    let from_file = camp.root().join("prompt.txt");
    std::fs::write(&from_file, "from a file\nof two lines\n").unwrap();
    let made = camp
        .biv(["new", "--json", "file", "-a", "demo", "--prompt-file"])
        .arg(&from_file)
        .within(&repository.path)
        .run()
        .ok();
    let instance = Instance::from_json(&made.json());
    assert_eq!(
        wait_prompts(&camp, &instance, 1),
        ["from a file\nof two lines"]
    );
}

#[test]
fn a_busy_agent_is_waited_for() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "busy");
    drop(camp.biv(["send", "busy", "/busy 2"]).run().ok());
    drop(camp.biv(["send", "--now", "busy", "after that"]).run().ok());
    assert_eq!(wait_prompts(&camp, &instance, 2), ["/busy 2", "after that"]);
}

#[test]
fn a_dialog_is_a_persons_and_is_never_typed_into() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "asks");
    drop(camp.biv(["send", "asks", "/run touch allowed"]).run().ok());
    instance.wait_for(&camp, "activity", "approval");
    let answer = camp.biv(["send", "asks", "yes please"]).run().fails(4);
    insta::assert_snapshot!(answer.said(), @r"
    error: `asks` waits for you: an approval dialog is open
      hint: `biv answer asks` shows what it asks
    ");
    assert_eq!(instance.prompts(&camp), ["/run touch allowed"]);
    assert!(!instance.worktree.join("allowed").exists());
    assert_eq!(camp.show(&instance)["activity"], "approval");
}

#[test]
fn a_person_who_scrolls_does_not_swallow_a_message() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "scrolled");
    drop(camp.biv(["send", "scrolled", "/lines 100"]).run().ok());
    instance.wait_idle(&camp);
    let target = format!("=biv-{}:", instance.id);
    assert!(camp.tmux(&["copy-mode", "-t", &target]).status.success());
    drop(camp.biv(["send", "scrolled", "still there?"]).run().ok());
    assert_eq!(
        wait_prompts(&camp, &instance, 2),
        ["/lines 100", "still there?"]
    );
}

#[test]
fn any_command_takes_prompts_too() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start_shell(
        &repository,
        "reader",
        "while read -r line; do echo \"got $line\"; echo \"$line\" >> heard; done",
    );
    drop(camp.biv(["send", "reader", "one 'two' $three"]).run().ok());
    let heard = instance.worktree.join("heard");
    until("the command has read it", || {
        std::fs::read_to_string(&heard).is_ok_and(|text| text == "one 'two' $three\n")
    });
    instance.wait_screen(&camp, "got one 'two' $three");
}

#[test]
fn what_a_user_left_in_the_box_is_neither_sent_along_nor_deleted() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "half");
    let target = format!("=biv-{}:", instance.id);
    let left = "half a sentence, left by a sender that died";
    camp.tmux(&["send-keys", "-t", &target, "-l", "--", left]);
    instance.wait_screen(&camp, left);
    let refused = camp.biv(["send", "half", "a whole one"]).run().fails(4);
    assert!(refused.said().contains("input box"), "{}", refused.said());
    instance.wait_screen(&camp, left);
    camp.tmux(&["send-keys", "-t", &target, "Enter"]);
    assert_eq!(wait_prompts(&camp, &instance, 1), [left]);
    drop(camp.biv(["send", "half", "a whole one"]).run().ok());
    assert_eq!(wait_prompts(&camp, &instance, 2), [left, "a whole one"]);
}

/// A message that waits for a turn to end, seen to wait.
fn waiting_message(camp: &Camp, instance: &Instance, text: &str) -> std::process::Child {
    let child = camp
        .biv(["send", "--now", &instance.id, text])
        .in_background();
    let lock = camp.instances_dir().join(&instance.id).join("send.lock");
    let mark = format!("(process {})", child.id());
    until("the message waits for the agent", || {
        std::fs::read_to_string(&lock).is_ok_and(|holder| holder.ends_with(&mark))
    });
    child
}

#[test]
fn a_message_that_waits_is_not_sent_when_its_agent_is_taken_away() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "taken");
    for (round, away) in [vec!["pause", "--now"], vec!["kill", "-y"]]
        .into_iter()
        .enumerate()
    {
        drop(camp.biv(["send", "taken", "/busy 600"]).run().ok());
        let text = format!("message {round}");
        let mut first = waiting_message(&camp, &instance, &text);
        // One that waits for the first to be through.
        let mut second = camp
            .biv(["send", "--now", &instance.id, &text])
            .in_background();
        drop(camp.biv(away.clone()).arg("taken").run().ok());
        assert_eq!(first.wait().unwrap().code(), Some(4), "{away:?}");
        let code = second.wait().unwrap().code();
        // It may have come to its turn when the agent was gone, or have woken it.
        assert!(matches!(code, Some(0 | 3 | 4)), "{away:?}: {code:?}");
        drop(camp.biv(["undo-kill", &instance.id]).run());
        drop(camp.biv(["resume", &instance.id]).run().ok());
        instance.wait_idle(&camp);
        let arrived = instance.prompts(&camp);
        let times = arrived.iter().filter(|prompt| **prompt == text).count();
        assert_eq!(times, usize::from(code == Some(0)), "{away:?}: {arrived:?}");
    }
}

#[test]
fn a_message_is_there_when_send_says_so_and_is_not_when_a_pause_refuses_it() {
    torn_by(&["pause"], [0, 3, 6]);
}

#[test]
fn a_message_is_there_when_send_says_so_and_is_not_when_a_pause_at_once_refuses_it() {
    torn_by(&["pause", "--now"], [1, 4, 7]);
}

#[test]
fn a_message_is_there_when_send_says_so_and_is_not_when_a_kill_refuses_it() {
    torn_by(&["kill", "-y"], [2, 5, 8]);
}

/// Takes the agent away while a message is typed, in each round at another moment.
fn torn_by(away: &[&str], rounds: [u64; 3]) {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "torn");
    let mut answers = Vec::new();
    for round in rounds {
        let text = format!("message {round}");
        let mut sender = camp
            .biv(["send", "--now", &instance.id, &text])
            .in_background();
        // Each time at another moment of the typing.
        std::thread::sleep(std::time::Duration::from_millis(120 * round));
        drop(camp.biv(away).arg(&instance.id).run());
        answers.push((text, sender.wait().unwrap().code()));
        drop(camp.biv(["undo-kill", &instance.id]).run());
        drop(camp.biv(["resume", &instance.id]).run().ok());
        instance.wait_idle(&camp);
    }
    let arrived = instance.prompts(&camp);
    for (text, code) in answers {
        let times = arrived.iter().filter(|prompt| **prompt == text).count();
        let expected = match code {
            Some(0) => 1,
            Some(3 | 4 | 7) => 0,
            other => panic!("`{text}`: {other:?}"),
        };
        assert_eq!(times, expected, "`{text}` {code:?}: {arrived:?}");
    }
}

#[test]
fn a_prompt_stands_in_the_log_once_while_others_follow_it() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "told", &["-p", "prompt 0"]);
    instance.wait_idle(&camp);
    let mut followers: Vec<_> = (0..3)
        .map(|_| camp.biv(["log", "-f", "told"]).in_background())
        .collect();
    for number in 1..=6 {
        let prompt = format!("prompt {number}");
        drop(camp.biv(["send", "told", &prompt]).run().ok());
        instance.wait_idle(&camp);
    }
    for follower in &mut followers {
        follower.kill().unwrap();
        follower.wait().unwrap();
    }
    let log = camp.biv(["log", "--json", "told"]).run().ok().stdout;
    let asked: Vec<String> = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|entry| entry["type"] == "user")
        .map(|entry| entry["content"].as_str().unwrap().to_owned())
        .collect();
    let sent: Vec<String> = (0..=6).map(|number| format!("prompt {number}")).collect();
    assert_eq!(asked, sent);
}

/// The prompts in its queue that wait.
fn waiting(camp: &Camp, instance: &Instance) -> Vec<String> {
    let queue = camp
        .biv(["queue", "--json", &instance.id])
        .run()
        .ok()
        .json();
    let entries = queue["entries"].as_array().unwrap().iter();
    entries
        .filter(|entry| entry["state"] == "waiting")
        .map(|entry| entry["prompt"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_busy_agent_gets_it_next() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "busy");
    drop(camp.biv(["send", "busy", "/busy 600"]).run().ok());
    instance.wait_for(&camp, "activity", "busy");
    drop(camp.biv(["queue", "busy", "later"]).run().ok());
    let sent = camp.biv(["send", "busy", "first"]).run().ok();
    assert!(
        sent.stderr.contains("gets the prompt next"),
        "{}",
        sent.stderr
    );
    let sent = camp.biv(["send", "--json", "busy", "second"]).run().ok();
    assert_eq!(sent.json()["queued"], true);
    assert_eq!(sent.json()["sent"], false);
    assert_eq!(waiting(&camp, &instance), ["first", "second", "later"]);
    let session = format!("=biv-{}:", instance.id);
    assert!(
        camp.tmux(&["send-keys", "-t", &session, "Escape"])
            .status
            .success()
    );
    let arrived = wait_prompts(&camp, &instance, 4);
    assert_eq!(arrived, ["/busy 600", "first", "second", "later"]);
    until("the queue is done", || waiting(&camp, &instance).is_empty());
}

#[test]
fn who_insists_waits_and_queues_nothing() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "busy");
    drop(camp.biv(["send", "busy", "/busy 5"]).run().ok());
    let sent = camp.biv(["send", "--json", "busy", "hello", "--now"]).run();
    assert_eq!(sent.ok().json()["sent"], true);
    assert_eq!(instance.prompts(&camp), ["/busy 5", "hello"]);
    let queue = camp.biv(["queue", "--json", "busy"]).run().ok().json();
    assert_eq!(queue["entries"], serde_json::json!([]));
}

#[test]
fn what_is_refused_or_sent_leaves_nothing_in_the_queue() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "asks");
    drop(
        camp.biv(["send", "asks", "/ask Which? | One | Two"])
            .run()
            .ok(),
    );
    instance.wait_for(&camp, "activity", "question");
    drop(camp.biv(["send", "asks", "hello"]).run().fails(4));
    let queue = camp.biv(["queue", "--json", "asks"]).run().ok().json();
    assert_eq!(queue["entries"], serde_json::json!([]));
}

#[test]
fn a_prompt_whose_sender_dies_while_the_agent_wakes_is_in_the_queue() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "asleep");
    drop(camp.biv(["pause", "asleep"]).run().ok());
    let send = camp
        .biv(["send", "asleep", "hello"])
        .crash_at("resume:open-session:before");
    drop(send.run().crashed());
    assert_eq!(waiting(&camp, &instance), ["hello"]);
}

#[test]
fn white_space_alone_is_no_prompt() {
    let camp = Camp::new();
    let instance = idle_demo(&camp, "blank");
    for call in [
        &["send", "blank", "   "][..],
        &["send", "--now", "blank", " \n\t"],
        &["send", "--all", "  "],
        &["queue", "blank", "  "],
    ] {
        let refused = camp.biv(call).run().fails(2);
        let said = refused.stderr.contains("nothing to send");
        assert!(said, "{call:?}: {}", refused.stderr);
    }
    drop(camp.biv(["send", "blank", "something"]).run().ok());
    assert_eq!(wait_prompts(&camp, &instance, 1), ["something"]);
}
