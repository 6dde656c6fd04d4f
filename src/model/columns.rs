//! The columns that a text takes on a terminal.
//!
//! Counted by grapheme cluster, as it is drawn: a flag is two characters and two columns, a letter with an
//! accent two characters and one column. The width of a whole text can be another sum than that of its
//! clusters, so that all who cut or align text count here.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// What a terminal draws as one, with its offset and its columns.
pub(crate) fn clusters(text: &str) -> impl DoubleEndedIterator<Item = (usize, &str, usize)> {
    text.grapheme_indices(true)
        .map(|(at, cluster)| (at, cluster, cluster.width()))
}

pub(crate) fn columns(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    clusters(text).map(|(.., wide)| wide).sum()
}

/// The text cut to at most `width` columns, with `…` where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for (_, cluster, wide) in clusters(text) {
        if used + wide + 1 > width {
            break;
        }
        kept.push_str(cluster);
        used += wide;
    }
    if width > 0 {
        kept.push('…');
    }
    kept
}

/// The text cut to at most `width` columns, so that what stands behind its first `before` characters is seen.
pub(crate) fn cut_around(text: &str, before: usize, width: usize) -> String {
    let place = text
        .char_indices()
        .nth(before)
        .map_or(text.len(), |(at, _)| at);
    let (ahead, behind) = text.split_at(place);
    let room_behind = columns(behind).min(width - width / 3);
    if columns(text) <= width || columns(ahead) + room_behind < width {
        return cut(text, width);
    }
    let mut room = (width / 3).saturating_sub(1);
    let mut start = place;
    for (at, _, wide) in clusters(ahead).rev() {
        match room.checked_sub(wide) {
            Some(left) => (room, start) = (left, at),
            None => break,
        }
    }
    // A whole word, if there is one.
    let word = ahead[start..].find(' ').map(|space| start + space + 1);
    let start = word.filter(|word| *word < place).unwrap_or(start);
    match width {
        0 => String::new(),
        _ => format!("…{}", cut(&text[start..], width - 1)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_are_those_of_clusters() {
        // One family, one heart, one flag, an accent.
        for (text, expected) in [
            ("👨‍👩‍👧", 2),
            ("❤️", 2),
            ("🇩🇪", 2),
            ("e\u{301}", 1),
            (" * 日", 5),
        ] {
            assert_eq!(columns(text), expected, "{text}");
        }
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut(" * 日", 4), " * …");
        assert_eq!(cut("🇩🇪🇫🇷🇮🇹", 5), "🇩🇪🇫🇷…");
        assert_eq!(cut("日", 0), "");
    }

    #[test]
    fn a_place_far_in_a_line_is_seen_with_what_is_around_it() {
        let text = "one two three four five six seven eight nine ten";
        let around = |word: &str, width| {
            let before = text.find(word).unwrap();
            cut_around(text, before, width)
        };
        assert_eq!(around("three", 60), text);
        assert_eq!(around("two", 20), "one two three four …");
        assert_eq!(around("seven", 20), "…six seven eight ni…");
        assert_eq!(around("ten", 20), "…nine ten");
        assert_eq!(around("ten", 0), "");
    }

    proptest! {
        #[test]
        fn what_is_cut_around_a_place_fits_and_shows_it(
            text in "[a-z日 ]{0,60}",
            before in 0_usize..70,
            width in 0_usize..30,
        ) {
            let marked: String = text
                .chars()
                .enumerate()
                .map(|(at, char)| if at == before { 'X' } else { char })
                .collect();
            let shown = cut_around(&marked, before, width);
            prop_assert!(columns(&shown) <= width, "{shown:?}");
            if width >= 6 && marked.contains('X') {
                prop_assert!(shown.contains('X'), "{shown:?}");
            }
        }

        #[test]
        fn what_is_cut_fits(text in "(\\PC|日|👨‍👩‍👧|🇩|🇪|\u{fe0f}|\u{200d}|\u{301}| )*", width in 0_usize..12) {
            let shown = cut(&text, width);
            prop_assert!(columns(&shown) <= width, "{shown:?}");
            if columns(&text) <= width {
                prop_assert_eq!(shown, text);
            }
        }
    }
}
