//! The steps of each operation, in their order, and the line between reversible and forward steps.

use serde::{Deserialize, Serialize};

use crate::model::State;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Operation {
    Create,
    /// Imports a session of another tool, or an export; no agent is started.
    Import,
    Pause,
    Resume,
    Restart,
    Kill,
    UndoKill,
    /// Brings its commits onto another branch.
    Land,
    UndoLand,
    /// An instance that is away comes in from another machine, into its own record.
    Return,
}

impl Operation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Import => "import",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Restart => "restart",
            Self::Kill => "kill",
            Self::UndoKill => "undo-kill",
            Self::Land => "land",
            Self::UndoLand => "undo-land",
            Self::Return => "return",
        }
    }

    /// The state of an instance while this operation is under way.
    pub(crate) fn state(self) -> State {
        match self {
            Self::Create | Self::Import => State::Creating,
            Self::Pause => State::Pausing,
            Self::Resume => State::Resuming,
            Self::Restart => State::Restarting,
            Self::Kill => State::Killing,
            Self::UndoKill => State::Killed,
            Self::Land | Self::UndoLand => State::Landing,
            Self::Return => State::Away,
        }
    }

    /// Whether the operation creates the instance: rolled back, it leaves none.
    pub(crate) fn makes_instance(self) -> bool {
        matches!(self, Self::Create | Self::Import)
    }
}

/// One effect outside the program. Each is idempotent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    ClaimNames,
    MoveBranch,
    AddWorktree,
    SetupWorktree,
    Unpack,
    OpenSession,
    StartAgent,
    SendPrompt,
    Quiesce,
    SaveConversation,
    SaveTerminal,
    StopAgent,
    Snapshot,
    VerifySnapshot,
    CloseSession,
    Deliver,
    FreeWorktree,
    ThinWorktree,
    BringWorktree,
    VerifyRestore,
    AwaitReady,
    MoveTarget,
    DeleteBranch,
    Record,
    RetireWork,
    ReleaseSnapshot,
}

impl Step {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaimNames => "claim-names",
            Self::MoveBranch => "move-branch",
            Self::AddWorktree => "add-worktree",
            Self::SetupWorktree => "setup-worktree",
            Self::Unpack => "unpack",
            Self::OpenSession => "open-session",
            Self::StartAgent => "start-agent",
            Self::SendPrompt => "send-prompt",
            Self::Quiesce => "quiesce",
            Self::SaveConversation => "save-conversation",
            Self::SaveTerminal => "save-terminal",
            Self::StopAgent => "stop-agent",
            Self::Snapshot => "snapshot",
            Self::VerifySnapshot => "verify-snapshot",
            Self::CloseSession => "close-session",
            Self::Deliver => "deliver",
            Self::FreeWorktree => "free-worktree",
            Self::ThinWorktree => "thin-worktree",
            Self::BringWorktree => "bring-worktree",
            Self::VerifyRestore => "verify-restore",
            Self::AwaitReady => "await-ready",
            Self::MoveTarget => "move-target",
            Self::DeleteBranch => "delete-branch",
            Self::Record => "record",
            Self::RetireWork => "retire-work",
            Self::ReleaseSnapshot => "release-snapshot",
        }
    }

    /// The text that is shown while it happens.
    pub(crate) fn progress(self) -> &'static str {
        match self {
            Self::ClaimNames => "choosing names",
            Self::MoveBranch => "moving the branch",
            Self::AddWorktree => "making the worktree",
            Self::SetupWorktree => "setting up the worktree",
            Self::Unpack => "unpacking and comparing",
            Self::OpenSession => "opening the session",
            Self::StartAgent => "starting the agent",
            Self::SendPrompt => "sending the prompt",
            Self::Quiesce => "waiting for a safe state",
            Self::SaveConversation => "saving the conversation",
            Self::SaveTerminal => "saving the terminal",
            Self::StopAgent => "stopping the agent",
            Self::Snapshot => "saving the work",
            Self::VerifySnapshot => "checking what was saved",
            Self::CloseSession => "closing the session",
            Self::Deliver => "placing the agent's session",
            Self::FreeWorktree => "freeing the worktree",
            Self::ThinWorktree => "freeing the disk",
            Self::BringWorktree => "bringing the worktree back",
            Self::VerifyRestore => "checking what came back",
            Self::AwaitReady => "waiting for the agent",
            Self::MoveTarget => "moving the target",
            Self::DeleteBranch => "deleting the branch",
            Self::Record => "recording",
            Self::RetireWork => "releasing what was kept before",
            Self::ReleaseSnapshot => "releasing the snapshot",
        }
    }
}

/// The steps of one operation. The reversible ones can be undone; the forward ones are completed whatever
/// happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub operation: Operation,
    pub reversible: Vec<Step>,
    pub forward: Vec<Step>,
}

