//! The screen of a running agent, saved from time to time in case its tmux server ends.

use serde::{Deserialize, Serialize};

use crate::engine::base::Error;
use crate::engine::watch::archive::{
    SavedTerminal, Saving, combined, forget_live, remember, scrollback,
};
use crate::model::{Timestamp, last_lines};
use crate::store::{InstanceDir, replace_file, replace_unsynced};
use crate::tmux::{Pane, without_control_sequences};

/// No more than this is kept, however long its lines are.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The first line of such a file; the text follows.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    at: Timestamp,
    terminal: SavedTerminal,
}

/// Saves what a pane shows.
pub(in crate::engine) fn save_live(
    dir: &InstanceDir,
    pane: Pane,
    text: &str,
    at: Timestamp,
    saving: Saving,
) -> Result<(), Error> {
    let text = bounded(text.trim_end());
    let terminal = SavedTerminal::of(pane, text.lines().count());
    let head = serde_json::to_string(&Head { at, terminal }).unwrap_or_default();
    let content = format!("{head}\n{}", without_control_sequences(text));
    let path = saving.path(dir);
    let replaced = match saving {
        Saving::AtRest => replace_file(&path, content.as_bytes()),
        Saving::WhileBusy => replace_unsynced(&path, content.as_bytes()),
    };
    Ok(replaced?)
}

/// Turns the last saved screen into the scrollback of an agent that ended with its server. Returns the
/// facts about its terminal.
pub(in crate::engine) fn keep_live(
    dir: &InstanceDir,
    history: usize,
) -> Result<Option<SavedTerminal>, Error> {
    let Some((terminal, text)) = last_saved(dir) else {
        return Ok(None);
    };
    let most = history.saturating_add(terminal.rows.into());
    let text = combined(dir, text, most);
    let terminal = SavedTerminal {
        lines: text.lines().count() as u64,
        ..terminal
    };
    if !text.is_empty() {
        replace_file(&scrollback(dir), text.as_bytes())?;
    }
    remember(dir, &terminal)?;
    forget_live(dir);
    Ok(Some(terminal))
}

/// The last saved screen, with its colours.
pub(in crate::engine) fn last_saved(dir: &InstanceDir) -> Option<(SavedTerminal, String)> {
    let (_, head, text) = latest(dir)?;
    Some((head.terminal, text))
}

/// Whether the agent was busy when its screen was saved last.
pub(in crate::engine) fn was_busy(dir: &InstanceDir) -> Option<bool> {
    latest(dir).map(|(saving, ..)| saving == Saving::WhileBusy)
}

fn latest(dir: &InstanceDir) -> Option<(Saving, Head, String)> {
    [Saving::AtRest, Saving::WhileBusy]
        .into_iter()
        .filter_map(|saving| {
            let (head, text) = read(&std::fs::read_to_string(saving.path(dir)).ok()?)?;
            Some((saving, head, text))
        })
        .max_by_key(|(_, head, _)| head.at)
}

/// Reads a saved screen; None if a power cut has left it empty or cut off.
fn read(content: &str) -> Option<(Head, String)> {
    let (head, text) = content.split_once('\n')?;
    Some((serde_json::from_str(head).ok()?, text.to_owned()))
}

/// The end of a text, from the beginning of a line on.
fn bounded(text: &str) -> &str {
    let mut lines = text.lines().count();
    let mut kept = text;
    while kept.len() > MOST_BYTES && lines > 1 {
        lines /= 2;
        kept = last_lines(text, lines);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_file_is_none_and_a_long_text_is_cut_at_a_line() {
        assert!(read("").is_none());
        assert!(read("{\"at\":\"2026").is_none());
        assert!(read("\0\0\0\0\n").is_none());
        let line = "x".repeat(1023) + "\n";
        let long = line.repeat(MOST_BYTES / 512);
        let kept = bounded(&long);
        assert!(kept.len() <= MOST_BYTES && kept.starts_with('x'));
        assert_eq!(bounded("short\ntext"), "short\ntext");
    }
}
