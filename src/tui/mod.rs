//! The terminal UI: keys in, screen out.
//!
//! [`state`] is plain data, [`update`] a function from what has happened to what is to be done, and
//! [`view`] one from the state to the screen: neither knows a clock, a file or a process. What is to be
//! done is carried out by threads ([`work`]), and what goes on elsewhere is brought by [`feed`]; the
//! loop in [`mod@run`] only sleeps, takes in and draws. So nothing that git, tmux or an agent does can hold
//! up a key, and every screen can be tested without a terminal.

mod crash;
mod dialog;
mod diff;
mod editor;
mod feed;
mod filter;
mod input;
mod keys;
mod layout;
mod mailbox;
mod message;
mod run;
mod state;
mod terminal;
mod text;
mod theme;
mod update;
mod view;
mod work;

#[cfg(test)]
mod tests;

pub(crate) use run::{Options, run};
