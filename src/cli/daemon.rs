//! `biv daemon`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use super::report::Report;
use super::words;
use crate::daemon::{self, Attachment, DaemonClient, Status, Stopped, UnitKind};
use crate::engine::{CampView, Engine, InstanceView};
use crate::model::State;

/// Control the background process that watches agents
#[derive(Debug, Args)]
pub(super) struct DaemonArgs {
    #[command(subcommand)]
    pub command: DaemonCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum DaemonCommand {
    /// Run it here, in the foreground
    Run {
        /// Start a new session, so that it outlives the caller
        #[arg(long, hide = true)]
        detached: bool,
    },
    /// Start it in the background, unless it runs already
    Start,
    /// Stop it; agents keep running
    Stop,
    /// Show whether it runs
    Status,
    /// Print a unit that starts it when you log in
    Unit {
        #[arg(value_enum)]
        kind: Unit,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Unit {
    /// For ~/.config/systemd/user/bivouac.service
    Systemd,
    /// For ~/Library/LaunchAgents/org.bivouac.daemon.plist
    Launchd,
}

pub(super) fn run(args: &DaemonArgs, engine: Engine, output: &Output) -> CommandResult {
    match &args.command {
        DaemonCommand::Run { detached } => {
            let attachment = if *detached {
                Attachment::Detached
            } else {
                Attachment::Foreground
            };
            daemon::run(engine, attachment)?;
            Ok(ExitCode::SUCCESS)
        }
        DaemonCommand::Start => {
            let started = daemon::start(&engine)?;
            mention_version(&engine, output);
            let status = daemon::status(&engine);
            Ok(output.done(&status, || {
                let already = if started { "" } else { " already" };
                format!(
                    "The daemon runs{already}, as process {}.",
                    status.pid.unwrap_or(0)
                )
            }))
        }
        DaemonCommand::Stop => stop(&engine, output),
        DaemonCommand::Status => {
            let status = daemon::status(&engine);
            if status.version.is_some() {
                mention_version(&engine, output);
            }
            let camp = engine.camp().ok();
            let shown = Shown { status, camp };
            Ok(output.result(&shown, || describe(&shown)))
        }
        DaemonCommand::Unit { kind } => Ok(print_unit(*kind, output)),
    }
}

fn stop(engine: &Engine, output: &Output) -> CommandResult {
    let stopped = daemon::stop(engine);
    let text = match stopped {
        Stopped::Done => "The daemon has stopped; agents keep running.",
        Stopped::NotRunning => "The daemon does not run.",
        Stopped::Refused => {
            return Err(Report::failed(
                "refused",
                "what runs inside an instance may not stop the daemon",
                "stop it from a terminal of your own",
            ));
        }
        Stopped::Still => {
            return Err(Report::failed(
                "daemon",
                "the daemon has not stopped yet",
                "`biv daemon status` shows its process; ending it loses nothing",
            ));
        }
    };
    let already = stopped == Stopped::NotRunning;
    Ok(
        output.done(&json!({ "stopped": true, "already": already }), || {
            text.to_owned()
        }),
    )
}

/// The status of the daemon and of the camp.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    status: Status,
    camp: Option<CampView>,
}

fn describe(shown: &Shown) -> String {
    let camp = shown.camp.and_then(super::words::camp_is_paused);
    let daemon = describe_daemon(&shown.status);
    camp.map_or(daemon.clone(), |camp| format!("{daemon}\n{camp}"))
}

fn describe_daemon(status: &Status) -> String {
    if !status.running {
        return "The daemon does not run. Start it with: biv daemon start".to_owned();
    }
    if status.version.is_none() {
        return format!(
            "The daemon runs as process {}, but does not answer: it is busy, starting or stopping.",
            status.pid.unwrap_or(0)
        );
    }
    let since = status
        .started_at
        .map(|at| format!(", started {}", words::ago(at, words::now())))
        .unwrap_or_default();
    let agents = match status.watching {
        1 => "1 agent".to_owned(),
        count => format!("{count} agents"),
    };
    format!(
        "The daemon runs as process {}, version {}{since}; it watches {agents}.",
        status.pid.unwrap_or(0),
        status.version.as_deref().unwrap_or("unknown"),
    )
}

/// Tells the user how to replace a daemon of an older version.
pub(super) fn mention_version(engine: &Engine, output: &Output) {
    if let Some(client) = DaemonClient::connect(engine)
        && client.is_outdated()
    {
        output.say(&format!(
            "the daemon is version {}, this is {}; renew it with: biv daemon stop && biv daemon start",
            client.hello().bivouac,
            env!("CARGO_PKG_VERSION"),
        ));
    }
}

/// Starts the daemon for a feature that needs it. A failure is a warning, not an error.
pub(super) fn ensure(engine: &Engine, output: &Output) {
    if let Some(trouble) = daemon::ensure(engine) {
        output.say(&format!(
            "{trouble}: start it by hand with `biv daemon run`"
        ));
    }
    mention_version(engine, output);
}

/// The same if this instance needs the daemon: for its dialogs, its idle timeout, its queue or its usage limit.
pub(super) fn ensure_for(view: &InstanceView, engine: &Engine, output: &Output) {
    let has_queue = view.queue.is_some_and(|counts| counts.waiting > 0);
    let continues = engine.config().settings.limits.continues;
    if view.autoyes || view.idle_timeout_s.is_some() || has_queue || continues {
        ensure(engine, output);
    }
}

/// The same before a command that resumes a suspended instance.
pub(super) fn ensure_if_asleep(given: &str, engine: &Engine, output: &Output) {
    if let Ok(view) = engine.show(given)
        && matches!(view.state, State::Paused | State::Interrupted)
    {
        ensure_for(&view, engine, output);
    }
}

fn print_unit(kind: Unit, output: &Output) -> ExitCode {
    let biv = std::env::current_exe().unwrap_or_else(|_| "biv".into());
    let home = std::env::var_os("BIV_HOME")
        .filter(|home| !home.is_empty())
        .and_then(|home| Some(std::env::current_dir().ok()?.join(home)));
    let (kind, path) = match kind {
        Unit::Systemd => (UnitKind::Systemd, "~/.config/systemd/user/bivouac.service"),
        Unit::Launchd => (
            UnitKind::Launchd,
            "~/Library/LaunchAgents/org.bivouac.daemon.plist",
        ),
    };
    // The PATH of a service manager has neither the agents nor, on macOS, tmux.
    let environment: Vec<(&str, String)> = [
        ("BIV_HOME", home.map(PathBuf::into_os_string)),
        ("PATH", std::env::var_os("PATH")),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?.to_string_lossy().into_owned())))
    .collect();
    let text = daemon::unit(kind, &biv, &environment);
    if output.wants_json() {
        return output.json(&json!({ "path": path, "text": text }));
    }
    output.say(&format!("put this into {path}"));
    output.bytes(text.as_bytes())
}
