//! Which caller may use which verb: one table for the command line and the socket.

/// The verbs, grouped by the rights that they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Verb {
    /// Reading, wherever it is from; nothing is changed by it.
    Look,
    /// A part of another operation, called by Bivouac itself.
    Internal,
    OpenUi,
    Create,
    TrySeal,
    Import,
    Export,
    Move,
    Attach,
    Send,
    Pause,
    Resume,
    Restart,
    Rename,
    Exec,
    Kill,
    UndoKill,
    Land,
    Push,
    Compact,
    Queue,
    SetTimeout,
    AutoyesOn,
    AutoyesOff,
    Answer,
    PauseAll,
    ResumeAll,
    CollectGarbage,
    MoveRepository,
    Mend,
    WriteConfig,
    InstallOnHost,
    StartDaemon,
    StopDaemon,
}

/// From where a verb may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// From everywhere.
    Everyone,
    /// From outside, and from inside an instance on that instance itself.
    Own,
    /// From outside only.
    Outside,
}

/// What a process inside an instance may do: look, and act on its own instance. It may not approve,
/// touch other instances, or change its own limits. What is not in the table is refused.
const TABLE: &[(Verb, Reach, &str)] = &[
    (Verb::Look, Reach::Everyone, "look"),
    (Verb::Internal, Reach::Everyone, "do this"),
    (Verb::Send, Reach::Own, "send to another instance"),
    (Verb::Pause, Reach::Own, "pause another instance"),
    (Verb::Resume, Reach::Own, "resume another instance"),
    (Verb::Restart, Reach::Own, "restart another instance"),
    (Verb::Rename, Reach::Own, "rename another instance"),
    (
        Verb::Exec,
        Reach::Own,
        "run a command in another instance's worktree",
    ),
    (Verb::Kill, Reach::Own, "kill another instance"),
    (Verb::Compact, Reach::Own, "compact another instance"),
    (Verb::Queue, Reach::Own, "change another instance's queue"),
    (
        Verb::SetTimeout,
        Reach::Own,
        "change another instance's idle timeout",
    ),
    (
        Verb::AutoyesOff,
        Reach::Own,
        "switch another instance's autoyes",
    ),
    // A sandbox around the agent would end at an instance that it makes itself.
    (Verb::Create, Reach::Outside, "start an instance"),
    (Verb::Import, Reach::Outside, "import instances"),
    // It writes files wherever it is told to.
    (Verb::Export, Reach::Outside, "export an instance"),
    // The work leaves this machine, or another one's comes in.
    (Verb::Move, Reach::Outside, "move an instance"),
    // It would nest sessions, or let an agent switch the user's terminal.
    (Verb::Attach, Reach::Outside, "attach"),
    // It could be told to use another directory.
    (Verb::TrySeal, Reach::Outside, "try a seal"),
    (Verb::OpenUi, Reach::Outside, "open the terminal UI"),
    (Verb::AutoyesOn, Reach::Outside, "switch autoyes on"),
    (Verb::Answer, Reach::Outside, "answer a dialog"),
    (
        Verb::UndoKill,
        Reach::Outside,
        "bring a killed instance back",
    ),
    // What an agent has made reaches the user's branches only by the user.
    (Verb::Land, Reach::Outside, "land work"),
    (Verb::Push, Reach::Outside, "push a branch"),
    (Verb::PauseAll, Reach::Outside, "pause all instances"),
    (Verb::ResumeAll, Reach::Outside, "resume all instances"),
    (
        Verb::CollectGarbage,
        Reach::Outside,
        "delete what is kept of other instances",
    ),
    (
        Verb::MoveRepository,
        Reach::Outside,
        "say where a repository is",
    ),
    (Verb::Mend, Reach::Outside, "mend the state"),
    (Verb::WriteConfig, Reach::Outside, "write the configuration"),
    (Verb::InstallOnHost, Reach::Outside, "install biv on a host"),
    // The daemon answers dialogs by the policy that its environment selects.
    (Verb::StartDaemon, Reach::Outside, "start the daemon"),
    (Verb::StopDaemon, Reach::Outside, "stop the daemon"),
];

impl Verb {
    pub(crate) fn reach(self) -> Reach {
        self.row().map_or(Reach::Outside, |(_, reach, _)| *reach)
    }

    /// The text of a refusal.
    pub(crate) fn refusal(self) -> &'static str {
        self.row().map_or("do this", |(_, _, words)| *words)
    }

    fn row(self) -> Option<&'static (Self, Reach, &'static str)> {
        TABLE.iter().find(|(verb, ..)| *verb == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approval_policy_and_other_instances_are_out_of_reach() {
        for verb in [
            Verb::AutoyesOn,
            Verb::Answer,
            Verb::WriteConfig,
            Verb::Mend,
            Verb::StartDaemon,
            Verb::StopDaemon,
            Verb::Create,
            Verb::Attach,
        ] {
            assert_eq!(verb.reach(), Reach::Outside, "{verb:?}");
        }
        for verb in [Verb::Kill, Verb::Send, Verb::Pause, Verb::AutoyesOff] {
            assert_eq!(verb.reach(), Reach::Own, "{verb:?}");
        }
    }

    #[test]
    fn each_verb_has_one_row() {
        for (verb, ..) in TABLE {
            let rows = TABLE.iter().filter(|(other, ..)| other == verb).count();
            assert_eq!(rows, 1, "{verb:?}");
        }
    }
}
