//! `biv new`

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::bulk::end;
use super::context::CommandResult;
use super::daemon::{ensure, ensure_for};
use super::interrupts::Interrupts;
use super::output::Output;
use super::progress::{CountLine, StepLine};
use super::report::Report;
use super::words::{self, BOLD, RESET};
use crate::config::{IDLE_TIMEOUTS, parse_duration};
use crate::engine::{Consent, Engine, Error, IdleTimeout, InstanceView, NewInstance};

/// Start an agent on a branch, worktree and session of its own
#[derive(Debug, Args)]
pub(super) struct NewCommand {
    #[command(flatten)]
    pub new: NewArgs,
    /// Start it on this host; the commits that it needs are sent along
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
}

/// The options of `new` and `run`.
#[derive(Debug, Args)]
pub(super) struct NewArgs {
    /// The title; by default from the prompt, the branch or the directory
    pub title: Option<String>,
    #[command(flatten)]
    pub start: StartArgs,
    /// The commit, branch or tag to start from [default: new.base]
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// The branch to work on; an existing branch is used as it is
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// The repository [default: the one you are in]; a subdirectory of it
    /// is where the agent starts
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// Run the repository's set-up command, now and from now on
    #[arg(long, conflicts_with = "no_setup")]
    pub trust_setup: bool,
    /// Do not run the repository's set-up command
    #[arg(long)]
    pub no_setup: bool,
    /// Start several, with the same prompt, as TITLE-1, TITLE-2 and so on
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(1..=200),
          conflicts_with_all = ["attach", "branch"])]
    pub count: u16,
}

/// The options of `new` and `adopt`.
#[derive(Debug, Args)]
pub(super) struct StartArgs {
    /// The first prompt
    #[arg(short, long, conflicts_with = "prompt_file")]
    pub prompt: Option<String>,
    /// A file with the first prompt, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub prompt_file: Option<PathBuf>,
    /// The agent [default: new.agent, else the first one installed]
    #[arg(short, long)]
    pub agent: Option<String>,
    /// Answer its permission dialogs by the policy
    #[arg(long)]
    pub autoyes: bool,
    /// Run it in a seal: no files, network and processes but those it needs
    #[arg(long)]
    pub seal: bool,
    /// Pause it after this idle time (1m to 120m), or `off`
    #[arg(long, value_name = "DURATION")]
    pub idle_timeout: Option<String>,
    /// Attach to it at once
    #[arg(long)]
    pub attach: bool,
    /// More arguments for the agent; for `-a shell` the command itself
    #[arg(last = true, value_name = "AGENT ARGS")]
    pub agent_args: Vec<String>,
}

impl StartArgs {
    pub(super) fn into_instance(
        self,
        title: Option<String>,
        directory: PathBuf,
    ) -> Result<NewInstance, Report> {
        let prompt = match (self.prompt, self.prompt_file) {
            (Some(prompt), _) => Some(prompt),
            (None, Some(file)) => Some(read_prompt(&file)?),
            (None, None) => None,
        };
        Ok(NewInstance {
            title,
            prompt: prompt.filter(|prompt| !prompt.trim().is_empty()),
            agent: self.agent,
            base: None,
            branch: None,
            directory,
            autoyes: self.autoyes,
            seal: self.seal,
            idle_timeout_s: self
                .idle_timeout
                .as_deref()
                .map(idle_timeout)
                .transpose()?
                .and_then(IdleTimeout::stored),
            agent_args: self.agent_args,
            consent: Consent::AsBefore,
        })
    }
}

pub(super) fn run(args: NewArgs, engine: &Engine, output: &Output) -> CommandResult {
    if args.count > 1 {
        return several(args, engine, output);
    }
    let attach = args.start.attach;
    let interrupts = Interrupts::unanswered();
    let view = create(args, engine, output, &interrupts)?;
    announce(&view, attach, engine, output)
}

/// Creates one instance, which may ask for consent to the set-up command, and then the others.
fn several(args: NewArgs, engine: &Engine, output: &Output) -> CommandResult {
    let count = args.count;
    let title = args.title.clone();
    let numbered = |number: u16| title.as_ref().map(|title| format!("{title}-{number}"));
    let mut asked = args.into_instance()?;
    asked.title = numbered(1);
    let interrupts = Interrupts::unanswered();
    let first = create_asked(&mut asked, engine, output, &interrupts)?;
    let others: Vec<NewInstance> = (2..=count)
        .map(|number| NewInstance {
            title: numbered(number),
            ..asked.clone()
        })
        .collect();
    interrupts.answer_always();
    let mut progress = CountLine::new(output, "started").interrupted_by(&interrupts);
    let mut bulk = engine.create_each(&others, &mut progress);
    drop(progress);
    bulk.done.insert(0, first);
    let mut created = Vec::new();
    for view in &bulk.done {
        ensure_for(view, engine, output);
        created.push(match output.wants_json() {
            true => engine.show(view.id.as_str())?,
            false => view.clone(),
        });
    }
    let lines = || bulk.done.iter().map(started).collect::<Vec<_>>().join("\n");
    if !bulk.failures.is_empty() && !output.wants_json() {
        // The error is the end, and these were created all the same.
        output.done(&(), lines);
    }
    end(&bulk, "started", output)?;
    Ok(output.done(&json!({ "instances": created }), lines))
}

