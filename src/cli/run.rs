//! `biv run`

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;

use super::context::CommandResult;
use super::daemon::ensure_for;
use super::interrupts::Interrupts;
use super::log::print_all;
use super::new::{NewArgs, create};
use super::output::Output;
use super::progress::StepLine;
use super::report::Report;
use super::words;
use crate::engine::{Engine, InstanceView, LogFrom, PauseOptions};
use crate::model::{Activity, PauseReason, State};

/// How often the agent is looked at.
const PROBE: Duration = Duration::from_millis(150);
/// A turn that was not seen to begin within this time has ended already, or the agent does not show it.
const BEGINNING: Duration = Duration::from_secs(3);
/// A dialog that autoyes has not answered within this time is for the user.
const ANSWER: Duration = Duration::from_secs(5);

/// The exit status when the agent waits for the user instead of being done.
const ASKED: u8 = 8;

/// Start an agent in the foreground; Ctrl+C pauses it
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub new: NewArgs,
}

pub(super) fn run(args: RunArgs, engine: &Engine, output: &Output) -> CommandResult {
    if args.new.start.prompt.is_none() && args.new.start.prompt_file.is_none() {
        return Err(Report::usage(
            "`biv run` needs a prompt",
            "give it with -p, or use `biv new` to start without one",
        ));
    }
    if args.new.start.attach {
        return Err(Report::usage(
            "`biv run` shows the conversation itself, so it does not attach",
            "use `biv new --attach`, or `biv attach` from another terminal",
        ));
    }
    let interrupts = Interrupts::counted();
    let view = create(args.new, engine, output, &interrupts)?;
    ensure_for(&view, engine, output);
    output.say(&format!(
        "`{}` works on {}",
        view.title,
        view.branch.as_deref().unwrap_or("a detached HEAD")
    ));
    let ended = follow(&view, engine, output, &interrupts)?;
    match ended {
        Ended::Interrupted => pause(&view, engine, output, &interrupts),
        Ended::TurnOver => Ok(finish(&engine.show(view.id.as_str())?, output)),
    }
}

enum Ended {
    TurnOver,
    Interrupted,
}

/// Prints the conversation as it grows, until the agent is at rest.
fn follow(
    view: &InstanceView,
    engine: &Engine,
    output: &Output,
    interrupts: &Interrupts,
) -> Result<Ended, Report> {
    let mut log = engine.log(view.id.as_str(), LogFrom::Start)?;
    let started = Instant::now();
    let mut has_worked = false;
    let mut asked: Option<Instant> = None;
    loop {
        if interrupts.count() > 0 {
            return Ok(Ended::Interrupted);
        }
        let now = engine.show(view.id.as_str())?;
        let goes_on = log.refresh()?;
        if print_all(&mut log, output)?.is_some() {
            return Ok(Ended::TurnOver);
        }
        has_worked |= now.activity == Some(Activity::Busy);
        let at_rest =
            now.activity != Some(Activity::Busy) && (has_worked || started.elapsed() > BEGINNING);
        if now.activity != Some(Activity::Approval) {
            asked = None;
        }
        // A dialog that autoyes answers does not end the turn.
        let may_be_answered = now.autoyes
            && now.activity == Some(Activity::Approval)
            && asked.get_or_insert_with(Instant::now).elapsed() < ANSWER;
        if now.state != State::Running
            || !goes_on
            || (at_rest && !may_be_answered && now.activity != Some(Activity::Unknown))
        {
            return Ok(Ended::TurnOver);
        }
        std::thread::sleep(PROBE);
    }
}

/// Ctrl+C pauses; a second Ctrl+C forces the pause.
fn pause(
    view: &InstanceView,
    engine: &Engine,
    output: &Output,
    interrupts: &Interrupts,
) -> CommandResult {
    let given = view.id.as_str();
    let settings = &engine.config().settings.pause;
    let options = |wait| PauseOptions {
        wait: Some(wait),
        worktree: settings.worktree,
        reason: PauseReason::UserInterrupt,
    };
    output.say("Pausing when the turn is over; Ctrl+C again forces it.");
    let paused = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            engine.pause(
                given,
                &options(settings.wait),
                &mut StepLine::new(output, given),
            )
        });
        while !waiting.is_finished() {
            if interrupts.count() > 1 {
                // Cancels the waiting pause. Another one follows that does not wait.
                if let Err(error) = engine.cancel_pause(given) {
                    tracing::debug!(%error, "the waiting pause was not cancelled");
                }
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        waiting.join()
    });
    let done = matches!(paused, Ok(Ok(_)));
    if !done {
        engine.pause(
            given,
            &options(Duration::ZERO),
            &mut StepLine::new(output, given),
        )?;
    }
    let title = words::called(view);
    output.say(&format!(
        "Paused. Resume with: biv resume {title}\nRestart with: biv restart {title}"
    ));
    if output.wants_json() {
        output.json_line(&engine.show(given)?);
    }
    Ok(ExitCode::from(130))
}

fn asks(view: &InstanceView) -> bool {
    let activity = view.activity;
    matches!(
        activity,
        Some(Activity::Approval | Activity::Question | Activity::Blocked | Activity::Menu)
    )
}

/// How the turn ended: with the agent's own exit status where it has exited.
fn finish(view: &InstanceView, output: &Output) -> ExitCode {
    if output.wants_json() {
        output.json_line(view);
    } else {
        let state = match view.state {
            State::Running if asks(view) => "needs you",
            State::Running => "is done with its turn",
            state => state.name(),
        };
        output.say(&format!(
            "`{}` {state}; `biv attach {}` continues it",
            view.title,
            words::called(view)
        ));
    }
    match view.state {
        State::Running if asks(view) => ExitCode::from(ASKED),
        State::Failed | State::Interrupted => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}
