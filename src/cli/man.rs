//! `biv man`

use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use super::report::Report;

/// Print the manual page, or write all pages into a directory
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Write biv.1 and one page for each command into this directory
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

pub(super) fn run(args: &ManArgs, command: Command, output: &Output) -> CommandResult {
    let Some(directory) = &args.dir else {
        let mut page = Vec::new();
        // Writing into memory cannot fail.
        drop(Man::new(command).render(&mut page));
        if output.wants_json() {
            return Ok(output.json(&json!({ "page": String::from_utf8_lossy(&page) })));
        }
        return Ok(output.bytes(&page));
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
    Ok(output.result(&json!({ "pages": written }), || {
        format!("Wrote {} pages to {}", written.len(), directory.display())
    }))
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
        Man::new(page).render(&mut text)?;
        std::fs::write(&path, text)?;
        written.push(path);
    }
    Ok(written)
}
