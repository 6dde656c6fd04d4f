//! `biv move` and `biv drain`

use std::fmt::Write;

use clap::Args;
use serde_json::json;

use super::bulk::end;
use super::context::CommandResult;
use super::host::parsed;
use super::output::Output;
use super::progress::{CountLine, StepLine};
use super::report::Report;
use super::words;
use crate::engine::{DrainTo, Engine, Error, HostName, MoveOptions, Moved};
use crate::model::printable_line;

/// This machine, as the end of a move.
const HERE: &str = ".";

/// Move an instance to another machine, or back
#[derive(Debug, Args)]
pub(super) struct MoveArgs {
    /// Title, id, or the beginning of either
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
    /// Where it goes; `.` is this machine
    #[arg(value_name = "HOST", required_unless_present = "take_back")]
    pub host: Option<String>,
    /// Bring it back, or undo a move that was cut off
    #[arg(long, conflicts_with = "host")]
    pub take_back: bool,
    /// If the host cannot be asked, take what is kept here, and give up what was done there
    #[arg(long, requires = "take_back")]
    pub force: bool,
    #[command(flatten)]
    pub how: HowArgs,
}

#[derive(Debug, Clone, Copy, Args)]
pub(super) struct HowArgs {
    /// Leave the files behind that git ignores
    #[arg(long)]
    pub without_ignored: bool,
    /// Accept repositories inside of its worktree, whose settings git follows
    #[arg(long)]
    pub with_nested: bool,
    /// Leave it paused where it arrives
    #[arg(long)]
    pub no_resume: bool,
}

/// Move everything to other machines, one after another
#[derive(Debug, Args)]
pub(super) struct DrainArgs {
    /// Move what was moved to this host [default: what is on this machine]
    #[arg(value_name = "HOST")]
    pub host: Option<String>,
    /// Where it goes; several take turns; `.` is this machine
    #[arg(long, value_name = "HOST", required = true)]
    pub to: Vec<String>,
    #[command(flatten)]
    pub how: HowArgs,
}

impl MoveArgs {
    /// Whether it comes from a host to this machine.
    pub(super) fn comes_here(&self) -> bool {
        self.host.as_deref() == Some(HERE)
    }
}

impl HowArgs {
    fn options(self) -> MoveOptions {
        MoveOptions {
            with_ignored: !self.without_ignored,
            nested: self.with_nested,
            resume: !self.no_resume,
        }
    }
}

pub(super) fn run(args: &MoveArgs, engine: &Engine, output: &Output) -> CommandResult {
    let mut progress = StepLine::new(output, "move");
    let options = args.how.options();
    let moved = match args.host.as_deref().filter(|host| *host != HERE) {
        Some(host) => engine.move_to(&args.instance, &parsed(host)?, options, &mut progress)?,
        None => {
            let here = match engine.on_host(&args.instance)? {
                Some((host, instance)) => engine.known_as(&host, &instance)?.to_string(),
                None => args.instance.clone(),
            };
            match args.force {
                true => engine.take_back_by_force(&here, options, &mut progress)?,
                false => engine
                    .take_back(&here, options, &mut progress)
                    .map_err(|error| with_way_out(error, &args.instance))?,
            }
        }
    };
    drop(progress);
    Ok(output.done(&moved, || describe(&moved)))
}

pub(super) fn drain(args: &DrainArgs, engine: &Engine, output: &Output) -> CommandResult {
    let from = args.host.as_deref().map(parsed).transpose()?;
    let here = args.to.iter().any(|to| to == HERE);
    let to = match (here, args.to.len()) {
        (true, 1) if from.is_some() => DrainTo::Here,
        (true, 1) => {
            return Err(Report::usage(
                "what is here is to go elsewhere",
                "`biv drain --to HOST`, or `biv drain HOST --to .`",
            ));
        }
        (true, _) => {
            return Err(Report::usage(
                "`.` goes with no other host",
                "`biv drain HOST --to .`",
            ));
        }
        (false, _) => {
            let hosts: Vec<HostName> = args
                .to
                .iter()
                .map(|to| parsed(to))
                .collect::<Result<_, _>>()?;
            if hosts.iter().any(|host| Some(host) == from.as_ref()) {
                return Err(Report::usage(
                    "a host cannot be drained to itself",
                    "name another host with --to",
                ));
            }
            DrainTo::Hosts(hosts)
        }
    };
    let mut progress = CountLine::new(output, "moved");
    let bulk = engine.drain(from.as_ref(), &to, args.how.options(), &mut progress)?;
    drop(progress);
    for moved in &bulk.done {
        output.say(describe(moved).trim_end());
    }
    if bulk.done.is_empty() && bulk.failures.is_empty() {
        output.say("There is nothing to move.");
    }
    end(&bulk, "moved", output)?;
    Ok(output.result(&json!({ "moved": bulk.done }), String::new))
}

/// A host that is gone for good must not keep the work.
fn with_way_out(error: Error, instance: &str) -> Report {
    let by_host = matches!(error, Error::Host(_));
    let mut report = Report::from(error);
    if by_host {
        report.hints.push(format!(
            "if the host is gone: `biv move {} --take-back --force` takes what is kept here",
            printable_line(instance)
        ));
    }
    report
}

fn describe(moved: &Moved) -> String {
    let title = &moved.instance.title;
    let mut text = String::new();
    // Writing into a string cannot fail.
    for note in &moved.notes {
        writeln!(text, "note: {}", printable_line(note)).ok();
    }
    match (&moved.host, moved.already) {
        (Some(host), true) => writeln!(text, "`{title}` is on the host `{host}` already."),
        (None, true) => writeln!(text, "`{title}` is here."),
        (Some(host), false) => {
            let there = format!("{host}:{}", moved.there());
            let goes_on = match moved.resumed {
                true => format!("and goes on there: biv attach {there}"),
                false => format!("paused there. Resume with: biv resume {there}"),
            };
            writeln!(text, "`{title}` is on the host `{host}`, {goes_on}")
        }
        (None, false) => {
            let goes_on = match moved.resumed {
                true => "and goes on".to_owned(),
                false => format!(
                    "paused. Resume with: biv resume {}",
                    words::called(&moved.instance)
                ),
            };
            writeln!(text, "`{title}` is back, {goes_on}")
        }
    }
    .ok();
    if let Some(trouble) = &moved.trouble {
        writeln!(
            text,
            "warning: its agent was not resumed: {}",
            printable_line(trouble)
        )
        .ok();
    }
    text
}

impl Moved {
    /// How it is named on its host.
    fn there(&self) -> String {
        let away = self.instance.away.as_ref();
        match away.and_then(|away| away.instance.as_ref()) {
            Some(id) if *id != self.instance.id => id.to_string(),
            _ => words::called(&self.instance),
        }
    }
}
