//! Makes foreign text (titles, branches, screens, transcripts) safe to print on a terminal.

/// The text without anything that could control a terminal or mislead a reader: control characters,
/// bidirectional overrides, invisible and tag characters become visible marks. Newlines and tabs stay.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => character,
            other if deceives(other) => '\u{fffd}',
            other => other,
        })
        .collect()
}

/// As [`printable`], on one line.
pub(crate) fn printable_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

fn deceives(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200c}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_steers_or_hides_becomes_visible() {
        assert_eq!(printable("a\x1b[31mb\x07"), "a\u{fffd}[31mb\u{fffd}");
        assert_eq!(printable("abc\u{202e}def"), "abc\u{fffd}def");
        assert_eq!(printable("👩‍💻 naïve 日本"), "👩‍💻 naïve 日本");
        assert_eq!(printable_line("a\nb\tc"), "a b c");
    }

    proptest! {
        #[test]
        fn no_control_character_passes(text in any::<String>()) {
            prop_assert!(printable(&text).chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
        }
    }
}
