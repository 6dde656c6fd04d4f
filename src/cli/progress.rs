//! An operation, told step by step on standard error.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use super::output::Output;
use crate::engine::Progress;
use crate::lifecycle::{Operation, Step};

/// On a terminal one line that is written over; with `-v` one line for each step; else nothing.
#[derive(Debug)]
pub(super) struct StepLine<'a> {
    output: &'a Output,
    title: String,
    live: bool,
    started: Instant,
    shown: bool,
}

impl<'a> StepLine<'a> {
    pub(super) fn new(output: &'a Output, title: &str) -> Self {
        Self {
            output,
            title: title.to_owned(),
            live: output.is_talkative() && std::io::stderr().is_terminal(),
            started: Instant::now(),
            shown: false,
        }
    }

    fn clear(&mut self) {
        if self.shown {
            drop(write!(std::io::stderr(), "\r\x1b[K"));
            self.shown = false;
        }
    }
}

impl Progress for StepLine<'_> {
    fn step(&mut self, operation: Operation, step: Step) {
        if self.output.is_verbose() {
            let elapsed = self.started.elapsed().as_millis();
            self.output.detail(&format!(
                "{} {}: {} ({elapsed} ms)",
                operation.name(),
                self.title,
                step.name()
            ));
        } else if self.live {
            self.clear();
            let line = format!("{}: {}…", self.title, step.progress());
            drop(write!(std::io::stderr(), "{line}").and_then(|()| std::io::stderr().flush()));
            self.shown = true;
        }
    }

    fn note(&mut self, text: &str) {
        self.clear();
        self.output.say(text);
    }
}

impl Drop for StepLine<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}
