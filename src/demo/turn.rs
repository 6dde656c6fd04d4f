//! A turn: the actions of one prompt, one after the other, until the last one is done.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::json;

use super::agent::{Agent, Audience, Effect};
use super::dialog::{Dialog, Outcome, YES, YES_ALWAYS};
use super::diff;
use super::memory::Todo;
use super::paint::{Ink, Line, width_of, wrap};
use super::reply;
use super::script::{Action, actions_for};
use super::session::Entry;

/// Between two words of `/stream`.
const WORD_EVERY: Duration = Duration::from_millis(60);
/// Of a command's output, so many lines are shown, and so many bytes kept.
const SHOWN_OUTPUT: usize = 200;
const KEPT_OUTPUT: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Turn {
    pub number: usize,
    pub began: Duration,
    pub step: Step,
    actions: VecDeque<Action>,
    declined: bool,
}

/// What the turn is at.
#[derive(Debug)]
pub(super) enum Step {
    /// The next action can begin.
    Ready,
    Busy {
        until: Duration,
    },
    /// Busy, and nothing shows it.
    Muted {
        until: Duration,
    },
    Streaming(Stream),
    Running(Command),
    /// The file's old text has been asked for.
    Reading {
        path: String,
        text: String,
    },
    /// The file is being written.
    Writing {
        path: String,
        text: String,
    },
    Asking(Dialog, Purpose),
}

#[derive(Debug)]
pub(super) struct Stream {
    /// The row that still grows.
    pub row: String,
    text: String,
    said: usize,
    left: usize,
    pub next: Duration,
}

#[derive(Debug)]
pub(super) struct Command {
    command: String,
    output: String,
    lines: usize,
}

/// What a dialog is about, and so what follows from its answer.
#[derive(Debug)]
pub(super) enum Purpose {
    Run(String),
    Write { path: String, text: String },
    Answer,
    Trust,
    Limit,
}

impl Turn {
    pub(super) fn new(number: usize, prompt: &str, now: Duration) -> Self {
        Self {
            number,
            began: now,
            step: Step::Ready,
            actions: actions_for(prompt).into(),
            declined: false,
        }
    }
}

impl Agent {
    pub(super) fn dialog(&self) -> Option<&Dialog> {
        match &self.turn.as_ref()?.step {
            Step::Asking(dialog, _) => Some(dialog),
            Step::Ready
            | Step::Busy { .. }
            | Step::Muted { .. }
            | Step::Streaming(_)
            | Step::Running(_)
            | Step::Reading { .. }
            | Step::Writing { .. } => None,
        }
    }

    /// Goes as far as it can without waiting for time, a person or an effect.
    pub(super) fn advance(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        while let Some(turn) = &mut self.turn {
            match &turn.step {
                Step::Ready => match turn.actions.pop_front() {
                    Some(action) => self.begin(action, now, effects),
                    None => self.end_turn("done", now, effects),
                },
                Step::Busy { until } | Step::Muted { until } if now >= *until => {
                    turn.step = Step::Ready;
                }
                Step::Streaming(stream) if now >= stream.next => self.stream_on(now, effects),
                Step::Busy { .. }
                | Step::Muted { .. }
                | Step::Streaming(_)
                | Step::Running(_)
                | Step::Reading { .. }
                | Step::Writing { .. }
                | Step::Asking(..) => return,
            }
        }
    }

