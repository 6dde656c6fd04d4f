//! Answers a question in the user's own words, in the field that the dialog has for them.

use std::time::{Duration, Instant};

use crate::detect::ChoiceKind;
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
        // The field of a choice that is selected may be open already.
        let needs_no_key = open.dialog.choices[own].keys.is_empty();
        let is_open = needs_no_key && open.dialog.selected == Some(own);
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
        let is_field = |now: &OpenDialog<'_>| is_same(now) && (is_open || now.rows() != closed);
        let beginning: String = words.chars().take(BEGINNING).collect();
        let count = |dialog: &OpenDialog<'_>| {
            let rows = dialog.rows();
            rows.iter().filter(|row| row.contains(&beginning)).count()
        };
        self.act_when(record, place, is_field, |_| Ok(true))?
            .ok_or_else(changed)?;
        // An agent that draws a dialog before it reads keys draws the field before, too.
        std::thread::sleep(self.provider_of(record)?.dialog_hold());
        let field = self
            .act_when(record, place, is_field, |now| now.paste(words))?
            .ok_or_else(changed)?;
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
