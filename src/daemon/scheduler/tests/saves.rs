//! When a screen is saved.

use super::*;

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
