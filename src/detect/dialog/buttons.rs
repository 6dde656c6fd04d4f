//! Reads buttons: labels in one row, one of them highlighted: `Allow once   Allow always   Reject`.

use super::super::key::Key;
use super::super::row::CharStyle;
use super::body::Choices;
use super::frame::Framed;
use super::spec::DialogSpec;
use super::{Choice, ChoiceKind};

/// How many rows above the bottom the buttons may be.
const REACH: usize = 4;

/// A label of the row.
struct Button {
    label: String,
    kind: ChoiceKind,
    look: Option<CharStyle>,
    /// That of the gap behind it, beyond its own margin of one character.
    gap: Option<CharStyle>,
}

pub(super) fn read(spec: &DialogSpec, rows: &[Framed<'_>]) -> Option<Choices> {
    let (first, buttons) = rows
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, row)| !row.is_blank())
        .take(REACH)
        .find_map(|(at, row)| Some((at, buttons(spec, row)?)))?;
    let selected = highlighted(&buttons);
    let choices = buttons
        .into_iter()
        .enumerate()
        .map(|(at, Button { label, kind, .. })| Choice {
            // The keys depend on where the highlight is.
            keys: spec
                .own_keys(&label)
                .unwrap_or_else(|| selected.map(|from| way(from, at)).unwrap_or_default()),
            label,
            kind,
        })
        .collect();
    Some(Choices {
        choices,
        selected,
        first,
        asked: None,
        whole: true,
        numbered_from: 1,
    })
}

/// The buttons of a row: labels from the provider file, separated by two spaces or more. Key hints in the
/// same row are not labels.
fn buttons(spec: &DialogSpec, row: &Framed<'_>) -> Option<Vec<Button>> {
    let start = row.row.text().len() - row.text.len();
    let mut found = Vec::new();
    let mut offset = 0;
    for part in row.text.split("  ") {
        let label = part.trim();
        let kind = spec.kind(label);
        if !label.is_empty() && kind != ChoiceKind::Other {
            let indent = part.len() - part.trim_start().len();
            let at = start + offset + indent;
            found.push(Button {
                label: label.to_owned(),
                kind,
                look: row.row.look_at(at),
                gap: row.row.look_at(at + label.len() + 1),
            });
        }
        offset += part.len() + 2;
    }
    (found.len() > 1).then_some(found)
}

/// The one button whose background differs from that of all others; of two, the one whose background is not
/// that of the gap between them.
fn highlighted(buttons: &[Button]) -> Option<usize> {
    let ground = |look: CharStyle| (look.ground, look.reverse);
    let grounds: Vec<_> = buttons
        .iter()
        .map(|button| button.look.map(ground))
        .collect();
    let alone: Vec<usize> = (0..buttons.len())
        .filter(|&at| {
            (0..buttons.len())
                .filter(|&other| other != at)
                .all(|other| grounds[other] != grounds[at])
        })
        .collect();
    let gap = buttons.first()?.gap.map(ground);
    match alone[..] {
        [only] if buttons.len() > 2 => Some(only),
        [first, second] if buttons.len() == 2 && gap.is_some() => {
            let lit: Vec<usize> = [first, second]
                .into_iter()
                .filter(|&at| grounds[at] != gap)
                .collect();
            match lit[..] {
                [only] => Some(only),
                _ => None,
            }
        }
        _ => None,
    }
}

fn way(from: usize, to: usize) -> Vec<Key> {
    let step = if to > from { Key::Right } else { Key::Left };
    let mut keys = vec![step; to.abs_diff(from)];
    keys.push(Key::Enter);
    keys
}
