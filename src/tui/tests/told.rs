//! What is told of a request to several instances.

use pretty_assertions::assert_eq;

use super::driver::instance;
use crate::engine::{Bulk, BulkFailure, Error, StateChange};
use crate::model::{State as InstanceState, Title};
use crate::tui::told::changed;

fn resumed(done: usize, already: usize) -> Bulk<StateChange> {
    let view = || Box::new(instance('b', "one", InstanceState::Running));
    let changes = std::iter::repeat_with(|| StateChange::Done(view())).take(done);
    let as_they_were = std::iter::repeat_with(|| StateChange::Already(view())).take(already);
    Bulk {
        done: changes.chain(as_they_were).collect(),
        failures: Vec::new(),
    }
}

#[test]
fn those_that_were_running_already_are_told_apart() {
    for (done, already, expected) in [
        (2, 0, "2 instances are resumed."),
        (0, 2, "Nothing was resumed: 2 were running already."),
        (1, 2, "1 instance is resumed; 2 were running already."),
        (2, 1, "2 instances are resumed; 1 was running already."),
    ] {
        let told = changed(&resumed(done, already), "resumed", "running").unwrap();
        assert_eq!(told, expected);
    }
}

#[test]
fn a_failure_does_not_hide_them() {
    let bulk = Bulk {
        failures: vec![BulkFailure {
            id: None,
            title: Title::new("two").unwrap(),
            error: Error::Interrupted,
        }],
        ..resumed(1, 1)
    };
    let report = changed(&bulk, "resumed", "running").unwrap_err();
    assert_eq!(report.message, "resumed 1 of 3; 1 was running already");
}
