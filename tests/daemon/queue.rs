//! Prompts one after the other: in order, once, held by a pause, through every crash.

use crate::post::{camp_with_daemon, configure, process, start, status, wait_activity, wait_event};
use crate::support::terminal::Terminal;
use crate::support::{Camp, Instance, until, until_told};

fn queue_json(camp: &Camp, instance: &Instance) -> serde_json::Value {
    camp.biv(["queue", "--json", &instance.id])
        .run()
        .ok()
        .json()
}

#[track_caller]
fn wait_done(camp: &Camp, instance: &Instance, count: u64) {
    let what = || {
        let queue = queue_json(camp, instance);
        let seen = crate::post::activities(camp);
        format!(
            "{count} are done: {queue}\n{seen}\n{}",
            crate::post::log(camp)
        )
    };
    until_told(what, || {
        (queue_json(camp, instance)["counts"]["done"] == count).then_some(())
    });
}

#[test]
fn prompts_are_fed_in_order_and_the_first_one_starts_the_daemon() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "fed", &[]);
    assert_eq!(status(&camp)["running"], false);
    let prompts = ["first", "second\nof two lines", "/busy 1", "-n last; $HOME"];
    let mut call = camp.biv(["queue", &instance.id]);
    for prompt in &prompts[..3] {
        call = call.arg(prompt);
    }
    drop(call.run().ok());
    assert_eq!(status(&camp)["running"], true);
    drop(
        camp.biv(["queue", &instance.id, "-"])
            .stdin(prompts[3])
            .run()
            .ok(),
    );
    wait_done(&camp, &instance, 4);
    assert_eq!(instance.prompts(&camp), prompts);
    let view = queue_json(&camp, &instance);
    assert_eq!(view["stopped"], serde_json::Value::Null);
    assert_eq!(camp.show(&instance)["queue"]["done"], 4);
    // In the log, too.
    let log = camp.biv(["log", &instance.id]).run().ok().stdout;
    assert!(log.contains("second"), "{log}");
}

/// Half a sentence in the input box is a person's: neither sent along nor deleted.
#[test]
fn a_draft_holds_the_queue_and_a_sender() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "drafted", &[]);
    instance.wait_idle(&camp);
    let target = format!("=biv-{}:", instance.id);
    let typed = camp.tmux(&["send-keys", "-t", &target, "-l", "half a"]);
    assert!(typed.status.success(), "{typed:?}");
    instance.wait_screen(&camp, "half a");
    let refused = camp.biv(["send", "--json", &instance.id, "in between"]);
    let refused = refused.run().fails(4).json();
    assert_eq!(refused["error"]["code"], "draft_in_the_way", "{refused}");
    drop(camp.biv(["queue", &instance.id, "queued"]).run().ok());
    // So long the daemon has every reason to feed it, and does not.
    for _ in 0..20 {
        assert_eq!(queue_json(&camp, &instance)["counts"]["waiting"], 1);
        instance.wait_screen(&camp, "half a");
    }
    let shown = camp.biv(["queue", &instance.id]).run().ok().stdout;
    let why = "It waits: there is a text in its input box";
    assert!(shown.contains(why), "{shown}");
    for keys in [&["-l", " sentence"][..], &["Enter"]] {
        let pressed = camp.tmux(&[&["send-keys", "-t", &target], keys].concat());
        assert!(pressed.status.success(), "{pressed:?}");
    }
    wait_done(&camp, &instance, 1);
    assert_eq!(instance.prompts(&camp), ["half a sentence", "queued"]);
    assert!(queue_json(&camp, &instance)["held_by"].is_null());
}

/// Whoever types in the agent's terminal comes first, though the box is empty for a moment now and then.
#[test]
fn a_user_who_types_comes_before_the_queue() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "typed", &[]);
    instance.wait_idle(&camp);
    let person = Terminal::running(&camp, "biv attach typed");
    person.wait_for("ctrl-q detach");
    person.write("zz");
    instance.wait_screen(&camp, "zz");
    drop(camp.biv(["queue", &instance.id, "later"]).run().ok());
    for _ in 0..12 {
        person.press(&["BSpace", "BSpace"]);
        std::thread::sleep(std::time::Duration::from_millis(400));
        person.write("zz");
        assert_eq!(queue_json(&camp, &instance)["counts"]["waiting"], 1);
    }
    person.press(&["BSpace", "BSpace"]);
    wait_done(&camp, &instance, 1);
    assert_eq!(instance.prompts(&camp), ["later"]);
}

