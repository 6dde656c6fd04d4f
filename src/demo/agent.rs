//! The agent's state and its update function: inputs in, effects out. Pure: no clock, no files, no terminal.
//! Each input has a time, and the result of an effect is an input again.

use std::time::Duration;

use serde_json::json;

use super::dialog::Outcome;
use super::keyboard::{Key, Typed};
use super::paint::{Ink, Line, block, short_block};
use super::reply;
use super::session::SessionEntry;
use super::state::{Agent, Effect, ExitKey, Size, Step, Turn};

/// How long "press again to exit" holds.
const EXIT_WINDOW: Duration = Duration::from_secs(2);
/// How many rows of a submitted prompt are shown.
const ECHO_ROWS: usize = 12;

#[derive(Debug)]
pub(super) enum Input {
    Start {
        prompt: Option<String>,
    },
    Typed(Typed),
    Resized(Size),
    /// Time has passed.
    Tick,
    CommandSaid(String),
    CommandEnded(Option<i32>),
    /// The current content of the file to be edited.
    FileRead(Option<String>),
    FileWritten(Result<(), String>),
    /// Standard input has ended: exit when everything is done.
    NoMore,
    Trouble(String),
}

impl Agent {
    pub(super) fn update(&mut self, input: Input, now: Duration) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Start { prompt } => {
                if let Some(prompt) = prompt {
                    self.submit(prompt, now, &mut effects);
                }
            }
            Input::Typed(Typed::Key(key)) => self.press(key, now, &mut effects),
            Input::Typed(Typed::Paste(text)) => {
                // A dialog takes keys only; a paste is ignored.
                if self.dialog().is_none() {
                    self.exit_hint = None;
                    self.editor.paste(text);
                }
            }
            Input::Resized(size) => self.size = size,
            Input::Tick => {}
            Input::CommandSaid(text) => self.command_said(&text, &mut effects),
            Input::CommandEnded(status) => self.command_ended(status, &mut effects),
            Input::FileRead(old) => self.file_read(old.as_deref(), &mut effects),
            Input::FileWritten(result) => self.file_written(result, &mut effects),
            Input::NoMore => self.leaves_when_idle = true,
            Input::Trouble(text) => effects.push(Effect::Print(reply::note(
                Ink::Bad,
                &text,
                self.size.columns,
            ))),
        }
        self.advance(now, &mut effects);
        if self.exit_hint.is_some_and(|(_, until)| now >= until) {
            self.exit_hint = None;
        }
        if self.leaves_when_idle && self.turn.is_none() {
            effects.push(Effect::Leave(0));
        }
        effects
    }

    fn press(&mut self, key: Key, now: Duration, effects: &mut Vec<Effect>) {
        if let Some(Turn {
            step: Step::Asking(dialog, _),
            ..
        }) = &mut self.turn
        {
            match dialog.press(key) {
                Outcome::Open => {}
                outcome => self.decided(outcome, now, effects),
            }
            return;
        }
        let hint = self.exit_hint.take();
        match key {
            Key::Esc if self.turn.is_some() => self.interrupt(now, effects),
            Key::Ctrl('c') if self.turn.is_some() => self.interrupt(now, effects),
            Key::Ctrl('c') => {
                self.editor.clear();
                self.press_exit(ExitKey::CtrlC, hint, now, effects);
            }
            Key::Ctrl('d') if self.editor.is_empty() => {
                self.press_exit(ExitKey::CtrlD, hint, now, effects);
            }
            Key::Enter => {
                if !self.editor.is_empty() {
                    let prompt = self.editor.take();
                    self.submit(prompt, now, effects);
                }
            }
            Key::Char(character) => self.editor.insert(character.encode_utf8(&mut [0; 4])),
            Key::Newline => self.editor.insert("\n"),
            Key::Backspace => self.editor.backspace(),
            Key::Ctrl('u') => self.editor.clear(),
            Key::Esc | Key::Tab | Key::Up | Key::Down | Key::Ctrl(_) => {}
        }
    }

    fn press_exit(
        &mut self,
        key: ExitKey,
        hint: Option<(ExitKey, Duration)>,
        now: Duration,
        effects: &mut Vec<Effect>,
    ) {
        if self.ignores_signals {
            return;
        }
        match hint {
            Some((pressed, until)) if pressed == key && now < until => {
                effects.push(Effect::Leave(0));
            }
            Some(_) | None => self.exit_hint = Some((key, now + EXIT_WINDOW)),
        }
    }

    fn submit(&mut self, prompt: String, now: Duration, effects: &mut Vec<Effect>) {
        if self.turn.is_some() {
            // Written at once: a submitted prompt survives a kill.
            self.record(
                SessionEntry::system(&prompt, json!({ "event": "queued" })),
                effects,
            );
            self.queue.push_back(prompt);
        } else {
            self.begin_turn(&prompt, now, effects);
        }
    }

    pub(super) fn begin_turn(&mut self, prompt: &str, now: Duration, effects: &mut Vec<Effect>) {
        let number = self.memory.turns() + 1;
        self.record(SessionEntry::user(number, prompt), effects);
        let mut lines = vec![Line::blank()];
        lines.extend(short_block(
            (Ink::Dim, "❯ "),
            Ink::Bold,
            prompt.trim_end_matches('\n'),
            self.size.columns,
            ECHO_ROWS,
        ));
        effects.push(Effect::Print(lines));
        self.turn = Some(Turn::new(number, prompt, now));
    }

    /// Adds an entry to the session file and to the memory, so that the two never differ.
    pub(super) fn record(&mut self, entry: SessionEntry, effects: &mut Vec<Effect>) {
        self.memory.learn(&entry);
        effects.push(Effect::Record(entry));
    }

    /// A block of the answer: shown and recorded.
    pub(super) fn say(&mut self, text: &str, effects: &mut Vec<Effect>) {
        self.show_block(text, effects);
        self.record(SessionEntry::assistant(self.memory.turns(), text), effects);
    }

    pub(super) fn show_block(&self, text: &str, effects: &mut Vec<Effect>) {
        let mut lines = vec![Line::blank()];
        lines.extend(block(
            (Ink::Accent, "● "),
            Ink::Plain,
            text,
            self.size.columns,
        ));
        effects.push(Effect::Print(lines));
    }

    pub(super) fn show_note(&self, ink: Ink, text: &str, effects: &mut Vec<Effect>) {
        effects.push(Effect::Print(reply::note(ink, text, self.size.columns)));
    }
}
