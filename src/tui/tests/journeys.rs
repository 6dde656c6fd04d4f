//! The requests that keys cause.

use pretty_assertions::assert_eq;

use super::driver::*;
use crate::model::{Activity, InstanceId, PauseReason, State as InstanceState};
use crate::tui::dialog::Dialog;
use crate::tui::input::MouseKind;
use crate::tui::message::{Pane, Task, TaskFailure, TaskOutcome, UiRequest, Wait};
use crate::tui::state::Tab;

pub(super) fn of(letter: char) -> InstanceId {
    InstanceId::parse(&id(letter)).unwrap()
}

pub(super) fn only_tasks(driver: &mut Driver) -> Vec<Task> {
    driver.tasks().into_iter().map(|(_, task)| task).collect()
}

/// On the first that needs nothing: those that need the user stand above it.
pub(super) fn camp_driver() -> Driver {
    let mut driver = Driver::with(110, 30, camp());
    driver.press("j");
    driver
}

fn pause_of(letter: char, wait: Wait, reason: PauseReason) -> Task {
    Task::Pause {
        id: of(letter),
        wait,
        reason,
    }
}

#[test]
fn each_key_asks_for_its_operation() {
    for (keys, expected) in [
        ("c", pause_of('b', Wait::AsConfigured, PauseReason::User)),
        ("j r", Task::Resume(of('c'))),
        ("R y", Task::Restart(of('b'))),
        ("p y", Task::Push(of('b'))),
        ("P y", Task::PauseAll),
        ("u", Task::ResumeAll),
        (
            "L y",
            Task::Land {
                ids: vec![of('b')],
                commit: false,
            },
        ),
        (
            "L b y",
            Task::Land {
                ids: vec![of('b')],
                commit: true,
            },
        ),
        (
            "T backspace x enter",
            Task::Rename {
                id: of('b'),
                title: "fix the logix".to_owned(),
            },
        ),
        (
            "Y y",
            Task::Autoyes {
                id: of('b'),
                on: true,
            },
        ),
        (
            "end Y",
            Task::Autoyes {
                id: of('h'),
                on: false,
            },
        ),
        (
            "D y",
            Task::Kill {
                id: of('b'),
                delete_branch: false,
            },
        ),
        (
            "D b y",
            Task::Kill {
                id: of('b'),
                delete_branch: true,
            },
        ),
    ] {
        let mut driver = camp_driver();
        driver.press(keys);
        assert_eq!(only_tasks(&mut driver), [expected], "{keys}");
    }
}

#[test]
fn autoyes_of_the_marked_is_switched_alike() {
    let autoyes = |letter, on| Task::Autoyes { id: of(letter), on };
    let mut driver = camp_driver();
    driver.press("space space Y");
    let screen = driver.screen();
    let question = "Switch autoyes on for `fix the login`, `milk`?";
    assert!(screen.contains(question), "{screen}");
    driver.press("y");
    assert_eq!(
        only_tasks(&mut driver),
        [autoyes('b', true), autoyes('c', true)]
    );
    assert!(driver.state.marks.is_empty());
    // One has it already: it keeps it.
    driver.press("end space home j space Y");
    let screen = driver.screen();
    assert!(screen.contains("On already: `trusted`."), "{screen}");
    assert_eq!(only_tasks(&mut driver), []);
    driver.press("y");
    assert_eq!(only_tasks(&mut driver), [autoyes('b', true)]);
    // All have it: it ends for all.
    let mut instances = camp();
    instances.iter_mut().for_each(|view| view.autoyes = true);
    driver.listed(instances);
    driver.press("home j space space Y");
    assert_eq!(
        only_tasks(&mut driver),
        [autoyes('b', false), autoyes('c', false)]
    );
}

#[test]
fn what_asks_does_nothing_without_a_yes() {
    for keys in [
        "D n", "D esc", "D enter", "R n", "p esc", "P n", "D ctrl+c", "L n", "L enter", "Y n",
        "Y enter", "T x esc",
    ] {
        let mut driver = camp_driver();
        driver.press(keys);
        let tasks = only_tasks(&mut driver);
        assert!(
            !tasks.iter().any(|task| matches!(
                task,
                Task::Kill { .. }
                    | Task::Restart(_)
                    | Task::Push(_)
                    | Task::Land { .. }
                    | Task::Rename { .. }
                    | Task::Autoyes { .. }
                    | Task::PauseAll
            )),
            "{keys}: {tasks:?}"
        );
    }
}

