//! Whether an agent asks for what its screen shows.
//!
//! A model can put characters into a command that move the cursor, hide what follows them or are
//! dropped on the way to the screen. A decision by the screen alone would accept something else.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::agents::{DiscoveryCost, PendingRequest, Provider, TranscriptQuery};
use crate::detect::Dialog;
use crate::engine::base::Core;
use crate::engine::typing::dialog::OpenDialog;
use crate::model::{InstanceRecord, without_whitespace};
use crate::policy::is_hidden;

/// How long an agent's own record of a request may take to appear while it names no request at all. On a
/// starved machine an agent draws its dialog seconds before it has written the request down.
const WRITTEN: Duration = Duration::from_secs(15);
/// How long it may take where the record names another request.
const REPLACED: Duration = Duration::from_secs(1);
const PROBE: Duration = Duration::from_millis(20);
/// How often it is looked meanwhile whether the dialog is still there.
const LOOK: Duration = Duration::from_millis(500);

/// Reasons for leaving a dialog to the user.
const NO_RECORD: &str = "its own record, which its screen is compared with, is not there";
const OTHERWISE: &str = "its own record of what it asks for is not what its screen shows";
const ELSEWHERE: &str = "it would run in another directory than the agent";
const GONE: &str = "its dialog is gone";
const HIDDEN: &str = "what it asks for holds characters that a screen does not show";

/// What an agent's own record says about the dialog on its screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Recorded {
    /// Nothing that the screen does not say as well.
    Nothing,
    /// The commands that the screen may show, as they would run.
    Commands(Vec<String>),
}

impl Core {
    /// What the agent has recorded of the request, if it keeps such records; or why the dialog cannot be
    /// trusted.
    pub(super) fn check_against_record(
        &self,
        provider: &Provider,
        record: &InstanceRecord,
        open: &OpenDialog<'_>,
    ) -> Result<Recorded, String> {
        let dialog = &open.dialog;
        let guarded = record.place.as_ref().is_some_and(|place| place.guarded);
        if let Some(reason) = provider.missing_guard(guarded) {
            return Err(reason);
        }
        // One row is believed if the record does not say otherwise.
        let needed = provider.vouches() || provider.settles() && is_in_rows(dialog);
        if !needed && !provider.settles() {
            return Ok(Recorded::Nothing);
        }
        let asked_at = Instant::now();
        let mut looked_at = asked_at;
        loop {
            let asked = self.asked(provider, record);
            let silent = asked.as_ref().is_none_or(PendingRequest::is_silent);
            let told = match asked {
                None if needed => Err(NO_RECORD),
                None => Ok(Recorded::Nothing),
                Some(_) if !needed && silent => Ok(Recorded::Nothing),
                Some(asked) => compare(dialog, &asked, &record.agent_directory()),
            };
            let certain = matches!(told, Ok(_) | Err(HIDDEN | ELSEWHERE));
            let patience = if silent { WRITTEN } else { REPLACED };
            if certain || asked_at.elapsed() >= patience {
                return told.map_err(str::to_owned);
            }
            if looked_at.elapsed() >= LOOK {
                looked_at = Instant::now();
                if matches!(open.look_again(), Ok(None)) {
                    return Err(GONE.to_owned());
                }
            }
            std::thread::sleep(PROBE);
        }
    }

    /// What the agent waits for by its own record, in the conversation that it is in now.
    fn asked(&self, provider: &Provider, record: &InstanceRecord) -> Option<PendingRequest> {
        let cheap = provider.discovery_cost(&self.host) == Some(DiscoveryCost::Low);
        let known = record.session_ref.clone().filter(|_| !cheap);
        let current = || self.trace(&self.store.instance(&record.id), record).found();
        let reference = match provider.settles() {
            true => known
                .or_else(current)
                .or_else(|| record.session_ref.clone()),
            false => record.session_ref.clone(),
        };
        let query = TranscriptQuery {
            reference: reference.as_deref().unwrap_or_default(),
            worktree: &record.worktree.path,
            below: record.below(),
            since: record.created_at,
        };
        provider.asked(query, &self.host)
    }
}

