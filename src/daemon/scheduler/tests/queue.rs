//! The prompts of a queue, and the resumes for it.

use super::*;

#[test]
fn a_queue_goes_on_turn_by_turn() {
    let mut scene = Scene::new(InstanceStatus {
        queue: queue(0, 2),
        ..status()
    });
    scene.shows(10, Activity::Busy);
    assert_eq!(scene.job(11), None, "it works on something else");
    scene.shows(12, Activity::Idle);
    assert_eq!(scene.job(12), None, "it has not settled");
    assert_eq!(scene.job(13), Some(Job::Feed));
    scene.stands(14, |status| status.queue = queue(1, 1));
    scene
        .scheduler
        .done(at(14), &Done::FeedResult(FeedResult::Sent));
    assert_eq!(scene.job(15), None, "its turn may not have begun");
    scene.shows(15, Activity::Busy);
    assert_eq!(scene.job(60), None);
    scene.shows(60, Activity::Approval);
    assert_eq!(scene.job(90), None, "a question is a person's");
    scene.shows(91, Activity::Busy);
    scene.shows(100, Activity::Idle);
    assert_eq!(scene.job(101), Some(Job::Finish(TurnEnd::Done)));
    scene.stands(102, |status| status.queue = queue(0, 1));
    scene.scheduler.done(at(102), &Done::Finished);
    assert_eq!(scene.job(102), Some(Job::Feed));
}

#[test]
fn a_turn_that_was_not_observed_ends_all_the_same() {
    let mut scene = Scene::new(InstanceStatus {
        queue: queue(1, 0),
        ..status()
    });
    scene.shows(1, Activity::Idle);
    assert_eq!(scene.job(2), None);
    assert_eq!(scene.scheduler.due(at(2)), Some(at(3)));
    assert_eq!(scene.job(3), Some(Job::Finish(TurnEnd::Done)));
}

#[test]
fn a_blocked_or_failed_turn_stops_the_queue() {
    let started = || {
        let mut scene = Scene::new(InstanceStatus {
            queue: queue(1, 1),
            ..status()
        });
        scene.shows(1, Activity::Busy);
        scene
    };
    let mut scene = started();
    scene.shows(2, Activity::Blocked);
    assert!(matches!(
        scene.job(3),
        Some(Job::Finish(TurnEnd::Failed(_)))
    ));
    let mut scene = started();
    scene.scheduler.agent_ended();
    assert_eq!(scene.job(3), Some(Job::Settle));
    let announcements = scene.stands(4, |status| status.state = State::Failed);
    assert_eq!(announcements, [Announcement::Notice(Notice::Failed)]);
    scene.scheduler.done(at(4), &Done::Settled);
    assert!(matches!(
        scene.job(4),
        Some(Job::Finish(TurnEnd::Failed(_)))
    ));
    let announcements = scene.stands(5, |status| {
        status.queue = queue(0, 1);
        status.queue_stopped = Some("the agent has ended".to_owned());
    });
    assert_eq!(announcements, [Announcement::Notice(Notice::Failed)]);
    scene.scheduler.done(at(5), &Done::Finished);
    assert_eq!(scene.job(1000), None);
}

#[test]
fn a_turn_that_the_service_has_ended_stops_the_queue() {
    let mut scene = Scene::new(InstanceStatus {
        queue: queue(1, 3),
        ..status()
    });
    scene.shows(1, Activity::Busy);
    scene.failed = Some("API Error: 500".to_owned());
    scene.shows(2, Activity::Idle);
    let Some(Job::Finish(TurnEnd::Failed(why))) = scene.job(3) else {
        panic!("it counts as done");
    };
    assert!(why.ends_with("API Error: 500"), "{why}");
    // What fails while nothing of the queue is under way is the user's matter.
    let mut scene = Scene::new(InstanceStatus {
        queue: queue(0, 1),
        ..status()
    });
    scene.failed = Some("API Error: 500".to_owned());
    scene.shows(1, Activity::Idle);
    assert_eq!(scene.job(2), Some(Job::Feed));
}

#[test]
fn a_failure_is_told_once_where_nothing_else_waits() {
    let mut scene = Scene::new(InstanceStatus {
        queue: queue(1, 0),
        ..status()
    });
    scene.shows(1, Activity::Busy);
    scene.scheduler.agent_ended();
    assert_eq!(scene.job(3), Some(Job::Settle));
    let announcements = scene.stands(4, |status| status.state = State::Failed);
    assert_eq!(announcements, [Announcement::Notice(Notice::Failed)]);
    let announcements = scene.stands(5, |status| {
        status.queue = queue(0, 0);
        status.queue_stopped = Some("the agent has ended".to_owned());
    });
    assert_eq!(announcements, []);
}

#[test]
fn a_pause_by_a_person_holds_the_queue_and_a_timers_does_not() {
    for (state, reason, camp_paused, fed) in [
        (State::Paused, PauseReason::User, false, false),
        (State::Paused, PauseReason::UserInterrupt, false, false),
        (State::Paused, PauseReason::Error, false, false),
        (State::Paused, PauseReason::Idle, false, true),
        (State::Paused, PauseReason::Resource, false, true),
        (State::Paused, PauseReason::Idle, true, false),
        (State::Pausing, PauseReason::Idle, false, false),
        (State::Failed, PauseReason::Idle, false, false),
    ] {
        let mut scene = Scene::new(InstanceStatus {
            state,
            pause_reason: Some(reason),
            queue: queue(0, 1),
            ..status()
        });
        let job = scene.scheduler.next_job(at(10), camp_paused);
        assert_eq!(job, fed.then_some(Job::Feed), "{state:?} {reason:?}");
    }
}

#[test]
fn an_agent_without_rules_is_fed_when_it_is_silent() {
    let mut scene = Scene::new(InstanceStatus {
        queue: queue(0, 1),
        has_rules: false,
        ..status()
    });
    scene.shows(0, Activity::Unknown);
    assert_eq!(scene.job(4), None);
    assert_eq!(scene.scheduler.due(at(4)), Some(at(5)));
    assert_eq!(scene.job(5), Some(Job::Feed));
}

#[test]
fn three_failing_starts_within_a_minute_stop_a_loop() {
    let asleep = || {
        Scene::new(InstanceStatus {
            state: State::Paused,
            pause_reason: Some(PauseReason::Idle),
            queue: queue(0, 1),
            ..status()
        })
    };
    let mut scene = asleep();
    for now in [0, 10, 20] {
        assert_eq!(scene.job(now), Some(Job::Feed));
        scene
            .scheduler
            .done(at(now + 1), &Done::FeedResult(FeedResult::NotNow));
    }
    assert_eq!(scene.job(10_000), None);
    // The user adds a prompt.
    scene.stands(10_001, |status| status.queue = queue(0, 2));
    assert_eq!(scene.job(10_001), Some(Job::Feed));
    // Failures over more than a minute do not count as a loop.
    let mut scene = asleep();
    for now in [0, 50, 100, 150] {
        assert_eq!(scene.job(now), Some(Job::Feed));
        scene
            .scheduler
            .done(at(now + 1), &Done::FeedResult(FeedResult::NotNow));
    }
}
