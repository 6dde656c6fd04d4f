//! The question before work is landed.

use pretty_assertions::assert_eq;

use super::driver::*;
use super::journeys::{of, only_tasks};
use crate::engine::InstanceView;
use crate::model::{Standing, State as InstanceState};
use crate::tui::message::{Lookup, LookupResult, Message, Task, UiRequest};

fn standing(letter: char, title: &str, ahead: u64, dirty: bool) -> InstanceView {
    let mut view = instance(letter, title, InstanceState::Running);
    view.standing = Some(Standing {
        base: "main".to_owned(),
        ahead,
        behind: 0,
        merged: false,
    });
    view.dirty = Some(dirty);
    view
}

fn land(letters: &str, commit: bool) -> Task {
    Task::Land {
        ids: letters.chars().map(of).collect(),
        commit,
    }
}

#[test]
fn a_check_is_spoken_of_where_there_is_one() {
    let mut driver = Driver::with(110, 30, vec![standing('b', "api", 2, false)]);
    driver.press("L");
    let look = UiRequest::Look(Lookup::Checks(vec![of('b')]));
    assert!(driver.requests.contains(&look));
    let mut told = |checks: &[&str]| {
        let checks = checks.iter().map(|check| (*check).to_owned()).collect();
        let result = LookupResult::Checks(vec![of('b')], checks);
        driver.tell(Message::Looked(Box::new(Ok(result))));
        driver.screen()
    };
    let screen = told(&[]);
    assert!(screen.contains("`main` gets its 2 commits."), "{screen}");
    assert!(!screen.contains("check"), "{screen}");
    let screen = told(&["cargo test"]);
    assert!(screen.contains("(`cargo test`)"), "{screen}");
    driver.press("y");
    assert_eq!(only_tasks(&mut driver), [land("b", false)]);
}

#[test]
fn nothing_is_asked_where_nothing_can_land() {
    let mut driver = Driver::with(110, 30, vec![standing('b', "api", 0, false)]);
    driver.press("L");
    assert_eq!(driver.state.dialog, None);
    let screen = driver.screen();
    assert!(
        screen.contains("Nothing to land: `api` has no work"),
        "{screen}"
    );
    driver.press("y");
    assert_eq!(only_tasks(&mut driver), []);
    // Of several, only those that have something.
    let both = vec![
        standing('b', "api", 0, false),
        standing('c', "site", 1, false),
    ];
    let mut driver = Driver::with(110, 30, both);
    driver.press("space space L");
    let screen = driver.screen();
    assert!(screen.contains("Land `site`?"), "{screen}");
    assert!(screen.contains("Left out: `api`"), "{screen}");
    driver.press("y");
    assert_eq!(only_tasks(&mut driver), [land("c", false)]);
}

#[test]
fn uncommitted_work_alone_is_named() {
    let mut driver = Driver::with(110, 30, vec![standing('b', "api", 0, true)]);
    driver.press("L");
    let screen = driver.screen();
    assert!(
        screen.contains("Only uncommitted work can land"),
        "{screen}"
    );
    driver.press("b y");
    assert_eq!(only_tasks(&mut driver), [land("b", true)]);
}