#[test]
fn a_dialog_holds_the_queue_and_is_named() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "asks", &[]);
    instance.wait_idle(&camp);
    drop(camp.biv(["send", &instance.id, "/run touch x"]).run().ok());
    wait_activity(&camp, "approval");
    drop(camp.biv(["queue", &instance.id, "later"]).run().ok());
    let held = queue_json(&camp, &instance)["held_by"].clone();
    assert_eq!(held, "an approval dialog is open");
    drop(camp.biv(["answer", &instance.id, "1"]).run().ok());
    until("the queue goes on", || {
        instance
            .prompts(&camp)
            .last()
            .is_some_and(|last| last == "later")
    });
}

#[test]
fn a_pause_holds_the_queue_and_a_resume_lets_it_go_on() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "held", &[]);
    wait_activity(&camp, "idle");
    drop(camp.biv(["pause", &instance.id]).run().ok());
    drop(camp.biv(["queue", &instance.id, "later"]).run().ok());
    // Something that takes longer than it would take to feed it.
    let other = camp.start(&repository, "other", &[]);
    drop(camp.biv(["queue", &other.id, "now"]).run().ok());
    wait_done(&camp, &other, 1);
    assert_eq!(queue_json(&camp, &instance)["counts"]["waiting"], 1);
    assert_eq!(camp.show(&instance)["state"], "paused");
    drop(camp.biv(["resume", &instance.id]).run().ok());
    wait_done(&camp, &instance, 1);
    assert_eq!(instance.prompts(&camp), ["later"]);
}

#[test]
fn a_paused_camp_feeds_no_queue() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "rests", &[]);
    wait_activity(&camp, "idle");
    drop(camp.biv(["pause", "--all"]).run().ok());
    drop(camp.biv(["queue", &instance.id, "later"]).run().ok());
    // One that is started by a person while the camp rests is not fed either.
    let other = camp.start(&repository, "other", &[]);
    drop(camp.biv(["queue", &other.id, "not yet"]).run().ok());
    wait_event(&camp, "the other one is idle", |event| {
        event["instance"] == other.id.as_str() && event["data"]["activity"] == "idle"
    });
    assert_eq!(queue_json(&camp, &other)["counts"]["waiting"], 1);
    drop(camp.biv(["resume", "--all"]).run().ok());
    wait_done(&camp, &instance, 1);
    wait_done(&camp, &other, 1);
}

#[test]
fn a_queue_survives_the_daemons_end() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "tough", &[]);
    let prompts: Vec<String> = (0..6).map(|n| format!("prompt {n}")).collect();
    let mut call = camp.biv(["queue", &instance.id]);
    for prompt in &prompts {
        call = call.arg(prompt);
    }
    drop(call.run().ok());
    for done in [1, 3] {
        until("some are done", || {
            queue_json(&camp, &instance)["counts"]["done"].as_u64() >= Some(done)
        });
        process(&camp).kill();
        until("it is gone", || status(&camp)["running"] == false);
        start(&camp);
        // What was being typed when it died is not known: then the user is asked.
        if queue_json(&camp, &instance)["stopped"] != serde_json::Value::Null {
            return;
        }
    }
    wait_done(&camp, &instance, 6);
    assert_eq!(instance.prompts(&camp), prompts);
}

#[test]
fn what_was_being_typed_in_a_crash_is_never_typed_twice() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "once", &[]);
    instance.wait_idle(&camp);
    let crashing = camp
        .biv(["daemon", "start"])
        .env("BIV_CRASH_AT", "queue:feed:sending");
    drop(crashing.run().ok());
    drop(camp.biv(["queue", &instance.id, "one", "two"]).run().ok());
    until("it has crashed", || status(&camp)["running"] == false);
    assert_eq!(queue_json(&camp, &instance)["counts"]["running"], 1);
    start(&camp);
    until("a person is asked", || {
        queue_json(&camp, &instance)["stopped"] != serde_json::Value::Null
    });
    let view = queue_json(&camp, &instance);
    assert_eq!(view["entries"][0]["state"], "failed");
    assert_eq!(view["entries"][1]["state"], "waiting");
    assert!(instance.prompts(&camp).is_empty());
    // A user who looks and queues something lets it go on.
    drop(camp.biv(["queue", &instance.id, "three"]).run().ok());
    wait_done(&camp, &instance, 2);
    assert_eq!(instance.prompts(&camp), ["two", "three"]);
}

