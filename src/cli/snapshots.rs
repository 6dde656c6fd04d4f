//! `biv snapshots`

use std::path::PathBuf;

use clap::Args;

use super::context::CommandResult;
use super::instance::InstanceArg;
use super::output::Output;
use super::table::{table, terminal_width};
use super::words;
use crate::engine::Engine;

/// List saved work, or write it into a new directory
#[derive(Debug, Args)]
pub(super) struct SnapshotsArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// The snapshot to write
    #[arg(value_name = "SNAPSHOT", requires = "to")]
    pub snapshot: Option<String>,
    /// The directory to write its files into; it must not exist
    #[arg(long, value_name = "DIR", requires = "snapshot")]
    pub to: Option<PathBuf>,
}

pub(super) fn run(args: &SnapshotsArgs, engine: &Engine, output: &Output) -> CommandResult {
    let given = &args.instance.instance;
    if let (Some(snapshot), Some(to)) = (&args.snapshot, &args.to) {
        let written = engine.write_snapshot(given, snapshot, to)?;
        return Ok(output.done(&written, || {
            format!(
                "Wrote the files of {} into {}.",
                written.at.local_minute(),
                words::tilde(&written.directory)
            )
        }));
    }
    let list = engine.snapshots(given)?;
    Ok(output.result(&list, || {
        if list.snapshots.is_empty() {
            return format!("Nothing is saved of `{}`.", list.title);
        }
        let rows: Vec<Vec<String>> = list
            .snapshots
            .iter()
            .map(|saved| {
                let by = if saved.by == "autoyes" {
                    "autoyes, before a command"
                } else {
                    "a pause, restart or kill"
                };
                vec![
                    saved.snapshot.clone(),
                    saved.at.local_second(),
                    if saved.in_use {
                        format!("{by} (in use)")
                    } else {
                        by.to_owned()
                    },
                ]
            })
            .collect();
        table(&["SNAPSHOT", "SAVED AT", "BY"], &rows, terminal_width())
    }))
}
