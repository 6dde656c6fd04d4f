//! The decisions of a scheduler, as tables. The test sets the time.

use std::time::Duration;

use super::*;
use crate::model::{InstanceId, QueueCounts, Title};

const TURN: Duration = Duration::from_secs(30);

fn status() -> InstanceStatus {
    InstanceStatus {
        id: InstanceId::random(),
        title: Title::new("t").unwrap(),
        state: State::Running,
        autoyes: false,
        idle_timeout: Some(Duration::from_secs(600)),
        pause_reason: None,
        queue: QueueCounts::default(),
        queue_stopped: None,
        has_rules: true,
        continues: false,
    }
}

fn queue(running: u64, waiting: u64) -> QueueCounts {
    QueueCounts {
        running,
        waiting,
        ..QueueCounts::default()
    }
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

struct Scene {
    scheduler: InstanceScheduler,
    screen_hash: u64,
    background: bool,
    limit: Option<UsageLimit>,
}

impl Scene {
    fn new(status: InstanceStatus) -> Self {
        Self {
            scheduler: InstanceScheduler::new(status, at(0), false),
            screen_hash: 0,
            background: false,
            limit: None,
        }
    }

    /// A look that finds another screen than the one before.
    fn shows(&mut self, seconds: u64, activity: Activity) -> Vec<Announcement> {
        self.screen_hash += 1;
        self.looks(seconds, activity, true)
    }

    /// A look that finds the same screen.
    fn still(&mut self, seconds: u64, activity: Activity) -> Vec<Announcement> {
        self.looks(seconds, activity, false)
    }

    fn looks(&mut self, seconds: u64, activity: Activity, changed: bool) -> Vec<Announcement> {
        let seen = Seen {
            instance: self.scheduler.status.id.clone(),
            activity,
            background: self.background,
            changed,
            screen_hash: self.screen_hash,
            last_line: Some("a line".to_owned()),
            limit: self.limit,
        };
        self.scheduler.observe(at(seconds), &seen, TURN)
    }

    fn job(&mut self, seconds: u64) -> Option<Job> {
        self.scheduler.next_job(at(seconds), false)
    }

    fn stands(
        &mut self,
        seconds: u64,
        change: impl FnOnce(&mut InstanceStatus),
    ) -> Vec<Announcement> {
        let mut status = self.scheduler.status.clone();
        change(&mut status);
        self.scheduler.record_changed(at(seconds), status)
    }
}

const SUSPEND: Option<Job> = Some(Job::Suspend(PauseReason::Idle));

#[test]
fn one_that_was_idle_for_its_timeout_is_suspended() {
    let mut scene = Scene::new(status());
    scene.shows(10, Activity::Busy);
    scene.shows(100, Activity::Idle);
    assert_eq!(scene.job(699), None);
    assert_eq!(scene.scheduler.due(at(150)), Some(at(700)));
    assert_eq!(scene.job(700), SUSPEND);
    assert_eq!(scene.job(701), None, "one job at a time");
}

#[test]
fn work_in_the_background_keeps_the_timer_from_pausing() {
    let mut scene = Scene::new(status());
    scene.background = true;
    scene.shows(100, Activity::Idle);
    assert_eq!(scene.job(5000), None);
    scene.background = false;
    scene.shows(6000, Activity::Idle);
    assert_eq!(scene.job(6599), None);
    assert_eq!(scene.job(6600), SUSPEND);
}

#[test]
fn output_a_visit_and_a_missed_moment_start_the_clock_again() {
    for (what, begins) in [
        ("output", 400),
        ("redrawn as it was", 100),
        ("a visit", 500),
        ("the user was attached", 702),
    ] {
        let mut scene = Scene::new(status());
        scene.shows(100, Activity::Idle);
        match what {
            "output" => drop(scene.shows(400, Activity::Idle)),
            "redrawn as it was" => drop(scene.still(400, Activity::Idle)),
            "a visit" => {
                scene.scheduler.set_clients(at(300), 1);
                assert_eq!(scene.job(5000), None, "a client is attached");
                scene.scheduler.set_clients(at(500), 0);
            }
            _ => {
                assert_eq!(scene.job(700), SUSPEND);
                let done = Done::Suspended(Suspended::NotNow);
                scene.scheduler.done(at(702), &done);
            }
        }
        assert_eq!(scene.job(begins + 599), None, "{what}");
        assert_eq!(scene.job(begins + 600), SUSPEND, "{what}");
    }
}

#[test]
fn an_instance_that_is_busy_asks_or_has_a_queue_is_not_suspended() {
    for activity in [
        Activity::Busy,
        Activity::Approval,
        Activity::Question,
        Activity::Blocked,
        Activity::Unknown,
    ] {
        let mut scene = Scene::new(status());
        scene.shows(0, Activity::Idle);
        scene.shows(1, activity);
        assert_eq!(scene.job(100_000), None, "{activity:?}");
    }
    let mut scene = Scene::new(InstanceStatus {
        queue: queue(0, 1),
        queue_stopped: Some("blocked".to_owned()),
        ..status()
    });
    scene.shows(0, Activity::Idle);
    assert_eq!(scene.job(100_000), None);
    let mut scene = Scene::new(InstanceStatus {
        idle_timeout: None,
        ..status()
    });
    scene.shows(0, Activity::Idle);
    assert_eq!(scene.job(100_000), None);
    assert_eq!(scene.scheduler.due(at(1)), None, "nothing to wake up for");
}

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
fn what_cannot_be_done_now_is_tried_later_and_less_often() {
    let mut scene = Scene::new(InstanceStatus {
        queue: queue(0, 1),
        ..status()
    });
    scene.shows(0, Activity::Idle);
    let mut now = 1;
    for pause in [2, 4, 8, 16, 32, 60, 60] {
        assert_eq!(scene.job(now), Some(Job::Feed));
        scene
            .scheduler
            .done(at(now), &Done::FeedResult(FeedResult::NotNow));
        assert_eq!(scene.job(now + pause - 1), None);
        assert_eq!(scene.scheduler.due(at(now)), Some(at(now + pause)));
        now += pause;
    }
    // An added prompt is tried at once.
    assert_eq!(scene.job(now), Some(Job::Feed));
    scene
        .scheduler
        .done(at(now), &Done::FeedResult(FeedResult::NotNow));
    scene.stands(now + 1, |status| status.queue = queue(0, 2));
    assert_eq!(scene.job(now + 1), Some(Job::Feed));
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
fn what_it_does_is_told_when_it_changes_and_what_is_unclear_when_it_stays_so() {
    let activity = |announcements: Vec<Announcement>| {
        announcements
            .into_iter()
            .filter_map(|announcement| match announcement {
                Announcement::Activity { activity, .. } => Some(activity),
                Announcement::Notice(_) => None,
            })
            .collect::<Vec<_>>()
    };
    let mut scene = Scene::new(status());
    assert_eq!(activity(scene.shows(0, Activity::Busy)), [Activity::Busy]);
    assert_eq!(activity(scene.shows(1, Activity::Busy)), []);
    assert_eq!(activity(scene.shows(2, Activity::Unknown)), []);
    assert_eq!(activity(scene.shows(2, Activity::Busy)), []);
    assert_eq!(activity(scene.shows(3, Activity::Unknown)), []);
    assert_eq!(scene.scheduler.due(at(3)), Some(at(4)));
    assert_eq!(activity(scene.scheduler.tick(at(4))), [Activity::Unknown]);
    assert_eq!(activity(scene.scheduler.tick(at(5))), []);
}

#[test]
fn the_end_of_a_long_turn_is_told_to_those_who_do_not_look() {
    for (began, ended, clients, notified) in
        [(0, 29, 0, false), (0, 30, 0, true), (0, 60, 1, false)]
    {
        let mut scene = Scene::new(status());
        scene.scheduler.set_clients(at(0), clients);
        scene.shows(began, Activity::Busy);
        let heard = scene.shows(ended, Activity::Idle);
        assert_eq!(
            heard.contains(&Announcement::Notice(Notice::Finished)),
            notified,
            "{ended} {clients}"
        );
    }
}

#[test]
fn what_was_there_before_the_daemon_is_no_news() {
    let mut scene = Scene::new(status());
    scene.scheduler = InstanceScheduler::new(status(), at(0), true);
    let announcements = scene.shows(1, Activity::Approval);
    assert!(!announcements.contains(&Announcement::Notice(Notice::NeedsYou)));
    scene.shows(10, Activity::Busy);
    let announcements = scene.shows(20, Activity::Approval);
    assert!(announcements.contains(&Announcement::Notice(Notice::NeedsYou)));
}

#[test]
fn a_dialog_is_answered_once_it_is_drawn_and_considered_once() {
    let mut scene = Scene::new(InstanceStatus {
        autoyes: true,
        idle_timeout: None,
        ..status()
    });
    scene.shows(10, Activity::Approval);
    assert_eq!(scene.job(10), None, "it is being drawn");
    assert_eq!(scene.scheduler.due(at(10)), Some(at(10) + DRAWN));
    assert_eq!(scene.job(11), Some(Job::Answer));
    scene
        .scheduler
        .done(at(12), &Done::Answered(AutoyesOutcome::Manual));
    assert_eq!(scene.job(13), None, "it is the user's now");
    scene.shows(14, Activity::Approval);
    assert_eq!(scene.job(15), Some(Job::Answer), "another one");
    scene
        .scheduler
        .done(at(16), &Done::Answered(AutoyesOutcome::PersonHere));
    assert_eq!(scene.job(17), None, "not at once");
    assert_eq!(scene.job(18), Some(Job::Answer), "but later");
    scene
        .scheduler
        .done(at(19), &Done::Answered(AutoyesOutcome::Accepted));
    assert_eq!(scene.job(20), Some(Job::Answer), "the same may come again");
    scene
        .scheduler
        .done(at(21), &Done::Answered(AutoyesOutcome::AnsweredAlready));
    assert_eq!(scene.job(22), None);
    assert_eq!(scene.scheduler.due(at(22)), None);
}

#[test]
fn without_autoyes_a_dialog_is_left_alone() {
    let mut scene = Scene::new(InstanceStatus {
        idle_timeout: None,
        ..status()
    });
    scene.shows(10, Activity::Approval);
    assert_eq!(scene.job(100), None);
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

#[test]
fn a_job_for_which_there_was_no_thread_is_tried_again() {
    let mut scene = Scene::new(status());
    scene.shows(10, Activity::Busy);
    scene.shows(100, Activity::Idle);
    assert_eq!(scene.job(700), SUSPEND);
    scene.scheduler.not_started(at(700));
    assert_eq!(scene.job(701), None, "the system is given a moment");
    assert_eq!(scene.job(702), SUSPEND);
    // However often: it is not a failure of the instance.
    let mut asleep = status();
    asleep.state = State::Paused;
    asleep.pause_reason = Some(PauseReason::Idle);
    asleep.queue = queue(0, 1);
    let mut scene = Scene::new(asleep);
    for turn in 0..10 {
        assert_eq!(scene.job(turn * 2), Some(Job::Feed));
        scene.scheduler.not_started(at(turn * 2));
    }
}

#[test]
fn a_screen_from_before_the_daemon_is_saved_once() {
    let mut scene = Scene::new(status());
    scene.still(1, Activity::Idle);
    assert!(scene.scheduler.save_due().is_some());
    scene.scheduler.save(at(5));
    scene.still(20, Activity::Idle);
    assert_eq!(scene.scheduler.save_due(), None);
}

#[test]
fn a_screen_is_saved_when_it_has_come_to_rest_and_now_and_then_before() {
    let mut scene = Scene::new(status());
    assert_eq!(scene.scheduler.save_due(), None, "nothing was seen");
    scene.shows(1, Activity::Busy);
    assert_eq!(scene.scheduler.save_due(), Some(at(3)));
    // A screen that keeps changing is saved too.
    for second in 2..40 {
        scene.shows(second, Activity::Busy);
    }
    assert_eq!(scene.scheduler.save_due(), Some(at(31)));
    assert!(!scene.scheduler.save(at(40)), "it is busy");
    assert_eq!(scene.scheduler.save_due(), None, "nothing is new");
    scene.shows(41, Activity::Idle);
    assert_eq!(
        scene.scheduler.save_due(),
        Some(at(50)),
        "not at once again"
    );
    assert!(scene.scheduler.save(at(50)));
    scene.still(60, Activity::Idle);
    assert_eq!(scene.scheduler.save_due(), None, "nothing has changed");
    scene.shows(70, Activity::Idle);
    scene.stands(71, |status| status.state = State::Paused);
    assert_eq!(scene.scheduler.save_due(), None, "it is saved whole");
}

fn limit(is_over: bool, is_continued: bool) -> Option<UsageLimit> {
    let at = |seconds| Timestamp::from_epoch(seconds).unwrap();
    Some(UsageLimit {
        resets_at: at(1000),
        ends_at: at(1060),
        is_over,
        is_continued,
    })
}

#[test]
fn work_is_taken_up_once_after_a_limit_and_the_queue_waits_for_that() {
    let mut continuing = status();
    continuing.continues = true;
    continuing.queue = queue(1, 1);
    let mut scene = Scene::new(continuing);
    scene.shows(5, Activity::Busy);
    scene.limit = limit(false, false);
    let announced = scene.shows(10, Activity::Blocked);
    let until = Timestamp::from_epoch(1000);
    assert!(announced.contains(&Announcement::Activity {
        activity: Activity::Blocked,
        previous: Some(Activity::Busy),
        until,
    }));
    assert_eq!(scene.scheduler.limit_ends(), Timestamp::from_epoch(1060));
    assert_eq!(scene.job(5000), None, "neither a failure nor an end");
    scene.limit = limit(true, false);
    scene.still(5001, Activity::Idle);
    assert_eq!(scene.scheduler.limit_ends(), None);
    assert_eq!(scene.scheduler.next_job(at(5100), true), None, "the camp");
    assert_eq!(scene.job(5100), Some(Job::Continue));
    let sent = Done::Continued(FeedResult::Sent);
    scene.scheduler.done(at(5101), &sent);
    // The turn of the queue's prompt goes on.
    scene.limit = None;
    scene.shows(5102, Activity::Busy);
    assert_eq!(scene.job(5103), None);
    // The same limit again: not a second time.
    scene.limit = limit(true, true);
    scene.shows(5110, Activity::Idle);
    assert_eq!(scene.job(5120), Some(Job::Finish(TurnEnd::Done)));
}

#[test]
fn without_the_setting_a_limit_stops_the_queue_and_never_the_agent() {
    let mut waiting = status();
    waiting.queue = queue(1, 1);
    let mut scene = Scene::new(waiting);
    scene.shows(5, Activity::Busy);
    scene.limit = limit(false, false);
    scene.shows(10, Activity::Blocked);
    let Some(Job::Finish(TurnEnd::Failed(reason))) = scene.job(20) else {
        panic!("the turn was cut off");
    };
    assert!(reason.contains("usage limit"), "{reason}");
    // Prompts that wait are sent after the reset.
    let mut waiting = status();
    waiting.queue = queue(0, 1);
    let mut scene = Scene::new(waiting);
    scene.limit = limit(false, false);
    scene.shows(10, Activity::Blocked);
    assert_eq!(scene.job(2000), None, "neither fed nor suspended");
    scene.limit = limit(true, false);
    scene.still(2001, Activity::Idle);
    assert_eq!(scene.job(2010), Some(Job::Feed));
}
