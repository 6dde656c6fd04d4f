//! `biv man`

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use super::report::Report;
use crate::engine::open_manual;

/// The sections that are common to all commands.
const SECTIONS: [(&str, &[(&str, &str)]); 3] = [
    (
        "EXIT STATUS",
        &[
            ("0", "done"),
            ("1", "failed"),
            ("2", "usage"),
            ("3", "no such instance, or several"),
            ("4", "wrong state"),
            ("5", "cannot be resumed"),
            ("6", "the saved changes conflict with the branch"),
            ("7", "busy"),
            ("8", "the agent asks something (biv run only)"),
            ("130", "interrupted"),
        ],
    ),
    (
        "ENVIRONMENT",
        &[
            (
                "BIV_HOME",
                "Puts everything under this directory: configuration, state, worktrees, sockets and \
                 a tmux server. Without it the XDG directories are used.",
            ),
            (
                "BIV_LOG",
                "How much is logged: off, error, warn, info, debug or trace.",
            ),
            ("NO_COLOR", "No colours, unless --color asks for them."),
        ],
    ),
    (
        "FILES",
        &[
            (
                "~/.config/bivouac/config.toml",
                "Settings; biv config init writes it with every key and its comment.",
            ),
            (
                "~/.config/bivouac/agents/*.toml",
                "Agents of your own, and changes to the built-in ones.",
            ),
            (
                "~/.config/bivouac/policy.toml",
                "Rules of your own for autoyes.",
            ),
            (
                ".bivouac.toml",
                "What a repository asks for in each new worktree.",
            ),
        ],
    ),
];

/// Open a manual page, or write all of them to a directory
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The command [default: biv itself]
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
    /// Write biv.1 and one page for each command into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub dir: Option<PathBuf>,
}

pub(super) fn run(args: &ManArgs, command: Command, output: &Output) -> CommandResult {
    let Some(directory) = &args.dir else {
        return show(args.command.as_deref(), command, output);
    };
    let written = write_all(command, directory).map_err(|error| {
        Report::failed(
            "man",
            format!(
                "the pages cannot be written to {}: {error}",
                directory.display()
            ),
            "give a directory that you can write to",
        )
    })?;
    Ok(output.done(&json!({ "pages": written }), || {
        format!("Wrote {} pages to {}", written.len(), directory.display())
    }))
}

/// Opens the page on a terminal; prints its source where a program reads it.
fn show(name: Option<&str>, mut command: Command, output: &Output) -> CommandResult {
    command.build();
    let command = match name {
        None => command,
        Some(name) => command
            .find_subcommand(name)
            .filter(|sub| !sub.is_hide_set())
            .cloned()
            .ok_or_else(|| {
                Report::usage(
                    format!("there is no command `{name}`"),
                    "`biv --help` lists all commands",
                )
            })?,
    };
    let mut page = Vec::new();
    // Writing into memory cannot fail.
    drop(render(command, &mut page));
    if output.wants_json() {
        return Ok(output.json(&json!({ "page": String::from_utf8_lossy(&page) })));
    }
    if std::io::stdout().is_terminal() && open_manual(&page) {
        return Ok(ExitCode::SUCCESS);
    }
    Ok(output.bytes(&page))
}

fn write_all(mut command: Command, directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(directory)?;
    command.build();
    let mut written = Vec::new();
    let pages = std::iter::once(command.clone()).chain(
        command
            .get_subcommands()
            .filter(|sub| !sub.is_hide_set())
            .cloned()
            .collect::<Vec<_>>(),
    );
    for page in pages {
        let name = page
            .get_display_name()
            .unwrap_or_else(|| page.get_name())
            .to_owned();
        let path = directory.join(format!("{name}.1"));
        let mut text = Vec::new();
        render(page, &mut text)?;
        std::fs::write(&path, text)?;
        written.push(path);
    }
    Ok(written)
}

/// The page of a command; that of `biv` itself has the common sections.
fn render(command: Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    let is_first = command.get_name() == "biv";
    Man::new(command).render(page)?;
    if !is_first {
        return Ok(());
    }
    let mut more = Roff::new();
    for (heading, rows) in SECTIONS {
        more.control("SH", [heading]);
        for (name, words) in rows {
            more.control("TP", []);
            more.text([bold(*name)]);
            more.text([roman(*words)]);
        }
    }
    more.to_writer(page)
}
