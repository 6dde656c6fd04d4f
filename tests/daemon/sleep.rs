//! Idle agents are suspended, and a user who wants something of them wins.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::dice::Dice;
use crate::post::{configure, events, process, start, wait_activity, wait_event};
use crate::support::terminal::Terminal;
use crate::support::{Camp, Instance, until};

/// A camp in which a minute is short.
fn hasty_camp(minute_ms: u32) -> Camp {
    let camp = Camp::new().with("BIV_MINUTE_MS", &minute_ms.to_string());
    start(&camp);
    camp
}

fn wait_asleep(camp: &Camp, instance: &Instance) {
    instance.wait_for(camp, "state", "paused");
}

#[test]
fn one_that_is_idle_for_its_timeout_sleeps_and_a_message_wakes_it() {
    let camp = hasty_camp(1500);
    let repository = camp.repository("app");
    let sleeper = camp.start(&repository, "sleeper", &["--idle-timeout", "1m"]);
    let other = camp.start(&repository, "other", &["--idle-timeout", "off"]);
    let agent = sleeper.processes();
    wait_asleep(&camp, &sleeper);
    let shown = camp.show(&sleeper);
    assert_eq!(shown["pause"]["reason"], "idle");
    assert_eq!(shown["worktree_present"], true);
    assert_eq!(shown["idle_timeout_s"], 60);
    assert!(agent.iter().all(|process| !process.is_alive()));
    assert_eq!(camp.show(&other)["state"], "running");
    assert_eq!(camp.show(&other)["idle_timeout_s"], serde_json::Value::Null);

    let sent = camp.biv(["send", "sleeper", "wake up"]).run().ok();
    assert!(sent.stderr.contains("Resuming (paused"), "{}", sent.stderr);
    until("it has arrived", || sleeper.prompts(&camp) == ["wake up"]);
    wait_asleep(&camp, &sleeper);
    assert_eq!(sleeper.prompts(&camp), ["wake up"]);
    // Its queue wakes it as well.
    drop(camp.biv(["queue", "sleeper", "and again"]).run().ok());
    until("it has arrived", || {
        sleeper.prompts(&camp) == ["wake up", "and again"]
    });
}

#[test]
fn hours_in_which_the_daemon_was_stopped_suspend_no_agent() {
    let minute = Duration::from_secs(6);
    let camp = hasty_camp(6000);
    let repository = camp.repository("app");
    let daemon = process(&camp);
    let not_idle = Instant::now();
    let idle = camp.start(&repository, "idle", &["--idle-timeout", "1m"]);
    wait_activity(&camp, "idle");
    daemon.signal(Signal::STOP);
    let lived_at_most = not_idle.elapsed();
    // Many minutes, as the daemon counts them.
    std::thread::sleep(minute * 2);
    let goes_on = Instant::now();
    daemon.signal(Signal::CONT);
    wait_asleep(&camp, &idle);
    // It had to be idle for a minute that was lived through: a stop is noticed after a sixth of one,
    // and a twelfth is allowed for a machine that is late. A slow machine only makes it longer.
    let lived = lived_at_most + goes_on.elapsed() + minute / 6 + minute / 12;
    assert!(lived >= minute, "{lived:?}");
}

#[test]
fn no_agent_that_works_asks_or_is_visited_is_suspended() {
    let camp = hasty_camp(700);
    let repository = camp.repository("app");
    let timeout = ["--idle-timeout", "1m"];
    let busy = camp.start(
        &repository,
        "busy",
        &["--idle-timeout", "1m", "-p", "/busy 600"],
    );
    let asking = camp.start(
        &repository,
        "asking",
        &["--idle-timeout", "1m", "-p", "/run x"],
    );
    let visited = camp.start(&repository, "visited", &timeout);
    let person = Terminal::running(&camp, "biv attach visited");
    person.wait_for("ctrl-q detach");
    // Its minute begins when there is something in its input box.
    let drafting = camp.start(&repository, "drafting", &["--idle-timeout", "off"]);
    drafting.wait_idle(&camp);
    let target = format!("=biv-{}:", drafting.id);
    let typed = camp.tmux(&["send-keys", "-t", &target, "-l", "half a"]);
    assert!(typed.status.success(), "{typed:?}");
    drafting.wait_screen(&camp, "half a");
    drop(camp.biv(["timeout", &drafting.id, "1m"]).run().ok());
    // By the time the third sleeper sleeps, these would have done so long ago.
    for n in 0..3 {
        let sleeper = camp.start(&repository, &format!("sleeper {n}"), &timeout);
        wait_asleep(&camp, &sleeper);
    }
    for instance in [&busy, &asking, &visited, &drafting] {
        let shown = camp.show(instance);
        assert_eq!(shown["state"], "running", "{}", instance.title);
    }
    person.press(&["C-q"]);
    person.wait_for("ended with 0");
    wait_asleep(&camp, &visited);
}

