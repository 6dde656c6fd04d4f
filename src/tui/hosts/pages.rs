//! What is shown of an instance on a host, as its commands print it there.

use std::time::Duration;

use serde_json::Value;

use super::passing::{answer, name_of};
use crate::engine::{ConversationEntry, Engine, HostName, HostQuestion, RunHistory, ScreenView};
use crate::model::{InstanceId, RunRecord};
use crate::report::Report;
use crate::tui::diff::DiffPage;
use crate::tui::message::{Page, PageKind};

/// How long a page may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Lines of a screen. What is above is asked for when it is scrolled to.
const LINES: usize = 80;
/// How many entries of a conversation are read.
const ENTRIES: &str = "400";

pub(super) fn screen(
    engine: &Engine,
    host: &HostName,
    id: &InstanceId,
    above: usize,
) -> Result<ScreenView, Report> {
    let (name, lines) = (name_of(host, id), (LINES + above).to_string());
    let words = ["peek", &name, "--ansi", "-n", &lines];
    let shown = answer(
        engine,
        host,
        HostQuestion::new(words, PATIENCE).that_only_looks(),
    )?;
    Ok(ScreenView {
        text: String::from_utf8_lossy(&shown).into_owned(),
        live: true,
    })
}

pub(super) fn page(
    engine: &Engine,
    host: &HostName,
    id: &InstanceId,
    what: PageKind,
) -> Result<Page, Report> {
    let name = name_of(host, id);
    let ask = |words: &[&str]| {
        let words = words.iter().copied();
        answer(
            engine,
            host,
            HostQuestion::new(words, PATIENCE).that_only_looks(),
        )
    };
    Ok(match what {
        PageKind::Diff => {
            let patch = ask(&["diff", &name, "--color", "never"])?;
            let patch = String::from_utf8_lossy(&patch).into_owned();
            Page::Diff(Box::new(DiffPage::new(patch, Vec::new())))
        }
        PageKind::Conversation => {
            Page::Conversation(entries(&ask(&["log", &name, "--json", "-n", ENTRIES])?))
        }
        PageKind::Runs => Page::Runs(runs(&ask(&["runs", &name, "--json"])?)),
    })
}

/// Those that this version understands.
fn entries(answer: &[u8]) -> Vec<ConversationEntry> {
    let lines = answer.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

fn runs(answer: &[u8]) -> RunHistory {
    let told: Value = serde_json::from_slice(answer).unwrap_or_default();
    let mut history = RunHistory::default();
    for value in told["runs"].as_array().into_iter().flatten() {
        let mut value = value.clone();
        // The number of a file's format is not part of the answer.
        value["format"] = RunRecord::FORMAT.into();
        match serde_json::from_value(value) {
            Ok(run) => history.runs.push(run),
            Err(_) => history
                .unreadable
                .push("this version does not understand one of them".to_owned()),
        }
    }
    history
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_left_out() {
        let entry = r#"{"timestamp":"2026-11-14T18:02:00Z","type":"user","content":"hi"}"#;
        let told = format!("{entry}\nnonsense\n\n");
        assert_eq!(entries(told.as_bytes()).len(), 1);
        let history = runs(br#"{"runs":[{"run_id":"x"}],"unreadable":[]}"#);
        assert_eq!((history.runs.len(), history.unreadable.len()), (0, 1));
        assert!(runs(b"nonsense").runs.is_empty());
    }
}
