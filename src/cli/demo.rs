//! `biv demo`

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use super::report::Report;
use super::words::{self, BOLD, RESET};
use crate::config::{Home, WorktreeOnPause};
use crate::engine::{
    Consent, Engine, Error, InstanceView, KillOptions, NewInstance, OnConflict, PauseOptions,
    PromptOnResume, ResumeOptions, Silent,
};
use crate::model::{Activity, PauseReason};

/// How long the demo agent may take for anything.
const PATIENCE: Duration = Duration::from_secs(60);
const TITLE: &str = "hello";
/// With the indentation of quotations, the output fits into 100 columns.
const COLUMNS: u16 = 92;

/// See it all in two minutes, without account or network
#[derive(Debug, Args)]
pub(super) struct DemoArgs {}

pub(super) fn run(_: &DemoArgs, output: &Output) -> CommandResult {
    let ground = tempfile::Builder::new()
        .prefix("biv-demo-")
        .tempdir()
        .map_err(no_place)?;
    let home = Home::below(&ground.path().join("home"));
    furnish(&home).map_err(no_place)?;
    let engine = Engine::open(home)?;
    let shown = tell(&engine, ground.path(), output);
    // The temporary directory is removed in any case.
    let options = KillOptions {
        delete_branch: true,
    };
    let ended = engine.kill(TITLE, options, &mut Silent);
    let told = shown?;
    ended?;
    Narrator { engine: &engine, output }.say(&format!(
        "\nThat was the whole cycle; the temporary repository was removed.\nIn a repository of your own, start with: {BOLD}biv new -p \"what to do\"{RESET}"
    ));
    if output.wants_json() {
        return Ok(output.json(&told));
    }
    Ok(ExitCode::SUCCESS)
}

fn no_place(error: std::io::Error) -> Report {
    Report::failed(
        "demo",
        format!("there is no place for the playground: {error}"),
        "set TMPDIR to a directory that you can write to",
    )
}

/// Configures a terminal that is narrow enough to be quoted.
fn furnish(home: &Home) -> std::io::Result<()> {
    std::fs::create_dir_all(&home.config)?;
    let settings = format!("[terminal]\ncolumns = {COLUMNS}\n");
    std::fs::write(home.config_file(), settings)
}

fn tell(engine: &Engine, ground: &Path, output: &Output) -> Result<serde_json::Value, Report> {
    let repository = ground.join("playground");
    std::fs::create_dir(&repository).map_err(no_place)?;
    Engine::make_playground(&repository)?;
    let talk = Narrator { engine, output };
    talk.say("A repository, and an agent that is part of biv itself: no account, no network.");

    talk.command("biv new hello -a demo -p \"Say hello to the camp\"");
    let view = engine.create(
        NewInstance {
            title: Some(TITLE.to_owned()),
            prompt: Some("Say hello to the camp".to_owned()),
            agent: Some("demo".to_owned()),
            base: None,
            branch: None,
            directory: repository,
            autoyes: false,
            seal: false,
            idle_timeout_s: None,
            agent_args: Vec::new(),
            consent: Consent::Refused,
        },
        &mut Silent,
    )?;
    talk.say(&format!(
        "It works in a worktree and on a branch of its own ({}), in a tmux session that you can attach to.",
        view.branch.as_deref().unwrap_or("none")
    ));

    talk.wait(Activity::Approval, "it asks before it writes")?;
    talk.screen(14)?;
    talk.say("An agent that asks is listed as `needs you`. You would attach and answer; here the demo says yes.");
    talk.answer_until_idle()?;
    talk.screen(16)?;

    talk.say("While it worked, one change was staged and another was left unstaged:");
    let worktree = view.worktree.clone();
    scribble(engine, &worktree)?;
    let before = engine.status(TITLE)?;
    talk.quote(&before);

    talk.command("biv pause hello");
    let options = PauseOptions {
        wait: Some(PATIENCE),
        worktree: WorktreeOnPause::Park,
        reason: PauseReason::User,
    };
    let paused = engine.pause(TITLE, &options, &mut Silent)?;
    let freed = !worktree.exists();
    talk.say(&format!(
        "The agent is stopped, no process of it is left, branch and path are free{}; everything is kept under {}",
        if freed { "" } else { " (not yet)" },
        paused
            .view()
            .pause
            .as_ref()
            .and_then(|pause| pause.snapshot.clone())
            .unwrap_or_default()
    ));
    talk.line(paused.view());

    talk.command("biv resume hello");
    let resumed = engine.resume(
        TITLE,
        &ResumeOptions {
            prompt: PromptOnResume::Nothing,
            on_conflict: OnConflict::Stop,
        },
        &mut Silent,
    )?;
    let after = engine.status(TITLE)?;
    talk.quote(&after);
    let exact = before == after;
    talk.say(if exact {
        "The same changes, staged and unstaged apart, as before the pause."
    } else {
        "The changes differ from before the pause. This is a bug: please report it."
    });
    talk.line(resumed.view());

    talk.command("biv send hello \"What did I tell you?\"");
    engine.send_now(TITLE, "What did I tell you?", &mut Silent)?;
    talk.wait_settled()?;
    talk.screen(12)?;
    talk.say("It was relaunched with its own `--resume`, so it remembers.");

    if output.can_ask() && output.confirm("\nAttach to it now? (ctrl-q leaves)") {
        engine.attach(TITLE, &mut Silent)?;
    }
    if !exact {
        return Err(Report::failed(
            "demo",
            "what came back is not what was saved",
            "please report it",
        ));
    }
    Ok(
        json!({ "steps": ["new", "work", "pause", "resume", "send"], "exact": exact, "freed": freed }),
    )
}