    fn begin(&mut self, action: Action, now: Duration, effects: &mut Vec<Effect>) {
        match action {
            Action::Think => self.step(Step::Busy {
                until: now + self.think,
            }),
            Action::Busy(time) => self.step(Step::Busy { until: now + time }),
            Action::Mute(time) => self.step(Step::Muted { until: now + time }),
            Action::Stream(words) => self.step(Step::Streaming(Stream {
                row: String::new(),
                text: String::new(),
                said: 0,
                left: words,
                next: now,
            })),
            Action::Run(command) if self.memory.allowed => self.run(command, effects),
            Action::Run(command) => {
                self.ask(Dialog::command(&command), Purpose::Run(command), effects)
            }
            Action::Write { path, text } => {
                effects.push(Effect::ReadFile(path.clone()));
                self.step(Step::Reading { path, text });
            }
            Action::Ask { question, choices } => {
                self.ask(
                    Dialog::question(&question, &choices),
                    Purpose::Answer,
                    effects,
                );
            }
            Action::Trust => self.ask(Dialog::trust(&self.directory), Purpose::Trust, effects),
            Action::Limit => self.ask(Dialog::limit(), Purpose::Limit, effects),
            Action::TodoAdd(texts) => {
                let todos = texts.into_iter().map(|text| Todo { text, done: false });
                self.memory.todos.extend(todos);
                self.show_todos(effects);
            }
            Action::TodoDone(number) => self.finish_todo(number.wrapping_sub(1), effects),
            Action::TodoFinish(text) => {
                let place = self.memory.todos.iter().rposition(|todo| todo.text == text);
                self.finish_todo(place.unwrap_or(usize::MAX), effects);
            }
            Action::Lines(count) => {
                effects.push(Effect::Print(reply::numbered_lines(count)));
                self.record(
                    Entry::assistant(self.memory.turns(), &format!("Printed {count} lines.")),
                    effects,
                );
            }
            Action::Print(text) => {
                let rows = wrap(&text, self.size.columns);
                effects.push(Effect::Print(rows.map(|row| Line::plain(&row)).collect()));
                self.record(Entry::assistant(self.memory.turns(), &text), effects);
            }
            Action::ClearScreen => effects.push(Effect::ClearScreen),
            Action::Title(text) => {
                self.record(Entry::system(&text, json!({ "event": "title" })), effects);
            }
            Action::Allow => {
                self.record(Entry::system("", json!({ "event": "allow" })), effects);
                self.say("From now on I do not ask in this session.", effects);
            }
            Action::Recall => self.say(&reply::recall(&self.memory), effects),
            Action::Help => self.say(&reply::help(), effects),
            Action::Say(text) => self.say(&text, effects),
            Action::Answer => self.say(&reply::answer(&self.memory), effects),
            Action::TourReport => {
                let declined = self.turn.as_ref().is_some_and(|turn| turn.declined);
                self.say(reply::tour_report(declined), effects);
            }
            Action::IfAllowed(action) => {
                if self.turn.as_ref().is_some_and(|turn| !turn.declined) {
                    self.begin(*action, now, effects);
                }
            }
            Action::Complain(text) => self.say(&text, effects),
            Action::Exit(code) => {
                self.end_turn("exit", now, effects);
                self.queue.clear();
                effects.push(Effect::Leave(code));
            }
            Action::Crash => effects.push(Effect::Crash),
            Action::IgnoreSignals => {
                self.ignores_signals = true;
                effects.push(Effect::IgnoreSignals);
                self.say(
                    "Signals and interrupt keys do not reach me any more.",
                    effects,
                );
            }
            Action::Spawn(time) => {
                let seconds = time.as_secs_f64();
                effects.push(Effect::StartBackground(format!(
                    "trap '' HUP; exec sleep {seconds}"
                )));
                self.say(
                    &format!("Started a child that sleeps for {seconds} s and ignores SIGHUP."),
                    effects,
                );
            }
            Action::Daemonize(time) => {
                let seconds = time.as_secs_f64();
                effects.push(Effect::StartBackground(reply::detached(seconds)));
                self.say(
                    &format!(
                        "Started a child that sleeps for {seconds} s in a session of its own."
                    ),
                    effects,
                );
            }
        }
    }

    fn step(&mut self, step: Step) {
        if let Some(turn) = &mut self.turn {
            turn.step = step;
        }
    }

    /// Opens the dialog; where nobody can answer, the answer is no.
    fn ask(&mut self, dialog: Dialog, purpose: Purpose, effects: &mut Vec<Effect>) {
        let heading = dialog.heading.clone();
        self.step(Step::Asking(dialog, purpose));
        match self.audience {
            Audience::Terminal => {}
            Audience::Pipe => {
                self.show_note(
                    Ink::Dim,
                    &format!("{heading}: there is no terminal to ask on."),
                    effects,
                );
                self.decline(effects);
            }
        }
    }

