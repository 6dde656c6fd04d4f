//! `biv config`

use std::fmt::Write;

use clap::{Args, Subcommand};
use serde_json::json;

use super::context::{CommandResult, home};
use super::output::Output;
use super::report::Report;
use crate::config::{DEFAULTS, load};
use crate::engine::Error;

/// Show where settings are and what they are
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Print the path of your configuration file
    Path,
    /// Print the settings in force, and which of them are yours
    Show,
    /// Write a configuration file with every key and its comment, unless there is one
    Init,
}

pub(super) fn run(args: &ConfigArgs, output: &Output) -> CommandResult {
    match args.action {
        Action::Path => path(output),
        Action::Show => show(output),
        Action::Init => init(output),
    }
}

fn path(output: &Output) -> CommandResult {
    let file = home()?.config_file();
    Ok(output.result(&json!({ "path": file }), || file.display().to_string()))
}

fn show(output: &Output) -> CommandResult {
    let config = match load(&home()?.config_file()) {
        Ok(config) => config,
        // After a mistake in the file, prints all keys first, then the error.
        Err(error) => {
            if !output.wants_json() {
                output.text(DEFAULTS);
            }
            return Err(Error::Config(error).into());
        }
    };
    let json = json!({ "settings": config.merged, "set_by_you": config.user, "path": config.file });
    Ok(output.result(&json, || {
        let mut text = format!("# {}\n\n", config.file.display());
        for (section, keys) in &config.merged {
            // Writing into a string cannot fail.
            writeln!(text, "[{section}]").ok();
            for (key, value) in keys.as_table().into_iter().flatten() {
                let yours = config
                    .user
                    .get(section)
                    .and_then(|keys| keys.get(key))
                    .is_some();
                let mark = if yours { "  # yours" } else { "" };
                writeln!(text, "{key} = {value}{mark}").ok();
            }
            text.push('\n');
        }
        text
    }))
}

fn init(output: &Output) -> CommandResult {
    let file = home()?.config_file();
    let failed = |error: std::io::Error| {
        Report::failed(
            "configuration",
            format!("{} cannot be written: {error}", file.display()),
            "make it writable for you, or set BIV_HOME to another directory",
        )
    };
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    // Never overwrites an existing file.
    match std::fs::File::create_new(&file) {
        Ok(mut new) => std::io::Write::write_all(&mut new, DEFAULTS.as_bytes()).map_err(failed)?,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(Report::failed(
                "configuration",
                format!("{} exists already", file.display()),
                "edit that one; `biv config show` prints all keys",
            ));
        }
        Err(error) => return Err(failed(error)),
    }
    Ok(output.done(&json!({ "path": file }), || {
        format!("Wrote {}", file.display())
    }))
}
