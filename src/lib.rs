//! Bivouac keeps many coding agents side by side, each in a tmux session over its own git worktree.
//!
//! The modules are private and only [`main`] is exported, so that the compiler sees dead code
//! and the tests talk to the program as its users do.

mod agents;
mod cli;
mod config;
mod conversation;
mod demo;
mod detect;
mod engine;
mod git;
mod lifecycle;
mod model;
mod process;
mod store;
mod tmux;

/// Runs the `biv` command with the arguments and environment of this process.
pub fn main() -> std::process::ExitCode {
    cli::run()
}
