//! The command line: arguments in, engine call, words out. One file a command.

mod adopt;
mod agents;
mod args;
mod attach;
mod audit;
mod autoyes;
mod bulk;
mod camp;
mod common;
mod compact;
mod completing;
mod completions;
mod config;
mod context;
mod daemon;
mod demo;
mod detect;
mod diff;
mod doctor;
mod events;
mod gc;
mod help;
mod hook;
mod import;
mod instance;
mod interrupts;
mod kill;
mod list;
mod log;
mod main;
mod man;
mod new;
mod output;
mod pause;
mod peek;
mod policy;
mod progress;
mod prompt;
mod queue;
mod restart;
mod resume;
mod rights;
mod run;
mod runs;
mod send;
mod show;
mod table;
mod timeout;
mod ui;
mod undo_kill;
mod wait;
mod words;

pub(crate) use main::run_command;

// Errors are worded for all faces in one place; here it goes by its short name.
use crate::report;
