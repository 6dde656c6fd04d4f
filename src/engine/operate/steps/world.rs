//! Implements `lifecycle::World`: which code performs and undoes each step.

use crate::engine::base::{Error, pace};
use crate::engine::operate::crash;
use crate::engine::operate::steps::work::Work;
use crate::lifecycle::{Facts, JournalEntry, Step, World};

impl World for Work<'_> {
    type Error = Error;

    fn intend(&mut self, step: Step, facts: &Facts) -> Result<Facts, Error> {
        match step {
            Step::AddWorktree => self.intend_add_worktree(facts),
            Step::OpenSession => Ok(self.intend_open_session(facts)?),
            Step::SendPrompt => Ok(self.intend_send_prompt(facts)),
            Step::Snapshot => Ok(self.intend_snapshot(facts)),
            Step::FreeWorktree => self.intend_free_worktree(facts),
            Step::BringWorktree => self.intend_bring_worktree(facts),
            Step::MoveTarget => self.intend_move_target(facts),
            Step::ClaimNames
            | Step::MoveBranch
            | Step::RetireWork
            | Step::SetupWorktree
            | Step::Unpack
            | Step::Deliver
            | Step::StartAgent
            | Step::Quiesce
            | Step::SaveConversation
            | Step::SaveTerminal
            | Step::StopAgent
            | Step::VerifySnapshot
            | Step::CloseSession
            | Step::ThinWorktree
            | Step::VerifyRestore
            | Step::AwaitReady
            | Step::DeleteBranch
            | Step::Record
            | Step::ReleaseSnapshot => Ok(Facts::none()),
        }
    }

    fn perform(&mut self, step: Step, facts: &Facts) -> Result<Facts, Error> {
        let span = tracing::info_span!("step", name = step.name());
        let _entered = span.enter();
        self.progress.step(self.operation, step);
        crash::point(self.operation, step, "before");
        let _permit = match step {
            Step::Quiesce | Step::SendPrompt | Step::AwaitReady => None,
            Step::StopAgent => Some(pace::stop_permit()),
            _ => Some(pace::permit()),
        };
        let learned = self.carry_out(step, facts).inspect_err(log_failure)?;
        crash::point(self.operation, step, "after");
        Ok(learned)
    }

    fn undo(&mut self, step: Step, facts: &Facts) -> Result<(), Error> {
        let span = tracing::info_span!("undo", name = step.name());
        let _entered = span.enter();
        crash::point(self.operation, step, "undo");
        self.take_back(step, facts).inspect_err(log_failure)?;
        crash::point(self.operation, step, "undone");
        Ok(())
    }

    fn append(&mut self, entry: &JournalEntry) -> Result<(), Error> {
        Ok(self.dir.journal().append(entry)?)
    }
}

fn log_failure(error: &Error) {
    tracing::warn!(error = %error.told(), "failed");
}

impl Work<'_> {
    pub(in crate::engine) fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn carry_out(&mut self, step: Step, facts: &Facts) -> Result<Facts, Error> {
        match step {
            Step::ClaimNames => self.claim_names(),
            Step::MoveBranch => self.move_branch(facts),
            Step::RetireWork => self.retire_work(facts),
            Step::AddWorktree => self.add_worktree(facts),
            Step::SetupWorktree => self.setup_worktree(facts),
            Step::Unpack => self.unpack(),
            Step::Deliver => self.deliver(),
            Step::OpenSession => self.open_session(facts),
            Step::StartAgent => self.start_agent(facts),
            Step::SendPrompt => self.send_prompt(facts),
            Step::SaveTerminal => self.save_terminal(),
            Step::StopAgent => self.stop_agent(facts),
            Step::Snapshot => self.take_snapshot(facts),
            Step::VerifySnapshot => self.verify_snapshot(facts),
            Step::CloseSession => self.close_session(),
            Step::FreeWorktree => self.free_worktree(facts),
            Step::ThinWorktree => self.thin_worktree(facts),
            Step::MoveTarget => self.move_target(facts),
            Step::DeleteBranch => self.delete_branch(facts),
            Step::Record => self.record_result(facts),
            Step::Quiesce => self.quiesce(facts),
            Step::BringWorktree => self.bring_worktree(facts),
            Step::VerifyRestore => self.verify_restore(facts),
            Step::AwaitReady => self.await_ready(facts),
            Step::ReleaseSnapshot => self.release_snapshot(facts),
            Step::SaveConversation => self.save_conversation(),
        }
    }

    fn take_back(&mut self, step: Step, facts: &Facts) -> Result<(), Error> {
        match step {
            Step::MoveBranch => self.undo_move_branch(facts),
            Step::AddWorktree => self.undo_add_worktree(facts),
            Step::SetupWorktree => self.undo_setup_worktree(facts),
            Step::Unpack => self.undo_unpack(facts),
            Step::OpenSession => self.undo_open_session(),
            Step::StopAgent => self.undo_stop_agent(),
            Step::BringWorktree => self.undo_bring_worktree(facts),
            Step::MoveTarget => self.undo_move_target(facts),
            // What was copied, saved or recorded does no harm.
            Step::ClaimNames
            | Step::Quiesce
            | Step::SaveConversation
            | Step::SaveTerminal
            | Step::Snapshot
            | Step::VerifySnapshot
            | Step::VerifyRestore
            // Never before the line.
            | Step::StartAgent
            | Step::SendPrompt
            | Step::CloseSession
            | Step::Deliver
            | Step::FreeWorktree
            | Step::ThinWorktree
            | Step::AwaitReady
            | Step::DeleteBranch
            | Step::Record
            | Step::RetireWork
            | Step::ReleaseSnapshot => Ok(()),
        }
    }
}
