//! What the other side of a move does: `biv __arrive`, `biv __depart`, `biv __lease`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use super::report::Report;
use crate::engine::{Engine, ExportOptions, Offer, Silent};
use crate::model::{InstanceId, printable_line};

#[derive(Debug, Args)]
pub(super) struct ArriveArgs {
    /// Its id where it comes from
    #[arg(long)]
    pub id: String,
    /// The number of the hand-over that may follow
    #[arg(long)]
    pub lease: u64,
    /// The repository for one that was never here
    #[arg(long)]
    pub repo: Option<PathBuf>,
    #[arg(long)]
    pub with_nested: bool,
}

#[derive(Debug, Args)]
pub(super) struct DepartArgs {
    pub instance: String,
    #[arg(long)]
    pub without_ignored: bool,
}

#[derive(Debug, Args)]
pub(super) struct LeaseArgs {
    #[command(subcommand)]
    pub action: LeaseAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum LeaseAction {
    /// Who has it
    Look { instance: String },
    /// This machine has it from now on
    Claim { instance: String, number: u64 },
    /// Another machine has it from now on, if it is as that one has fetched it
    Release {
        instance: String,
        number: u64,
        parts: Option<String>,
    },
}

pub(super) fn arrive(args: &ArriveArgs, engine: &Engine, output: &Output) -> CommandResult {
    let offer = Offer {
        id: InstanceId::parse(&args.id)
            .ok_or_else(|| Report::usage("this is no id", "bring both to the same version"))?,
        number: args.lease,
        from: None,
        resume: false,
        repository: args.repo.clone(),
        nested: args.with_nested,
    };
    let arrived = engine.arrive_offered(&mut std::io::stdin(), &offer, &mut Silent)?;
    let answer = json!({
        "id": arrived.instance.id,
        "manifest": arrived.manifest,
        "notes": arrived.notes,
    });
    Ok(output.result(&answer, || arrived.manifest.clone()))
}

pub(super) fn depart(args: &DepartArgs, engine: &Engine, output: &Output) -> CommandResult {
    let options = ExportOptions {
        with_ignored: !args.without_ignored,
        with_history: false,
        base_only: true,
    };
    let prepared = engine.prepare_departure(&args.instance, options, &mut Silent)?;
    for left in prepared.left() {
        let path = printable_line(&left.path.display().to_string());
        output.say(&format!("stays there: {path}: {}", left.why));
    }
    prepared.write(&mut std::io::stdout())?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn lease(args: &LeaseArgs, engine: &Engine, output: &Output) -> CommandResult {
    Ok(match &args.action {
        LeaseAction::Look { instance } => output.result(&engine.lease_of(instance)?, String::new),
        LeaseAction::Claim { instance, number } => {
            output.result(&engine.claim(instance, *number)?, String::new)
        }
        LeaseAction::Release {
            instance,
            number,
            parts,
        } => {
            let release = engine.release(instance, *number, parts.as_deref())?;
            output.result(&json!({ "release": release }), String::new)
        }
    })
}
