//! The only place that writes to the terminal: results to standard output, talk to standard error.

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

    /// Whether a person wants to be kept informed.
    pub(super) fn is_talkative(&self) -> bool {
        !self.quiet && !self.json
    }

    pub(super) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Whether a person sits at both ends and can be asked.
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

    /// The result, as JSON if that was asked for, else as `text` says.
    pub(super) fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> ExitCode {
        if self.json {
            self.json(value)
        } else {
            self.text(&text())
        }
    }

    /// What was done, for a command that was asked to do something. With `-q` its exit status says
    /// that.
    pub(super) fn done(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> ExitCode {
        if self.quiet && !self.json {
            return ExitCode::SUCCESS;
        }
        self.result(value, text)
    }

    /// The last word of a stream: as every other of its lines, on one line.
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

    /// A text of ours, with colours where they are wanted.
    pub(super) fn text(&self, text: &str) -> ExitCode {
        if text.is_empty() {
            return ExitCode::SUCCESS;
        }
        let mut stdout = AutoStream::new(std::io::stdout().lock(), self.color);
        let end = if text.ends_with('\n') { "" } else { "\n" };
        ended(
            stdout
                .write_all(text.as_bytes())
                .and_then(|()| stdout.write_all(end.as_bytes())),
        )
    }

    /// A part of a stream; an exit status where nobody reads any more.
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

    /// Bytes as they are.
    pub(super) fn bytes(&self, bytes: &[u8]) -> ExitCode {
        let mut stdout = std::io::stdout().lock();
        ended(stdout.write_all(bytes).and_then(|()| stdout.flush()))
    }

    /// Something that a person may want to know.
    pub(super) fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            self.stderr(text);
        }
    }

    /// The same, for those who want to know more.
    pub(super) fn detail(&self, text: &str) {
        if self.verbose {
            self.stderr(text);
        }
    }

    /// Asks a question that is answered with yes or no; silence is no.
    pub(super) fn confirm(&self, question: &str) -> bool {
        let mut stderr = AutoStream::new(std::io::stderr().lock(), self.color);
        drop(write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush()));
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).is_ok()
            && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
    }

    /// An error in the form that people and scripts rely on.
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
        // There is nobody left to tell that standard error is closed.
        drop(writeln!(stderr, "{text}"));
    }
}

/// A reader that has seen enough (`biv list | head -1`) is no failure.
fn ended(written: std::io::Result<()>) -> ExitCode {
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