#[test]
fn the_toggle_has_three_states() {
    let mut driver = camp_driver();
    driver.press("ctrl+x p");
    let (job, task) = driver.tasks().remove(0);
    assert_eq!(task, pause_of('b', Wait::Forever, PauseReason::User));
    assert!(driver.screen().contains("PAUSING…"));
    // Again while pausing: cancelled.
    driver.press("ctrl+x p");
    let (cancel, task) = driver.tasks().remove(0);
    assert_eq!(task, Task::CancelPause(of('b')));
    driver.done(cancel, Ok(TaskOutcome::Quiet));
    driver.done(job, Err(TaskFailure::TakenBack));
    assert!(
        driver
            .screen()
            .contains("The pause of `fix the login` was cancelled.")
    );
    // And when it is paused: resumed.
    let mut instances = camp();
    instances[0].state = InstanceState::Paused;
    driver.listed(instances);
    driver.press("ctrl+x p");
    assert_eq!(only_tasks(&mut driver), [Task::Resume(of('b'))]);
}

#[test]
fn an_escape_that_a_letter_follows_closely_is_still_an_escape() {
    let mut driver = camp_driver();
    driver.press("? alt+D n");
    assert_eq!(driver.state.dialog, None);
    driver.press("N").write("a b").press("alt+b").write("x");
    assert!(matches!(driver.state.dialog, Some(Dialog::New(_))));
    driver.press("alt+q");
    assert!(driver.state.quitting);
}

#[test]
fn a_prefix_that_leads_nowhere_does_nothing() {
    let mut driver = camp_driver();
    driver.press("ctrl+x q");
    assert!(!driver.state.quitting);
    driver.press("q");
    assert!(driver.state.quitting);
}

#[test]
fn ctrl_c_pauses_stays_and_then_quits() {
    let mut driver = camp_driver();
    driver.press("ctrl+c");
    let (job, task) = driver.tasks().remove(0);
    assert_eq!(
        task,
        pause_of('b', Wait::AsConfigured, PauseReason::UserInterrupt)
    );
    assert!(driver.screen().contains("Ctrl+C again to quit."));
    driver.done(job, Ok(TaskOutcome::Said("Paused `x`.".to_owned())));
    assert!(driver.screen().contains("Paused. Ctrl+C again to quit."));
    assert!(!driver.state.quitting);
    driver.requests.clear();
    driver.press("ctrl+c");
    assert!(driver.state.quitting);
    assert_eq!(only_tasks(&mut driver), []);
}

#[test]
fn another_key_in_between_takes_the_quitting_back() {
    let mut driver = camp_driver();
    driver.press("ctrl+c j");
    driver.tasks();
    driver.press("ctrl+c");
    assert!(!driver.state.quitting);
    assert_eq!(driver.tasks().len(), 1);
}

#[test]
fn ctrl_c_on_a_paused_one_changes_nothing() {
    let mut driver = camp_driver();
    driver.press("j j");
    driver.tasks();
    driver.press("ctrl+c");
    assert_eq!(only_tasks(&mut driver), []);
    assert!(driver.screen().contains("Ctrl+C again to quit."));
}

#[test]
fn marks_are_what_the_actions_mean() {
    let mut driver = camp_driver();
    driver.press("space space j D y");
    assert_eq!(
        only_tasks(&mut driver),
        [Task::KillEach {
            ids: vec![of('b'), of('c')],
            delete_branch: false
        }]
    );
    assert!(driver.state.marks.is_empty());
}

#[test]
fn a_paused_one_is_resumed_before_it_is_attached_to() {
    let mut driver = camp_driver();
    driver.press("j j");
    driver.tasks();
    driver.press("enter");
    let (job, task) = driver.tasks().remove(0);
    assert_eq!(task, Task::Resume(of('f')));
    driver.requests.clear();
    driver.done(job, Ok(TaskOutcome::Said("Resumed.".to_owned())));
    assert!(driver.requests.contains(&UiRequest::Attach(of('f'), None)));
}

#[test]
fn one_who_has_moved_on_is_not_attached() {
    let mut driver = camp_driver();
    driver.press("j j enter k");
    let (job, _) = driver.tasks().remove(0);
    driver.done(job, Ok(TaskOutcome::Said("Resumed.".to_owned())));
    assert!(
        !driver
            .requests
            .iter()
            .any(|call| matches!(call, UiRequest::Attach(..)))
    );
}

