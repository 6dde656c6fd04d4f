//! Runs an operation, from its first line in the journal to its end.

use crate::engine::base::{Core, Error, Progress, now};
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::{Prepared, Work};
use crate::engine::typing::lock::await_typing_end;
use crate::lifecycle::{Facts, Journal, Operation, Outcome, Plan, Step, drive};
use crate::model::{InstanceRecord, OperationId};
use crate::process::Identity;
use crate::store::{InstanceDir, Lock};

impl Core {
    /// Writes the plan down and carries it out, under the instance's lock.
    pub(in crate::engine) fn operate(
        &self,
        lock: &Lock,
        dir: &InstanceDir,
        record: InstanceRecord,
        plan: Plan,
        asked: Facts,
        progress: &mut dyn Progress,
    ) -> Result<InstanceRecord, Error> {
        let journal = self.begin_journal(dir, plan, asked)?;
        self.carry_out(lock, dir, journal, record, progress)
    }

    /// Writes the plan into the journal. From then on other processes see the operation.
    pub(in crate::engine) fn begin_journal(
        &self,
        dir: &InstanceDir,
        plan: Plan,
        asked: Facts,
    ) -> Result<Journal, Error> {
        let (journal, entry) = Journal::begun(
            OperationId::random(),
            now(),
            Identity::of_this_process(),
            plan,
            asked,
        );
        dir.journal().begin(&entry)?;
        Ok(journal)
    }

    pub(in crate::engine) fn carry_out(
        &self,
        _lock: &Lock,
        dir: &InstanceDir,
        journal: Journal,
        record: InstanceRecord,
        progress: &mut dyn Progress,
    ) -> Result<InstanceRecord, Error> {
        self.carry(dir, journal, Work::fresh(self, dir, record, progress))
    }

    /// As [`Self::carry_out`], with what the caller has prepared.
    pub(in crate::engine) fn carry_out_prepared(
        &self,
        _lock: &Lock,
        dir: &InstanceDir,
        journal: Journal,
        record: InstanceRecord,
        prepared: Prepared,
        progress: &mut dyn Progress,
    ) -> Result<InstanceRecord, Error> {
        let work = Work::fresh(self, dir, record, progress).with_prepared(prepared);
        self.carry(dir, journal, work)
    }

    /// Recovers an operation whose process is gone: before its line it is taken back, after the line it
    /// is completed.
    pub(in crate::engine) fn recover_operation(
        &self,
        _lock: &Lock,
        dir: &InstanceDir,
        record: InstanceRecord,
        mut entries: Journal,
        progress: &mut dyn Progress,
    ) -> Result<InstanceRecord, Error> {
        if let Some(turn) = entries.on_abandoned() {
            dir.journal().append(&turn)?;
            entries = match dir.journal().read()? {
                Some(journal) => journal,
                None => return Ok(record),
            };
        }
        if entries.plan.operation != Operation::Return || entries.is_done(Step::Record) {
            return self.carry(dir, entries, Work::recovering(self, dir, record, progress));
        }
        // The record on disk is the one from before; the one that comes back is in the journal.
        let arriving = InstanceRecord {
            rev: record.rev,
            ..entries.facts.read(fact::RECORD)?.unwrap_or(record)
        };
        self.carry(
            dir,
            entries,
            Work::recovering(self, dir, arriving, progress),
        )?;
        Ok(dir.record()?)
    }

    fn carry(
        &self,
        dir: &InstanceDir,
        mut journal: Journal,
        mut work: Work<'_>,
    ) -> Result<InstanceRecord, Error> {
        let operation = journal.plan.operation;
        work.operation = operation;
        let span = tracing::info_span!(
            "operation",
            name = operation.name(),
            instance = %work.record.id,
            recovering = work.is_recovering(),
        );
        let _entered = span.enter();
        if !operation.makes_instance() {
            await_typing_end(dir);
        }
        let outcome = drive(&mut journal, &mut work);
        // Only now do other processes see it at rest.
        self.wake_daemon(Some(&work.record.id));
        let outcome = outcome?;
        let title = work.record.title.clone();
        match outcome {
            Outcome::Committed => match work.refusal {
                None => Ok(work.record),
                Some(refusal) => Err(refusal),
            },
            Outcome::TakenBack(turned_by) => {
                tracing::warn!("taken back");
                // An instance whose creation was taken back leaves no trace.
                if operation.makes_instance() {
                    dir.forget()?;
                }
                match turned_by {
                    None => Ok(work.record),
                    Some((_, source)) => Err(Error::TakenBack {
                        operation,
                        title,
                        source: Box::new(source),
                    }),
                }
            }
            Outcome::Stuck(step, source) => {
                tracing::error!(step = step.name(), "stuck");
                Err(Error::Stuck {
                    operation,
                    step,
                    title,
                    source: Box::new(source),
                })
            }
        }
    }
}