fn scribble(engine: &Engine, worktree: &Path) -> Result<(), Report> {
    let written = std::fs::write(worktree.join("NOTES"), "bring marshmallows\n").and_then(|()| {
        std::fs::write(
            worktree.join("README.md"),
            "# Playground\n\nWith a campfire.\n",
        )
    });
    written.map_err(|error| {
        Report::failed(
            "demo",
            format!("the worktree is not writable: {error}"),
            "try again",
        )
    })?;
    Ok(engine.stage(TITLE, "NOTES")?)
}

/// The narrator.
struct Narrator<'a> {
    engine: &'a Engine,
    output: &'a Output,
}

impl Narrator<'_> {
    fn say(&self, text: &str) {
        if !self.output.wants_json() {
            // The story is the result of this command.
            self.output.text(text);
        }
    }

    fn command(&self, command: &str) {
        self.say(&format!("\n{BOLD}$ {command}{RESET}"));
    }

    fn quote(&self, text: &str) {
        for line in text.lines() {
            self.say(&format!("    {line}"));
        }
    }

    fn line(&self, view: &InstanceView) {
        self.quote(&format!(
            "{}  {}",
            view.title,
            words::shown_state(view, words::now())
        ));
    }

    fn screen(&self, lines: usize) -> Result<(), Error> {
        let screen = self.engine.peek(TITLE, lines, false)?;
        self.quote(&screen);
        Ok(())
    }

    fn wait(&self, activity: Activity, what: &str) -> Result<(), Report> {
        let (view, came) = self
            .engine
            .wait_until(TITLE, PATIENCE, |view| view.activity == Some(activity))?;
        if came {
            return Ok(());
        }
        Err(Report::failed(
            "demo",
            format!(
                "waited in vain until {what}; the agent is {}",
                view.activity.map_or("gone", |a| a.name())
            ),
            "run `biv doctor` to find the cause",
        ))
    }

    fn wait_settled(&self) -> Result<(), Report> {
        // Waits for the start of the turn, then for its end.
        self.engine
            .wait_until(TITLE, Duration::from_millis(600), |view| {
                view.activity == Some(Activity::Busy)
            })?;
        self.wait(Activity::Idle, "it is done")
    }

    /// Says yes to each dialog until the turn is over.
    fn answer_until_idle(&self) -> Result<(), Report> {
        for _ in 0..5 {
            self.engine.press_key(TITLE, "1")?;
            let is_done = |view: &InstanceView| view.activity == Some(Activity::Idle);
            // The dialog takes a moment to disappear.
            self.engine
                .wait_until(TITLE, Duration::from_secs(5), |view| {
                    view.activity != Some(Activity::Approval)
                })?;
            let (view, _) = self.engine.wait_until(TITLE, PATIENCE, |view| {
                is_done(view) || view.activity == Some(Activity::Approval)
            })?;
            if is_done(&view) {
                return Ok(());
            }
        }
        self.wait(Activity::Idle, "it is done")
    }
}
