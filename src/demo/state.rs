//! What the agent is and does at one moment, as data; how that changes is in `agent`, `turn`, `tool`
//! and `stream`.

use std::collections::VecDeque;
use std::time::Duration;

use super::action::Action;
use super::dialog::Dialog;
use super::editor::Editor;
use super::memory::Memory;
use super::paint::Line;
use super::session::Entry;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// Whether somebody can see and answer a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    Terminal,
    Pipe,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Effect {
    Print(Vec<Line>),
    Record(Entry),
    RunCommand(String),
    StopCommand,
    ReadFile(String),
    WriteFile {
        path: String,
        text: String,
    },
    /// A shell script whose end nobody waits for.
    StartBackground(String),
    ClearScreen,
    IgnoreSignals,
    Leave(u8),
    Crash,
}

/// The key that, pressed once more, exits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExitKey {
    CtrlC,
    CtrlD,
}

pub(super) struct Agent {
    pub directory: String,
    pub memory: Memory,
    pub size: Size,
    pub audience: Audience,
    /// How long it ponders before it says something.
    pub think: Duration,
    pub editor: Editor,
    pub turn: Option<Turn>,
    pub queue: VecDeque<String>,
    pub exit_hint: Option<(ExitKey, Duration)>,
    pub ignores_signals: bool,
    pub leaves_when_idle: bool,
}

#[derive(Debug)]
pub(super) struct Turn {
    pub number: usize,
    pub began: Duration,
    pub step: Step,
    /// Whether the person has said no to something.
    pub declined: bool,
    pub actions: VecDeque<Action>,
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
    Reading(Edit),
    Writing(Edit),
    Asking(Dialog, Purpose),
}

/// How a turn came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnEnd {
    Done,
    Interrupted,
    UsageLimit,
    Exit,
}

/// An answer that is said word by word.
#[derive(Debug)]
pub(super) struct Stream {
    /// The row that still grows.
    pub row: String,
    pub text: String,
    pub said: usize,
    pub left: usize,
    /// When the next word comes.
    pub next: Duration,
}

/// A shell command under way.
#[derive(Debug)]
pub(super) struct Command {
    pub line: String,
    pub output: String,
    pub lines: usize,
}

/// A file and what it is to hold.
#[derive(Debug)]
pub(super) struct Edit {
    pub path: String,
    pub text: String,
}

/// What a dialog is about, and so what follows from its answer.
#[derive(Debug)]
pub(super) enum Purpose {
    Run(String),
    Write(Edit),
    Answer,
    Trust,
    Limit,
}
