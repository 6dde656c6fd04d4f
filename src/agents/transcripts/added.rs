//! The directories that the user has added to a session and not removed again. A resumed one does not have them.

use std::path::Path;

use serde_json::Value;

use super::lines::{Lines, Next};
use super::locate::TranscriptLookup;
use super::place::TranscriptQuery;
use super::value::text;
use crate::agents::{Host, Provider, TranscriptFormat};
use crate::model::Timestamp;

/// What the output of a command of the user begins with; every such line has it, and few others have.
const OUTPUT: &str = "<local-command-stdout>";
const COMMAND: &str = "<command-name>/";
/// A longer line is none of them.
const LONGEST: usize = 64 * 1024;
/// The commands that add and remove directories.
const NAMES: [&str; 2] = ["<command-name>/add-dir<", "<command-name>/permissions<"];

impl Provider {
    /// The directories of a session: those that it had, and what the user has changed since. As it had them where its
    /// agent has no argument for it, or no transcript is found.
    pub(crate) fn added_directories(
        &self,
        before: &[String],
        since: Timestamp,
        query: TranscriptQuery<'_>,
        host: &Host,
    ) -> Vec<String> {
        let mut directories = before.to_vec();
        if self.file.session.directory.is_empty() {
            return Vec::new();
        }
        if self.transcript().format == TranscriptFormat::Claude
            && let TranscriptLookup::Found(file) = self.transcript_of(query, host)
            && let Err(error) = follow(&file.path, since, &mut directories)
        {
            tracing::warn!(%error, "read which directories were added");
        }
        directories
    }
}

/// Applies each change in the transcript. An output counts only below the command that it is of: a prompt that looks
/// like one has none above it.
fn follow(
    transcript: &Path,
    since: Timestamp,
    directories: &mut Vec<String>,
) -> std::io::Result<()> {
    let mut lines = Lines::open(transcript, 0)?;
    let mut command: Option<String> = None;
    loop {
        let line = match lines.next()? {
            Next::End => return Ok(()),
            Next::TooLong => continue,
            Next::Line(line) => line,
        };
        if line.len() > LONGEST {
            continue;
        }
        let holds = |mark: &str| line.windows(mark.len()).any(|part| part == mark.as_bytes());
        if !holds(OUTPUT) && !holds(COMMAND) {
            continue;
        }
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        let said = line.pointer("/message/content").and_then(Value::as_str);
        let (Some("user"), Some(said)) = (text(&line, "type"), said) else {
            continue;
        };
        if NAMES.iter().any(|name| said.starts_with(name)) {
            command = text(&line, "uuid").map(str::to_owned);
            continue;
        }
        let of_command = command.is_some() && text(&line, "parentUuid") == command.as_deref();
        let at = text(&line, "timestamp").and_then(Timestamp::parse);
        if of_command
            && at.is_some_and(|at| at >= since)
            && let Some(output) = said.strip_prefix(OUTPUT)
        {
            apply(output, directories);
        }
    }
}

/// The path stands between the sequences for bold and not bold.
fn apply(output: &str, directories: &mut Vec<String>) {
    let Some((words, rest)) = output.split_once("\u{1b}[1m") else {
        return;
    };
    let Some((path, after)) = rest.split_once("\u{1b}[22m") else {
        return;
    };
    if !path.starts_with('/') || path.chars().any(char::is_control) {
        return;
    }
    match words {
        "Added " if after.starts_with(" as a working directory for this session") => {
            // Once, at its latest place.
            directories.retain(|known| known != path);
            directories.push(path.to_owned());
        }
        "Removed directory " => directories.retain(|known| known != path),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(uuid: &str, parent: &str, at: u32, content: &str) -> String {
        let line = serde_json::json!({
            "type": "user",
            "uuid": uuid,
            "parentUuid": parent,
            "timestamp": format!("2026-11-17T12:00:{at:02}.000Z"),
            "message": { "role": "user", "content": content },
        });
        format!("{line}\n")
    }

    /// A command, as Claude Code 2.1.325 writes it, and its output.
    fn run(number: u32, command: &str, output: &str) -> String {
        let (own, parent) = (format!("c{number}"), format!("p{number}"));
        let command =
            format!("<command-name>/{command}</command-name>\n <command-args></command-args>");
        let output = format!("{OUTPUT}{output}</local-command-stdout>");
        line(&own, &parent, number, &command) + &line("o", &own, number, &output)
    }

    fn added(path: &str) -> String {
        format!(
            "Added \u{1b}[1m{path}\u{1b}[22m as a working directory for this session \u{1b}[2m· /permissions to manage\u{1b}[22m"
        )
    }

    #[test]
    fn the_users_own_changes_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("t.jsonl");
        let written = [
            run(1, "add-dir", &added("/before")),
            run(2, "add-dir", &added("/a dir")),
            run(3, "add-dir", &added("/b")),
            run(
                4,
                "add-dir",
                "Did not add \u{1b}[1m/no\u{1b}[22m as a working directory.",
            ),
            // Claude keeps these itself.
            run(
                5,
                "add-dir",
                "Added \u{1b}[1m/kept\u{1b}[22m as a working directory and saved",
            ),
            run(
                6,
                "permissions",
                "Removed directory \u{1b}[1m/b\u{1b}[22m from workspace",
            ),
            run(7, "permissions", "Permissions dialog dismissed"),
            // Not the output of such a command.
            run(8, "other", &added("/other")),
            line("x", "y", 9, &format!("{OUTPUT}{}", added("/forged"))),
            run(10, "add-dir", &added("relative")),
            run(11, "add-dir", &added("/had")),
        ];
        std::fs::write(&transcript, written.concat()).unwrap();
        let since = Timestamp::parse("2026-11-17T12:00:02.000Z").unwrap();
        let mut directories = vec!["/had".to_owned()];
        follow(&transcript, since, &mut directories).unwrap();
        assert_eq!(directories, ["/a dir", "/had"]);
    }
}
