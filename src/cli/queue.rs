//! `biv queue`

use std::fmt::Write;

use clap::Args;
use serde_json::json;

use super::bulk::{All, end, selected};
use super::context::CommandResult;
use super::daemon::ensure;
use super::instance::Group;
use super::output::Output;
use super::prompt;
use super::report::{Report, word};
use super::words::{DIM, RESET, shown_queue};
use crate::engine::{Engine, Error, QueueView, Silent, Verb};
use crate::model::{InstanceId, QueueState, printable_line};

/// How many characters of a prompt are shown.
const SHOWN: usize = 70;

/// Queue prompts that are sent one turn after another
#[derive(Debug, Args)]
#[command(
    override_usage = "biv queue [OPTIONS] <INSTANCE>... [PROMPT]...\n       \
                            biv queue [OPTIONS] --all|--state <STATE> [PROMPT]..."
)]
pub(super) struct QueueArgs {
    /// Titles, ids or unique prefixes, then prompts to put at the end, or `-` to read one from standard
    /// input. After the first, only words that are a whole title or id name an instance; the last never
    /// does
    #[arg(id = "instances", value_name = "INSTANCE", required_unless_present_any = ["all", "state"])]
    pub words: Vec<String>,
    #[command(flatten)]
    pub group: Group,
    /// Remove waiting prompts, and let a stopped queue continue
    #[arg(long)]
    pub clear: bool,
    /// Let a stopped queue go on with what waits in it
    #[arg(long = "continue", conflicts_with = "clear")]
    pub goes_on: bool,
}

impl QueueArgs {
    /// Whether the queue is only shown.
    pub(super) fn only_shows(&self) -> bool {
        let named = usize::from(!self.group.is_given());
        self.words.len() <= named && !self.clear && !self.goes_on
    }

    /// Whether something is sent by that.
    fn sends(&self, prompts: &[String]) -> bool {
        self.goes_on || !prompts.is_empty()
    }

    /// The first instance; there may be more.
    pub(super) fn first(&self) -> Vec<String> {
        match self.group.is_given() {
            true => Vec::new(),
            false => self.words.iter().take(1).cloned().collect(),
        }
    }
}

pub(super) fn run(args: &QueueArgs, engine: &Engine, output: &Output) -> CommandResult {
    let (named, prompts) = if args.group.is_given() {
        (&[][..], args.words.as_slice())
    } else {
        args.words.split_at(named(&args.words, engine))
    };
    let prompts = prompts
        .iter()
        .map(|prompt| prompt::given(prompt))
        .collect::<Result<Vec<String>, _>>()?;
    if let [given] = named {
        let view = changed(given, args, &prompts, engine)?;
        if args.sends(&prompts) {
            // Only the daemon sends queued prompts.
            ensure(engine, output);
        }
        mention_camp(&view, output);
        return Ok(match args.only_shows() {
            true => output.result(&view, || describe(&view)),
            false => output.done(&view, || describe(&view)),
        });
    }
    let meant = selected(engine, named, &args.group, All::Living, output)?;
    let ids: Vec<InstanceId> = meant.into_iter().map(|(id, _)| id).collect();
    if !args.only_shows() {
        let targets: Vec<String> = ids.iter().map(ToString::to_string).collect();
        engine.require(Verb::Queue, &targets)?;
    }
    let bulk = engine.for_each(&ids, &mut Silent, |id, _| {
        changed(id.as_str(), args, &prompts, engine)
    });
    if args.sends(&prompts) && !bulk.done.is_empty() {
        ensure(engine, output);
    }
    if let Some(view) = bulk.done.first() {
        mention_camp(view, output);
    }
    let done = match (prompts.is_empty(), args.goes_on) {
        (false, _) => "queued for",
        (true, true) => "continued the queues of",
        (true, false) => "cleared the queues of",
    };
    if !prompts.is_empty()
        && let Some(report) = Report::of_prompts(&bulk, done, "biv queue")
    {
        return Err(report);
    }
    if args.only_shows() {
        if let Some(report) = Report::of_bulk(&bulk, "shown") {
            return Err(report);
        }
    } else {
        end(&bulk, done, output)?;
    }
    let told = json!({ "queues": bulk.done });
    let describe = || {
        let each = bulk.done.iter().map(|view| match view.entries.is_empty() {
            true => describe(view),
            false => format!("{}  {}", view.title, describe(view).trim_end()),
        });
        each.collect::<Vec<String>>().join("\n")
    };
    Ok(match args.only_shows() {
        true => output.result(&told, describe),
        false => output.done(&told, String::new),
    })
}

/// How many of the words name instances: the first, and each after it that is a whole title or id. The last
/// of several is a prompt.
fn named(words: &[String], engine: &Engine) -> usize {
    let is_whole = |word: &&String| {
        let found = engine.find_each(std::slice::from_ref(*word));
        found.is_ok_and(|found| {
            found
                .iter()
                .any(|(id, title)| id.as_str() == *word || title.as_str() == *word)
        })
    };
    let between = words.get(1..words.len().saturating_sub(1)).unwrap_or(&[]);
    1 + between.iter().take_while(is_whole).count()
}

fn changed(
    given: &str,
    args: &QueueArgs,
    prompts: &[String],
    engine: &Engine,
) -> Result<QueueView, Error> {
    let mut view = None;
    if args.clear {
        view = Some(engine.clear_queue(given)?);
    }
    if args.goes_on {
        view = Some(engine.continue_queue(given)?);
    }
    if !prompts.is_empty() {
        view = Some(engine.enqueue(given, prompts.to_vec())?);
    }
    match view {
        Some(view) => Ok(view),
        None => engine.queue(given),
    }
}

fn mention_camp(view: &QueueView, output: &Output) {
    if let Some(camp) = view.camp {
        super::camp::mention(camp, output);
    }
}

fn describe(view: &QueueView) -> String {
    if view.entries.is_empty() {
        return format!("Nothing is queued for `{}`.", view.title);
    }
    let mut text = shown_queue(view.counts);
    text.push('\n');
    let mut place = 0;
    for entry in &view.entries {
        // The order in which those that wait are sent; the others have no place any more.
        let place = if entry.state == QueueState::Waiting {
            place += 1;
            place.to_string()
        } else {
            String::new()
        };
        let mark = match entry.state {
            QueueState::Done => "✓",
            QueueState::Sending | QueueState::Running => "●",
            QueueState::Waiting => "○",
            QueueState::Failed => "✗",
        };
        let prompt: String = printable_line(&entry.prompt).chars().take(SHOWN).collect();
        // Writing into a string cannot fail.
        writeln!(text, "  {mark} {place:>3}  {prompt}").ok();
        if let Some(error) = &entry.error {
            writeln!(text, "         {DIM}{}{RESET}", printable_line(error)).ok();
        }
    }
    if let Some(reason) = &view.held_by {
        let (reason, title) = (printable_line(reason), word(&view.title));
        writeln!(text, "It waits: {reason}. `biv attach {title}` shows it.").ok();
    }
    if let Some(reason) = &view.stopped {
        writeln!(
            text,
            "It has stopped: {}. `biv queue {} --continue` lets it go on.",
            printable_line(reason),
            word(&view.title)
        )
        .ok();
    }
    text
}
