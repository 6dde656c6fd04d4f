//! `biv agents record`

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;

use super::context::CommandResult;
use super::interrupts::Interrupts;
use super::output::Output;
use super::report::Report;
use super::table::terminal_width;
use super::words::{BOLD, RESET};
use crate::config::Home;
use crate::engine::{
    BOX_SAMPLE, Consent, Engine, Frame, KillOptions, NewInstance, RECORDED_PLACE,
    RECORDED_TITLE as TITLE, RecordedFile, RecordedSession, Recording, Silent,
};
use crate::model::{cut, printable};

const ENTIRELY: KillOptions = KillOptions {
    delete_branch: true,
};
/// A screen that stands this long shows something to be looked at.
const STANDS: Duration = Duration::from_secs(3);
/// How long a program may move before the user is asked all the same.
const PATIENCE: Duration = Duration::from_secs(120);
const BETWEEN_LOOKS: Duration = Duration::from_millis(150);
/// A sign takes a moment to show.
const ECHO: Duration = Duration::from_secs(2);
/// The most screens of a turn that are kept.
const MOST_FRAMES: usize = 200;
/// Keeps most agents busy for a while, and changes nothing.
const WORK: &str = "Count slowly from 1 to 50, one number per line, without any tool.";

/// Record the screens of a program that Bivouac does not know, and make an agent of it
///
/// The program runs in a repository of its own, which is removed afterwards. You are asked what its screens
/// mean; what it costs is one or two short turns. The file is written to `agents/NAME.toml` beside your configuration
/// file, and can be changed there.
#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    /// The name of the new agent: small letters, digits and `-`
    pub name: String,
    /// The program and its arguments [default: the program NAME]
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    pub command: Vec<String>,
}

impl RecordArgs {
    fn program(&self) -> Vec<String> {
        if self.command.is_empty() {
            return vec![self.name.clone()];
        }
        self.command.clone()
    }
}

pub(super) fn run(args: &RecordArgs, engine: &Engine, output: &Output) -> CommandResult {
    if !output.can_ask() {
        return Err(Report::usage(
            "recording an agent needs a terminal: it asks what the screens of the program mean",
            "run it in a terminal, without `--json`; docs/agents.md shows how to write the file by hand",
        ));
    }
    let program = args.program();
    engine.new_agent_file(&args.name)?;
    let ground = tempfile::Builder::new()
        .prefix(RECORDED_PLACE)
        .tempdir()
        .map_err(no_place)?;
    let repository = ground.path().join(&args.name);
    std::fs::create_dir(&repository).map_err(no_place)?;
    Engine::make_playground(&repository)?;
    // From here on there is a program to end. A signal that comes while it is started is answered afterwards.
    let interrupts = Interrupts::unanswered();
    interrupts.answer_always();
    let stage = Engine::open(Home::below(&ground.path().join("home")))?;
    stage.create(
        NewInstance {
            title: Some(TITLE.to_owned()),
            prompt: None,
            agent: Some("shell".to_owned()),
            base: None,
            branch: None,
            directory: repository,
            autoyes: false,
            seal: false,
            idle_timeout_s: None,
            agent_args: program.clone(),
            consent: Consent::Refused,
        },
        &mut Silent,
    )?;
    let recorder = Recorder {
        stage: &stage,
        output,
    };
    // The question that waits for an answer does not hear a signal.
    let over = AtomicBool::new(false);
    let recorded = std::thread::scope(|scope| {
        let interrupted = || {
            while !over.load(Ordering::SeqCst) {
                if interrupts.count() > 0 {
                    abandon(&stage, ground.path());
                }
                std::thread::sleep(BETWEEN_LOOKS);
            }
        };
        scope.spawn(interrupted);
        let recorded = recorder.record(&program);
        over.store(true, Ordering::SeqCst);
        recorded
    });
    output.say("\nThe program is ended, and its file is made…");
    // The temporary directory is removed in any case.
    let ended = stage.kill(TITLE, ENTIRELY, &mut Silent);
    let Some(recording) = recorded? else {
        output.say("Nothing was written.");
        return Ok(ExitCode::SUCCESS);
    };
    ended?;
    let (path, file) = engine.write_agent(&args.name, &recording)?;
    output.say(&format!("\n{}", summary(&file)));
    output.say(&format!(
        "Written to {}. `biv new -a {}` starts it; `biv detect -a {} FILE` shows how a screen is read.",
        path.display(),
        args.name,
        args.name
    ));
    Ok(ExitCode::SUCCESS)
}