    /// The person has decided on the open dialog.
    pub(super) fn decided(&mut self, outcome: Outcome, now: Duration, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        let Step::Asking(dialog, purpose) = std::mem::replace(&mut turn.step, Step::Ready) else {
            return;
        };
        let chosen = match outcome {
            Outcome::Chose(choice) => choice,
            Outcome::Open => return self.step(Step::Asking(dialog, purpose)),
            Outcome::Cancelled if matches!(purpose, Purpose::Trust) => {
                return self.begin(Action::Exit(0), now, effects);
            }
            Outcome::Cancelled | Outcome::Amend => {
                let subject = dialog.subject.unwrap_or_else(|| dialog.question.clone());
                self.record(
                    Entry::tool(
                        "cancelled",
                        json!({ "tool": dialog.heading, "subject": subject }),
                    ),
                    effects,
                );
                return self.stop_turn(now, effects);
            }
        };
        match purpose {
            Purpose::Run(_) | Purpose::Write { .. } if chosen > YES_ALWAYS => {
                self.show_note(Ink::Dim, "Declined: I leave it.", effects);
                self.decline(effects);
            }
            Purpose::Run(command) => {
                self.allow_if(chosen, effects);
                self.run(command, effects);
            }
            Purpose::Write { path, text } => {
                self.allow_if(chosen, effects);
                self.write(path, text, effects);
            }
            Purpose::Answer => {
                let choice = dialog.choices.get(chosen).cloned().unwrap_or_default();
                self.record(
                    Entry::tool(
                        &choice,
                        json!({ "tool": "question", "question": dialog.question }),
                    ),
                    effects,
                );
                self.say(&format!("You chose: {choice}"), effects);
            }
            // In both, the first choice is the safe one.
            Purpose::Trust if chosen == 0 => self.begin(Action::Exit(1), now, effects),
            Purpose::Trust => self.say("Thank you for your trust.", effects),
            Purpose::Limit if chosen == 0 => self.end_turn("limit", now, effects),
            Purpose::Limit => self.say("On we go.", effects),
        }
    }

    fn allow_if(&mut self, chosen: usize, effects: &mut Vec<Effect>) {
        if chosen != YES {
            self.record(Entry::system("", json!({ "event": "allow" })), effects);
        }
    }

    fn decline(&mut self, effects: &mut Vec<Effect>) {
        if let Some(turn) = &mut self.turn {
            turn.declined = true;
            turn.step = Step::Ready;
        }
        self.record(
            Entry::tool("declined", json!({ "declined": true })),
            effects,
        );
    }

    fn run(&mut self, command: String, effects: &mut Vec<Effect>) {
        self.show_block(&format!("Bash({command})"), effects);
        effects.push(Effect::RunCommand(command.clone()));
        self.step(Step::Running(Command {
            command,
            output: String::new(),
            lines: 0,
        }));
    }

    pub(super) fn command_said(&mut self, text: &str, effects: &mut Vec<Effect>) {
        let columns = self.size.columns;
        let Some(Turn {
            step: Step::Running(running),
            ..
        }) = &mut self.turn
        else {
            return;
        };
        if running.lines < SHOWN_OUTPUT {
            effects.push(Effect::Print(reply::output(
                running.lines == 0,
                text,
                columns,
            )));
        }
        running.lines += 1;
        if running.output.len() + text.len() < KEPT_OUTPUT {
            running.output.push_str(text);
            running.output.push('\n');
        }
    }

    pub(super) fn command_ended(&mut self, status: Option<i32>, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        let Step::Running(ran) = std::mem::replace(&mut turn.step, Step::Ready) else {
            return;
        };
        let columns = self.size.columns;
        if ran.lines == 0 {
            effects.push(Effect::Print(reply::output(true, "(no output)", columns)));
        } else if ran.lines > SHOWN_OUTPUT {
            let more = format!("… +{} lines", ran.lines - SHOWN_OUTPUT);
            effects.push(Effect::Print(reply::output(false, &more, columns)));
        }
        if status != Some(0) {
            let how = status.map_or("killed".to_owned(), |code| format!("exit status {code}"));
            effects.push(Effect::Print(reply::output(false, &how, columns)));
        }
        self.record(
            Entry::tool(
                &ran.output,
                json!({ "tool": "Bash", "command": ran.command, "status": status }),
            ),
            effects,
        );
    }

    pub(super) fn file_read(&mut self, old: Option<&str>, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        let Step::Reading { path, text } = std::mem::replace(&mut turn.step, Step::Ready) else {
            return;
        };
        if self.memory.allowed {
            return self.write(path, text, effects);
        }
        let dialog = Dialog::edit(&path, diff::rows(old, &text));
        self.ask(dialog, Purpose::Write { path, text }, effects);
    }

    fn write(&mut self, path: String, text: String, effects: &mut Vec<Effect>) {
        self.show_block(&format!("Write({path})"), effects);
        effects.push(Effect::WriteFile {
            path: path.clone(),
            text: text.clone(),
        });
        self.step(Step::Writing { path, text });
    }

