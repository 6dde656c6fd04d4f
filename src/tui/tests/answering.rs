//! Dialogs of agents that are answered from the list.

use pretty_assertions::assert_eq;

use super::driver::*;
use super::journeys::{camp_driver, of, only_tasks};
use crate::engine::{AskedView, DialogAnswer, InstanceView};
use crate::model::{Activity, State as InstanceState};
use crate::report::Report;
use crate::tui::message::{Message, Task, TaskFailure, UiRequest};

fn asking(letter: char, title: &str, asks: &str) -> InstanceView {
    let mut view = doing(
        instance(letter, title, InstanceState::Running),
        Activity::Approval,
    );
    view.asks = Some(AskedView {
        dialog: format!("dialog-{letter}"),
        text: asks.to_owned(),
        choices: vec!["Yes".to_owned(), "No".to_owned()],
        numbered_from: 1,
        own_words: None,
        takes_yes: true,
        takes_no: true,
    });
    view
}

#[test]
fn what_is_asked_is_answered_from_the_list() {
    let answer = |answer| Task::Answer {
        id: of('d'),
        answer,
        dialog: "dialog-d".to_owned(),
        words: None,
    };
    for (key, expected) in [
        ("a", DialogAnswer::Yes),
        ("d", DialogAnswer::No),
        ("2", DialogAnswer::Number(2)),
    ] {
        let mut driver = Driver::with(110, 30, vec![asking('d', "api", "shell · cargo test")]);
        let screen = driver.screen();
        assert!(screen.contains("asks: shell · cargo test"), "{screen}");
        assert!(screen.contains("a allow"), "{screen}");
        driver.press(key);
        assert_eq!(only_tasks(&mut driver), [answer(expected)], "{key}");
    }
    // The key of a question's yes does nothing here, and nothing is answered where nothing is asked.
    let mut driver = Driver::with(110, 30, vec![asking('d', "api", "shell · cargo test")]);
    driver.press("y");
    assert_eq!(only_tasks(&mut driver), []);
    let mut driver = camp_driver();
    driver.press("a d 1");
    assert_eq!(only_tasks(&mut driver), []);
    assert!(driver.screen().contains("asks nothing"));
}

/// Each asks something else.
#[test]
fn several_are_not_answered_at_once() {
    let both = vec![
        asking('d', "api", "shell · cargo test"),
        asking('g', "site", "shell · rm -r x"),
    ];
    let mut driver = Driver::with(110, 30, both);
    driver.press("space space a d 1");
    assert_eq!(only_tasks(&mut driver), []);
    let screen = driver.screen();
    assert!(
        screen.contains("Each question is answered by itself"),
        "{screen}"
    );
    // Escape closes the message first, then drops the marks.
    driver.press("esc esc a");
    assert_eq!(only_tasks(&mut driver).len(), 1);
    // The selected one alone is no other one.
    driver.press("home space k a");
    assert_eq!(only_tasks(&mut driver).len(), 1);
}

/// A question with a choice for own words, and none that means yes or no.
fn question() -> InstanceView {
    let mut view = doing(
        asking('d', "api", "question · Which stove?"),
        Activity::Question,
    );
    if let Some(asks) = &mut view.asks {
        asks.choices = ["Gas", "Wood", "Type something.", "Chat about this"]
            .map(str::to_owned)
            .to_vec();
        asks.own_words = Some(3);
        asks.takes_yes = false;
    }
    view
}

#[test]
fn a_question_is_answered_in_own_words() {
    let mut driver = Driver::with(110, 30, vec![question()]);
    let screen = driver.screen();
    for part in ["1–4 choose", "3 own words", "d decline"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(!screen.contains("a allow"), "{screen}");
    driver.press("3");
    assert_eq!(only_tasks(&mut driver), []);
    insta::assert_snapshot!("own_words", driver.screen());
    // What answers in the list is text here, and nothing is no answer.
    driver.press("enter").write("a1 coal").press("enter");
    let (job, task) = driver.tasks().remove(0);
    let expected = Task::Answer {
        id: of('d'),
        answer: DialogAnswer::Number(3),
        dialog: "dialog-d".to_owned(),
        words: Some("a1 coal".to_owned()),
    };
    assert_eq!(task, expected);
    let report = Report::failed("x", "the screen has changed", "look");
    driver.done(job, Err(TaskFailure::Reported(report)));
    let screen = driver.screen();
    for part in ["a1 coal", "the screen has changed"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
}

#[test]
fn a_question_is_declined_where_it_can_be() {
    let mut driver = Driver::with(110, 30, vec![question()]);
    driver.press("d");
    let expected = Task::Answer {
        id: of('d'),
        answer: DialogAnswer::No,
        dialog: "dialog-d".to_owned(),
        words: None,
    };
    assert_eq!(only_tasks(&mut driver), [expected]);
    let mut view = question();
    if let Some(asks) = &mut view.asks {
        asks.takes_no = false;
    }
    let mut driver = Driver::with(110, 30, vec![view]);
    assert!(!driver.screen().contains("decline"));
    driver.press("d a");
    assert_eq!(only_tasks(&mut driver), []);
    let screen = driver.screen();
    assert!(screen.contains("No choice means no;"), "{screen}");
    assert!(screen.contains("No choice means yes"), "{screen}");
}

#[test]
fn what_was_asked_before_is_not_answered_for_what_is_asked_now() {
    let mut driver = Driver::with(110, 30, vec![asking('d', "api", "shell · ls")]);
    for activity in [Activity::Busy, Activity::Approval] {
        driver.requests.clear();
        driver.tell(Message::Noticed {
            id: of('d'),
            activity,
            last_line: None,
        });
    }
    assert!(driver.requests.contains(&UiRequest::List));
    driver.press("a");
    assert_eq!(only_tasks(&mut driver), []);
    driver.listed(vec![asking('d', "api", "shell · rm")]);
    driver.press("d");
    assert_eq!(only_tasks(&mut driver).len(), 1);
}

#[test]
fn those_that_need_the_user_stand_first_and_are_gone_through() {
    let mut driver = camp_driver();
    let mut instances = camp();
    instances.push(asking('z', "latest", "shell · ls"));
    driver.listed(instances);
    let order: Vec<String> = driver
        .state
        .visible()
        .iter()
        .map(|view| view.title.to_string())
        .collect();
    assert_eq!(order[..2], ["review api", "latest"]);
    for expected in ['d', 'z', 'd'] {
        driver.press("!");
        assert_eq!(driver.state.selected, Some(of(expected)));
    }
    driver.listed(vec![instance('b', "rests", InstanceState::Running)]);
    driver.press("!");
    assert!(driver.screen().contains("None needs you."));
}