/// Ends the program that is recorded, removes its place, and ends this process. Nothing is printed: the question that
/// waits holds the terminal.
fn abandon(stage: &Engine, ground: &Path) -> ! {
    if let Err(error) = stage.kill(TITLE, ENTIRELY, &mut Silent) {
        tracing::warn!(%error, "end the recorded program");
    }
    if let Err(error) = std::fs::remove_dir_all(ground) {
        tracing::warn!(%error, path = %ground.display(), "remove the place of a recording");
    }
    std::process::exit(130)
}

fn summary(file: &RecordedFile) -> String {
    let part = |what: &str, (read, all): (usize, usize)| {
        format!("{read} of {all} screens {what} are read as such")
    };
    let mut lines = vec![
        part("at its prompt", file.idle),
        part("of its work", file.busy),
    ];
    match file.dialog {
        Some(true) => {
            lines.push("its question is read as such; autoyes leaves it to you".to_owned())
        }
        Some(false) => lines.push("its question could not be told from other screens".to_owned()),
        None => lines.push("no question was recorded".to_owned()),
    }
    lines.join("\n")
}

fn no_place(error: std::io::Error) -> Report {
    Report::failed(
        "record",
        format!("there is no place for the recording: {error}"),
        "set TMPDIR to a directory that you can write to",
    )
}

/// The only one of the screens that a program may not have.
const DIALOG: &str = "Is this its question?";

/// When a screen stands still.
#[derive(Debug, Clone, Copy)]
enum Standing {
    /// When nothing of it changes: the end of a turn.
    All,
    /// When its words stay: some programs turn a wheel or count seconds beside their question.
    Words,
}

fn words(frame: &Frame) -> String {
    frame.text.chars().filter(|c| c.is_alphabetic()).collect()
}

/// What the user says of a screen.
enum Answer {
    Yes,
    Wait,
    Skip,
    GiveUp,
}

struct Recorder<'a> {
    stage: &'a Engine,
    output: &'a Output,
}

