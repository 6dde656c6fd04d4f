//! `biv host`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use super::report::Report;
use super::table::{table, terminal_width};
use super::words;
use crate::engine::{Engine, HostCheck, HostError, HostName, HostSettings, HostView};
use crate::model::printable_line;

/// Use other machines and containers
#[derive(Debug, Args)]
pub(super) struct HostArgs {
    #[command(subcommand)]
    pub action: HostAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum HostAction {
    /// Add a host: a machine that ssh reaches, or anything that can run a command
    Add(AddArgs),
    /// List the hosts
    #[command(visible_alias = "ls")]
    List,
    /// Forget a host; nothing on it is changed
    Remove {
        name: String,
        /// Also if it has instances that were moved there
        #[arg(long)]
        force: bool,
    },
    /// Say whether a host can be reached, and what it lacks
    Check { name: String },
    /// Send this program to a host of the same platform
    Install { name: String },
}

#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// What it is called here, as in `NAME:INSTANCE`
    pub name: String,
    /// Where ssh connects to: `box`, `me@box.example.org` [default: the name]
    #[arg(conflicts_with = "connect")]
    pub destination: Option<String>,
    /// What runs a command there instead of ssh, such as `docker exec -i c`
    #[arg(long, value_name = "COMMAND")]
    pub connect: Option<String>,
    /// The same with a terminal, such as `docker exec -it c`
    #[arg(long, value_name = "COMMAND")]
    pub connect_tty: Option<String>,
    /// A shell reads the words of a command again there, as with ssh
    #[arg(long)]
    pub shell: bool,
    /// The path of biv there [default: found on PATH or in ~/.local/bin]
    #[arg(long, value_name = "PATH")]
    pub program: Option<String>,
}

pub(super) fn run(args: &HostArgs, engine: &Engine, output: &Output) -> CommandResult {
    match &args.action {
        HostAction::Add(args) => add(args, engine, output),
        HostAction::List => list(engine, output),
        HostAction::Remove { name, force } => {
            let name = parsed(name)?;
            engine.remove_host(&name, *force)?;
            Ok(output.done(&json!({ "removed": name }), || {
                format!("Forgot the host `{name}`; what runs there keeps running.")
            }))
        }
        HostAction::Check { name } => check(&engine.check_host(&parsed(name)?)?, output),
        HostAction::Install { name } => {
            let name = parsed(name)?;
            output.say(&format!("Sending this program to `{name}`…"));
            let version = engine.install_on_host(&name)?;
            Ok(
                output.done(&json!({ "host": name, "version": version }), || {
                    format!("The host `{name}` has biv {version}.")
                }),
            )
        }
    }
}

/// The name of a host that the user typed.
pub(super) fn parsed(name: &str) -> Result<HostName, Report> {
    HostName::parse(name).map_err(|error| crate::engine::Error::from(HostError::from(error)).into())
}

fn add(args: &AddArgs, engine: &Engine, output: &Output) -> CommandResult {
    let name = parsed(&args.name)?;
    let destination = args.destination.as_ref().unwrap_or(&args.name);
    if destination.starts_with('-') {
        return Err(Report::usage(
            "a destination does not begin with a dash",
            "give options of ssh with --connect 'ssh -p 2222 box'",
        ));
    }
    let connect = match &args.connect {
        Some(command) => split(command)?,
        None => vec!["ssh".to_owned(), destination.clone()],
    };
    let settings = HostSettings {
        connect,
        connect_tty: args.connect_tty.as_deref().map(split).transpose()?,
        shell: args.shell.then_some(true),
        program: args.program.clone(),
    };
    let file = engine.add_host(&name, settings.clone())?;
    let view = json!({ "name": name, "connect": settings.connect, "file": file });
    Ok(output.done(&view, || {
        format!(
            "Added `{name}` ({}). `biv host check {name}` says whether it can be used.",
            shown(&settings.connect)
        )
    }))
}

fn split(command: &str) -> Result<Vec<String>, Report> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    words.ok_or_else(|| {
        Report::usage(
            format!("`{}` is no command", printable_line(command)),
            "give it as one argument: --connect 'docker exec -i c'",
        )
    })
}

fn shown(connect: &[String]) -> String {
    let words = connect.iter().map(String::as_str);
    let joined = shlex::try_join(words).unwrap_or_else(|_| connect.join(" "));
    printable_line(&joined)
}

fn list(engine: &Engine, output: &Output) -> CommandResult {
    let hosts = engine.hosts()?;
    Ok(output.result(&json!({ "hosts": hosts }), || {
        if hosts.is_empty() {
            return "No hosts. Add one with `biv host add NAME [DESTINATION]`.".to_owned();
        }
        let now = words::now();
        let row = |host: &HostView| {
            vec![
                host.name.to_string(),
                host.answered_at
                    .map_or_else(|| "never".to_owned(), |at| words::ago(at, now)),
                shown(&host.connect),
                host.failure.clone().unwrap_or_default(),
            ]
        };
        let rows: Vec<Vec<String>> = hosts.iter().map(row).collect();
        table(
            &["NAME", "ANSWERED", "CONNECT", "LAST FAILURE"],
            &rows,
            terminal_width(),
        )
    }))
}

fn check(check: &HostCheck, output: &Output) -> CommandResult {
    let status = output.result(check, || {
        let line = |finding: &crate::engine::HostFinding| {
            let mark = if finding.ok { "ok  " } else { "no  " };
            format!("{mark}{:<10} {}\n", finding.what, finding.detail)
        };
        check.findings.iter().map(line).collect()
    });
    let lacks_biv = check
        .findings
        .iter()
        .any(|finding| finding.what == "biv" && !finding.ok);
    if lacks_biv {
        output.say(&format!(
            "hint: `biv host install {}` sends this one",
            check.host
        ));
    }
    Ok(if check.ok { status } else { ExitCode::FAILURE })
}
