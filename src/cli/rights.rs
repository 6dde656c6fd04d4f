//! The rights that a command needs.

use super::args::Command;
use super::autoyes::Switch;
use super::config::Action;
use super::daemon::DaemonCommand;
use super::host::HostAction;
use crate::engine::Verb;

/// The verb of a command, and the instances that it is about.
pub(super) fn requested_verb(command: Option<&Command>) -> (Verb, Vec<String>) {
    let Some(command) = command else {
        return (Verb::OpenUi, Vec::new());
    };
    let none = Vec::new();
    match command {
        Command::New(_) | Command::Run(_) | Command::Adopt(_) | Command::Receive(_) => (Verb::Create, none),
        Command::Import(args) if args.only_looks() => (Verb::Look, none),
        Command::Import(_) => (Verb::Import, none),
        Command::Export(_) => (Verb::Export, none),
        Command::Move(_)
        | Command::Drain(_)
        | Command::Arrive(_)
        | Command::Depart(_)
        | Command::Exports(_)
        | Command::Lease(_) => (Verb::Move, none),
        Command::Attach(args) => (Verb::Attach, vec![args.instance.instance.clone()]),
        Command::Shell(args) => (Verb::Attach, vec![args.instance.instance.clone()]),
        Command::Send(args) => (Verb::Send, args.named().to_vec()),
        Command::Review(args) => (Verb::Send, vec![args.instance.instance.clone()]),
        Command::Pause(args) if args.instances.group.all => (Verb::PauseAll, none),
        Command::Pause(args) => (Verb::Pause, args.instances.instances.clone()),
        Command::Resume(args) if args.instances.group.all => (Verb::ResumeAll, none),
        Command::Resume(args) => (Verb::Resume, args.instances.instances.clone()),
        Command::Restart(args) => (Verb::Restart, vec![args.instance.instance.clone()]),
        Command::Kill(args) => (Verb::Kill, args.instances.instances.clone()),
        Command::UndoKill(args) => (Verb::UndoKill, vec![args.instance.clone()]),
        Command::Land(args) if args.dry_run => (Verb::Look, none),
        Command::Land(args) => (Verb::Land, args.instances.instances.clone()),
        Command::UndoLand(args) => (Verb::Land, vec![args.instance.clone()]),
        Command::Push(args) => (Verb::Push, args.instances.instances.clone()),
        Command::Pr(args) => (Verb::Push, vec![args.instance.instance.clone()]),
        Command::Compact(args) => (Verb::Compact, vec![args.instance.instance.clone()]),
        Command::Queue(args) if args.only_shows() => (Verb::Look, none),
        // It asks for the others itself, when it knows them.
        Command::Queue(args) => (Verb::Queue, args.first()),
        Command::Timeout(args) => match args.parts() {
            (_, None) => (Verb::Look, none),
            (named, Some(_)) => (Verb::SetTimeout, named.to_vec()),
        },
        Command::Autoyes(args) => match args.parts() {
            (_, None) => (Verb::Look, none),
            (named, Some(Switch::On)) => (Verb::AutoyesOn, named.to_vec()),
            (named, Some(Switch::Off)) => (Verb::AutoyesOff, named.to_vec()),
        },
        Command::Answer(args) if args.choice.is_none() => (Verb::Look, none),
        Command::Answer(args) => (Verb::Answer, vec![args.instance.instance.clone()]),
        Command::AnswerOnce(args) => (Verb::Answer, vec![args.instance.instance.clone()]),
        Command::Daemon(args) => match args.command {
            DaemonCommand::Status | DaemonCommand::Unit { .. } => (Verb::Look, none),
            DaemonCommand::Run { .. } | DaemonCommand::Start => (Verb::StartDaemon, none),
            DaemonCommand::Stop => (Verb::StopDaemon, none),
        },
        Command::Gc(args) if args.dry_run => (Verb::Look, none),
        Command::Gc(_) => (Verb::CollectGarbage, none),
        Command::Seal(_) => (Verb::TrySeal, none),
        Command::Repo(_) => (Verb::MoveRepository, none),
        Command::Doctor(args) if !args.fix => (Verb::Look, none),
        Command::Doctor(_) => (Verb::Mend, none),
        Command::Config(args) => match args.action {
            Action::Path | Action::Show => (Verb::Look, none),
            Action::Init => (Verb::WriteConfig, none),
        },
        Command::Agents(args) if args.action.is_some() => (Verb::WriteConfig, none),
        Command::Host(args) => match args.action {
            HostAction::List => (Verb::Look, none),
            // It connects, which an agent can do without us.
            HostAction::Check { .. } => (Verb::Look, none),
            HostAction::Add(_) | HostAction::Remove { .. } => (Verb::WriteConfig, none),
            HostAction::Install { .. } => (Verb::InstallOnHost, none),
        },
        // Writing files is not looking, and the files of another instance are not its own.
        Command::Snapshots(args) if args.to.is_some() => {
            (Verb::Exec, vec![args.instance.instance.clone()])
        }
        Command::Exec(args) => (Verb::Exec, vec![args.instance.instance.clone()]),
        Command::Open(args) => (Verb::Exec, vec![args.instance.instance.clone()]),
        Command::Rename(args) => (Verb::Rename, vec![args.instance.instance.clone()]),
        Command::List(_)
        | Command::Status(_)
        | Command::Path(_)
        | Command::Show(_)
        | Command::Peek(_)
        | Command::Diff(_)
        | Command::Runs(_)
        | Command::Snapshots(_)
        | Command::Log(_)
        | Command::Search(_)
        | Command::Usage(_)
        | Command::Wait(_)
        | Command::Events(_)
        | Command::Detect(_)
        | Command::Policy(_)
        | Command::Audit(_)
        | Command::Agents(_)
        | Command::Completions(_)
        | Command::Man(_)
        // It uses a temporary home.
        | Command::Demo(_) => (Verb::Look, none),
        Command::InsideSeal { .. }
        | Command::ServeHost { .. }
        | Command::RenewHosts
        | Command::Launch { .. }
        | Command::Pipe { .. }
        | Command::Leash { .. }
        | Command::DemoAgent(_) => (Verb::Internal, none),
    }
}
