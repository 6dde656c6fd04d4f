//! `HOST:INSTANCE`: the command line is carried out on that host.

use std::ffi::OsString;
use std::io::IsTerminal;

use super::args::{Cli, Command};
use super::common::ColorWhen;
use super::context::engine;
use super::output::Output;
use super::report::Report;
use super::rights::requested_verb;
use super::table::terminal_width;
use super::targets::Targets;
use crate::engine::{HostName, Passing, Screen};

/// What was done on hosts.
pub(super) struct Elsewhere {
    /// The exit status; that of the first host that failed.
    pub status: u8,
    /// Whether the command names instances here too.
    pub rest_is_here: bool,
}

/// Carries out a command on the hosts that it names; None where it names none.
pub(super) fn run(cli: &mut Cli, output: &Output) -> Result<Option<Elsewhere>, Report> {
    let Some(command) = &mut cli.command else {
        return Ok(None);
    };
    let names = Targets::of(command).names().to_vec();
    if !names.iter().any(|name| name.contains(':')) {
        return Ok(None);
    }
    let engine = engine()?;
    let mut hosts: Vec<HostName> = Vec::new();
    let mut elsewhere = Vec::new();
    for name in &names {
        if let Some((host, _)) = engine.on_host(name)? {
            elsewhere.push(name.clone());
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
    }
    if hosts.is_empty() {
        return Ok(None);
    }
    let (verb, concerned) = requested_verb(Some(command));
    engine.require(verb, &concerned)?;
    let rest_is_here = elsewhere.len() < names.len();
    if output.wants_json() && (rest_is_here || hosts.len() > 1) {
        return Err(Report::usage(
            "with --json, all instances must be on one machine",
            "run the command once for each host",
        ));
    }
    let passing = passing(command, cli.common.color, output)?;
    let mut status = 0;
    for host in &hosts {
        let ended = match engine.pass_to_host(host, &passing) {
            Ok(ended) => ended,
            // The others are still to be done.
            Err(error) if rest_is_here || hosts.len() > 1 => {
                let report = Report::from(error);
                output.say(&report.to_string());
                report.exit
            }
            Err(error) => return Err(error.into()),
        };
        if status == 0 {
            status = ended;
        }
    }
    Targets::of(command).drop_each(&elsewhere);
    Ok(Some(Elsewhere {
        status,
        rest_is_here,
    }))
}

/// The command line as it was typed, and what it needs of this terminal.
fn passing(command: &Command, color: ColorWhen, output: &Output) -> Result<Passing, Report> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let both_terminals = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let terminal = match command {
        Command::Attach(_) | Command::Shell(_) | Command::Open(_) if !both_terminals => {
            return Err(crate::engine::Error::NoTerminal.into());
        }
        Command::Attach(_) | Command::Shell(_) | Command::Open(_) => true,
        Command::Exec(_) => both_terminals,
        // They ask first.
        Command::Kill(args) => !args.yes && output.can_ask() && both_terminals,
        Command::Restart(args) => !args.yes && output.can_ask() && both_terminals,
        _ => false,
    };
    let reads_input = match command {
        Command::Exec(_) => true,
        Command::Send(args) => args.words.last().is_some_and(|prompt| prompt == "-"),
        Command::Queue(args) => args.words.iter().skip(1).any(|prompt| prompt == "-"),
        _ => false,
    };
    Ok(Passing {
        words,
        screen: Screen {
            columns: terminal_width().and_then(|columns| u16::try_from(columns).ok()),
            coloured: color == ColorWhen::Auto && output.is_coloured(),
            terminal,
        },
        reads_input,
        input: None,
        raw: matches!(command, Command::Exec(_)),
    })
}
