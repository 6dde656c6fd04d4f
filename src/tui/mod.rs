//! The terminal UI: keys in, screen out.
//!
//! [`state`] is plain data. [`update`] is a function from a message to requests, and [`view`] one from the
//! state to the screen: neither uses a clock, a file or a process. Requests are carried out by threads
//! ([`work`]), and changes elsewhere are sent by [`feed`]. The loop in [`mod@run`] only waits, updates and
//! draws. So git, tmux or an agent cannot delay a key, and every screen can be tested without a terminal.

mod audit;
mod crash;
mod dialog;
mod diff;
mod editor;
mod feed;
mod filter;
mod fleet;
mod hosts;
mod input;
mod job;
mod keys;
mod layout;
mod mailbox;
mod message;
mod news;
mod picker;
mod run;
mod state;
mod survey;
mod tab;
mod terminal;
mod text;
mod theme;
mod told;
mod update;
mod view;
mod words;
mod work;

#[cfg(test)]
mod tests;

pub(crate) use run::{Opening, Options, run};
