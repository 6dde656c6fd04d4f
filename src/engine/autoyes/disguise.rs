//! Whether an agent asks for what its screen shows.
//!
//! A model can put characters into a command that move the cursor, hide what follows them or are
//! dropped on the way to the screen. A decision by the screen alone would accept something else.

use std::time::{Duration, Instant};

use crate::agents::{PendingRequest, Provider, TranscriptQuery};
use crate::detect::Dialog;
use crate::engine::base::Core;
use crate::model::{InstanceRecord, without_whitespace};
use crate::policy::is_hidden;

/// How long an agent's own record of a request may take to appear.
const WRITTEN: Duration = Duration::from_secs(1);
const PROBE: Duration = Duration::from_millis(20);

/// Reasons for leaving a dialog to the user.
const NO_RECORD: &str = "its own record, which its screen is compared with, is not there";
const OTHERWISE: &str = "its own record of what it asks for is not what its screen shows";
const HIDDEN: &str = "what it asks for holds characters that a screen does not show";

impl Core {
    /// The command of a dialog as the agent has recorded it, if the agent keeps such records; or why the
    /// dialog cannot be trusted.
    pub(super) fn check_against_record(
        &self,
        provider: &Provider,
        record: &InstanceRecord,
        dialog: &Dialog,
    ) -> Result<Option<String>, String> {
        if let Some(reason) = provider.unmeasured() {
            return Err(reason);
        }
        let guarded = record.place.as_ref().is_some_and(|place| place.guarded);
        if let Some(reason) = provider.missing_guard(guarded) {
            return Err(reason);
        }
        if !provider.vouches() {
            return Ok(None);
        }
        let query = TranscriptQuery {
            // Only some agents are asked by it.
            reference: record.session_ref.as_deref().unwrap_or_default(),
            worktree: &record.worktree.path,
            since: record.created_at,
        };
        let asked_at = Instant::now();
        loop {
            let asked = provider.asked(query, &self.host);
            let told = asked
                .ok_or(NO_RECORD)
                .and_then(|asked| compare(dialog, &asked));
            if told.is_ok() || told == Err(HIDDEN) || asked_at.elapsed() >= WRITTEN {
                return told.map_err(str::to_owned);
            }
            std::thread::sleep(PROBE);
        }
    }
}

/// Finds the recorded command that the screen shows. Only white space may differ, because line breaks
/// hide it.
fn compare(dialog: &Dialog, asked: &PendingRequest) -> Result<Option<String>, &'static str> {
    let moves = |text: &str| {
        text.chars()
            .any(|c| c.is_control() && c != '\n' && c != '\t')
    };
    let hides = |text: &String| text.chars().any(|c| is_hidden(c) && c != '\n' && c != '\t');
    if moves(&asked.printed) || asked.subjects.iter().any(hides) {
        return Err(HIDDEN);
    }
    if let Some(command) = &dialog.command {
        let same = |subject: &&String| without_whitespace(subject) == without_whitespace(command);
        let subject = asked.subjects.iter().find(same).ok_or(OTHERWISE)?;
        return Ok(Some(subject.clone()));
    }
    let is_asked = |path: &String| {
        let mut subjects = asked.subjects.iter();
        subjects.any(|subject| subject == path || subject.ends_with(&format!("/{path}")))
    };
    if dialog.paths.iter().all(is_asked) {
        Ok(None)
    } else {
        Err(OTHERWISE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(command: Option<&str>, paths: &[&str]) -> Dialog {
        Dialog {
            plain: false,
            tool: Some("shell".to_owned()),
            question: None,
            command: command.map(str::to_owned),
            rows: Vec::new(),
            loose: Vec::new(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            height: 4,
            choices: Vec::new(),
            selected: None,
            complete: true,
        }
    }

    fn asked(subjects: &[&str], printed: &str) -> PendingRequest {
        PendingRequest {
            subjects: subjects.iter().map(|text| (*text).to_owned()).collect(),
            printed: printed.to_owned(),
        }
    }

    #[test]
    fn a_command_is_believed_only_as_it_is_written_down() {
        let ls = shown(Some("ls -l  a"), &[]);
        let believed = |subjects: &[&str], printed: &str| compare(&ls, &asked(subjects, printed));
        let written = Ok(Some("ls -l\na".to_owned()));
        assert_eq!(believed(&["ls -l\na"], "text\n"), written);
        assert_eq!(believed(&["x", "ls -l\na"], "\ttext\n"), written);
        assert_eq!(believed(&[], ""), Err(OTHERWISE));
        assert_eq!(believed(&["ls -l a; rm -rf b"], ""), Err(OTHERWISE));
        for hidden in [
            "ls -l \u{1b}]0; rm -rf b; \u{7}a",
            "ls -l a\u{8}\u{8}; rm -rf b",
            "ls -l\ra",
            "ls -l \u{9b};a",
            "ls -l \u{200b}a",
        ] {
            assert_eq!(believed(&[hidden], ""), Err(HIDDEN), "{hidden:?}");
            // Another pending command may be the one on the screen.
            assert_eq!(
                believed(&["ls -l a", hidden], ""),
                Err(HIDDEN),
                "{hidden:?}"
            );
        }
        // Shown as nothing, and of no class of its own.
        assert_eq!(believed(&["ls -l\u{378} a"], ""), Err(OTHERWISE));
        // Earlier output may have drawn the dialog.
        assert_eq!(believed(&["ls -l a"], "\u{1b}[1A"), Err(HIDDEN));
    }

    #[test]
    fn a_path_is_believed_only_as_it_is_written_down() {
        let write = shown(None, &["src/a.rs"]);
        let believed = |subject: &str| compare(&write, &asked(&[subject], ""));
        assert_eq!(believed("src/a.rs"), Ok(None));
        assert_eq!(believed("/w/src/a.rs"), Ok(None));
        assert_eq!(believed("/w/other/src/b.rs"), Err(OTHERWISE));
        assert_eq!(believed("/w/xsrc/a.rs"), Err(OTHERWISE));
        assert_eq!(compare(&write, &asked(&[], "")), Err(OTHERWISE));
        assert_eq!(compare(&shown(None, &[]), &asked(&[], "")), Ok(None));
    }
}