#[test]
fn the_selection_stays_with_its_instance_and_else_near_it() {
    let mut driver = camp_driver();
    driver.press("j j");
    assert_eq!(driver.state.selected, Some(of('f')));
    let mut instances = camp();
    instances.remove(0);
    driver.listed(instances.clone());
    assert_eq!(driver.state.selected, Some(of('f')));
    instances.retain(|view| view.id != of('f'));
    driver.listed(instances);
    assert_eq!(driver.state.selected, Some(of('g')));
    driver.listed(Vec::new());
    assert_eq!(driver.state.selected, None);
}

#[test]
fn a_filter_is_typed_and_taken_back() {
    let mut driver = camp_driver();
    driver
        .press("/")
        .write("q")
        .press("backspace")
        .write("paus");
    assert_eq!(driver.state.visible().len(), 1);
    driver.press("enter j");
    assert!(!driver.state.filtering);
    assert_eq!(driver.state.visible().len(), 1);
    driver.press("esc esc");
    assert_eq!(driver.state.visible().len(), 6);
}

#[test]
fn the_mouse_selects_and_scrolls() {
    let mut driver = camp_driver();
    // Two rows each, below the heading and its rule.
    driver.mouse(MouseKind::Press, 5, 7);
    assert_eq!(driver.state.selected, Some(of('c')));
    driver.mouse(MouseKind::Press, 47, 0);
    assert_eq!(driver.state.tab, Tab::Diff);
    driver.mouse(MouseKind::WheelDown, 5, 5);
    assert_eq!(driver.state.selected, Some(of('f')));
}

#[test]
fn scrolling_goes_as_far_as_there_is_something() {
    let mut driver = Driver::with(100, 12, camp());
    driver.press("j");
    let lines: Vec<String> = (0..60).map(|n| format!("line {n}")).collect();
    driver.shows(&id('b'), &lines[50..].join("\n"));
    driver.press("shift+up");
    assert_eq!(driver.state.scroll, 3);
    assert!(driver.requests.contains(&UiRequest::Watch {
        id: Some(of('b')),
        host: None,
        pane: Pane::Agent,
        above: 500
    }));
    driver.shows(&id('b'), &lines.join("\n"));
    for _ in 0..40 {
        driver.press("pageup");
    }
    assert!(driver.screen().contains("line 1\n"));
    driver.press("esc");
    assert!(driver.screen().contains("line 59"));
}

#[test]
fn what_is_shown_is_read_and_read_again_only_when_there_may_be_news() {
    let mut driver = camp_driver();
    driver.requests.clear();
    driver.press("tab");
    assert_eq!(
        driver
            .requests
            .iter()
            .filter(|call| matches!(call, UiRequest::Read { .. }))
            .count(),
        1
    );
    driver.read(&id('b'), patch_page(""));
    driver.requests.clear();
    driver.listed(camp());
    driver.press("shift+down");
    // A moment later there is nothing to read.
    assert!(
        !driver
            .requests
            .iter()
            .any(|call| matches!(call, UiRequest::Read { .. }))
    );
    let mut instances = camp();
    instances[0].last_active_at = at(90);
    driver.state.now = at(91);
    driver.listed(instances);
    assert!(
        driver
            .requests
            .iter()
            .any(|call| matches!(call, UiRequest::Read { .. }))
    );
}

#[test]
fn nothing_turns_while_nothing_happens() {
    let idle = camp()
        .into_iter()
        .map(|view| match view.activity {
            Some(Activity::Busy) => doing(view, Activity::Idle),
            _ => view,
        })
        .collect();
    let mut driver = Driver::with(110, 30, idle);
    assert!(!driver.state.is_animated());
    driver.press("c");
    assert!(driver.state.is_animated());
}

#[test]
fn a_killed_one_can_be_brought_back() {
    let mut driver = camp_driver();
    driver.press("D y");
    let (job, _) = driver.tasks().remove(0);
    driver.done(
        job,
        Ok(TaskOutcome::Killed(
            of('b'),
            "Killed `fix the login`.".to_owned(),
        )),
    );
    driver.press("U");
    assert_eq!(only_tasks(&mut driver), [Task::UndoKill(of('b'))]);
}
