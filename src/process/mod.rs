//! The only room that starts, recognises and ends processes.
//!
//! Every program that Bivouac calls goes through [`Command`]: a deadline, captured output and an
//! environment that is set on purpose, never inherited by accident. Every process that Bivouac ends
//! is named by [`Identity`] (pid *and* start time *and* boot), so a recycled pid is never signalled.

mod command;
mod commands;
mod coprocess;
pub(crate) mod crash;
mod foreground;
mod identity;
mod lineage;
mod parent_bound;
mod pipes;
mod relayed;
mod status;
mod supervised;
mod table;
mod terminal;
mod tree;
mod waiting;
mod watched;

pub(crate) use command::{Command, Failure, Output};
pub(crate) use commands::commands_below;
pub(crate) use coprocess::Coprocess;
pub(crate) use foreground::{CLEAR_BELOW, ROOM_BELOW};
pub(crate) use identity::{Identity, Signal, boot_id};
pub(crate) use lineage::{Lineage, adopt_orphans, lineage};
pub(crate) use parent_bound::run_bound_to_parent;
pub(crate) use relayed::Input;
pub(crate) use status::{CANNOT_START, shell_status};
pub(crate) use supervised::Supervised;
pub(crate) use table::{command_line_of, variable_of};
pub(crate) use terminal::is_in_foreground;
pub(crate) use tree::{Survivors, Tree, memory_of, processes_in, stop_tree, tree_of};
pub(crate) use watched::{TICK, Watched};
