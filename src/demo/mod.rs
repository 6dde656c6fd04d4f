//! The built-in demo agent, for new users and for the lifecycle tests.
//!
//! It behaves like a *foreign* program such as Claude Code or Codex: a process in a terminal with an input
//! box, a busy state, dialogs, a session file and `--resume`. Its prompts are scripts (`/help` lists the
//! commands). It needs no account and no network. Like a foreign program it starts its own children and
//! writes its own session files. It never reads or writes files of Bivouac, and nothing else in Bivouac may
//! depend on it.
//!
//! ```text
//!   bytes → keyboard → Agent::update(input, now) → effects → runtime (terminal, files, children)
//!                            │
//!                         view(agent, now) → lines → screen (scrollback above, live region below)
//! ```
//! Everything left of the runtime is pure: no clock, no files, no terminal.
//!
//! Invariants:
//! - a prompt is in the session file, byte for byte, before anything is done about it;
//! - every finished line is written to the terminal once, above the live region, so that the
//!   terminal's scrollback is the conversation;
//! - while idle nothing is written at all.

mod action;
mod agent;
mod args;
mod child;
mod command;
mod corrections;
mod dialog;
mod diff;
mod editor;
mod greeting;
mod keyboard;
mod memory;
mod message;
mod paint;
mod perform;
mod reply;
mod runtime;
#[cfg(test)]
mod scenario;
mod screen;
mod script;
mod session;
mod signals;
mod state;
mod stream;
mod terminal;
mod tool;
mod turn;
mod view;

pub(crate) use args::DemoArgs;
pub(crate) use runtime::run;
