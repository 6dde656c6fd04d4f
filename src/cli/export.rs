//! `biv export`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::context::CommandResult;
use super::output::Output;
use crate::engine::{Engine, ExportOptions, Exported, Secrecy};
use crate::model::printable_line;

/// Write a paused instance into a file, to go on with it elsewhere
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Title, id, or the beginning of either
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
    /// The file to write; it must not exist yet
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Bring the files that git ignores, too
    #[arg(long)]
    pub with_ignored: bool,
    /// Bring the whole history, for a repository that has none of it
    #[arg(long)]
    pub with_history: bool,
    /// Encrypt it to this public ssh key or file of age recipients [default: your own ssh key]
    #[arg(long, value_name = "FILE", conflicts_with = "plain")]
    pub key: Option<PathBuf>,
    /// Not encrypted: whoever has the file can read the work and the conversation
    #[arg(long)]
    pub plain: bool,
}

pub(super) fn run(args: &ExportArgs, engine: &Engine, output: &Output) -> CommandResult {
    let options = ExportOptions {
        with_ignored: args.with_ignored,
        with_history: args.with_history,
        base_only: false,
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
    let exported = prepared.write_file(&args.output, &secrecy)?;
    Ok(output.done(&exported, || describe(&exported, &args.output)))
}

fn describe(exported: &Exported, path: &Path) -> String {
    let mut text = format!(
        "Exported `{}` to {} ({} kB). It stays here, paused.\n",
        exported.title,
        path.display(),
        exported.bytes.div_ceil(1000)
    );
    // Writing into a string cannot fail.
    writeln!(
        text,
        "Elsewhere, in its repository: biv import {}",
        path.display()
    )
    .ok();
    text
}
