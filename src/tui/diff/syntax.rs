//! Colours for code, by families of languages: comments, strings, numbers and keywords.
//!
//! A lexer of this size is right for most lines, and a wrong colour harms nobody. A whole grammar for each
//! language would be larger than the rest of the program.

use super::languages::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum Class {
    Plain,
    Comment,
    Text,
    Number,
    Keyword,
    Type,
}

/// The end of a part of a line, in bytes, and its class.
pub(in crate::tui) type Part = (usize, Class);

/// What is open at the end of a line: the sequence that closes it, and its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::tui) struct Open(Option<(&'static str, Class)>);

/// The parts of a line. `open` is what the line before has left open.
pub(in crate::tui) fn parts(language: Language, line: &str, open: &mut Open) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut add = |end: usize, class: Class| match parts.last_mut() {
        Some((last, known)) if *known == class => *last = end,
        _ if end > 0 => parts.push((end, class)),
        _ => {}
    };
    let mut at = 0;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some((close, class)) = open.0 {
            let end = rest.find(close).map(|found| found + close.len());
            at += end.unwrap_or(rest.len());
            add(at, class);
            if end.is_none() {
                return parts;
            }
            open.0 = None;
            continue;
        }
        if language
            .line_comments
            .iter()
            .any(|mark| begins_comment(line, at, mark))
        {
            add(line.len(), Class::Comment);
            return parts;
        }
        if let Some((begin, close)) = language.block_comment.filter(|it| rest.starts_with(it.0)) {
            at += begin.len();
            add(at, Class::Comment);
            open.0 = Some((close, Class::Comment));
            continue;
        }
        if let Some(quote) = language
            .long_quotes
            .iter()
            .find(|it| rest.starts_with(**it))
        {
            at += quote.len();
            add(at, Class::Text);
            open.0 = Some((quote, Class::Text));
            continue;
        }
        let Some(first) = rest.chars().next() else {
            return parts;
        };
        let (length, class) = token(language, rest, first);
        at += length;
        add(at, class);
    }
    parts
}

/// A `#` inside a word or behind `$` is none.
fn begins_comment(line: &str, at: usize, mark: &str) -> bool {
    let before = line.get(..at).and_then(|before| before.chars().next_back());
    line.get(at..).is_some_and(|rest| rest.starts_with(mark))
        && (mark != "#" || before.is_none_or(char::is_whitespace))
}

fn token(language: Language, rest: &str, first: char) -> (usize, Class) {
    if language.quotes.contains(first) {
        return (quoted(rest, first), Class::Text);
    }
    if first == '\'' && language.characters {
        // A character is short and closed; everything else is a lifetime.
        let length = quoted(rest, '\'');
        let inner = rest
            .get(1..length)
            .and_then(|text| text.strip_suffix('\''))
            .unwrap_or_default();
        let one = inner.chars().count() == 1 || (inner.starts_with('\\') && inner.len() <= 10);
        return if one {
            (length, Class::Text)
        } else {
            (1, Class::Plain)
        };
    }
    if first.is_ascii_digit() {
        let end =
            rest.find(|letter: char| !letter.is_alphanumeric() && letter != '.' && letter != '_');
        return (end.unwrap_or(rest.len()), Class::Number);
    }
    if first.is_alphabetic() || first == '_' {
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
        let class = match () {
            () if language.keywords.contains(&word) => Class::Keyword,
            () if language.types && first.is_uppercase() => Class::Type,
            () => Class::Plain,
        };
        return (word.len(), class);
    }
    (first.len_utf8(), Class::Plain)
}

/// The length of a quoted text, to the end of the line if it is not closed.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if letter == quote {
            return at + letter.len_utf8();
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::languages::language;
    use super::*;

    fn shown(path: &str, lines: &[&str]) -> Vec<String> {
        let mut open = Open::default();
        let one = |line: &&str| {
            let mut from = 0;
            let mut text = String::new();
            for (end, class) in parts(language(path), line, &mut open) {
                let mark = match class {
                    Class::Plain => "",
                    Class::Comment => "c",
                    Class::Text => "t",
                    Class::Number => "n",
                    Class::Keyword => "k",
                    Class::Type => "T",
                };
                text.push_str(&[mark, &line[from..end], "|"].concat());
                from = end;
            }
            text
        };
        lines.iter().map(one).collect()
    }

    #[test]
    fn each_family_has_its_comments_and_texts() {
        assert_eq!(
            shown(
                "a.rs",
                &["let x: &'a Str = 'b'; // \"no\"", "/* one", "two */ 0x1f"]
            ),
            [
                "klet| x: &'a |TStr| = |t'b'|; |c// \"no\"|",
                "c/* one|",
                "ctwo */| |n0x1f|"
            ]
        );
        assert_eq!(
            shown(
                "a.py",
                &["def f(): \"\"\"doc", "still\"\"\" # x", "a = '#'"]
            ),
            [
                "kdef| f(): |t\"\"\"doc|",
                "tstill\"\"\"| |c# x|",
                "a = |t'#'|"
            ]
        );
        assert_eq!(shown("x.sh", &["echo $# it's"]), ["echo $# it|t's|"]);
        assert_eq!(
            shown("x.json", &["{\"a\\\"b\": true}"]),
            ["{|t\"a\\\"b\"|: |ktrue|}|"]
        );
        assert_eq!(shown("notes.txt", &["if 1"]), ["if |n1|"]);
    }

    proptest! {
        #[test]
        fn every_byte_has_one_class(lines in prop::collection::vec("\\PC{0,40}", 0..6), ending in "rs|py|js|sql|html|el|x") {
            let mut open = Open::default();
            for line in &lines {
                let parts = parts(language(&format!("f.{ending}")), line, &mut open);
                let mut from = 0;
                for (end, _) in &parts {
                    prop_assert!(*end > from);
                    prop_assert!(line.is_char_boundary(*end));
                    from = *end;
                }
                prop_assert_eq!(from, line.len());
            }
        }
    }
}
