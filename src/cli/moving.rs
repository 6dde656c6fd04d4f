//! `biv move`

use std::fmt::Write;

use clap::Args;

use super::context::CommandResult;
use super::host::parsed;
use super::output::Output;
use super::progress::StepLine;
use super::report::Report;
use super::words;
use crate::engine::{Engine, Error, MoveOptions, Moved};
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
