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

    proptest! {
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
