//! Reads the question of a plain program in its last line: `Continue? [Y/n]`, `Press Enter to continue`.
//! Only the question and its hint decide which answers exist. The text around them can only make the
//! dialog incomplete.

use super::super::key::Key;
use super::super::screen::Screen;
use super::spec::DialogSpec;
use super::{Choice, ChoiceKind, Dialog};

/// How many rows above the question are checked for text that makes it more than a confirmation.
const ABOVE: usize = 12;

pub(super) fn read(spec: &DialogSpec, screen: &Screen) -> Option<Dialog> {
    let rows = screen.rows();
    let last = rows.iter().rposition(|row| !row.is_blank())?;
    let text = rows.get(last)?.text().trim();
    let (question, choices) = asked(text)?;
    let first = last.saturating_sub(ABOVE);
    let around = rows.get(first..=last).unwrap_or_default();
    let wary = around
        .iter()
        .any(|row| spec.wary.iter().any(|mark| mark.is_match(row.text())));
    let tool = spec.tools.iter().find(|tool| tool.head.is_match(question));
    Some(Dialog {
        tool: tool.map(|tool| tool.tool.clone()),
        question: Some(question.to_owned()),
        command: None,
        rows: Vec::new(),
        loose: Vec::new(),
        paths: Vec::new(),
        body: around.iter().map(|row| row.text().to_owned()).collect(),
        own_words: None,
        field_open: false,
        numbered_from: 1,
        height: rows.len() - first,
        selected: None,
        plain: true,
        choices,
        complete: tool.is_some() && !wary,
    })
}

/// The question without its hint, and the answers that the hint offers.
fn asked(text: &str) -> Option<(&str, Vec<Choice>)> {
    let text = text.trim_end_matches([' ', ':', '>']);
    let bare = text.trim_end_matches(['.', '…', ' ']);
    let lower = bare.to_lowercase();
    if ["press enter", "press return", "press any key"]
        .iter()
        .any(|words| lower.starts_with(words))
    {
        let go_on = choice("Enter", ChoiceKind::YesOnce, vec![Key::Enter]);
        return Some((bare, vec![go_on]));
    }
    let unasked = text.trim_end_matches([' ', '?']);
    if let Some((question, hint)) = hinted(unasked) {
        return Some((question, answers(hint)?));
    }
    text.ends_with('?').then(|| {
        let choices = [("y", ChoiceKind::YesOnce), ("n", ChoiceKind::No)];
        let choices = choices
            .into_iter()
            .filter_map(|(word, kind)| Some(choice(word, kind, typed(word)?)))
            .collect();
        (unasked, choices)
    })
}

/// Splits `Continue? [Y/n]` into question and hint.
fn hinted(text: &str) -> Option<(&str, &str)> {
    let (open, close) = match text.chars().next_back()? {
        ']' => ('[', ']'),
        ')' => ('(', ')'),
        _ => return None,
    };
    let (question, hint) = text.strip_suffix(close)?.rsplit_once(open)?;
    Some((question.trim_end_matches([' ', '?']), hint))
}

/// Two answers, yes and no. The capital letter is the default, chosen by Enter alone, whether the program
/// reads a line or a key.
fn answers(hint: &str) -> Option<Vec<Choice>> {
    let words: Vec<&str> = hint.split('/').map(str::trim).collect();
    let [first, second] = words.as_slice() else {
        return None;
    };
    let kind = |word: &str| match word.to_lowercase().as_str() {
        "y" | "yes" => Some(ChoiceKind::YesOnce),
        "n" | "no" => Some(ChoiceKind::No),
        _ => None,
    };
    let marked = |word: &str| word.starts_with(|letter: char| letter.is_ascii_uppercase());
    let (yes, no) = (kind(first)?, kind(second)?);
    if yes == no {
        return None;
    }
    [(first, second, yes), (second, first, no)]
        .into_iter()
        .map(|(word, other, kind)| {
            let default = marked(word) && !marked(other);
            let keys = match default {
                true => vec![Key::Enter],
                false => typed(&word.to_lowercase())?,
            };
            Some(choice(word, kind, keys))
        })
        .collect()
}

fn typed(word: &str) -> Option<Vec<Key>> {
    let letters = word.chars().map(Key::of_character);
    letters.chain([Some(Key::Enter)]).collect()
}

fn choice(label: &str, kind: ChoiceKind, keys: Vec<Key>) -> Choice {
    Choice {
        keys,
        label: label.to_owned(),
        kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yes(text: &str) -> Option<(String, String)> {
        let (question, choices) = asked(text)?;
        let yes = choices
            .iter()
            .find(|choice| choice.kind == ChoiceKind::YesOnce)?;
        let keys: Vec<String> = yes.keys.iter().map(|key| key.name()).collect();
        Some((question.to_owned(), keys.join(" ")))
    }

    #[test]
    fn the_hint_says_which_keys_say_yes() {
        for (text, question, keys) in [
            ("Continue? [Y/n]", "Continue", "Enter"),
            (
                "Do you want to continue? [Y/n] ",
                "Do you want to continue",
                "Enter",
            ),
            ("Proceed (y/n)?", "Proceed", "y Enter"),
            ("Continue? [y/N]:", "Continue", "y Enter"),
            ("Continue (yes/no)?", "Continue", "y e s Enter"),
            ("Continue?", "Continue", "y Enter"),
            (
                "Press Enter to continue...",
                "Press Enter to continue",
                "Enter",
            ),
            (
                "Press any key to continue . . .",
                "Press any key to continue",
                "Enter",
            ),
        ] {
            assert_eq!(
                yes(text),
                Some((question.to_owned(), keys.to_owned())),
                "{text}"
            );
        }
        // More than yes and no, or neither.
        for text in [
            "Are you sure you want to continue connecting (yes/no/[fingerprint])?",
            "Action? [a/b/c]",
            "Apply this hunk [y,n,q,a,d,e,?]?",
            "done [2/3]",
            "a line (of text)",
        ] {
            assert_eq!(yes(text), None, "{text}");
        }
    }
}
