//! Reads a question with letters at its end: `Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]:`.

use super::super::key::Key;
use super::Choice;
use super::body::Choices;
use super::frame::Framed;
use super::spec::DialogSpec;

pub(super) fn read(spec: &DialogSpec, rows: &[Framed<'_>]) -> Option<Choices> {
    let (at, row) = rows
        .iter()
        .enumerate()
        .rev()
        .find(|(_, row)| !row.is_blank())?;
    let text = row.text.trim();
    let start = text.find("(Y)es")?;
    let (question, answers) = text.split_at(start);
    let (answers, default) = match answers.rsplit_once('[') {
        Some((answers, default)) => (answers, default.split_once(']')?.0),
        None => (answers.trim_end_matches(':'), ""),
    };
    let choices: Vec<Choice> = answers
        .trim()
        .split('/')
        .filter_map(|answer| choice(spec, answer))
        .collect();
    if choices.is_empty() {
        return None;
    }
    Some(Choices {
        selected: choices.iter().position(|choice| choice.label == default),
        choices,
        first: at,
        asked: Some(question.trim().to_owned()),
        whole: true,
        numbered_from: 1,
    })
}

/// `(D)on't ask again` is chosen with `d` and Enter.
fn choice(spec: &DialogSpec, answer: &str) -> Option<Choice> {
    let (letter, rest) = answer.trim().strip_prefix('(')?.split_once(')')?;
    let mut letters = letter.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else {
        return None;
    };
    let key = Key::of_character(letter.to_ascii_lowercase())?;
    let label = format!("{letter}{rest}");
    Some(Choice {
        keys: vec![key, Key::Enter],
        kind: spec.kind(&label),
        label,
    })
}