impl Plan {
    /// The start of an agent is never undone: it may have written something.
    pub(crate) fn create() -> Self {
        Self {
            operation: Operation::Create,
            reversible: vec![
                Step::ClaimNames,
                Step::AddWorktree,
                Step::SetupWorktree,
                Step::OpenSession,
            ],
            forward: vec![Step::StartAgent, Step::Record, Step::SendPrompt],
        }
    }

    pub(crate) fn import() -> Self {
        Self {
            operation: Operation::Import,
            reversible: vec![Step::ClaimNames, Step::AddWorktree],
            forward: vec![Step::Record],
        }
    }

    /// An export is unpacked, compared, and put away as by [`Self::pause`].
    pub(crate) fn arrive() -> Self {
        Self {
            operation: Operation::Import,
            reversible: vec![
                Step::ClaimNames,
                Step::AddWorktree,
                Step::Unpack,
                Step::Snapshot,
                Step::VerifySnapshot,
            ],
            forward: vec![Step::Deliver, Step::FreeWorktree, Step::Record],
        }
    }

    /// The same into the record of an instance that is away. What that record has kept until then goes as
    /// after a resume: into the trash, for its time.
    pub(crate) fn come_back() -> Self {
        Self {
            operation: Operation::Return,
            reversible: vec![
                Step::MoveBranch,
                Step::AddWorktree,
                Step::Unpack,
                Step::Snapshot,
                Step::VerifySnapshot,
            ],
            forward: vec![
                Step::Deliver,
                Step::FreeWorktree,
                Step::Record,
                Step::RetireWork,
            ],
        }
    }

    /// A paused instance whose worktree was left in place: it is put away, too.
    pub(crate) fn put_away() -> Self {
        Self {
            operation: Operation::Pause,
            reversible: vec![Step::Snapshot, Step::VerifySnapshot],
            forward: vec![Step::FreeWorktree, Step::Record, Step::RetireWork],
        }
    }

    /// The same for one whose agent has ended.
    pub(crate) fn put_away_ended() -> Self {
        Self {
            operation: Operation::Pause,
            reversible: vec![
                Step::SaveConversation,
                Step::SaveTerminal,
                Step::StopAgent,
                Step::Snapshot,
                Step::VerifySnapshot,
            ],
            forward: vec![Step::CloseSession, Step::FreeWorktree, Step::Record],
        }
    }

    pub(crate) fn pause() -> Self {
        Self {
            operation: Operation::Pause,
            reversible: vec![
                Step::Quiesce,
                Step::SaveConversation,
                Step::SaveTerminal,
                Step::StopAgent,
                Step::Snapshot,
                Step::VerifySnapshot,
            ],
            forward: vec![
                Step::CloseSession,
                Step::FreeWorktree,
                Step::ThinWorktree,
                Step::Record,
            ],
        }
    }

    pub(crate) fn resume() -> Self {
        Self {
            operation: Operation::Resume,
            reversible: vec![Step::BringWorktree, Step::VerifyRestore, Step::OpenSession],
            forward: vec![
                Step::StartAgent,
                Step::AwaitReady,
                Step::Record,
                Step::SendPrompt,
                Step::ReleaseSnapshot,
            ],
        }
    }

    /// The work is saved first, then the agent is replaced; the worktree stays where it is.
    pub(crate) fn restart() -> Self {
        Self {
            operation: Operation::Restart,
            reversible: vec![
                Step::SaveConversation,
                Step::SaveTerminal,
                Step::StopAgent,
                Step::BringWorktree,
                Step::VerifyRestore,
                Step::Snapshot,
                Step::VerifySnapshot,
                Step::OpenSession,
            ],
            forward: vec![
                Step::StartAgent,
                Step::Record,
                Step::SendPrompt,
                Step::ReleaseSnapshot,
            ],
        }
    }

    pub(crate) fn kill() -> Self {
        Self {
            operation: Operation::Kill,
            reversible: vec![
                Step::SaveConversation,
                Step::SaveTerminal,
                Step::StopAgent,
                Step::Snapshot,
                Step::VerifySnapshot,
            ],
            forward: vec![
                Step::CloseSession,
                Step::FreeWorktree,
                Step::DeleteBranch,
                Step::Record,
            ],
        }
    }

    /// The target moves last before the line: if it was moved meanwhile, everything is taken back. The
    /// instance is ended as by [`Self::kill`].
    pub(crate) fn land() -> Self {
        let kill = Self::kill();
        let mut reversible = kill.reversible;
        reversible.push(Step::MoveTarget);
        Self {
            operation: Operation::Land,
            reversible,
            forward: kill.forward,
        }
    }

    /// The instance goes on as it is.
    pub(crate) fn land_and_keep() -> Self {
        Self {
            operation: Operation::Land,
            reversible: vec![Step::MoveTarget],
            forward: vec![Step::Record],
        }
    }

    pub(crate) fn undo_land() -> Self {
        Self {
            operation: Operation::UndoLand,
            ..Self::land_and_keep()
        }
    }
}