#[test]
fn messages_that_come_as_the_timer_fires_arrive_once_and_start_one_agent() {
    let camp = hasty_camp(400);
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "raced", &["--idle-timeout", "1m"]);
    let mut dice = Dice::new(7);
    let mut expected = Vec::new();
    for n in 0..8 {
        // Around the moment at which it goes to sleep.
        dice.let_pass(1200);
        let message = format!("message {n}");
        drop(camp.biv(["send", &instance.id, &message]).run().ok());
        assert!(
            instance.processes().len() <= 1,
            "{:?}",
            instance.processes()
        );
        expected.push(message);
    }
    until("all have arrived", || {
        instance.prompts(&camp).len() >= expected.len()
    });
    assert_eq!(instance.prompts(&camp), expected);
    wait_asleep(&camp, &instance);
    let slept = events(&camp)
        .iter()
        .filter(|event| event["type"] == "instance:paused")
        .count();
    assert!(slept >= 1, "the timer has fired {slept} times");
}

#[test]
fn a_visit_that_comes_as_the_timer_fires_finds_its_agent() {
    let camp = hasty_camp(400);
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "visited", &["--idle-timeout", "1m"]);
    wait_event(&camp, "it goes to sleep", |event| {
        event["type"] == "instance:pausing"
    });
    let person = Terminal::running(&camp, "biv attach visited");
    person.wait_for("ctrl-q detach");
    assert_eq!(camp.show(&instance)["state"], "running");
    assert_eq!(instance.processes().len(), 1);
    person.press(&["C-q"]);
    person.wait_for("ended with 0");
}

#[test]
fn timeouts_are_shown_set_and_refused() {
    let camp = Camp::new();
    configure(&camp, "[idle]\nsuspend = true\ntimeout = \"20m\"\n");
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "timed", &[]);
    let shown = |camp: &Camp| camp.biv(["timeout", "timed"]).run().ok().stdout;
    assert_eq!(
        shown(&camp),
        "`timed` is paused when it was idle for 20m.\n"
    );
    drop(camp.biv(["timeout", "timed", "off"]).run().ok());
    assert_eq!(shown(&camp), "`timed` is never paused for being idle.\n");
    let set = camp.biv(["timeout", "timed", "90m", "--json"]).run().ok();
    assert_eq!(set.json()["idle_timeout_s"], 5400);
    assert_eq!(camp.show(&instance)["idle_timeout_s"], 5400);
    for wrong in ["59s", "121m", "soon", "0"] {
        drop(camp.biv(["timeout", "timed", wrong]).run().fails(2));
    }
}

#[test]
fn too_much_memory_sends_the_longest_idle_to_sleep() {
    let camp = Camp::new().with("BIV_MINUTE_MS", "1000");
    configure(&camp, "[limits]\nmemory = \"1kB\"\n");
    let repository = camp.repository("app");
    let busy = camp.start(&repository, "busy", &["-p", "/busy 600"]);
    let idle = camp.start(&repository, "idle", &[]);
    busy.wait_for(&camp, "activity", "busy");
    start(&camp);
    wait_asleep(&camp, &idle);
    assert_eq!(camp.show(&idle)["pause"]["reason"], "resource");
    assert_eq!(camp.show(&busy)["state"], "running");
}

#[test]
fn a_long_conversation_is_summed_up_by_itself() {
    let camp = Camp::new().with("BIV_MINUTE_MS", "200");
    configure(&camp, "[compact]\nafter = 3\nkeep = 2\n");
    start(&camp);
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "talker", &[]);
    for prompt in ["one", "two", "three"] {
        drop(camp.biv(["send", "talker", prompt]).run().ok());
    }
    wait_activity(&camp, "idle");
    until("all have arrived", || instance.prompts(&camp).len() == 3);
    instance.wait_idle(&camp);
    drop(camp.biv(["pause", "talker"]).run().ok());
    wait_event(&camp, "it is summed up", |event| {
        event["type"] == "compacted"
    });
}
