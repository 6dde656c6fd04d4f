//! `biv completions`

use clap::Args;
use clap_complete::env::Shells;
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use super::report::Report;

/// Print the completion script of a shell
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// bash, zsh, fish, elvish or powershell
    pub shell: String,
}

pub(super) fn run(args: &CompletionsArgs, output: &Output) -> CommandResult {
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&args.shell) else {
        let known: Vec<_> = shells.names().collect();
        return Err(Report::usage(
            format!("there are no completions for `{}`", args.shell),
            format!("supported shells: {}", known.join(", ")),
        ));
    };
    let mut script = Vec::new();
    // Writing into memory cannot fail.
    drop(shell.write_registration("COMPLETE", "biv", "biv", "biv", &mut script));
    if output.wants_json() {
        return Ok(output.json(&json!({ "script": String::from_utf8_lossy(&script) })));
    }
    Ok(output.bytes(&script))
}
