//! From the arguments of this process to its exit status.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use super::alone::parsed_alone;
use super::args::{Cli, Command};
use super::completing::{CompletingShell, complete};
use super::context::{CommandResult, engine as open, home};
use super::elsewhere::Elsewhere;
use super::output::Output;
use super::prompt_words::flags_first;
use super::report::Report;
use super::rights::requested_verb;
use super::table::set_columns;
use super::targets::Targets;
use super::{
    adopt, agents, answer, attach, audit, autoyes, compact, completions, config, daemon, demo,
    detect, diff, doctor, elsewhere, events, exec, export, exports, gc, help, hook, host, import,
    kill, land, list, log, man, move_there, moving, new, new_on_host, path, pause, peek, policy,
    pull_request, push, queue, rename, repo, restart, resume, review, run, runs, seal, search,
    send, show, snapshots, status, timeout, ui, undo_kill, usage as usage_of, usage_error, wait,
};
use crate::engine::{
    Engine, Error, Reach, SEAL_VARIABLE, Verb, run_bound_to_parent, run_inside_seal, run_launcher,
    run_pipe, serve_host, set_via,
};
use crate::logging;

pub(crate) fn run_command() -> ExitCode {
    if let Some(status) = hook::intercepted() {
        return status;
    }
    let shell = CompletingShell::of_environment();
    clap_complete::CompleteEnv::with_factory(move || complete(help::command(), shell)).complete();
    let mut cli = match parse(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(error) => return usage(error),
    };
    let output = Output::new(&cli.common);
    start_logging(&output);
    match route(&mut cli, &output) {
        Ok(Elsewhere {
            rest_is_here: false,
            status,
        }) => ExitCode::from(status),
        Ok(Elsewhere { status, .. }) => match dispatch(cli, &output) {
            Ok(_) if status != 0 => ExitCode::from(status),
            Ok(status) => status,
            Err(report) => output.fail(&report),
        },
        Err(report) => output.fail(&report),
    }
}

fn parse(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    if let Some(cli) = parsed_alone(&words) {
        return Ok(cli);
    }
    let mut command = Cli::command();
    let words = flags_first(&command, words);
    let matches = match command.try_get_matches_from_mut(&words) {
        // The texts are made only where they are shown: every other command would wait for them.
        Err(error) if shows_help(&error) => help::command().try_get_matches_from(words),
        matches => matches,
    };
    Cli::from_arg_matches(&matches?)
}

/// Carries out on hosts what is to be done there. What has come from another machine is done here.
fn route(cli: &mut Cli, output: &Output) -> Result<Elsewhere, Report> {
    let all_here = Elsewhere {
        status: 0,
        rest_is_here: true,
    };
    if std::env::var_os(SEAL_VARIABLE).is_some() {
        return Ok(all_here);
    }
    if let Some(host) = cli.common.via.clone() {
        set_via(&host);
        if let Some(columns) = cli.common.columns {
            set_columns(columns);
        }
        if let Some(command) = &mut cli.command {
            Targets::of(command).keep_those_of(&host);
        }
        return Ok(all_here);
    }
    Ok(elsewhere::run(cli, output)?.unwrap_or(all_here))
}

