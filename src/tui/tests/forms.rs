//! What is typed into forms becomes requests, and comes back where it is refused.

use pretty_assertions::assert_eq;

use super::journeys::{camp_driver, of, only_tasks};
use crate::engine::Consent;
use crate::model::Title;
use crate::report::Report;
use crate::tui::dialog::Dialog;
use crate::tui::message::{StartedWithoutPrompt, Task, TaskFailure, TaskOutcome};

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
    // The UI was started there.
    assert_eq!(asked.directory, std::path::Path::new("/home/ada/app/docs"));
    assert!(asked.autoyes);
    assert_eq!(driver.state.dialog, None);
}

#[test]
fn an_agent_of_another_repository_starts_at_its_top() {
    let mut driver = camp_driver();
    driver.surveyed(Ok("/home/ada/app/vendor/part".into()), &["demo"]);
    driver.state.scope = Some("/home/ada/app".into());
    driver.press("n enter");
    let tasks = only_tasks(&mut driver);
    let [Task::Create(asked)] = tasks.as_slice() else {
        panic!("{tasks:?}");
    };
    assert_eq!(asked.directory, std::path::Path::new("/home/ada/app"));
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

fn started(queued: bool) -> Result<TaskOutcome, TaskFailure> {
    let words = "`new` is running, but its prompt was not sent";
    Err(TaskFailure::WithoutPrompt(Box::new(StartedWithoutPrompt {
        id: of('c'),
        title: Title::new("new").unwrap(),
        queued,
        report: Report::failed("x", words, "answer it"),
    })))
}

/// Opened again, it would start another one.
#[test]
fn a_form_whose_instance_runs_is_not_opened_again() {
    for queued in [true, false] {
        let mut driver = camp_driver();
        driver.surveyed(Ok("/home/ada/app".into()), &["claude"]);
        driver.press("N").write("a long prompt").press("enter");
        let (job, _) = driver.tasks().remove(0);
        driver.done(job, started(queued));
        assert!(driver.screen().contains("its prompt was not sent"));
        assert_eq!(driver.state.selected, Some(of('c')));
        match &driver.state.dialog {
            None => assert!(queued),
            // It is in no queue.
            Some(Dialog::Send(form)) => {
                assert!(!queued);
                assert_eq!(
                    (form.to.as_slice(), form.prompt.text()),
                    (&[of('c')][..], "a long prompt")
                );
            }
            other => panic!("{other:?}"),
        }
    }
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
