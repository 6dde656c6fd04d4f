//! The home of this process and the engine for it.

use std::process::ExitCode;

use super::report::Report;
use crate::config::Home;
use crate::engine::{Engine, Error};

/// The result of a command: its exit status or an error.
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
