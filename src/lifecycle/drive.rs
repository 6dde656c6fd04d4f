//! The loop that carries an operation to its end.

use super::journal::Next;
use super::{Facts, Journal, JournalEntry, Step};

/// Performs effects and stores journal entries. The engine is the real implementation. The tests have a
/// model that crashes, fails, and has effects that happen but report failure.
pub(crate) trait World {
    type Error: std::fmt::Display;

    /// Facts that must be written before the step's effect, so that recovery can recognise the effect.
    fn intend(&mut self, step: Step, facts: &Facts) -> Result<Facts, Self::Error>;

    /// Performs the step's effect. Idempotent.
    fn perform(&mut self, step: Step, facts: &Facts) -> Result<Facts, Self::Error>;

    /// Undoes the step's effect, which may have happened completely or in part.
    fn undo(&mut self, step: Step, facts: &Facts) -> Result<(), Self::Error>;

    fn append(&mut self, entry: &JournalEntry) -> Result<(), Self::Error>;
}

/// How an operation ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome<E> {
    Committed,
    /// Everything is as it was before. The error that caused the rollback, unless the rollback had
    /// begun before.
    TakenBack(Option<(Step, E)>),
    /// It could be neither finished nor rolled back now. Nothing was deleted; the next command
    /// continues.
    Stuck(Step, E),
}

/// Runs the operation to its end: next, perform, append, apply.
pub(crate) fn drive<W: World>(
    journal: &mut Journal,
    world: &mut W,
) -> Result<Outcome<W::Error>, W::Error> {
    let mut turned_by = None;
    loop {
        match journal.next() {
            Next::Do(step) => match carry_out(journal, world, step) {
                Ok(facts) => write(journal, world, JournalEntry::Done { step, facts })?,
                Err(error) if journal.has_crossed() => return Ok(Outcome::Stuck(step, error)),
                Err(error) => {
                    let why = error.to_string();
                    turned_by = Some((step, error));
                    let step = Some(step);
                    write(journal, world, JournalEntry::Turn { step, why })?;
                }
            },
            Next::Cross => write(journal, world, JournalEntry::Crossed)?,
            Next::Undo(step) => match world.undo(step, &journal.facts) {
                Ok(()) => write(journal, world, JournalEntry::Undone { step })?,
                Err(error) => return Ok(Outcome::Stuck(step, error)),
            },
            Next::Commit => {
                write(journal, world, JournalEntry::Committed)?;
                return Ok(Outcome::Committed);
            }
            Next::TakeBack => {
                write(journal, world, JournalEntry::TakenBack)?;
                return Ok(Outcome::TakenBack(turned_by));
            }
            Next::Rest if journal.rollback_reason().is_some() => {
                return Ok(Outcome::TakenBack(turned_by));
            }
            Next::Rest => return Ok(Outcome::Committed),
        }
    }
}

fn carry_out<W: World>(
    journal: &mut Journal,
    world: &mut W,
    step: Step,
) -> Result<Facts, W::Error> {
    let facts = world.intend(step, &journal.facts)?;
    write(journal, world, JournalEntry::Intend { step, facts })?;
    world.perform(step, &journal.facts)
}

fn write<W: World>(
    journal: &mut Journal,
    world: &mut W,
    entry: JournalEntry,
) -> Result<(), W::Error> {
    world.append(&entry)?;
    // `apply` refuses only steps that are not in the plan, and the driver writes only steps of the plan.
    let applied = journal.apply(&entry);
    debug_assert!(applied.is_ok(), "{applied:?}");
    Ok(())
}
