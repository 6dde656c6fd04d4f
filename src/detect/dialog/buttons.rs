//! Reads buttons: labels in one row, one of them highlighted: `Allow once   Allow always   Reject`.

use super::super::key::Key;
use super::super::row::CharStyle;
use super::body::Choices;
use super::frame::Framed;
use super::spec::DialogSpec;
use super::{Choice, ChoiceKind};

/// How many rows above the bottom the buttons may be.
const REACH: usize = 4;

pub(super) fn read(spec: &DialogSpec, rows: &[Framed<'_>]) -> Option<Choices> {
    let (first, labels) = rows
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, row)| !row.is_blank())
        .take(REACH)
        .find_map(|(at, row)| Some((at, labels(spec, row)?)))?;
    let selected = highlighted(&labels);
    let choices = labels
        .into_iter()
        .enumerate()
        .map(|(at, (label, kind, _))| Choice {
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
fn labels(
    spec: &DialogSpec,
    row: &Framed<'_>,
) -> Option<Vec<(String, ChoiceKind, Option<CharStyle>)>> {
    let start = row.row.text().len() - row.text.len();
    let mut found = Vec::new();
    let mut offset = 0;
    for part in row.text.split("  ") {
        let label = part.trim();
        let kind = spec.kind(label);
        if !label.is_empty() && kind != ChoiceKind::Other {
            let indent = part.len() - part.trim_start().len();
            let look = row.row.look_at(start + offset + indent);
            found.push((label.to_owned(), kind, look));
        }
        offset += part.len() + 2;
    }
    (found.len() > 1).then_some(found)
}

/// The one button whose background differs from that of all others.
fn highlighted(labels: &[(String, ChoiceKind, Option<CharStyle>)]) -> Option<usize> {
    let ground = |at: usize| {
        labels
            .get(at)
            .and_then(|(_, _, look)| *look)
            .map(|look| (look.ground, look.reverse))
    };
    let alone: Vec<usize> = (0..labels.len())
        .filter(|&at| {
            (0..labels.len())
                .filter(|&other| other != at)
                .all(|other| ground(other) != ground(at))
        })
        .collect();
    match alone[..] {
        [only] if labels.len() > 2 => Some(only),
        _ => None,
    }
}

fn way(from: usize, to: usize) -> Vec<Key> {
    let step = if to > from { Key::Right } else { Key::Left };
    let mut keys = vec![step; to.abs_diff(from)];
    keys.push(Key::Enter);
    keys
}