/// The line about an instance that was created.
fn started(view: &InstanceView) -> String {
    format!(
        "{BOLD}{}{RESET} is {} with {} in {}",
        view.title,
        view.state.name(),
        view.agent,
        words::tilde(&view.worktree),
    )
}

impl NewArgs {
    fn into_instance(self) -> Result<NewInstance, Report> {
        let directory = match self.repo {
            Some(directory) => directory,
            None => current_dir()?,
        };
        let mut asked = self.start.into_instance(self.title, directory)?;
        asked.base = self.base;
        asked.branch = self.branch;
        asked.consent = match (self.trust_setup, self.no_setup) {
            (true, _) => Consent::Given,
            (_, true) => Consent::Refused,
            _ => Consent::AsBefore,
        };
        Ok(asked)
    }
}

/// Creates the instance; asks for consent to the repository's set-up command on a terminal.
pub(super) fn create(
    args: NewArgs,
    engine: &Engine,
    output: &Output,
    interrupts: &Interrupts,
) -> Result<InstanceView, Report> {
    create_asked(&mut args.into_instance()?, engine, output, interrupts)
}

/// The same. The answer is kept in `asked`.
fn create_asked(
    asked: &mut NewInstance,
    engine: &Engine,
    output: &Output,
    interrupts: &Interrupts,
) -> Result<InstanceView, Report> {
    let title = asked.title.clone();
    let mut progress =
        StepLine::new(output, title.as_deref().unwrap_or("new")).interrupted_by(interrupts);
    match engine.create(asked.clone(), &mut progress) {
        Err(Error::ConsentNeeded { command }) if output.can_ask() => {
            output.say(&format!(
                "This repository asks to run a command in each new worktree:\n\n    {command}\n"
            ));
            asked.consent = if output.confirm("Run it, now and from now on?") {
                Consent::Given
            } else {
                Consent::Refused
            };
            Ok(engine.create(asked.clone(), &mut progress)?)
        }
        Err(error @ Error::PromptNotSent { queued: true, .. }) => {
            // Only the daemon sends what is in the queue.
            ensure(engine, output);
            Err(error.into())
        }
        other => Ok(other?),
    }
}

/// Prints the new instance, and attaches to it on request.
pub(super) fn announce(
    view: &InstanceView,
    attach: bool,
    engine: &Engine,
    output: &Output,
) -> CommandResult {
    ensure_for(view, engine, output);
    let looked_at = match output.wants_json() {
        true => &engine.show(view.id.as_str())?,
        false => view,
    };
    let status = output.done(looked_at, || {
        let branch = view.branch.as_deref().unwrap_or("a detached HEAD");
        let below = Some(words::shown_subdirectory(view)).filter(|below| !below.is_empty());
        let directory = below.map_or_else(String::new, |below| format!(", in {below}"));
        format!(
            "{BOLD}{}{RESET} is {} with {} on {branch}\n  worktree {}{directory}\n  attach with `biv attach {}`",
            view.title,
            view.state.name(),
            view.agent,
            words::tilde(&view.worktree),
            words::called(view),
        )
    });
    if attach {
        engine.attach(
            view.id.as_str(),
            &mut StepLine::new(output, view.title.as_str()),
        )?;
    }
    Ok(status)
}

pub(super) fn current_dir() -> Result<PathBuf, Report> {
    std::env::current_dir().map_err(|error| {
        Report::failed(
            "no_directory",
            format!("the current directory cannot be used: {error}"),
            "change to a directory that exists",
        )
    })
}

/// The text of a prompt file, without the newline that editors put at the end.
fn read_prompt(file: &std::path::Path) -> Result<String, Report> {
    let bytes = if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let unreadable = |why: String| {
        Report::failed(
            "no_prompt",
            format!("the prompt in {} cannot be read: {why}", file.display()),
            "give a UTF-8 text file, or `-` for standard input",
        )
    };
    let text = String::from_utf8(bytes.map_err(|error| unreadable(error.to_string()))?)
        .map_err(|_| unreadable("it is not UTF-8 text".to_owned()))?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// `off`, or 1 to 120 minutes.
pub(super) fn idle_timeout(text: &str) -> Result<IdleTimeout, Report> {
    if text == "off" {
        return Ok(IdleTimeout::Off);
    }
    parse_duration(text)
        .filter(|duration| IDLE_TIMEOUTS.contains(duration))
        .map(|duration| IdleTimeout::After(duration.as_secs()))
        .ok_or_else(|| {
            Report::usage(
                format!("`{text}` is no idle timeout"),
                "give 1m to 120m, or `off`",
            )
        })
}
