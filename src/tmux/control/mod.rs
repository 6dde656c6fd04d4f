//! One lasting conversation with the server, in tmux's control mode.
//!
//! `Parser` and [`mod@line`] know the language and do nothing; [`Client`] talks. The client carries no
//! output of panes (a stalled reader of that wedges the whole server) and influences no sizes.

mod client;
mod line;
mod parser;

pub(crate) use client::{Client, Said};
pub(crate) use parser::Notice;
