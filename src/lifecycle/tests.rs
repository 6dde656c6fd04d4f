//! A model world that crashes, fails, and reports false failures: in every case the latest work exists
//! somewhere, and another run of the driver brings the operation to rest.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::journal::Next;
use super::{Fact, Facts, Journal, JournalEntry, Operation, Outcome, Plan, Step, World, drive};
use crate::model::{OperationId, Timestamp};
use crate::process::Identity;

/// What can go wrong at one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    CrashBefore,
    CrashAfter,
    FailBefore,
    FailAfter,
}

/// A minimal model of a repository and a tmux server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Model {
    worktree: bool,
    parked: bool,
    snapshot: bool,
    agent: bool,
    session: bool,
    recorded: bool,
}

struct Scripted {
    model: Model,
    entries: Vec<JournalEntry>,
    calls: usize,
    script: Vec<Option<Fault>>,
    crashed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Trouble(&'static str);

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl Scripted {
    fn call(&mut self, effect: impl FnOnce(&mut Model)) -> Result<(), Trouble> {
        let fault = self.script.get(self.calls).copied().flatten();
        self.calls += 1;
        if self.crashed {
            return Err(Trouble("crashed"));
        }
        match fault {
            Some(Fault::CrashBefore) => {
                self.crashed = true;
                return Err(Trouble("crashed"));
            }
            Some(Fault::FailBefore) => return Err(Trouble("failed")),
            Some(Fault::CrashAfter) => {
                effect(&mut self.model);
                self.crashed = true;
                return Err(Trouble("crashed"));
            }
            Some(Fault::FailAfter) => {
                effect(&mut self.model);
                return Err(Trouble("failed after all"));
            }
            None => effect(&mut self.model),
        }
        Ok(())
    }
}

/// The step that was announced last.
const INTENDED: Fact<String> = Fact::new("intended");

impl World for Scripted {
    type Error = Trouble;

    fn intend(&mut self, step: Step, _: &Facts) -> Result<Facts, Trouble> {
        Ok(Facts::none().with(INTENDED, &step.name().to_owned()))
    }

    fn perform(&mut self, step: Step, facts: &Facts) -> Result<Facts, Trouble> {
        assert_eq!(facts.read(INTENDED).unwrap().as_deref(), Some(step.name()));
        self.call(|model| match step {
            Step::StopAgent => model.agent = false,
            Step::Snapshot => model.snapshot = true,
            Step::CloseSession => model.session = false,
            Step::FreeWorktree => {
                assert!(model.snapshot, "nothing is moved before it is saved");
                assert!(!model.agent, "nothing is moved under a live agent");
                model.parked |= model.worktree;
                model.worktree = false;
            }
            Step::Record => model.recorded = true,
            _ => {}
        })?;
        Ok(Facts::none().with(Fact::new(step.name()), &true))
    }

    fn undo(&mut self, step: Step, _: &Facts) -> Result<(), Trouble> {
        self.call(|model| match step {
            Step::StopAgent => model.agent = true,
            Step::Snapshot => model.snapshot = false,
            _ => {}
        })
    }

    fn append(&mut self, entry: &JournalEntry) -> Result<(), Trouble> {
        if self.crashed {
            return Err(Trouble("crashed"));
        }
        self.entries.push(entry.clone());
        Ok(())
    }
}

fn begin(plan: Plan) -> JournalEntry {
    JournalEntry::Begin {
        format: JournalEntry::FORMAT,
        id: OperationId::random(),
        at: Timestamp::parse("2026-11-14T18:02:00Z").unwrap(),
        by: Identity::of_this_process(),
        plan,
        facts: Facts::none(),
    }
}

fn running() -> Model {
    Model {
        worktree: true,
        parked: false,
        snapshot: false,
        agent: true,
        session: true,
        recorded: false,
    }
}

/// Drives a pause through the script; after a crash, recovers as the next command would.
fn pause_under(script: Vec<Option<Fault>>) -> (Model, Journal) {
    let mut world = Scripted {
        model: running(),
        entries: vec![begin(Plan::pause())],
        calls: 0,
        script,
        crashed: false,
    };
    for _ in 0..64 {
        let mut journal = Journal::from_entries(world.entries.clone()).unwrap();
        assert!(
            world.model.worktree || world.model.parked,
            "the work is always somewhere"
        );
        if journal.is_closed() {
            return (world.model, journal);
        }
        if let Some(entry) = journal.on_abandoned().filter(|_| world.calls > 0) {
            world.entries.push(entry.clone());
            journal.apply(&entry).unwrap();
        }
        world.crashed = false;
        drop(drive(&mut journal, &mut world));
    }
    panic!("the operation did not come to rest");
}

#[test]
fn an_undisturbed_pause_is_committed() {
    let (model, journal) = pause_under(Vec::new());
    assert!(model.parked && model.recorded && !model.agent && !model.session);
    assert!(journal.is_closed() && journal.rollback_reason().is_none());
}

#[test]
fn a_failure_before_the_line_takes_everything_back_in_reverse_order() {
    let mut world = Scripted {
        model: running(),
        entries: Vec::new(),
        calls: 0,
        script: vec![None, None, None, None, Some(Fault::FailAfter)],
        crashed: false,
    };
    let mut journal = Journal::from_entries([begin(Plan::pause())]).unwrap();
    let outcome = drive(&mut journal, &mut world).unwrap();
    assert_eq!(
        outcome,
        Outcome::TakenBack(Some((Step::Snapshot, Trouble("failed after all"))))
    );
    assert_eq!(world.model, running());
    let undone: Vec<Step> = world
        .entries
        .iter()
        .filter_map(|entry| match entry {
            JournalEntry::Undone { step } => Some(*step),
            _ => None,
        })
        .collect();
    assert_eq!(
        undone,
        [
            Step::Snapshot,
            Step::StopAgent,
            Step::SaveTerminal,
            Step::SaveConversation,
            Step::Quiesce
        ]
    );
}

#[test]
fn a_failure_after_the_line_keeps_everything_and_goes_on_next_time() {
    let mut world = Scripted {
        model: running(),
        entries: Vec::new(),
        calls: 0,
        script: vec![
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            Some(Fault::FailBefore),
        ],
        crashed: false,
    };
    let mut journal = Journal::from_entries([begin(Plan::pause())]).unwrap();
    let outcome = drive(&mut journal, &mut world).unwrap();
    assert_eq!(
        outcome,
        Outcome::Stuck(Step::FreeWorktree, Trouble("failed"))
    );
    assert!(world.model.worktree && world.model.snapshot);
    assert_eq!(journal.on_abandoned(), None);
    assert_eq!(drive(&mut journal, &mut world), Ok(Outcome::Committed));
    assert!(world.model.parked);
}

#[test]
fn each_plan_names_each_step_once() {
    for plan in [
        Plan::create(),
        Plan::pause(),
        Plan::resume(),
        Plan::restart(),
        Plan::kill(),
    ] {
        let all: Vec<Step> = plan
            .reversible
            .iter()
            .chain(&plan.forward)
            .copied()
            .collect();
        let distinct: BTreeSet<&str> = all.iter().map(|step| step.name()).collect();
        assert_eq!(distinct.len(), all.len(), "{:?}", plan.operation);
        assert_ne!(plan.operation, Operation::UndoKill);
    }
}

#[test]
fn a_journal_of_a_newer_format_or_a_foreign_step_is_not_touched() {
    let JournalEntry::Begin {
        id,
        at,
        by,
        plan,
        facts,
        ..
    } = begin(Plan::pause())
    else {
        unreachable!();
    };
    let newer = JournalEntry::Begin {
        format: 99,
        id,
        at,
        by,
        plan,
        facts,
    };
    assert!(Journal::from_entries([newer]).is_err());
    let foreign = JournalEntry::Done {
        step: Step::ClaimNames,
        facts: Facts::none(),
    };
    assert!(Journal::from_entries([begin(Plan::pause()), foreign]).is_err());
    assert!(Journal::from_entries([JournalEntry::Crossed]).is_err());
}

#[test]
fn a_journal_cut_at_any_line_says_what_comes_next() {
    let mut world = Scripted {
        model: running(),
        entries: vec![begin(Plan::pause())],
        calls: 0,
        script: Vec::new(),
        crashed: false,
    };
    let mut journal = Journal::from_entries(world.entries.clone()).unwrap();
    drive(&mut journal, &mut world).unwrap();
    for length in 1..world.entries.len() {
        let journal = Journal::from_entries(world.entries[..length].to_vec()).unwrap();
        assert_ne!(journal.next(), Next::Rest, "after {length} entries");
    }
}

fn fault() -> impl Strategy<Value = Option<Fault>> {
    prop_oneof![
        6 => Just(None),
        1 => Just(Some(Fault::CrashBefore)),
        1 => Just(Some(Fault::CrashAfter)),
        1 => Just(Some(Fault::FailBefore)),
        1 => Just(Some(Fault::FailAfter)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn whatever_happens_the_work_is_kept_and_the_operation_comes_to_rest(
        script in proptest::collection::vec(fault(), 0..40)
    ) {
        let (model, journal) = pause_under(script);
        prop_assert!(model.worktree ^ model.parked, "in exactly one place");
        if journal.rollback_reason().is_some() {
            prop_assert!(model.worktree && model.agent, "taken back: as it was");
        } else {
            prop_assert!(model.parked && model.snapshot && model.recorded && !model.agent);
        }
    }
}
