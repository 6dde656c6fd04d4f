//! Instances of other machines beside those of this one.

use std::time::Duration;

use pretty_assertions::assert_eq;

use super::driver::*;
use super::journeys::{of, only_tasks};
use crate::engine::{HostListing, HostName, InstanceView};
use crate::model::{Activity, PauseReason, State as InstanceState};
use crate::tui::message::{Message, PageKind, Task, UiRequest, Wait};

fn name(text: &str) -> HostName {
    HostName::parse(text).unwrap()
}

fn on(host: &str, view: InstanceView) -> InstanceView {
    InstanceView {
        host: Some(host.to_owned()),
        repo: "/srv/api".into(),
        ..view
    }
}

fn answer(host: &str, instances: Vec<InstanceView>) -> Message {
    Message::HostListed(Box::new(HostListing {
        name: name(host),
        reachable: true,
        at: Some(at(60)),
        error: None,
        not_understood: 0,
        instances: instances.into_iter().map(|view| on(host, view)).collect(),
    }))
}

fn down(host: &str, minutes: Option<i64>, instances: Vec<InstanceView>) -> Message {
    let Message::HostListed(mut listing) = answer(host, instances) else {
        unreachable!()
    };
    listing.reachable = false;
    listing.at = minutes.map(at);
    listing.error = Some("no route to host".to_owned());
    Message::HostListed(listing)
}

/// One here, one on a host that answers, and a host that does not.
fn two_places() -> Driver {
    let here = instance('b', "here", InstanceState::Running);
    let mut driver = Driver::with(110, 30, vec![here]);
    driver.tell(answer(
        "far",
        vec![instance('f', "away", InstanceState::Running)],
    ));
    driver.tell(down(
        "old",
        Some(50),
        vec![doing(
            instance('g', "once", InstanceState::Running),
            Activity::Approval,
        )],
    ));
    driver
}

#[test]
fn all_places_are_in_one_list_and_one_that_is_down_says_so() {
    let mut driver = two_places();
    let screen = driver.screen();
    for part in [
        "here",
        " far",
        "far:away",
        " old down · as 10m ago",
        "needs you?",
    ] {
        assert!(screen.contains(part), "{part}:\n{screen}");
    }
    // What is only last known is not counted.
    assert!(
        screen.contains("2 ready") && !screen.contains("1 needs you"),
        "{screen}"
    );
    // A host that was never reached has a line too.
    driver.tell(down("never", None, Vec::new()));
    assert!(driver.screen().contains("never down · no route"));
    // One that needs the user stands first, wherever it is.
    let asks = doing(
        instance('f', "away", InstanceState::Running),
        Activity::Approval,
    );
    driver.tell(answer("far", vec![asks]));
    let first = driver.state.visible()[0].id.clone();
    assert_eq!(first, of('f'));
    // A list of this machine leaves them, and a host that was removed takes them along.
    driver.listed(vec![instance('b', "here", InstanceState::Running)]);
    assert_eq!(driver.state.visible().len(), 3);
    driver.tell(Message::Hosts(Vec::new()));
    assert_eq!(driver.state.visible().len(), 1);
    assert!(!driver.screen().contains("far"));
}

#[test]
fn an_instance_that_is_reached_in_two_ways_is_shown_once() {
    let mut driver = two_places();
    driver.tell(answer(
        "mirror",
        vec![instance('b', "here", InstanceState::Running)],
    ));
    assert_eq!(driver.state.visible().len(), 3);
    assert_eq!(driver.state.host_of(&of('b')), None);
}

#[test]
fn one_that_has_moved_is_shown_where_it_is() {
    let mut driver = two_places();
    let left = instance('f', "away", InstanceState::Away);
    let here = instance('b', "here", InstanceState::Running);
    driver.listed(vec![here, left]);
    assert_eq!(driver.state.visible().len(), 3);
    assert_eq!(driver.state.host_of(&of('f')), Some(name("far")));
    // The host has nothing of it any more.
    driver.tell(answer("far", Vec::new()));
    assert_eq!(driver.state.host_of(&of('f')), None);
}

#[test]
fn operations_go_to_the_host_and_marked_ones_to_their_places() {
    let mut driver = two_places();
    let there = |task: Task| Task::OnHost(name("far"), Box::new(task));
    driver.press("j c");
    let pause = Task::Pause {
        id: of('f'),
        wait: Wait::AsConfigured,
        reason: PauseReason::User,
    };
    assert_eq!(only_tasks(&mut driver), [there(pause)]);
    driver.press("D");
    assert!(driver.screen().contains("Kill `far:away`?"));
    driver.press("y");
    let kill = Task::Kill {
        id: of('f'),
        delete_branch: false,
    };
    assert_eq!(only_tasks(&mut driver), [there(kill)]);
    driver.press("enter");
    let attach = UiRequest::Attach(of('f'), Some(name("far")));
    assert!(driver.requests.contains(&attach));
    driver.requests.clear();
    driver.press("k space space r");
    assert_eq!(
        only_tasks(&mut driver),
        [
            there(Task::Resume(of('f'))),
            Task::ResumeEach(vec![of('b')])
        ]
    );
    // What is kept here only is not asked of a host.
    driver.press("end k v");
    assert!(driver.screen().contains("biv review far:away"));
    // Its repository is on another machine: a new one is not made in it.
    driver.press("n");
    assert!(!driver.screen().contains("/srv/api"));
}

#[test]
fn a_slow_host_keeps_only_those_waiting_who_look_at_it() {
    let mut driver = two_places();
    driver.press("j tab");
    let read = |id: char, host: Option<&str>| UiRequest::Read {
        id: of(id),
        host: host.map(name),
        what: PageKind::Diff,
    };
    assert!(driver.requests.contains(&read('f', Some("far"))));
    driver.requests.clear();
    driver.press("k");
    assert!(driver.requests.contains(&read('b', None)));
    driver.read(
        &id('b'),
        patch_page("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
    );
    // The late answer does not replace what is shown now.
    driver.read(&id('f'), patch_page(""));
    assert_eq!(driver.state.page.diff.as_ref().unwrap().0, of('b'));
}

#[test]
fn the_age_of_an_answer_is_shown_when_it_is_old() {
    let mut driver = two_places();
    assert!(!driver.screen().contains(" far · as"));
    driver.tell(Message::Tick(at(61)));
    assert!(driver.screen().contains(" far · as 1m ago"));
    assert_eq!(at(60).until(at(61)), Duration::from_secs(60));
}
