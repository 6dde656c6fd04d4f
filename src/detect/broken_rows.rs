//! Joins the rows that an input box has broken, so that a text is as it was typed.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The rows of a box with so much room, as the text that was typed: a row that had no room for the first word of
/// the next was broken by the box.
pub(super) fn joined(rows: &[String], room: usize) -> String {
    let mut text = String::new();
    let mut above: Option<&str> = None;
    for row in rows.iter().map(|row| row.trim_end_matches(' ')) {
        if let Some(above) = above {
            text.push_str(between(above, row, room));
        }
        text.push_str(row);
        above = Some(row);
    }
    text.truncate(text.trim_end().len());
    text
}

/// What stood between two rows.
fn between(above: &str, row: &str, room: usize) -> &'static str {
    let word = row.split(' ').next().unwrap_or_default();
    if word.is_empty() || above.width() + 1 + word.width() <= room {
        return "\n";
    }
    // A wide character leaves a column free.
    let full = above.width() + 1 >= room;
    let begun = above.rsplit(' ').next().unwrap_or_default();
    let wide = |character: Option<char>| character.and_then(char::width) == Some(2);
    // A word is broken where it is longer than the box; Chinese and Japanese have no spaces between theirs.
    let inside_a_word = begun.width() + word.width() > room
        || (wide(begun.chars().next_back()) && wide(word.chars().next()));
    match full && inside_a_word {
        true => "",
        false => " ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Kimi Code, Qwen Code and Vibe break rows.
    #[test]
    fn what_stood_between_two_rows() {
        let word = "x".repeat(20);
        for (rows, expected) in [
            (&["one", "two"][..], "one\ntwo"),
            (
                &["eleven chars and", "more words"],
                "eleven chars and more words",
            ),
            // A long word begins on a row of its own.
            (&["foo", &word, "x end"], &format!("foo {word}x end")),
            // Where the rest of the row would be too short for the word.
            (&["a word of that", "length12"], "a word of that length12"),
            (&["说 中中中中中中中中", "中中"], "说 中中中中中中中中中中"),
            (
                &["中中中中中中中中中中", "中中"],
                "中中中中中中中中中中中中",
            ),
            (&["one", "", "  three", ""], "one\n\n  three"),
        ] {
            let rows: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
            assert_eq!(joined(&rows, 20), expected, "{rows:?}");
        }
    }
}
