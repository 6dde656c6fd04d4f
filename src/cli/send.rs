//! `biv send`

use clap::Args;
use serde_json::json;

use super::bulk::{All, end, selected};
use super::context::CommandResult;
use super::daemon::{ensure, ensure_if_asleep};
use super::instance::Group;
use super::output::Output;
use super::progress::{CountLine, StepLine};
use super::prompt;
use super::report::Report;
use super::words::now;
use crate::engine::{Engine, Error, Progress, Sent};
use crate::model::InstanceId;

/// Send a prompt; a busy agent gets it next
#[derive(Debug, Args)]
#[command(override_usage = "biv send [OPTIONS] <INSTANCE>... <PROMPT>\n       \
                            biv send [OPTIONS] --all|--state <STATE> <PROMPT>")]
pub(super) struct SendArgs {
    /// Titles, ids or unique prefixes, and last the prompt, or `-` to read it from standard input
    #[arg(id = "instances", value_name = "INSTANCE", required = true)]
    pub words: Vec<String>,
    #[command(flatten)]
    pub group: Group,
    /// Wait for a busy agent instead of queueing the prompt
    #[arg(long)]
    pub now: bool,
    /// Type it as it is, also if the agent takes it for a command: `!ls`
    #[arg(long)]
    pub raw: bool,
}

impl SendArgs {
    /// The instances that are named: none with `--all` or `--state`.
    pub(super) fn named(&self) -> &[String] {
        self.words.split_last().map_or(&[], |(_, named)| named)
    }
}

pub(super) fn run(args: &SendArgs, engine: &Engine, output: &Output) -> CommandResult {
    let named = args.named();
    if named.is_empty() != args.group.is_given() {
        return Err(Report::usage(
            "send needs instances and one prompt",
            "`biv send INSTANCE… PROMPT`, or `biv send --all PROMPT`",
        ));
    }
    let prompt = prompt::given(args.words.last().map_or("", String::as_str))?;
    if let [given] = named {
        return to_one(given, &prompt, args, engine, output);
    }
    if prompt.trim().is_empty() {
        return Err(Error::NothingToSend.into());
    }
    let meant = selected(engine, named, &args.group, All::Running, output)?;
    let ids: Vec<InstanceId> = meant.iter().map(|(id, _)| id.clone()).collect();
    for id in &ids {
        ensure_if_asleep(id.as_str(), engine, output);
    }
    let mut progress = CountLine::new(output, "sent to");
    let bulk = engine.for_each(&ids, &mut progress, |id, progress| {
        let sent = sent(id.as_str(), &prompt, args, engine, progress)?;
        Ok((id.clone(), sent))
    });
    drop(progress);
    let mut told = Vec::new();
    for (id, sent) in &bulk.done {
        let title = meant.iter().find(|(other, _)| other == id);
        let title = title.map(|(_, title)| title);
        let queued = *sent == Sent::Queued;
        if let Some(title) = title.filter(|_| queued) {
            let why = why_queued(id.as_str(), engine);
            output.say(&format!("`{title}` {why}: it gets the prompt next."));
        }
        told.push(json!({ "id": id, "title": title, "sent": !queued, "queued": queued }));
    }
    if bulk.done.iter().any(|(_, sent)| *sent == Sent::Queued) {
        // Only the daemon sends queued prompts.
        ensure(engine, output);
    }
    if let Some(report) = Report::of_prompts(&bulk, "sent to", "biv send") {
        return Err(report);
    }
    end(&bulk, "sent to", output)?;
    let told = json!({ "instances": told, "bytes": prompt.len() });
    Ok(output.result(&told, String::new))
}

fn sent(
    given: &str,
    prompt: &str,
    args: &SendArgs,
    engine: &Engine,
    progress: &mut dyn Progress,
) -> Result<Sent, Error> {
    match (args.now, args.raw) {
        (true, false) => {
            engine.send_now(given, prompt, progress)?;
            Ok(Sent::Typed)
        }
        (true, true) => {
            engine.send_raw_now(given, prompt, progress)?;
            Ok(Sent::Typed)
        }
        (false, false) => engine.send(given, prompt, progress),
        (false, true) => engine.send_raw(given, prompt, progress),
    }
}

fn to_one(
    given: &str,
    prompt: &str,
    args: &SendArgs,
    engine: &Engine,
    output: &Output,
) -> CommandResult {
    ensure_if_asleep(given, engine, output);
    let mut progress = StepLine::new(output, given);
    let sent = sent(given, prompt, args, engine, &mut progress)?;
    drop(progress);
    let queued = sent == Sent::Queued;
    if queued {
        // Only the daemon sends queued prompts.
        ensure(engine, output);
        let why = why_queued(given, engine);
        output.say(&format!(
            "`{given}` {why}: it gets the prompt next. `biv queue {given}` shows it"
        ));
    }
    let told = json!({ "sent": !queued, "queued": queued, "bytes": prompt.len() });
    Ok(output.result(&told, String::new))
}

fn why_queued(given: &str, engine: &Engine) -> String {
    let until = engine.show(given).ok().and_then(|view| view.blocked_until);
    match until {
        Some(at) => format!("is at its usage limit until {}", at.local_clock(now())),
        None => "is busy".to_owned(),
    }
}
