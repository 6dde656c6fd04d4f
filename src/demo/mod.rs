//! The built-in demo agent: what newcomers see first, and what every test of a lifecycle drives.
//!
//! It plays a *foreign* program, as Claude Code or Codex would be: a process in a terminal with an
//! input box, a busy state, dialogs, a session file and `--resume`, but scripted by what it is told
//! (`/help` lists the commands). It needs no account and no network. Because it plays a foreigner
//! it starts its own children and keeps its own session files; it never reads or writes anything
//! of Bivouac's, and nothing else of Bivouac may depend on it.
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