#[test]
fn an_agent_that_ends_in_its_turn_stops_the_queue_and_tells() {
    let camp = Camp::new();
    let told = camp.root().join("told");
    configure(
        &camp,
        &format!(
            "[notify]\nby = []\ncommand = \"sh -c 'echo \\\"$BIV_NOTICE $BIV_MESSAGE\\\" >> {}'\"\n",
            told.display()
        ),
    );
    start(&camp);
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "ends", &[]);
    wait_activity(&camp, "idle");
    drop(
        camp.biv(["queue", &instance.id, "/exit 3", "never"])
            .run()
            .ok(),
    );
    until("the queue has stopped", || {
        queue_json(&camp, &instance)["stopped"] == "the agent has ended"
    });
    let view = queue_json(&camp, &instance);
    assert_eq!(view["entries"][0]["state"], "failed");
    assert_eq!(view["entries"][1]["state"], "waiting");
    until("its person was told", || {
        std::fs::read_to_string(&told)
            .is_ok_and(|text| text.contains("failed its queue has stopped"))
    });
    let cleared = camp.biv(["queue", &instance.id, "--clear"]).run().ok();
    assert_eq!(cleared.stdout, "Nothing is queued for `ends`.\n");
}

/// Something that takes longer than it would take to feed another one.
fn feed_another(camp: &Camp, repository: &crate::support::Repository) {
    let other = camp.start(repository, "other", &[]);
    drop(camp.biv(["queue", &other.id, "now"]).run().ok());
    wait_done(camp, &other, 1);
}

/// What waits was meant for after the turn, whoever began it.
#[test]
fn a_turn_that_a_pause_cuts_off_holds_the_queue() {
    for (title, begins) in [("sent", "send"), ("queued", "queue")] {
        let camp = camp_with_daemon();
        let repository = camp.repository("app");
        let instance = camp.start(&repository, title, &[]);
        wait_activity(&camp, "idle");
        drop(camp.biv([begins, &instance.id, "/busy 60"]).run().ok());
        wait_activity(&camp, "busy");
        drop(camp.biv(["queue", &instance.id, "later"]).run().ok());
        drop(camp.biv(["pause", "--now", &instance.id]).run().ok());
        let queue = queue_json(&camp, &instance);
        let why = queue["stopped"].as_str().unwrap_or_default();
        assert!(why.contains("cut the turn before off"), "{queue:#}");
        let failed = u64::from(begins == "queue");
        assert_eq!(queue["counts"]["failed"], failed, "{queue:#}");
        let resumed = camp.biv(["resume", &instance.id]).run().ok();
        assert!(resumed.stderr.contains(why), "{}", resumed.stderr);
        feed_another(&camp, &repository);
        assert_eq!(instance.prompts(&camp), ["/busy 60"]);
        let goes_on = camp.biv(["queue", &instance.id, "--continue"]).run().ok();
        assert!(!goes_on.stdout.contains("stopped"), "{}", goes_on.stdout);
        wait_done(&camp, &instance, 1);
        assert_eq!(instance.prompts(&camp), ["/busy 60", "later"]);
    }
}

/// The daemon may be about to feed its queue in the moment in which the user pauses it.
#[test]
fn one_that_the_user_pauses_stays_paused_whatever_waits_in_its_queue() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instances = [
        "one", "two", "three", "four", "five", "six", "seven", "eight",
    ]
    .map(|title| {
        let instance = camp.start(&repository, title, &[]);
        instance.wait_idle(&camp);
        instance
    });
    for (instance, later) in instances.iter().zip(0..) {
        std::thread::scope(|scope| {
            scope.spawn(|| drop(camp.biv(["queue", &instance.id, "/busy 60", "later"]).run()));
            std::thread::sleep(std::time::Duration::from_millis(2) * later);
            drop(camp.biv(["pause", "--now", &instance.id]).run().ok());
        });
    }
    feed_another(&camp, &repository);
    for instance in &instances {
        assert_eq!(camp.show(instance)["state"], "paused", "{}", instance.id);
    }
}

#[test]
fn a_turn_that_ends_with_its_server_holds_the_queue() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "cut", &[]);
    wait_activity(&camp, "idle");
    drop(camp.biv(["send", &instance.id, "/busy 60"]).run().ok());
    wait_activity(&camp, "busy");
    drop(camp.biv(["queue", &instance.id, "later"]).run().ok());
    drop(camp.tmux(&["kill-server"]));
    until("it is interrupted", || {
        camp.show(&instance)["state"] == "interrupted"
    });
    drop(camp.biv(["resume", "--all"]).run().ok());
    feed_another(&camp, &repository);
    let queue = queue_json(&camp, &instance);
    let why = queue["stopped"].as_str().unwrap_or_default();
    assert!(why.contains("has ended in the turn before"), "{queue:#}");
    drop(camp.biv(["send", &instance.id, "go on"]).run().ok());
    wait_done(&camp, &instance, 1);
    assert_eq!(instance.prompts(&camp), ["/busy 60", "go on", "later"]);
}
