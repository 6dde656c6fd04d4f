//! Usage limits.

use super::*;

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
