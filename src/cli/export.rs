//! `biv export`

use std::path::PathBuf;

use clap::Args;

use super::context::CommandResult;
use super::output::Output;
use super::report::Report;
use crate::engine::{Engine, ExportOptions, Exported, Secrecy};
use crate::model::printable_line;

/// Write a paused instance to a file or remote, to go on elsewhere
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Title, id, or the beginning of either
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
    /// The file to write; it must not exist yet
    #[arg(short, long, value_name = "FILE", required_unless_present = "to")]
    pub output: Option<PathBuf>,
    /// Put it there: a git remote (its name or address), a directory, or a host
    #[arg(long, value_name = "REMOTE", conflicts_with_all = ["output", "plain"])]
    pub to: Option<String>,
    /// Put it in the place of an older export of the same instance
    #[arg(long, requires = "to")]
    pub replace: bool,
    /// Bring the files that git ignores, too
    #[arg(long)]
    pub with_ignored: bool,
    /// Bring the whole history, for a repository that has none of it
    #[arg(long)]
    pub with_history: bool,
    /// Encrypt it to this public ssh key or file of age recipients [default: your own ssh key]
    #[arg(long, value_name = "FILE", conflicts_with = "plain")]
    pub key: Option<PathBuf>,
    /// Not encrypted, to a file only: whoever has it can read the work and the conversation
    #[arg(long)]
    pub plain: bool,
}

pub(super) fn run(args: &ExportArgs, engine: &Engine, output: &Output) -> CommandResult {
    let options = ExportOptions {
        with_ignored: args.with_ignored,
        with_history: args.with_history,
        base_only: false,
    };
    let remote = match &args.to {
        Some(to) => Some(engine.remote_for_export(&args.instance, to)?),
        None => None,
    };
    let prepared = engine.prepare_export(&args.instance, options)?;
    // Said before anything is written.
    for left in prepared.left() {
        output.say(&format!(
            "stays behind: {}: {}",
            printable_line(&left.path.display().to_string()),
            left.why
        ));
    }
    let secrecy = match args.plain {
        true => Secrecy::Plain,
        false => Secrecy::Key(args.key.clone()),
    };
    let (exported, to, from) = match (&remote, &args.to, &args.output) {
        (Some(remote), Some(to), _) => {
            let exported =
                engine.export_to(&prepared, remote, args.key.as_deref(), args.replace)?;
            let from = format!("--from {} {}", quoted(to), exported.id);
            (exported, to.clone(), from)
        }
        (_, _, Some(path)) => {
            let exported = prepared.write_file(path, &secrecy)?;
            let path = path.display().to_string();
            (exported, path.clone(), quoted(&path))
        }
        _ => {
            return Err(Report::usage(
                "it is not said where the export goes",
                "`biv export INSTANCE -o FILE`, or `--to REMOTE`",
            ));
        }
    };
    Ok(output.done(&exported, || describe(&exported, &to, &from)))
}

/// A word of a command that the user can type.
fn quoted(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| printable_line(text), std::borrow::Cow::into_owned)
}

fn describe(exported: &Exported, to: &str, from: &str) -> String {
    format!(
        "Exported `{}` to {} ({} kB). It stays here, paused.\n\
         Elsewhere, in its repository: biv import {from}\n",
        exported.title,
        printable_line(to),
        exported.bytes.div_ceil(1000)
    )
}
