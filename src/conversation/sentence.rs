//! Splits text into lines and sentences.

/// Only this much of a long text is read.
const LOOKED_AT: usize = 8 * 1024;

/// The text on one line of at most `length` characters, with an ellipsis where it was cut.
pub(super) fn clip(text: &str, length: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let more = word.chars().count() + usize::from(count > 0);
        if count + more > length {
            if count == 0 {
                line.extend(word.chars().take(length));
            }
            line.push('…');
            return line;
        }
        if count > 0 {
            line.push(' ');
        }
        line.push_str(word);
        count += more;
    }
    line
}

/// The first line that is not blank.
pub(super) fn first_line(text: &str) -> &str {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}

/// The sentences of a text outside its code blocks, without list and heading marks.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = String> {
    let mut in_code = false;
    let lines: Vec<&str> = beginning(text)
        .lines()
        .filter(|line| {
            let fence = line.trim_start().starts_with("```");
            in_code ^= fence;
            !fence && !in_code
        })
        .collect();
    lines
        .into_iter()
        .flat_map(|line| {
            let line = line.trim().trim_start_matches(['-', '*', '#', '>', ' ']);
            split(line)
        })
        .filter(|sentence| sentence.chars().filter(|c| c.is_alphabetic()).count() > 3)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Splits after a mark that ends a sentence, if a space follows: `src/main.rs` and `1.2` stay whole.
fn split(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut ended = false;
    for (at, character) in line.char_indices() {
        if ended && character.is_whitespace() {
            found.extend(line.get(start..at).map(|part| part.trim().to_owned()));
            start = at;
        }
        ended = matches!(character, '.' | '!' | '?');
    }
    found.extend(line.get(start..).map(|part| part.trim().to_owned()));
    found.retain(|part| !part.is_empty());
    found
}

fn beginning(text: &str) -> &str {
    let mut end = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_clipped_at_a_word() {
        for (text, length, expected) in [
            ("", 5, ""),
            ("one two", 7, "one two"),
            ("one two", 6, "one…"),
            ("  a\n\nb\t c ", 9, "a b c"),
            ("überlang", 4, "über…"),
            ("x", 0, "…"),
        ] {
            assert_eq!(clip(text, length), expected, "{text:?} {length}");
        }
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        let text = "# Plan\nI read src/main.rs v1.2. It fails! Why?\n- use `serde`\n```\nlet x = 1. Not this.\n```\nDone.";
        assert_eq!(
            sentences(text).collect::<Vec<_>>(),
            [
                "Plan",
                "I read src/main.rs v1.2.",
                "It fails!",
                "use `serde`",
                "Done."
            ]
        );
    }
}