    pub(super) fn file_written(&mut self, result: Result<(), String>, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        let Step::Writing { path, text } = std::mem::replace(&mut turn.step, Step::Ready) else {
            return;
        };
        let outcome = match result {
            Ok(()) => format!("Wrote {} lines to {path}", text.lines().count()),
            Err(error) => format!("Could not write {path}: {error}"),
        };
        effects.push(Effect::Print(reply::output(
            true,
            &outcome,
            self.size.columns,
        )));
        self.record(
            Entry::tool(&outcome, json!({ "tool": "Write", "path": path })),
            effects,
        );
    }

    fn finish_todo(&mut self, place: usize, effects: &mut Vec<Effect>) {
        match self.memory.todos.get_mut(place) {
            Some(todo) => {
                todo.done = true;
                self.show_todos(effects);
            }
            None => self.say("There is no such todo.", effects),
        }
    }

    fn show_todos(&mut self, effects: &mut Vec<Effect>) {
        effects.push(Effect::Print(reply::todos(
            &self.memory.todos,
            self.size.columns,
        )));
        let entry = self.memory.todo_entry();
        self.record(entry, effects);
    }

    fn stream_on(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        let columns = self.size.columns.saturating_sub(3);
        let Some(Turn {
            step: Step::Streaming(stream),
            ..
        }) = &mut self.turn
        else {
            return;
        };
        if stream.left == 0 {
            return self.end_stream(effects);
        }
        let word = reply::stream_word(stream.said);
        stream.left -= 1;
        stream.said += 1;
        stream.next = now + WORD_EVERY;
        if !stream.text.is_empty() {
            stream.text.push(' ');
        }
        stream.text.push_str(word);
        if stream.row.is_empty() {
            // A blank row sets the answer off; printed now, so that the live region need not.
            effects.push(Effect::Print(vec![Line::blank()]));
            stream.row = format!("● {word}");
        } else if width_of(&stream.row) + 1 + word.len() > columns {
            // A full row does not change any more: it belongs to the scrollback.
            let full = std::mem::replace(&mut stream.row, format!("  {word}"));
            effects.push(Effect::Print(vec![reply::streamed(&full)]));
        } else {
            stream.row.push(' ');
            stream.row.push_str(word);
        }
    }

    fn end_stream(&mut self, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        if let Step::Streaming(stream) = std::mem::replace(&mut turn.step, Step::Ready) {
            effects.push(Effect::Print(vec![reply::streamed(&stream.row)]));
            self.record(Entry::assistant(self.memory.turns(), &stream.text), effects);
        }
    }

    /// Esc, or ctrl-c: the turn stops where it is; what it said so far is kept.
    pub(super) fn interrupt(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        if !self.ignores_signals {
            self.stop_turn(now, effects);
        }
    }

    fn stop_turn(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        match self.turn.as_ref().map(|turn| &turn.step) {
            Some(Step::Streaming(_)) => self.end_stream(effects),
            Some(Step::Running(_)) => {
                effects.push(Effect::StopCommand);
                self.command_ended(None, effects);
            }
            Some(_) | None => {}
        }
        self.show_note(
            Ink::Bad,
            "Interrupted · What should the demo agent do instead?",
            effects,
        );
        // What was queued goes back into the box, in front of what is there.
        let draft = self.editor.take();
        let queued = std::mem::take(&mut self.queue);
        let drafts: Vec<String> = queued
            .into_iter()
            .chain([draft])
            .filter(|text| !text.is_empty())
            .collect();
        self.editor.paste(drafts.join("\n"));
        self.end_turn("interrupted", now, effects);
    }

    fn end_turn(&mut self, outcome: &str, now: Duration, effects: &mut Vec<Effect>) {
        let Some(turn) = self.turn.take() else { return };
        let seconds = now.saturating_sub(turn.began).as_secs();
        if outcome == "done" {
            effects.push(Effect::Print(vec![
                Line::blank(),
                Line::new(Ink::Dim, &format!("✻ Worked for {seconds}s")),
            ]));
        }
        self.record(
            Entry::system("", json!({ "event": "turn_end", "turn": turn.number, "outcome": outcome, "seconds": seconds })),
            effects,
        );
        if let Some(prompt) = self.queue.pop_front() {
            self.begin_turn(&prompt, now, effects);
        }
    }
}
