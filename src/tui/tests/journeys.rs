//! The requests that keys cause.

use pretty_assertions::assert_eq;

use super::driver::*;
use crate::engine::Consent;
use crate::model::{Activity, InstanceId, PauseReason, State as InstanceState};
use crate::report::Report;
use crate::tui::dialog::Dialog;
use crate::tui::input::MouseKind;
use crate::tui::message::{Task, TaskFailure, TaskOutcome, UiRequest, Wait};
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
            "Y",
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
fn what_asks_does_nothing_without_a_yes() {
    for keys in ["D n", "D esc", "D enter", "R n", "p esc", "P n", "D ctrl+c"] {
        let mut driver = camp_driver();
        driver.press(keys);
        let tasks = only_tasks(&mut driver);
        assert!(
            !tasks.iter().any(|task| matches!(
                task,
                Task::Kill { .. } | Task::Restart(_) | Task::Push(_) | Task::PauseAll
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
fn a_form_becomes_a_request() {
    let mut driver = camp_driver();
    driver
        .press("N")
        .write("do it")
        .press("alt+enter")
        .write("well");
    driver
        .press("tab right tab ctrl+u")
        .write("main")
        .press("tab space");
    driver.press("tab").write("t").press("enter");
    let tasks = only_tasks(&mut driver);
    let [Task::Create(asked)] = tasks.as_slice() else {
        panic!("{tasks:?}");
    };
    assert_eq!(asked.prompt.as_deref(), Some("do it\nwell"));
    assert_eq!(asked.title.as_deref(), Some("t"));
    assert_eq!(asked.agent.as_deref(), Some("demo"));
    assert_eq!(asked.base.as_deref(), Some("main"));
    assert_eq!(asked.directory, std::path::Path::new("/home/ada/app"));
    assert!(asked.autoyes);
    assert_eq!(driver.state.dialog, None);
}

#[test]
fn a_repository_that_wants_to_run_something_asks_first() {
    for (key, consent) in [
        ("y", Some(Consent::Given)),
        ("n", Some(Consent::Refused)),
        ("esc", None),
    ] {
        let mut driver = camp_driver();
        driver.press("n enter");
        let (job, task) = driver.tasks().remove(0);
        let Task::Create(asked) = task else { panic!() };
        let command = "npm install".to_owned();
        driver.done(job, Err(TaskFailure::Consent { command, asked }));
        assert!(driver.screen().contains("npm install"));
        driver.press(key);
        let given: Vec<Consent> = only_tasks(&mut driver)
            .into_iter()
            .map(|task| match task {
                Task::Create(asked) => asked.consent,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(given, consent.into_iter().collect::<Vec<_>>(), "{key}");
    }
}

#[test]
fn a_prompt_goes_to_all_that_are_marked() {
    let mut driver = camp_driver();
    driver.press("space space s").write("go on").press("enter");
    let prompts: Vec<_> = only_tasks(&mut driver);
    let send = |letter| Task::Send {
        id: of(letter),
        prompt: "go on".to_owned(),
    };
    assert_eq!(prompts, [send('b'), send('c')]);
    // An empty prompt is not sent.
    driver.press("s enter");
    assert_eq!(only_tasks(&mut driver), []);
    assert!(matches!(driver.state.dialog, Some(Dialog::Send(_))));
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
    assert!(driver.requests.contains(&UiRequest::Attach(of('f'))));
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
            .any(|call| matches!(call, UiRequest::Attach(_)))
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

fn refusal(words: &str) -> Result<TaskOutcome, TaskFailure> {
    Err(TaskFailure::Reported(Report::failed(
        "x",
        words,
        "do better",
    )))
}

#[test]
fn a_form_that_is_refused_comes_back_with_what_was_typed() {
    let mut driver = camp_driver();
    driver.surveyed(Ok("/home/ada/app".into()), &["claude"]);
    driver.press("N");
    driver.write("a long prompt");
    driver.press("enter");
    let (job, _) = driver.tasks().remove(0);
    assert!(driver.state.dialog.is_none());
    driver.done(job, refusal("`nope` names no commit"));
    let screen = driver.screen();
    assert!(screen.contains("a long prompt"), "{screen}");
    assert!(screen.contains("`nope` names no commit"), "{screen}");
    driver.write(", and more");
    driver.press("enter");
    let (_, task) = driver.tasks().remove(0);
    let Task::Create(asked) = task else {
        panic!("{task:?}")
    };
    assert_eq!(asked.prompt.as_deref(), Some("a long prompt, and more"));
}

#[test]
fn a_set_up_question_that_is_left_leads_back_to_the_form() {
    let mut driver = camp_driver();
    driver.surveyed(Ok("/home/ada/app".into()), &["claude"]);
    driver.press("N");
    driver.write("a long prompt");
    driver.press("enter");
    let (job, task) = driver.tasks().remove(0);
    let Task::Create(asked) = task else {
        panic!("{task:?}")
    };
    let command = "make".to_owned();
    driver.done(job, Err(TaskFailure::Consent { command, asked }));
    driver.press("esc");
    assert!(driver.screen().contains("a long prompt"));
}

#[test]
fn prompts_that_are_refused_come_back_one_after_the_other() {
    let mut driver = camp_driver();
    driver.press("space j space s");
    driver.write("hello");
    driver.press("enter");
    let jobs: Vec<u64> = driver.tasks().into_iter().map(|(job, _)| job).collect();
    assert_eq!(jobs.len(), 2);
    for job in jobs {
        driver.done(job, refusal("a dialog is open"));
    }
    for _ in 0..2 {
        let Some(Dialog::Send(form)) = &driver.state.dialog else {
            panic!("{:?}", driver.state.dialog)
        };
        assert_eq!((form.to.len(), form.prompt.text()), (1, "hello"));
        driver.press("esc");
    }
    assert!(driver.state.dialog.is_none());
}

#[test]
fn a_prompt_on_its_way_is_taken_back_with_escape_and_keys_stay_in_sight() {
    let mut driver = camp_driver();
    driver.press("s");
    driver.write("hello");
    driver.press("enter");
    let (sending, _) = driver.tasks().remove(0);
    let screen = driver.screen();
    for part in ["sending to", "esc take it back", "? help", "q quit"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    driver.press("esc");
    let (taking, task) = driver.tasks().remove(0);
    assert_eq!(task, Task::Unsend(of('b')));
    driver.done(taking, Ok(TaskOutcome::Unsent(true)));
    let screen = driver.screen();
    assert!(
        screen.contains("hello") && screen.contains("nothing was sent"),
        "{screen}"
    );
    driver.done(sending, Err(TaskFailure::TakenBack));
    assert!(driver.state.jobs.is_empty());
    driver.press("enter");
    let (sending, _) = driver.tasks().remove(0);
    driver.press("esc");
    let (taking, _) = driver.tasks().remove(0);
    driver.done(sending, Ok(TaskOutcome::Said("Sent.".to_owned())));
    driver.done(taking, Ok(TaskOutcome::Unsent(false)));
    assert!(driver.state.dialog.is_none());
    assert!(driver.screen().contains("It was sent already."));
}
