//! The filter of the list: a fuzzy match.

/// Whether the letters of every word of the pattern occur in this order, ignoring case and the text between
/// them.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    pattern
        .to_lowercase()
        .split_whitespace()
        .all(|word| occurs(word, &text))
}

fn occurs(word: &str, text: &str) -> bool {
    let mut rest = text.chars();
    word.chars()
        .all(|wanted| rest.any(|letter| letter == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_are_enough() {
        for (pattern, text, expected) in [
            ("", "anything", true),
            ("flg", "fix the login", true),
            ("FIX", "fix the login", true),
            ("login fix", "fix the login", true),
            ("glo", "fix the login", false),
            ("日本", "日x本", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern}");
        }
    }
}
