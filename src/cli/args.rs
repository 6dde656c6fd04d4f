//! The command line.

use clap::{Parser, Subcommand};

use super::common::Common;
use super::{
    adopt, agents, answer, attach, audit, autoyes, compact, completions, config, daemon, demo,
    detect, diff, doctor, events, exec, export, exports, gc, host, import, kill, land, list, log,
    man, move_there, moving, new, new_on_host, path, pause, peek, policy, pull_request, push,
    queue, rename, repo, restart, resume, review, run, runs, seal, search, send, show, snapshots,
    status, timeout, undo_kill, usage, wait,
};

/// Run many coding agents side by side, pause them and lose nothing
#[derive(Debug, Parser)]
#[command(
    name = "biv",
    version,
    propagate_version = true,
    subcommand_required = false
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    New(new::NewCommand),
    Run(run::RunArgs),
    Adopt(adopt::AdoptArgs),
    Import(import::ImportArgs),
    Export(export::ExportArgs),
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    Show(show::ShowArgs),
    Status(status::StatusArgs),
    Path(path::PathArgs),
    Exec(exec::ExecArgs),
    Open(exec::OpenArgs),
    Rename(rename::RenameArgs),
    #[command(visible_alias = "a")]
    Attach(attach::AttachArgs),
    Shell(attach::ShellArgs),
    Send(send::SendArgs),
    Answer(answer::AnswerArgs),
    Review(review::ReviewArgs),
    Peek(peek::PeekArgs),
    Diff(diff::DiffArgs),
    Pause(pause::PauseArgs),
    Resume(resume::ResumeArgs),
    Restart(restart::RestartArgs),
    Kill(kill::KillArgs),
    UndoKill(undo_kill::UndoKillArgs),
    Land(land::LandArgs),
    UndoLand(land::UndoLandArgs),
    Push(push::PushArgs),
    Pr(pull_request::PullRequestArgs),
    Runs(runs::RunsArgs),
    Snapshots(snapshots::SnapshotsArgs),
    Log(log::LogArgs),
    Search(search::SearchArgs),
    Usage(usage::UsageArgs),
    Compact(compact::CompactArgs),
    Queue(queue::QueueArgs),
    Wait(wait::WaitArgs),
    Timeout(timeout::TimeoutArgs),
    Events(events::EventsArgs),
    Daemon(daemon::DaemonArgs),
    Gc(gc::GcArgs),
    Repo(repo::RepoArgs),
    Detect(detect::DetectArgs),
    Autoyes(autoyes::AutoyesArgs),
    Policy(policy::PolicyArgs),
    Seal(seal::SealArgs),
    Audit(audit::AuditArgs),
    Host(host::HostArgs),
    Move(moving::MoveArgs),
    Drain(moving::DrainArgs),
    Doctor(doctor::DoctorArgs),
    Agents(agents::AgentsArgs),
    Config(config::ConfigArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Demo(demo::DemoArgs),
    /// The program of a pane, which execs the agent
    #[command(name = "__launch", hide = true)]
    Launch {
        socket: std::ffi::OsString,
    },
    /// Looks at an instance once and answers its dialog, as the daemon does
    #[command(name = "__answer", hide = true)]
    AnswerOnce(autoyes::AnswerOnceArgs),
    /// Sends the output pipe of a pane to the watcher
    #[command(name = "__pipe", hide = true)]
    Pipe {
        socket: std::ffi::OsString,
        pane: String,
    },
    /// Execs a program that ends together with its parent process
    #[command(name = "__leash", hide = true)]
    Leash {
        parent: i32,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<std::ffi::OsString>,
    },
    /// Builds a seal around itself and runs a program in it
    #[command(name = "__seal", hide = true)]
    InsideSeal {
        stage: String,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<std::ffi::OsString>,
    },
    /// Carries out a request of a biv on another machine
    #[command(name = "__host", hide = true)]
    ServeHost {
        request: std::ffi::OsString,
    },
    /// Takes commits from another machine
    #[command(name = "__receive", hide = true)]
    Receive(new_on_host::ReceiveArgs),
    /// Takes an instance from another machine, which still has it
    #[command(name = "__arrive", hide = true)]
    Arrive(move_there::ArriveArgs),
    /// Writes an instance for another machine
    #[command(name = "__depart", hide = true)]
    Depart(move_there::DepartArgs),
    /// Says or changes who has an instance
    #[command(name = "__lease", hide = true)]
    Lease(move_there::LeaseArgs),
    /// Keeps exports for another machine
    #[command(name = "__exports", hide = true)]
    Exports(exports::ExportsArgs),
    /// Asks all hosts and keeps their answers
    #[command(name = "__renew-hosts", hide = true)]
    RenewHosts,
    /// The built-in demo agent
    #[command(name = "__demo-agent", hide = true)]
    DemoAgent(crate::demo::DemoArgs),
}
