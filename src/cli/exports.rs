//! `biv __exports`: the exports that another machine keeps here.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::context::CommandResult;
use super::output::Output;
use super::report::Report;
use crate::engine::{Engine, ExportsThere};
use crate::model::ExportName;

#[derive(Debug, Args)]
pub(super) struct ExportsArgs {
    #[command(subcommand)]
    pub action: ExportsAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum ExportsAction {
    List,
    /// Keeps standard input, if it has this SHA-256
    Put {
        name: String,
        hash: String,
        #[arg(long)]
        replace: bool,
    },
    /// Writes one to standard output
    Get {
        name: String,
    },
}

pub(super) fn run(args: &ExportsArgs, engine: &Engine, output: &Output) -> CommandResult {
    match &args.action {
        ExportsAction::List => {}
        ExportsAction::Put {
            name,
            hash,
            replace,
        } => engine.keep_export(&parsed(name)?, hash, *replace, &mut std::io::stdin())?,
        ExportsAction::Get { name } => {
            let mut file = engine.open_export(&parsed(name)?)?;
            std::io::copy(&mut file, &mut std::io::stdout()).map_err(|error| {
                Report::failed("failed", error.to_string(), "run the command again")
            })?;
            return Ok(ExitCode::SUCCESS);
        }
    }
    let there = ExportsThere {
        exports: engine.exports_here()?,
    };
    Ok(output.result(&there, String::new))
}

fn parsed(name: &str) -> Result<ExportName, Report> {
    ExportName::parse(name).ok_or_else(|| {
        Report::usage(
            "this is no name of an export",
            "bring both to the same version",
        )
    })
}