/// Whether the command of a dialog takes more than one row, so that its line ends are not certain.
pub(super) fn is_in_rows(dialog: &Dialog) -> bool {
    dialog.command.is_some() && dialog.rows.len() > 1
}

/// Finds the recorded commands that the screen shows. Only white space may differ, because line breaks
/// hide it. `start` is where relative paths begin.
fn compare(
    dialog: &Dialog,
    asked: &PendingRequest,
    start: &Path,
) -> Result<Recorded, &'static str> {
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
        if asked.elsewhere.iter().any(|subject| same(&subject)) {
            return Err(ELSEWHERE);
        }
        let found: Vec<String> = asked.subjects.iter().filter(same).cloned().collect();
        return match found.is_empty() {
            true => Err(OTHERWISE),
            false => Ok(Recorded::Commands(found)),
        };
    }
    let is_asked = |path: &String| {
        let mut subjects = asked.subjects.iter();
        subjects.any(|subject| {
            subject == path
                || subject.ends_with(&format!("/{path}"))
                || start.join(subject).as_os_str() == path.as_str()
        })
    };
    if dialog.paths.iter().all(is_asked) {
        Ok(Recorded::Nothing)
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
            body: Vec::new(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            height: 4,
            choices: Vec::new(),
            selected: None,
            own_words: None,
            field_open: false,
            numbered_from: 1,
            complete: true,
        }
    }

    fn asked(subjects: &[&str], printed: &str) -> PendingRequest {
        PendingRequest {
            subjects: subjects.iter().map(|text| (*text).to_owned()).collect(),
            printed: printed.to_owned(),
            ..PendingRequest::default()
        }
    }

    #[test]
    fn a_command_is_believed_only_as_it_is_written_down() {
        let ls = shown(Some("ls -l  a"), &[]);
        let believed = |subjects: &[&str], printed: &str| {
            compare(&ls, &asked(subjects, printed), Path::new("/w"))
        };
        let written = Ok(Recorded::Commands(vec!["ls -l\na".to_owned()]));
        assert_eq!(believed(&["ls -l\na"], "text\n"), written);
        assert_eq!(believed(&["x", "ls -l\na"], "\ttext\n"), written);
        // Which of two is on the screen cannot be told.
        let both = Recorded::Commands(vec!["ls -l a".to_owned(), "l s-la".to_owned()]);
        assert_eq!(believed(&["ls -l a", "l s-la"], ""), Ok(both));
        assert_eq!(believed(&[], ""), Err(OTHERWISE));
        let elsewhere = PendingRequest {
            elsewhere: vec!["ls -l a".to_owned()],
            ..PendingRequest::default()
        };
        assert_eq!(compare(&ls, &elsewhere, Path::new("/w")), Err(ELSEWHERE));
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
        let start = Path::new("/w");
        let believed = |path: &str, subject: &str| {
            compare(&shown(None, &[path]), &asked(&[subject], ""), start)
        };
        assert_eq!(believed("src/a.rs", "src/a.rs"), Ok(Recorded::Nothing));
        assert_eq!(believed("src/a.rs", "/w/src/a.rs"), Ok(Recorded::Nothing));
        assert_eq!(believed("src/a.rs", "/w/other/src/b.rs"), Err(OTHERWISE));
        assert_eq!(believed("src/a.rs", "/w/xsrc/a.rs"), Err(OTHERWISE));
        // Copilot shows the whole path of what its model has named from the worktree on.
        assert_eq!(believed("/w/src/a.rs", "src/a.rs"), Ok(Recorded::Nothing));
        assert_eq!(believed("/x/src/a.rs", "src/a.rs"), Err(OTHERWISE));
        assert_eq!(believed("/x/a.rs", "../x/a.rs"), Err(OTHERWISE));
        let nothing = asked(&[], "");
        assert_eq!(
            compare(&shown(None, &["src/a.rs"]), &nothing, start),
            Err(OTHERWISE)
        );
        assert_eq!(
            compare(&shown(None, &[]), &nothing, start),
            Ok(Recorded::Nothing)
        );
    }
}
