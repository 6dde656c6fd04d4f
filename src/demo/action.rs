//! What the agent can be told to do.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Appears busy.
    Think,
    Busy(Duration),
    Mute(Duration),
    Stream(usize),
    Run(String),
    Write {
        path: String,
        text: String,
    },
    Ask {
        question: String,
        choices: Vec<String>,
    },
    TodoAdd(Vec<String>),
    TodoDone(usize),
    /// As `TodoDone`, by its text.
    TodoFinish(String),
    Lines(usize),
    Print(String),
    ClearScreen,
    Title(String),
    Allow,
    Trust,
    Limit,
    /// A limit that ends the turn and says when it resets.
    LimitUntil(String),
    Recall,
    Help,
    Say(String),
    /// An answer to prose.
    Answer,
    /// The end of the tour: its result.
    TourReport,
    /// Done only if nothing was declined in this turn.
    IfAllowed(Box<Self>),
    Complain(String),
    Exit(u8),
    Crash,
    IgnoreSignals,
    Spawn(Duration),
    Daemonize(Duration),
}
