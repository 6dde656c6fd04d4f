//! The requests for which an agent waits for permission, from its transcript.
//!
//! A command with control characters can look like another one on the screen. The transcript has the command
//! as it would run.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::aider::told;
use super::described;
use super::locate::TranscriptLookup;
use super::opencode::Database;
use super::pending::{PendingRequest, pending};
use super::place::{TranscriptQuery, resolved_directory};
use super::reading::{TranscriptFile, TranscriptForm};
use crate::agents::{Host, Provider, TranscriptFormat};

/// How many bytes of printed text may still be on a screen.
const PRINTED: u64 = 64 * 1024;

impl Provider {
    /// Whether its dialogs are trusted only if its transcript agrees.
    pub(crate) fn vouches(&self) -> bool {
        self.transcript().vouches
    }

    /// Whether its transcript says what is meant where a request takes several rows of its screen.
    pub(crate) fn settles(&self) -> bool {
        self.transcript().settles
    }

    /// What it waits for; None where no transcript is found.
    pub(crate) fn asked(&self, query: TranscriptQuery<'_>, host: &Host) -> Option<PendingRequest> {
        let format = self.transcript().format;
        match format {
            TranscriptFormat::Aider => chat(&self.chat_history(query.worktree)?).ok(),
            TranscriptFormat::Claude | TranscriptFormat::Codex => {
                match self.transcript_of(query, host) {
                    TranscriptLookup::Found(file) => {
                        pending(format, &file.path, &query.directory()).ok()
                    }
                    TranscriptLookup::Absent | TranscriptLookup::Unknown => None,
                }
            }
            TranscriptFormat::Opencode => {
                let root = self.own_directory(host)?;
                let directory = resolved_directory(&query.directory());
                let directory = directory.to_str()?;
                let mut asked = PendingRequest::default();
                for path in self.databases(&root) {
                    let open = Database::open(&path).and_then(|held| held.open_calls(directory));
                    asked.subjects.extend(open.ok()?);
                }
                Some(asked)
            }
            TranscriptFormat::Described => match self.transcript_of(query, host) {
                TranscriptLookup::Found(file) => file.pending(),
                TranscriptLookup::Absent | TranscriptLookup::Unknown => None,
            },
            _ => None,
        }
    }
}

impl TranscriptFile {
    /// The calls of a described transcript that have no result yet.
    fn pending(&self) -> Option<PendingRequest> {
        let TranscriptForm::Described { lines, .. } = &self.form else {
            return None;
        };
        let subjects = described::open_calls(lines, &self.path).ok()?;
        Some(PendingRequest {
            subjects,
            ..PendingRequest::default()
        })
    }
}

/// Aider writes the request to its history, then asks: it is the last line until there is an answer.
fn chat(history: &Path) -> std::io::Result<PendingRequest> {
    let mut file = File::open(history)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(PRINTED)))?;
    let mut bytes = Vec::new();
    file.take(PRINTED).read_to_end(&mut bytes)?;
    let printed = String::from_utf8_lossy(&bytes).into_owned();
    let subject = printed
        .strip_suffix('\n')
        .and_then(|text| told(text.rsplit('\n').next()?));
    Ok(PendingRequest {
        subjects: subject.into_iter().map(str::to_owned).collect(),
        printed,
        ..PendingRequest::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_chat_is_what_aider_asks_about() {
        let folder = tempfile::tempdir().unwrap();
        let history = folder.path().join("history.md");
        for (written, expected) in [
            (
                "I would run:\n\n> Tokens: 2 sent.  \n> touch x  \n",
                Some("touch x"),
            ),
            (
                "> touch x  \n> Run shell command? (Y)es [Yes]: y  \n\nDone.\n",
                None,
            ),
            ("> touch x  \nand\n", None),
            ("> half a li", None),
            ("", None),
        ] {
            std::fs::write(&history, written).unwrap();
            let asked = chat(&history).unwrap();
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(asked.subjects, expected, "{written:?}");
            assert_eq!(asked.printed, written);
        }
        std::fs::write(&history, format!("{}\n> ls  \n", "x".repeat(200_000))).unwrap();
        let asked = chat(&history).unwrap();
        assert_eq!(asked.subjects, ["ls"]);
        assert_eq!(asked.printed.len() as u64, PRINTED);
    }
}
