//! The loop that carries an operation to its end.

use super::journal::Next;
use super::{Entry, Facts, Journal, Step};

/// Where effects happen and entries are kept. The engine is the real one; the tests have a model
/// that crashes, fails, and has effects that happen and yet report failure.
pub(crate) trait World {
    type Error: std::fmt::Display;

    /// Facts that must be known before the step's effect, so that it can be recognised after a crash.
    fn intend(&mut self, step: Step, facts: &Facts) -> Result<Facts, Self::Error>;

    /// The step's effect. Performing it again after it happened changes nothing.
    fn perform(&mut self, step: Step, facts: &Facts) -> Result<Facts, Self::Error>;

    /// Takes the step's effect back, whole or half as it may have happened.
    fn undo(&mut self, step: Step, facts: &Facts) -> Result<(), Self::Error>;

    fn append(&mut self, entry: &Entry) -> Result<(), Self::Error>;
}

/// How an operation came to rest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome<E> {
    Committed,
    /// Everything is as it was before; the error that turned it around, unless it was turned already.
    TakenBack(Option<(Step, E)>),
    /// It could be neither finished nor taken back now. Nothing was deleted; the next command goes on.
    Stuck(Step, E),
}

/// Carries the operation to its end: next, perform, append, apply.
pub(crate) fn drive<W: World>(
    journal: &mut Journal,
    world: &mut W,
) -> Result<Outcome<W::Error>, W::Error> {
    let mut turned_by = None;
    loop {
        match journal.next() {
            Next::Do(step) => match carry_out(journal, world, step) {
                Ok(facts) => write(journal, world, Entry::Done { step, facts })?,
                Err(error) if journal.has_crossed() => return Ok(Outcome::Stuck(step, error)),
                Err(error) => {
                    let why = error.to_string();
                    turned_by = Some((step, error));
                    let step = Some(step);
                    write(journal, world, Entry::Turn { step, why })?;
                }
            },
            Next::Cross => write(journal, world, Entry::Crossed)?,
            Next::Undo(step) => match world.undo(step, &journal.facts) {
                Ok(()) => write(journal, world, Entry::Undone { step })?,
                Err(error) => return Ok(Outcome::Stuck(step, error)),
            },
            Next::Commit => {
                write(journal, world, Entry::Committed)?;
                return Ok(Outcome::Committed);
            }
            Next::TakeBack => {
                write(journal, world, Entry::TakenBack)?;
                return Ok(Outcome::TakenBack(turned_by));
            }
            Next::Rest if journal.turned().is_some() => return Ok(Outcome::TakenBack(turned_by)),
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
    write(journal, world, Entry::Intend { step, facts })?;
    world.perform(step, &journal.facts)
}

fn write<W: World>(journal: &mut Journal, world: &mut W, entry: Entry) -> Result<(), W::Error> {
    world.append(&entry)?;
    // The driver writes only steps of this plan, which is all that `apply` could object to.
    drop(journal.apply(&entry));
    Ok(())
}