fn shows_help(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// Without a home there is no log; the command reports that itself.
fn start_logging(output: &Output) {
    let Ok(home) = home() else { return };
    let level = std::env::var_os(logging::VARIABLE);
    if let Err(unknown) = logging::start(&home.state, level.as_deref()) {
        output.say(&format!(
            "warning: {unknown}; levels are off, error, warn, info, debug and trace"
        ));
    }
}

fn dispatch(cli: Cli, output: &Output) -> CommandResult {
    let (verb, instances) = requested_verb(cli.command.as_ref());
    // Opened with the rights for this command.
    let engine = || -> Result<Engine, Report> {
        let engine = open()?;
        engine.require(verb, &instances)?;
        Ok(engine)
    };
    let looking = || -> Result<Engine, Report> {
        let engine = Engine::open_for_a_look(home()?)?;
        engine.require(verb, &instances)?;
        Ok(engine)
    };
    // For commands that work without a readable configuration too.
    let permitted = || match verb.reach() {
        Reach::Everyone => Ok(()),
        Reach::Own | Reach::Outside => {
            open().map_or(Ok(()), |engine| engine.require(verb, &instances))
        }
    };
    if std::env::var_os(SEAL_VARIABLE).is_some() && verb != Verb::Internal {
        return Err(Error::InsideSeal.into());
    }
    match cli.command {
        None => {
            permitted()?;
            ui::run(output)
        }
        Some(Command::Launch { socket }) => Ok(run_launcher(&socket)),
        Some(Command::InsideSeal { stage, words }) => Ok(run_inside_seal(&stage, &words)),
        Some(Command::Pipe { socket, pane }) => Ok(run_pipe(&socket, &pane)),
        Some(Command::Leash { parent, words }) => Ok(run_bound_to_parent(parent, &words)),
        Some(Command::ServeHost { request }) => {
            let program = std::env::current_exe().unwrap_or_else(|_| "biv".into());
            Ok(ExitCode::from(serve_host(&request, &program)))
        }
        Some(Command::RenewHosts) => {
            leave_session();
            engine()?.renew_hosts()?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Receive(args)) => new_on_host::receive(&args, &engine()?, output),
        Some(Command::Move(args)) => moving::run(&args, &engine()?, output),
        Some(Command::Drain(args)) => moving::drain(&args, &engine()?, output),
        Some(Command::Arrive(args)) => move_there::arrive(&args, &engine()?, output),
        Some(Command::Exports(args)) => exports::run(&args, &engine()?, output),
        Some(Command::Depart(args)) => move_there::depart(&args, &engine()?, output),
        Some(Command::Lease(args)) => move_there::lease(&args, &engine()?, output),
        Some(Command::Host(args)) => host::run(&args, &engine()?, output),
        Some(Command::DemoAgent(args)) => Ok(crate::demo::run(args)),
        Some(Command::Completions(args)) => completions::run(&args, output),
        Some(Command::Man(args)) => man::run(&args, help::command(), output),
        Some(Command::Demo(args)) => demo::run(&args, output),
        Some(Command::Doctor(args)) => {
            permitted()?;
            doctor::run(&args, output)
        }
        Some(Command::Config(args)) => {
            permitted()?;
            config::run(&args, output)
        }
        Some(Command::New(args)) => match &args.host {
            Some(host) => new_on_host::run(host, args.new, &engine()?, output),
            None => new::run(args.new, &engine()?, output),
        },
        Some(Command::Run(args)) => run::run(args, &engine()?, output),
        Some(Command::Adopt(args)) => adopt::run(args, &engine()?, output),
        Some(Command::Export(args)) => export::run(&args, &engine()?, output),
        Some(Command::Import(args)) => import::run(&args, &engine()?, output),
        Some(Command::List(args)) => list::run(&args, &looking()?, output),
        Some(Command::Show(args)) => show::run(&args, &looking()?, output),
        Some(Command::Status(args)) => status::run(&args, &looking()?, output),
        Some(Command::Path(args)) => path::run(&args, &engine()?, output),
        Some(Command::Exec(args)) => exec::run(&args, &engine()?, output),
        Some(Command::Open(args)) => exec::open(&args, &engine()?, output),
        Some(Command::Rename(args)) => rename::run(&args, &engine()?, output),
        Some(Command::Attach(args)) => attach::run(&args, &engine()?, output),
        Some(Command::Shell(args)) => attach::shell(&args, &engine()?, output),
        Some(Command::Send(args)) => send::run(&args, &engine()?, output),
        Some(Command::Review(args)) => review::run(&args, &engine()?, output),
        Some(Command::Answer(args)) => answer::run(&args, &engine()?, output),
        Some(Command::Peek(args)) => peek::run(&args, &looking()?, output),
        Some(Command::Diff(args)) => diff::run(&args, &engine()?, output),
        Some(Command::Pause(args)) => pause::run(&args, &engine()?, output),
        Some(Command::Resume(args)) => resume::run(&args, &engine()?, output),
        Some(Command::Restart(args)) => restart::run(&args, &engine()?, output),
        Some(Command::Gc(args)) => gc::run(&args, &engine()?, output),
        Some(Command::Repo(args)) => repo::run(&args, &engine()?, output),
        Some(Command::Kill(args)) => kill::run(&args, &engine()?, output),
        Some(Command::UndoKill(args)) => undo_kill::run(&args, &engine()?, output),
        Some(Command::Land(args)) => land::run(&args, &engine()?, output),
        Some(Command::UndoLand(args)) => land::undo(&args, &engine()?, output),
        Some(Command::Push(args)) => push::run(&args, &engine()?, output),
        Some(Command::Pr(args)) => pull_request::run(&args, &engine()?, output),
        Some(Command::Log(args)) => log::run(&args, &engine()?, output),
        Some(Command::Search(args)) => search::run(&args, &engine()?, output),
        Some(Command::Usage(args)) => usage_of::run(&args, &engine()?, output),
        Some(Command::Compact(args)) => compact::run(&args, &engine()?, output),
        Some(Command::Queue(args)) => queue::run(&args, &engine()?, output),
        Some(Command::Wait(args)) => wait::run(&args, &engine()?, output),
        Some(Command::Timeout(args)) => timeout::run(&args, &engine()?, output),
        Some(Command::Events(args)) => events::run(&args, &engine()?, output),
        Some(Command::Daemon(args)) => daemon::run(&args, engine()?, output),
        Some(Command::Snapshots(args)) => snapshots::run(&args, &engine()?, output),
        Some(Command::Runs(args)) => runs::run(&args, &engine()?, output),
        Some(Command::Detect(args)) => detect::run(&args, &engine()?, output),
        Some(Command::Autoyes(args)) => autoyes::run(&args, &engine()?, output),
        Some(Command::Audit(args)) => audit::run(&args, &engine()?, output),
        Some(Command::AnswerOnce(args)) => autoyes::answer_once(&args, &engine()?, output),
        Some(Command::Policy(args)) => policy::run(&args, &engine()?, output),
        Some(Command::Seal(args)) => seal::run(&args, &engine()?, output),
        Some(Command::Agents(args)) => agents::run(&args, &engine()?, output),
    }
}

/// So that a terminal that is closed does not end it.
fn leave_session() {
    // An error means that this process leads a session already.
    rustix::process::setsid().ok();
}

/// Help and version are no mistake.
fn usage(error: clap::Error) -> ExitCode {
    if error.use_stderr() && !shows_help(&error) {
        let words: Vec<OsString> = std::env::args_os().collect();
        return usage_error::print(error, &Cli::command(), &words);
    }
    // Where this cannot be printed, there is no other place to report it.
    drop(error.print());
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
