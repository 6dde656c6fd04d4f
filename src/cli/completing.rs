//! Completion candidates: for each command only the instances that it can act on.

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use super::context::engine;
use super::new::current_dir;
use crate::engine::Engine;
use crate::model::RestingState;

/// Which instances a command can act on.
#[derive(Debug, Clone, Copy)]
enum Eligible {
    Living,
    Running,
    /// Stopped, and able to continue.
    Stopped,
    Killed,
    Any,
}

impl Eligible {
    fn holds(self, state: RestingState) -> bool {
        match self {
            Self::Living => state != RestingState::Killed,
            Self::Running => state == RestingState::Running,
            Self::Stopped => !matches!(
                state,
                RestingState::Running | RestingState::Away | RestingState::Killed
            ),
            Self::Killed => state == RestingState::Killed,
            Self::Any => true,
        }
    }

    /// The instances that this command can act on.
    fn of(command: &str) -> Self {
        match command {
            "pause" => Self::Running,
            "resume" | "export" => Self::Stopped,
            "undo-kill" => Self::Killed,
            "log" | "runs" | "snapshots" | "audit" | "usage" => Self::Any,
            _ => Self::Living,
        }
    }
}

/// The kind of shell, which decides how a candidate is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompletingShell {
    /// Inserts a candidate as it is.
    Bash,
    /// Quotes a candidate itself.
    Other,
}

impl CompletingShell {
    /// To be called before `CompleteEnv`, which removes the variable.
    pub(super) fn of_environment() -> Self {
        if std::env::var_os("COMPLETE").is_some_and(|shell| shell == "bash") {
            Self::Bash
        } else {
            Self::Other
        }
    }
}

/// Adds completion to every argument that names an existing thing.
pub(super) fn complete(command: Command, shell: CompletingShell) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(|arg| {
            let candidates = match arg.get_id().as_str() {
                "instance" | "instances" => instances(Eligible::of(&name), shell),
                "agent" => agents(),
                "branch" | "base" => branches(shell),
                "host" | "to" | "remote" => hosts(),
                "name" if matches!(name.as_str(), "remove" | "check" | "install") => hosts(),
                _ => return arg,
            };
            Arg::add(arg, candidates)
        })
        .mut_subcommands(|sub| complete(sub, shell))
}

fn offer(
    find: impl Fn(&Engine) -> Vec<CompletionCandidate> + Send + Sync + 'static,
) -> ArgValueCandidates {
    ArgValueCandidates::new(move || engine().map(|engine| find(&engine)).unwrap_or_default())
}

fn instances(eligible: Eligible, shell: CompletingShell) -> ArgValueCandidates {
    offer(move |engine| {
        engine
            .names(|state| eligible.holds(state))
            .into_iter()
            .map(|(id, title)| (title.as_str().to_owned(), id.as_str().to_owned()))
            .chain(engine.known_on_hosts())
            .map(|(title, id)| CompletionCandidate::new(typed(&title, shell)).help(Some(id.into())))
            .collect()
    })
}

fn hosts() -> ArgValueCandidates {
    offer(|engine| {
        let names = engine.host_names().into_iter();
        names
            .map(|name| CompletionCandidate::new(name.as_str()))
            .collect()
    })
}

fn agents() -> ArgValueCandidates {
    offer(|engine| {
        engine
            .agent_names()
            .into_iter()
            .map(|(name, display)| CompletionCandidate::new(name).help(Some(display.into())))
            .collect()
    })
}

fn branches(shell: CompletingShell) -> ArgValueCandidates {
    offer(move |engine| {
        let directory = current_dir().unwrap_or_default();
        engine
            .branches(&directory)
            .into_iter()
            .map(|branch| CompletionCandidate::new(typed(&branch, shell)))
            .collect()
    })
}

/// As it must be written on the command line.
fn typed(text: &str, shell: CompletingShell) -> String {
    if shell == CompletingShell::Other {
        return text.to_owned();
    }
    let mut typed = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii() && !letter.is_ascii_alphanumeric() && !"-_./:@%+,".contains(letter) {
            typed.push('\\');
        }
        typed.push(letter);
    }
    typed
}
