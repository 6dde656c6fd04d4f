//! Answers a question in the user's own words, in the field that the dialog has for them.

use std::time::{Duration, Instant};

use crate::detect::{ChoiceKind, Dialog};
use crate::engine::base::{Core, Error, Unanswerable};
use crate::engine::talk::asking::unanswerable;
use crate::engine::typing::dialog::OpenDialog;
use crate::model::{AgentPlace, InstanceRecord};

/// How long the field may take to open, and to show what was pasted.
const SHOWN: Duration = Duration::from_secs(5);
const PROBE: Duration = Duration::from_millis(30);
/// So many characters of the text are searched for on the screen; the rest may be in another row.
const BEGINNING: usize = 24;
/// Longer answers belong into a file or a prompt.
const LONGEST: usize = 2000;

/// What was done with the words.
#[derive(Debug)]
pub(super) struct WrittenAnswer {
    /// The keys that opened the field.
    pub keys: Vec<String>,
    /// Whether the dialog has gone since.
    pub gone: bool,
}

impl Core {
    /// Opens the field, pastes the words and submits them. Each of the three only while the dialog is the one
    /// that was read.
    pub(super) fn answer_in_words<'r>(
        &'r self,
        record: &'r InstanceRecord,
        place: &'r AgentPlace,
        open: OpenDialog<'r>,
        own: usize,
        words: &str,
    ) -> Result<WrittenAnswer, Error> {
        let words = words.trim();
        let is_line = !words.is_empty() && !words.chars().any(char::is_control);
        if !is_line || words.chars().count() > LONGEST {
            return Err(unanswerable(record, Unanswerable::NotALine));
        }
        let changed = || unanswerable(record, Unanswerable::Changed);
        let mut open = open;
        // The field of a choice that is selected may be open already: a key would be written into it.
        let needs_no_key = open.dialog.choices[own].keys.is_empty();
        let is_open = (needs_no_key || open.dialog.field_open) && open.dialog.selected == Some(own);
        let keys = match (is_open, needs_no_key) {
            (true, _) => Vec::new(),
            (false, true) => return Err(changed()),
            (false, false) => {
                let pressed = self.press_in(record, place, &mut open, |dialog| {
                    dialog.choices[own].keys.clone()
                })?;
                pressed.ok_or_else(changed)?
            }
        };
        let closed = open.rows();
        let is_same = |other: &OpenDialog<'_>| {
            let same = other.dialog.question == open.dialog.question
                && other.dialog.choices.len() == open.dialog.choices.len();
            let mut pairs = other
                .dialog
                .choices
                .iter()
                .zip(&open.dialog.choices)
                .enumerate();
            // Only the choice with the field may read differently.
            same && pairs.all(|(at, (now, before))| at == own || now.label == before.label)
        };
        let is_field = |now: &OpenDialog<'_>| {
            let takes_words = is_selected(&now.dialog, own);
            // A scroll bar beside the dialog, which goes by itself, changes its rows as well.
            is_same(now) && takes_words.unwrap_or_else(|| is_open || now.rows() != closed)
        };
        let beginning: String = words.chars().take(BEGINNING).collect();
        let count = |dialog: &OpenDialog<'_>| {
            let rows = dialog.rows();
            rows.iter().filter(|row| row.contains(&beginning)).count()
        };
        let no_field = || match is_open {
            true => changed(),
            false => unanswerable(record, Unanswerable::NoField),
        };
        self.act_when(record, place, is_field, |_| Ok(true))?
            .ok_or_else(no_field)?;
        // An agent that draws a dialog before it reads keys draws the field before, too.
        std::thread::sleep(self.provider_of(record)?.dialog_hold());
        let field = self
            .act_when(record, place, is_field, |now| now.paste(words))?
            .ok_or_else(no_field)?;
        let before = count(&field);
        let left = || unanswerable(record, Unanswerable::LeftInField);
        let is_written = |now: &OpenDialog<'_>| is_same(now) && count(now) > before;
        self.act_when(record, place, is_written, |_| Ok(true))?
            .ok_or_else(left)?;
        // An Enter within a moment of a paste is taken for a part of it.
        std::thread::sleep(self.provider_of(record)?.settle_before_submit());
        let enter = ["Enter".to_owned()];
        let written = self
            .act_when(record, place, is_written, |now| now.press(&enter))?
            .ok_or_else(left)?;
        tracing::info!(title = %record.title, dialog = open.id, "answered in the user's own words");
        let gone = written.is_gone_in_time(ChoiceKind::Other)?;
        Ok(WrittenAnswer { keys, gone })
    }

    /// Acts on the dialog once it is as wanted; again where it has moved in that moment, so that nothing was done. None
    /// when the time is over.
    fn act_when<'r>(
        &'r self,
        record: &'r InstanceRecord,
        place: &'r AgentPlace,
        is_wanted: impl Fn(&OpenDialog<'_>) -> bool,
        act: impl Fn(&OpenDialog<'_>) -> Result<bool, Error>,
    ) -> Result<Option<OpenDialog<'r>>, Error> {
        let began = Instant::now();
        while began.elapsed() < SHOWN {
            match self.dialog_in(record, place) {
                Ok(now) if is_wanted(&now) => {
                    if act(&now)? {
                        return Ok(Some(now));
                    }
                }
                // It may be drawn in pieces.
                Ok(_) | Err(Error::Unanswerable { .. }) => {}
                Err(error) => return Err(error),
            }
            std::thread::sleep(PROBE);
        }
        Ok(None)
    }
}

/// Whether the choice at this position is selected, which opens its field; None where the dialog shows that by colours
/// alone.
fn is_selected(dialog: &Dialog, own: usize) -> Option<bool> {
    dialog.selected.map(|selected| selected == own)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::agents::Catalog;
    use crate::detect::Screen;

    #[test]
    fn the_field_for_own_words_is_told_from_the_list_of_choices() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/screens");
        let catalog = Catalog::built_in();
        for (agent, shows) in [
            ("copilot", true),
            ("kimi", true),
            ("qwen", true),
            ("vibe", false),
        ] {
            let provider = catalog.require(agent).unwrap();
            let dialog = |name: &str| {
                let path = root.join(agent).join("question").join(name);
                let screen = Screen::new(&std::fs::read_to_string(path).unwrap());
                provider.judge(&screen, None).dialog.unwrap()
            };
            let (closed, open) = (dialog("real-ask-80.txt"), dialog("real-ask-own-80.txt"));
            let own = closed.own_words.unwrap();
            assert_eq!(is_selected(&closed, own), shows.then_some(false), "{agent}");
            assert_eq!(is_selected(&open, own), shows.then_some(true), "{agent}");
        }
    }
}
