//! The progress of an operation, on standard error.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use super::interrupts::Interrupts;
use super::output::Output;
use crate::engine::Progress;
use crate::lifecycle::{Operation, Step};
use crate::model::Title;

/// On a terminal one line that is overwritten; with `-v` one line per step; else nothing.
#[derive(Debug)]
pub(super) struct StepLine<'a> {
    output: &'a Output,
    title: String,
    live: bool,
    started: Instant,
    shown: bool,
    interrupts: Option<Interrupts>,
}

impl<'a> StepLine<'a> {
    pub(super) fn new(output: &'a Output, title: &str) -> Self {
        Self {
            output,
            title: title.to_owned(),
            live: output.prints_notes() && std::io::stderr().is_terminal(),
            started: Instant::now(),
            shown: false,
            interrupts: None,
        }
    }

    /// Lets signals interrupt the operation in steps that check for it.
    pub(super) fn interrupted_by(mut self, interrupts: &Interrupts) -> Self {
        self.interrupts = Some(interrupts.clone());
        self
    }

    fn show(&mut self, line: &str) {
        if self.live {
            self.clear();
            // Progress is lost where standard error is closed; the operation continues.
            drop(write!(std::io::stderr(), "{line}").and_then(|()| std::io::stderr().flush()));
            self.shown = true;
        }
    }

    fn clear(&mut self) {
        if self.shown {
            // As above.
            drop(write!(std::io::stderr(), "\r\x1b[K"));
            self.shown = false;
        }
    }
}

impl Progress for StepLine<'_> {
    fn step(&mut self, operation: Operation, step: Step) {
        if let Some(interrupts) = &self.interrupts {
            // A set-up command may run for long. On Ctrl+C it is ended before its directory is removed.
            interrupts.answer_in_setup(step == Step::SetupWorktree);
        }
        if self.output.is_verbose() {
            let elapsed = self.started.elapsed().as_millis();
            self.output.detail(&format!(
                "{} {}: {} ({elapsed} ms)",
                operation.name(),
                self.title,
                step.name()
            ));
        } else {
            self.show(&format!("{}: {}…", self.title, step.progress()));
        }
    }

    fn note(&mut self, text: &str) {
        self.clear();
        self.output.say(text);
    }

    fn turn_of(&mut self, title: &Title) {
        self.title = title.to_string();
        self.started = Instant::now();
    }

    fn waiting(&mut self, what: &str) {
        self.show(&format!("{}: {what}…", self.title));
    }

    fn is_interrupted(&self) -> bool {
        let interrupts = self.interrupts.as_ref();
        interrupts.is_some_and(|interrupts| interrupts.count() > 0)
    }
}

/// The progress of a request to several instances: how many are done, on a terminal.
#[derive(Debug)]
pub(super) struct CountLine<'a> {
    line: StepLine<'a>,
    done: &'static str,
}

impl<'a> CountLine<'a> {
    /// `done` is the state that they reach: `paused`.
    pub(super) fn new(output: &'a Output, done: &'static str) -> Self {
        Self {
            line: StepLine::new(output, ""),
            done,
        }
    }

    /// Lets signals end the request: no further instance is begun.
    pub(super) fn interrupted_by(mut self, interrupts: &Interrupts) -> Self {
        self.line = self.line.interrupted_by(interrupts);
        self
    }
}

impl Progress for CountLine<'_> {
    fn step(&mut self, _: Operation, _: Step) {}

    fn note(&mut self, text: &str) {
        self.line.note(text);
    }

    fn count(&mut self, done: usize, of: usize) {
        self.line.show(&format!("{} {done} of {of}", self.done));
    }

    fn is_interrupted(&self) -> bool {
        self.line.is_interrupted()
    }
}

impl Drop for StepLine<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}
