//! What the agent is and does at one moment, as data; how that changes is in `agent`, `turn`, `tool`
//! and `stream`.

use std::collections::VecDeque;
use std::time::Duration;

use super::action::Action;
use super::dialog::Dialog;
use super::editor::Editor;
use super::memory::Memory;
use super::paint::Line;
use super::session::SessionEntry;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// Whether the user can see and answer a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    Terminal,
    Pipe,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Effect {
    Print(Vec<Line>),
    Record(SessionEntry),
    RunCommand(String),
    StopCommand,
    ReadFile(String),
    WriteFile {
        path: String,
        text: String,
    },
    /// A shell script that runs in the background.
    StartBackground(String),
    ClearScreen,
    IgnoreSignals,
    Leave(u8),
    Crash,
}

/// The key that exits when it is pressed again.
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
    /// How long it appears busy before it answers.
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
    /// Whether the user has declined something.
    pub declined: bool,
    pub actions: VecDeque<Action>,
}

/// The current step of the turn.
#[derive(Debug)]
pub(super) enum Step {
    /// The next action can begin.
    Ready,
    Busy {
        until: Duration,
    },
    /// Busy, without showing it.
    Muted {
        until: Duration,
    },
    Streaming(Stream),
    Running(Command),
    /// The old text of the file is being read.
    Reading(Edit),
    Writing(Edit),
    Asking(Dialog, Purpose),
}

/// How a turn ended.
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

/// A file and its new content.
#[derive(Debug)]
pub(super) struct Edit {
    pub path: String,
    pub text: String,
}

/// The subject of a dialog, which decides what follows the answer.
#[derive(Debug)]
pub(super) enum Purpose {
    Run(String),
    Write(Edit),
    Answer,
    Trust,
    Limit,
}
