//! A connection to the server in tmux's control mode.
//!
//! `Parser` and [`mod@line`] parse and format, without effects; [`ControlClient`] has the connection. The
//! client gets no output of panes, because a stalled reader blocks the whole server, and does not affect
//! window sizes.

mod client;
mod line;
mod parser;

pub(crate) use client::{ControlClient, ControlEvent};
pub(crate) use parser::Notification;
