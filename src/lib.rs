#![doc = include_str!("ARCHITECTURE.md")]

mod agents;
mod cli;
mod config;
mod conversation;
mod daemon;
mod demo;
mod detect;
mod engine;
mod git;
mod hosts;
mod lifecycle;
mod logging;
mod model;
mod policy;
mod process;
mod report;
mod seal;
mod store;
mod tmux;
mod tui;
mod vault;

/// Runs the `biv` command with the arguments and environment of this process.
pub fn main() -> std::process::ExitCode {
    cli::run_command()
}
