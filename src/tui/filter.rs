//! The filter of the list: words in what is shown, the best match first.

/// How well a text matches: every word of the pattern must occur, ignoring case. Smaller is better; None where
/// it does not match. The title counts before everything else that is shown.
pub(super) fn rank(pattern: &str, title: &str, others: &str) -> Option<usize> {
    let (title, others) = (title.to_lowercase(), others.to_lowercase());
    let mut total = 0;
    for word in pattern.to_lowercase().split_whitespace() {
        let in_title = place(word, &title);
        let elsewhere = place(word, &others).map(|place| place + 4);
        total += in_title.into_iter().chain(elsewhere).min()?;
    }
    Some(total)
}

/// The whole text, its beginning, the beginning of a word, or anywhere.
fn place(word: &str, text: &str) -> Option<usize> {
    if text == word {
        return Some(0);
    }
    let mut best = None;
    for (at, _) in text.match_indices(word) {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let place = match before {
            None => 1,
            Some(letter) if !letter.is_alphanumeric() => 2,
            Some(_) => 3,
        };
        best = Some(best.map_or(place, |known: usize| known.min(place)));
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_what_is_shown_are_found_and_the_title_comes_first() {
        let others = "app biv/fix-login claude running needs you";
        for (pattern, title, expected) in [
            ("", "anything", Some(0)),
            ("FIX", "fix the login", Some(1)),
            ("login fix", "fix the login", Some(3)),
            ("needs", "fix the login", Some(6)),
            ("needs", "needs", Some(0)),
            ("flg", "fix the login", None),
            ("login nothing", "fix the login", None),
            ("日", "x日本", Some(3)),
        ] {
            assert_eq!(rank(pattern, title, others), expected, "{pattern}");
        }
    }
}
