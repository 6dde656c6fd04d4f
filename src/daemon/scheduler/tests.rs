//! The decisions of a scheduler, as tables. The test sets the time.

mod limits;
mod queue;
mod saves;

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
        draft_waits: false,
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
    failed: Option<String>,
}

impl Scene {
    fn new(status: InstanceStatus) -> Self {
        Self {
            scheduler: InstanceScheduler::new(status, at(0), false),
            screen_hash: 0,
            background: false,
            limit: None,
            failed: None,
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
            failed: self.failed.clone(),
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
fn what_stood_in_the_box_is_typed_when_the_queue_is_through() {
    let mut scene = Scene::new(status());
    scene.stands(0, |status| status.draft_waits = true);
    scene.shows(1, Activity::Blocked);
    assert_eq!(scene.job(9), None);
    scene.shows(10, Activity::Idle);
    assert_eq!(scene.job(10), None, "it has not settled");
    scene.stands(10, |status| status.queue = queue(0, 1));
    assert_eq!(scene.job(12), Some(Job::Feed));
    let done = Done::FeedResult(FeedResult::Sent);
    scene.scheduler.done(at(12), &done);
    scene.stands(12, |status| status.queue = queue(1, 0));
    scene.shows(13, Activity::Busy);
    scene.shows(15, Activity::Idle);
    assert_eq!(scene.job(16), Some(Job::Finish(TurnEnd::Done)));
    scene.scheduler.done(at(16), &Done::Finished);
    scene.stands(16, |status| status.queue = queue(0, 0));
    assert_eq!(scene.job(17), Some(Job::ReturnDraft));
    let done = Done::Returned(DraftReturn::NotNow);
    scene.scheduler.done(at(17), &done);
    assert_eq!(scene.job(17), None, "it is tried again later");
    assert_eq!(scene.job(60), Some(Job::ReturnDraft));
}
