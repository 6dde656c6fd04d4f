//! Dialogs of agents that are answered from the list.

use pretty_assertions::assert_eq;

use super::driver::*;
use super::journeys::{camp_driver, of, only_tasks};
use crate::engine::{AskedView, DialogAnswer, InstanceView};
use crate::model::{Activity, State as InstanceState};
use crate::tui::message::{Message, Task, UiRequest};

fn asking(letter: char, title: &str, asks: &str) -> InstanceView {
    let mut view = doing(
        instance(letter, title, InstanceState::Running),
        Activity::Approval,
    );
    view.asks = Some(AskedView {
        dialog: format!("dialog-{letter}"),
        text: asks.to_owned(),
        choices: vec!["Yes".to_owned(), "No".to_owned()],
    });
    view
}

#[test]
fn what_is_asked_is_answered_from_the_list() {
    let answer = |answer| Task::Answer {
        id: of('d'),
        answer,
        dialog: "dialog-d".to_owned(),
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
