//! What every command starts from: the home of this process, and the engine over it.

use std::process::ExitCode;

use super::report::Report;
use crate::config::Home;
use crate::engine::{Engine, Error};

/// What a command gives back: its exit status, or what went wrong.
pub(super) type CommandResult = Result<ExitCode, Report>;

/// The home of this process.
pub(super) fn home() -> Result<Home, Error> {
    let current = std::env::current_dir().unwrap_or_else(|_| "/".into());
    Ok(Home::from_environment(
        std::env::var_os("BIV_HOME"),
        &current,
    )?)
}

pub(super) fn engine() -> Result<Engine, Error> {
    Engine::open(home()?)
}