impl Recorder<'_> {
    /// Walks through the states of the program; None if the user gives up.
    fn record(&self, command: &[String]) -> Result<Option<Recording>, Report> {
        self.say("1. Its empty prompt. `a` goes into its terminal, if it asks something first.");
        let Some((idle, _)) = self.settled("Is this its empty prompt?", Standing::Words)? else {
            return Ok(None);
        };
        self.stage.paste_text(TITLE, BOX_SAMPLE)?;
        let draft = self.until(|frame| frame.text.contains(BOX_SAMPLE))?;
        self.stage.press_key(TITLE, "C-u")?;
        let emptied = self.until(|frame| !frame.text.contains(BOX_SAMPLE))?;
        let clears = !emptied.text.contains(BOX_SAMPLE);
        if !clears {
            self.say("\nCtrl+u does not empty its input box. Empty it yourself after `a`, with nothing sent.");
            if self
                .settled("Is its prompt empty again?", Standing::Words)?
                .is_none()
            {
                return Ok(None);
            }
        }

        self.say("\n2. Its work: it gets a prompt that keeps it busy for some seconds.");
        self.output
            .say("You are asked again when its screen stands still.");
        let Some(prompt) = self.ask(&format!("A prompt for that [{WORK}]:")) else {
            return Ok(None);
        };
        let prompt = if prompt.is_empty() { WORK } else { &prompt };
        self.submit(prompt)?;
        let Some((rested, seen)) = self.settled(
            "Is its turn over, and is it at its prompt again?",
            Standing::All,
        )?
        else {
            return Ok(None);
        };
        let busy = in_the_middle(seen, &draft, &rested, prompt);

        self.say("\n3. Its question whether it may do something.");
        let Some(prompt) = self.ask("A prompt that makes it ask (empty: no question is recorded):")
        else {
            return Ok(None);
        };
        let mut dialog = None;
        if !prompt.is_empty() {
            self.submit(&prompt)?;
            dialog = self.settled(DIALOG, Standing::Words)?;
        }

        self.say("\n4. What cannot be seen.");
        let Some(key) = self.one_of(
            "The key that stops its work: e for Escape, c for Ctrl+c, empty for none:",
            &["", "e", "c"],
        ) else {
            return Ok(None);
        };
        let interrupt = match key.as_str() {
            "e" => Some("Escape".to_owned()),
            "c" => Some("C-c".to_owned()),
            _ => None,
        };
        let Some(session) = self.session() else {
            return Ok(None);
        };
        Ok(Some(Recording {
            command: command.to_vec(),
            idle,
            draft,
            clears,
            busy,
            rested,
            dialog: dialog.map(|(frame, _)| frame),
            interrupt,
            session,
        }))
    }

    fn session(&self) -> Option<RecordedSession> {
        let resume = self.ask(
            "Arguments that resume a conversation, {session} for its id (empty: a new one is told what happened):",
        )?;
        if resume.is_empty() {
            return Some(RecordedSession::Told);
        }
        let fresh = self.ask(
            "Arguments that start one under an id that is given, {session} for it (empty: it chooses its id):",
        )?;
        if !fresh.is_empty() {
            return Some(RecordedSession::Assigned { fresh, resume });
        }
        let files = self.ask(
            "Its files with the ids, as in ~/.prog/sessions/*/meta.json (empty: a new one is told what happened):",
        )?;
        if files.is_empty() {
            return Some(RecordedSession::Told);
        }
        let id = self.ask("Where the id is in that JSON [id]:")?;
        let directory = self.ask("Where the directory is in that JSON [cwd]:")?;
        let or = |given: String, usual: &str| match given.is_empty() {
            true => usual.to_owned(),
            false => given,
        };
        Some(RecordedSession::Found {
            resume,
            files,
            id: or(id, "id"),
            directory: or(directory, "cwd"),
        })
    }

    fn submit(&self, prompt: &str) -> Result<(), Report> {
        self.stage.paste_text(TITLE, prompt)?;
        std::thread::sleep(Duration::from_millis(500));
        Ok(self.stage.press_key(TITLE, "Enter")?)
    }

    /// Looks until the screen stands and the user says that it is the one; with it, all that were seen before.
    /// None if it is not to be had.
    fn settled(
        &self,
        question: &str,
        standing: Standing,
    ) -> Result<Option<(Frame, Vec<Frame>)>, Report> {
        let mut seen = Vec::new();
        loop {
            let frame = self.still(standing, &mut seen)?;
            self.show(&frame);
            match self.judge(question, question == DIALOG)? {
                Answer::Yes => return Ok(Some((self.frame()?, seen))),
                Answer::Wait => {}
                Answer::Skip | Answer::GiveUp => return Ok(None),
            }
        }
    }

    fn judge(&self, question: &str, skippable: bool) -> Result<Answer, Report> {
        let skip = if skippable { " · s skip" } else { "" };
        loop {
            let Some(answer) = self.ask(&format!(
                "{question} [Enter yes · w wait on · a attach, ctrl-q comes back{skip} · q give up]"
            )) else {
                return Ok(Answer::GiveUp);
            };
            match answer.as_str() {
                "" | "y" => return Ok(Answer::Yes),
                "w" => return Ok(Answer::Wait),
                "a" => {
                    self.stage.attach(TITLE, &mut Silent)?;
                    return Ok(Answer::Wait);
                }
                "s" if skippable => return Ok(Answer::Skip),
                "q" => return Ok(Answer::GiveUp),
                _ => {}
            }
        }
    }

    /// Looks until the screen does not change any more.
    fn still(&self, standing: Standing, seen: &mut Vec<Frame>) -> Result<Frame, Report> {
        let since = Instant::now();
        let mut last = (self.frame()?, Instant::now());
        let stands = |(frame, at): &(Frame, Instant)| {
            at.elapsed() >= STANDS && !frame.text.trim().is_empty()
        };
        while !stands(&last) && since.elapsed() < PATIENCE {
            std::thread::sleep(BETWEEN_LOOKS);
            let frame = self.frame()?;
            if frame != last.0 {
                if seen.len() < MOST_FRAMES {
                    seen.push(frame.clone());
                }
                let at = match standing {
                    Standing::Words if words(&frame) == words(&last.0) => last.1,
                    Standing::Words | Standing::All => Instant::now(),
                };
                last = (frame, at);
            }
        }
        Ok(last.0)
    }

    /// Looks until this is so, or for a moment.
    fn until(&self, holds: impl Fn(&Frame) -> bool) -> Result<Frame, Report> {
        let since = Instant::now();
        loop {
            let frame = self.frame()?;
            if holds(&frame) || since.elapsed() > ECHO {
                return Ok(frame);
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    fn frame(&self) -> Result<Frame, Report> {
        self.stage.frame(TITLE)?.ok_or_else(|| {
            Report::failed(
                "record",
                "the program has ended",
                "give a command that stays in the foreground and draws in the terminal",
            )
        })
    }

    fn show(&self, frame: &Frame) {
        let rows = frame.text.lines().map(str::trim_end);
        let rows: Vec<&str> = rows.filter(|row| !row.is_empty()).collect();
        let from = rows.len().saturating_sub(20);
        for row in rows.get(from..).unwrap_or_default() {
            let row = format!("  │ {}", printable(row));
            self.output.say(&match terminal_width() {
                Some(width) => cut(&row, width),
                None => row,
            });
        }
    }

    fn say(&self, text: &str) {
        self.output.say(&format!("{BOLD}{text}{RESET}"));
    }

    fn one_of(&self, question: &str, known: &[&str]) -> Option<String> {
        loop {
            let answer = self.ask(question)?;
            if known.contains(&answer.as_str()) {
                return Some(answer);
            }
        }
    }

    fn ask(&self, question: &str) -> Option<String> {
        self.output.ask(question)
    }
}

/// The screens of a turn: neither the prompt in its box nor the end.
fn in_the_middle(seen: Vec<Frame>, draft: &Frame, rested: &Frame, prompt: &str) -> Vec<Frame> {
    let sign = draft.text.lines().find_map(|row| {
        let (before, _) = row.split_once(BOX_SAMPLE)?;
        Some(before.to_owned())
    });
    let first: String = prompt.chars().take(20).collect();
    let in_box = |frame: &Frame| {
        let row = sign.as_ref().map(|sign| format!("{sign}{first}"));
        let mut rows = frame
            .text
            .lines()
            .rev()
            .filter(|row| !row.trim().is_empty());
        row.is_some_and(|row| rows.any(|drawn| drawn.starts_with(&row)))
    };
    let mut frames: Vec<Frame> = seen;
    let drawn_at_rest = |frame: &Frame| frame == rested;
    while frames.last().is_some_and(drawn_at_rest) {
        frames.pop();
    }
    // Where an echo looks like the box, all of them are kept.
    let outside: Vec<Frame> = frames
        .iter()
        .filter(|frame| !in_box(frame))
        .cloned()
        .collect();
    match outside.is_empty() {
        true => frames,
        false => outside,
    }
}
