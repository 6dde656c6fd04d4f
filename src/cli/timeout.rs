//! `biv timeout`

use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::bulk::{All, end, selected};
use super::context::CommandResult;
use super::daemon::ensure;
use super::instance::Group;
use super::new::idle_timeout;
use super::output::Output;
use super::report::Report;
use crate::engine::{Engine, Error, IdleTimeout, InstanceView, Silent};
use crate::model::InstanceId;

/// Pause an instance after some idle time
#[derive(Debug, Args)]
#[command(
    override_usage = "biv timeout [OPTIONS] <INSTANCE>... [DURATION|off]\n       \
                            biv timeout [OPTIONS] --all|--state <STATE> [DURATION|off]"
)]
pub(super) struct TimeoutArgs {
    /// Titles, ids or unique prefixes, and last the time: 1m to 120m, or `off`
    #[arg(id = "instances", value_name = "INSTANCE", required_unless_present_any = ["all", "state"])]
    pub words: Vec<String>,
    #[command(flatten)]
    pub group: Group,
}

impl TimeoutArgs {
    /// The named instances, and the time.
    pub(super) fn parts(&self) -> (&[String], Option<&str>) {
        let alone = usize::from(!self.group.is_given());
        match self.words.split_last() {
            Some((last, named)) if named.len() >= alone && is_time(last) => (named, Some(last)),
            _ => (&self.words, None),
        }
    }
}

/// Whether a word is meant as a time; whether it is a good one is told by its reader.
fn is_time(word: &str) -> bool {
    word == "off" || word.starts_with(|first: char| first.is_ascii_digit())
}

pub(super) fn run(args: &TimeoutArgs, engine: &Engine, output: &Output) -> CommandResult {
    let (named, text) = args.parts();
    if args.group.is_given() && !named.is_empty() {
        return Err(Report::usage(
            "--all and --state go without named instances",
            "`biv timeout --all 15m`",
        ));
    }
    let timeout = text.map(idle_timeout).transpose()?;
    let meant = match (
        selected(engine, named, &args.group, All::Living, output),
        named,
    ) {
        // The last word is the time, if it is no instance.
        (Err(report), [_, .., last]) if report.code == "no_such_instance" => {
            return Err(match engine.find_each(std::slice::from_ref(last)) {
                Ok(_) => report,
                Err(_) => Report::usage(
                    format!("`{last}` is neither an instance nor a time"),
                    "give 1m to 120m, or `off`",
                ),
            });
        }
        (meant, _) => meant?,
    };
    let ids: Vec<InstanceId> = meant.into_iter().map(|(id, _)| id).collect();
    let act = |id: &InstanceId| -> Result<InstanceView, Error> {
        match timeout {
            Some(timeout) => engine.set_idle_timeout(id.as_str(), timeout),
            None => engine.show(id.as_str()),
        }
    };
    let views = match ids.as_slice() {
        [id] => vec![act(id)?],
        several => {
            let bulk = engine.for_each(several, &mut Silent, |id, _| act(id));
            let done = if timeout.is_some() {
                "set for"
            } else {
                "shown"
            };
            end(&bulk, done, output)?;
            bulk.done
        }
    };
    if timeout.is_some_and(|timeout| timeout != IdleTimeout::Off) && !views.is_empty() {
        // Only the daemon applies idle timeouts.
        ensure(engine, output);
    }
    let values: Vec<serde_json::Value> = views
        .iter()
        .map(|view| {
            json!({ "id": view.id, "title": view.title, "idle_timeout_s": view.idle_timeout_s })
        })
        .collect();
    let value = match values.as_slice() {
        [one] if !args.group.is_given() => one.clone(),
        _ => json!({ "instances": values }),
    };
    let describe = || {
        let lines: Vec<String> = views.iter().map(describe).collect();
        lines.join("\n")
    };
    Ok(match timeout {
        Some(_) => output.done(&value, describe),
        None => output.result(&value, describe),
    })
}

fn describe(view: &InstanceView) -> String {
    match view.idle_timeout_s {
        Some(seconds) => {
            let timeout = humantime::format_duration(Duration::from_secs(seconds));
            format!("`{}` is paused when it was idle for {timeout}.", view.title)
        }
        None => format!("`{}` is never paused for being idle.", view.title),
    }
}
