//! The only place that writes to the terminal: results to standard output, everything else to standard error.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use serde::Serialize;
use serde_json::json;

use super::common::{ColorWhen, Common};
use super::report::Report;

#[derive(Debug, Clone)]
pub(super) struct Output {
    json: bool,
    quiet: bool,
    verbose: bool,
    color: ColorChoice,
}

impl Output {
    pub(super) fn new(common: &Common) -> Self {
        Self {
            json: common.json,
            quiet: common.quiet,
            verbose: common.verbose,
            color: match common.color {
                ColorWhen::Auto => ColorChoice::Auto,
                ColorWhen::Always => ColorChoice::Always,
                ColorWhen::Never => ColorChoice::Never,
            },
        }
    }

    pub(super) fn wants_json(&self) -> bool {
        self.json
    }

    /// Whether notes are printed.
    pub(super) fn prints_notes(&self) -> bool {
        !self.quiet && !self.json
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub(super) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Whether input and output are terminals, so that the user can be asked.
    pub(super) fn can_ask(&self) -> bool {
        !self.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Whether results are coloured.
    pub(super) fn is_coloured(&self) -> bool {
        match self.color {
            ColorChoice::Always | ColorChoice::AlwaysAnsi => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => AutoStream::choice(&std::io::stdout()) != ColorChoice::Never,
        }
    }

    /// Prints the result as JSON on request, else as `text`.
    pub(super) fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> ExitCode {
        if self.json {
            self.json(value)
        } else {
            self.text(&text())
        }
    }

    /// Prints what a command has done. With `-q` its exit status is enough.
    pub(super) fn done(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> ExitCode {
        if self.quiet && !self.json {
            return ExitCode::SUCCESS;
        }
        self.result(value, text)
    }

    /// Prints JSON on one line, as the end of a stream.
    pub(super) fn json_line(&self, value: &impl Serialize) -> ExitCode {
        let mut text = serde_json::to_string(value).unwrap_or_default();
        text.push('\n');
        self.bytes(text.as_bytes())
    }

    pub(super) fn json(&self, value: &impl Serialize) -> ExitCode {
        let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
        text.push('\n');
        self.bytes(text.as_bytes())
    }

    /// Prints a text, with colours where they are enabled.
    pub(super) fn text(&self, text: &str) -> ExitCode {
        if text.is_empty() {
            return ExitCode::SUCCESS;
        }
        // Written at once: a stream that looks for colours writes each line on its own.
        let mut shown = match self.is_coloured() {
            true => text.to_owned(),
            false => anstream::adapter::strip_str(text).to_string(),
        };
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        self.bytes(shown.as_bytes())
    }

    /// Prints a part of a stream; an exit status where standard output was closed.
    pub(super) fn stream(&self, text: &str) -> Option<ExitCode> {
        let mut stdout = AutoStream::new(std::io::stdout().lock(), self.color);
        match stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
        {
            Ok(()) => None,
            Err(error) => Some(ended(Err(error))),
        }
    }

    /// Prints bytes unchanged.
    pub(super) fn bytes(&self, bytes: &[u8]) -> ExitCode {
        let mut stdout = std::io::stdout().lock();
        ended(stdout.write_all(bytes).and_then(|()| stdout.flush()))
    }

    /// Prints a note to standard error.
    pub(super) fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            self.stderr(text);
        }
    }

    /// The same, only with `-v`.
    pub(super) fn detail(&self, text: &str) {
        if self.verbose {
            self.stderr(text);
        }
    }

    /// Asks a yes/no question; an empty answer is no.
    pub(super) fn confirm(&self, question: &str) -> bool {
        let mut stderr = AutoStream::new(std::io::stderr().lock(), self.color);
        // A question that cannot be shown is not answered with yes.
        if write!(stderr, "{question} [y/N] ")
            .and_then(|()| stderr.flush())
            .is_err()
        {
            return false;
        }
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).is_ok()
            && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
    }

    /// Asks for a line; None if there is none to be had.
    pub(super) fn ask(&self, question: &str) -> Option<String> {
        let mut stderr = AutoStream::new(std::io::stderr().lock(), self.color);
        write!(stderr, "{question} ")
            .and_then(|()| stderr.flush())
            .ok()?;
        let mut answer = String::new();
        let read = std::io::stdin().read_line(&mut answer).ok()?;
        (read > 0).then(|| answer.trim().to_owned())
    }

    /// Prints an error, as text or as JSON.
    pub(super) fn fail(&self, report: &Report) -> ExitCode {
        if self.json {
            let hint = report.hints.first();
            let mut error = json!({
                "code": report.code,
                "message": report.message,
                "hint": hint,
                "causes": report.causes,
            });
            if let Some(details) = &report.details {
                error["details"] = details.clone();
            }
            self.json(&json!({ "error": error }));
        } else {
            self.stderr(&report.to_string());
        }
        ExitCode::from(report.exit)
    }

    fn stderr(&self, text: &str) {
        let mut stderr = AutoStream::new(std::io::stderr().lock(), self.color);
        // Where standard error is closed, there is no other place to report it.
        drop(writeln!(stderr, "{text}"));
    }
}

/// A reader that closes the pipe early (`biv list | head -1`) is no failure.
fn ended(written: std::io::Result<()>) -> ExitCode {
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
