//! Reads a menu: numbered choices, one per row: ` ❯ 1. Yes`, ` → [1] Yes`.

use super::super::key::Key;
use super::frame::Framed;
use super::spec::{DialogSpec, Frame, Keys, Notes};
use super::{Choice, body::Choices};

/// How many rows of hints may be below the last choice.
const FOOTER: usize = 8;
/// No label has so much room inside.
const COLUMN_GAP: &str = "        ";
pub(super) const CURSORS: [char; 6] = ['❯', '›', '●', '▶', '→', '>'];

struct Numbered<'t> {
    number: usize,
    label: &'t str,
    /// The column at which the label starts. Rows with the same indentation belong to it.
    column: usize,
    marked: bool,
}

pub(super) fn read(spec: &DialogSpec, rows: &[Framed<'_>]) -> Option<Choices> {
    let last = rows
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, row)| !row.is_blank())
        .take(FOOTER)
        .find_map(|(at, row)| numbered(row.text).map(|_| at))?;

    let mut found: Vec<(Choice, bool)> = Vec::new();
    let mut first = last;
    let mut expected = None;
    // Rows below the choice that is read next: the rest of its label, or a note.
    let mut notes: Vec<&Framed<'_>> = trailing(rows, last);
    for (at, row) in rows.iter().enumerate().take(last + 1).rev() {
        match numbered(row.text) {
            Some(choice) if expected.is_none_or(|number| number == choice.number) => {
                let belonging = notes
                    .iter()
                    .rev()
                    .filter(|note| note.indent() >= choice.column);
                let own = beside_nothing(spec.frame, choice.label);
                let label = match spec.notes {
                    Notes::Described => own.to_owned(),
                    Notes::Wrapped => belonging.fold(own.to_owned(), |label, note| {
                        format!("{label} {}", note.text.trim())
                    }),
                };
                notes.clear();
                first = at;
                expected = Some(choice.number.saturating_sub(1));
                found.push((named(spec, choice.number, &label), choice.marked));
                if choice.number <= 1 {
                    break;
                }
            }
            // The numbers are not consecutive: this is not one menu.
            Some(_) => break,
            None if row.is_blank() || row.is_line() => {}
            None if row.indent() > 0 => notes.push(row),
            None => break,
        }
    }
    found.reverse();
    let marks: Vec<usize> = found
        .iter()
        .enumerate()
        .filter(|(_, (_, marked))| *marked)
        .map(|(at, _)| at)
        .collect();
    let selected = match marks[..] {
        [only] => Some(only),
        _ => None,
    };
    Some(Choices {
        whole: expected == Some(0) && selected.is_some(),
        numbered_from: expected.map_or(1, |before| before + 1),
        choices: found.into_iter().map(|(choice, _)| choice).collect(),
        selected,
        first,
        asked: None,
    })
}

/// A label without what another column of the screen has in the same row.
fn beside_nothing(frame: Frame, label: &str) -> &str {
    let own = match frame {
        // A bar has no right edge.
        Frame::Bar => label.split(COLUMN_GAP).next().unwrap_or(label),
        Frame::None | Frame::Box => label,
    };
    own.trim_end()
}

/// The indented rows right below the last choice.
fn trailing<'r, 's>(rows: &'r [Framed<'s>], last: usize) -> Vec<&'r Framed<'s>> {
    let mut rows: Vec<_> = rows
        .iter()
        .skip(last + 1)
        .take_while(|row| !row.is_blank() && !row.is_line())
        .collect();
    rows.reverse();
    rows
}

fn numbered(text: &str) -> Option<Numbered<'_>> {
    let body = text.trim_start();
    let (marked, body) = match body.strip_prefix(CURSORS) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, body),
    };
    let (number, label) = match body.strip_prefix('[') {
        Some(body) => body.split_once("] ")?,
        None => body.split_once(". ")?,
    };
    if number.is_empty() || number.len() > 2 || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let label = label.trim_start();
    let column = text.chars().count() - label.chars().count();
    Some(Numbered {
        number: number.parse().ok()?,
        label,
        column,
        marked,
    })
}

fn named(spec: &DialogSpec, number: usize, label: &str) -> Choice {
    let by_number = || {
        u32::try_from(number)
            .ok()
            .and_then(|number| char::from_digit(number, 10))
            .and_then(Key::of_character)
    };
    let (key, label) = match spec.keys {
        Keys::Number => (by_number(), label.to_owned()),
        Keys::Hint => match hint(label) {
            Some((key, label)) => (Some(key), label.to_owned()),
            None => (None, label.to_owned()),
        },
    };
    Choice {
        keys: spec.own_keys(&label).unwrap_or(key.into_iter().collect()),
        kind: spec.kind(&label),
        label,
    }
}

/// `Yes, proceed (y)` → y.
fn hint(label: &str) -> Option<(Key, &str)> {
    let (text, name) = label.strip_suffix(')')?.rsplit_once('(')?;
    let key = match name {
        "esc" => Key::Escape,
        "enter" => Key::Enter,
        other => Key::from_name(other)?,
    };
    Some((key, text.trim_end()))
}
