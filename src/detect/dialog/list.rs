//! Reads a list: choices without numbers, one per row, one of them marked: ` ❯ Gas`.

use super::super::key::Key;
use super::Choice;
use super::body::Choices;
use super::frame::Framed;
use super::menu::CURSORS;
use super::spec::DialogSpec;

/// The rows of the choices, from the first to the last.
struct Listed {
    first: usize,
    labels: Vec<String>,
    marked: usize,
}

pub(super) fn read(spec: &DialogSpec, rows: &[Framed<'_>]) -> Option<Choices> {
    // A field below it may be marked, too.
    let marks = (0..rows.len())
        .rev()
        .filter(|at| label_column(rows[*at].text).is_some());
    let listed = marks
        .filter_map(|at| listed(rows, at))
        .find(|listed| listed.labels.len() > 1)?;
    let own = |label: &str| {
        spec.own_words
            .as_ref()
            .is_some_and(|own| own.is_match(label))
    };
    let choices = listed.labels.iter().enumerate().map(|(at, label)| Choice {
        // Its field opens when it is selected.
        keys: way(listed.marked, at, !own(label)),
        kind: spec.kind(label),
        label: label.clone(),
    });
    Some(Choices {
        choices: choices.collect(),
        selected: Some(listed.marked),
        first: listed.first,
        asked: None,
        whole: true,
        numbered_from: 1,
    })
}

/// The list around a marked row: the rows whose text begins in the same column, and those between them that go on with
/// a label, further to the left.
fn listed(rows: &[Framed<'_>], marked: usize) -> Option<Listed> {
    let column = label_column(rows.get(marked)?.text)?;
    let is_part = |row: &&Framed<'_>| !row.is_blank() && !row.is_line();
    let starts = |row: &Framed<'_>| row.indent() == column;
    let above = rows[..marked].iter().rev().take_while(is_part).count();
    let mut first = marked - above;
    // A heading right above the list is further to the left, too.
    while first < marked && !starts(&rows[first]) {
        first += 1;
    }
    let below = rows[marked + 1..].iter().take_while(is_part).count();
    let mut labels: Vec<String> = Vec::new();
    let mut selected = 0;
    for (at, row) in rows.iter().enumerate().take(marked + below + 1).skip(first) {
        let text = row.text.trim();
        match labels.last_mut() {
            _ if at == marked => {
                selected = labels.len();
                labels.push(text.trim_start_matches(CURSORS).trim_start().to_owned());
            }
            Some(label) if !starts(row) => {
                label.push(' ');
                label.push_str(text);
            }
            _ => labels.push(text.to_owned()),
        }
    }
    Some(Listed {
        first,
        labels,
        marked: selected,
    })
}

/// Where the label of a marked row begins.
fn label_column(text: &str) -> Option<usize> {
    let label = text
        .trim_start()
        .strip_prefix(CURSORS)?
        .strip_prefix(' ')?
        .trim_start();
    (!label.is_empty()).then(|| text.chars().count() - label.chars().count())
}

fn way(from: usize, to: usize, submits: bool) -> Vec<Key> {
    let step = if to > from { Key::Down } else { Key::Up };
    let mut keys = vec![step; to.abs_diff(from)];
    if submits {
        keys.push(Key::Enter);
    }
    keys
}
