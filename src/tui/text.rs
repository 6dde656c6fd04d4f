//! Fits foreign text into the columns of a screen.

use crate::model::printable_line;
pub(super) use crate::model::{clusters, columns, cut, cut_around};
use ansi_to_tui::IntoText;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// The text as lines of at most `width` columns, broken between words where possible.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let mut current = String::new();
        let mut used = 0;
        for word in line.split_inclusive(' ') {
            if used > 0 && used + columns(word.trim_end()) > width {
                lines.push(std::mem::take(&mut current).trim_end().to_owned());
                used = 0;
            }
            for (_, cluster, wide) in clusters(word) {
                if used + wide > width {
                    if cluster == " " {
                        continue;
                    }
                    if used > 0 {
                        lines.push(std::mem::take(&mut current));
                    }
                    used = 0;
                }
                current.push_str(cluster);
                used += wide;
            }
        }
        lines.push(current.trim_end().to_owned());
    }
    lines
}

/// The offsets at which a text is broken into pieces of at most `width` columns, wherever that is.
pub(super) fn hard_breaks(text: &str, width: usize) -> Vec<usize> {
    let width = width.max(1);
    if text.is_ascii() {
        return (1..)
            .map(|n| n * width)
            .take_while(|at| *at < text.len())
            .collect();
    }
    let mut breaks = Vec::new();
    let mut used = 0;
    for (at, _, wide) in clusters(text) {
        if used + wide > width && at > 0 {
            breaks.push(at);
            used = 0;
        }
        used += wide;
    }
    breaks
}

/// The offset of a column; the end of the text where it has fewer.
pub(super) fn offset_of(text: &str, column: usize) -> usize {
    if text.is_ascii() {
        return column.min(text.len());
    }
    let mut used = 0;
    for (at, _, wide) in clusters(text) {
        if used >= column {
            return at;
        }
        used += wide;
    }
    text.len()
}

/// A captured screen as lines of at most `width` columns, with colours on request.
///
/// An agent's screen is usually wider than the preview: text is wrapped, borders and separator lines are cut
/// off.
pub(super) fn screen(capture: &str, width: usize, coloured: bool) -> Vec<Line<'static>> {
    let width = width.max(1);
    // Colours continue across rows, so all rows are parsed together.
    let capture = capture.replace('\t', "    ");
    let read = capture.into_text().unwrap_or_else(|_| {
        let plain = anstream::adapter::strip_str(&capture).to_string();
        plain.into()
    });
    let mut lines = Vec::new();
    for line in read.lines {
        let spans: Vec<Span<'static>> = line
            .spans
            .into_iter()
            .map(|span| {
                let style = if coloured { span.style } else { Style::new() };
                Span::styled(printable_line(&span.content), style)
            })
            .collect();
        fold(spans, width, &mut lines);
    }
    while lines.last().is_some_and(is_blank) {
        lines.pop();
    }
    lines
}

/// The same with one blank line for many: an agent that draws on the whole of a large screen has its talk at the top and
/// its box at the bottom, and a preview with fewer rows would show the room between them.
pub(super) fn agent_screen(capture: &str, width: usize, coloured: bool) -> Vec<Line<'static>> {
    const MANY: usize = 4;
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut blank = 0;
    for line in screen(capture, width, coloured) {
        if is_blank(&line) {
            blank += 1;
        } else {
            if blank >= MANY {
                lines.truncate(lines.len() + 1 - blank);
            }
            blank = 0;
        }
        lines.push(line);
    }
    lines
}

fn is_blank(line: &Line<'_>) -> bool {
    line.spans.iter().all(|span| span.content.trim().is_empty())
}

/// Wraps one row of a screen into lines, with the indentation of its text.
fn fold(spans: Vec<Span<'static>>, width: usize, lines: &mut Vec<Line<'static>>) {
    let text: String = spans.iter().map(|span| span.content.as_ref()).collect();
    let trimmed = text.trim_end();
    if columns(trimmed) <= width || is_frame(trimmed) {
        lines.push(limited(spans, width));
        return;
    }
    let blank = trimmed.len() - trimmed.trim_start().len();
    let indent = trimmed.get(..blank).map_or(0, columns);
    let widest = clusters(trimmed).map(|(.., wide)| wide).max().unwrap_or(0);
    let fits = indent <= width / 3 && indent + widest <= width;
    let indent = if fits { indent } else { 0 };
    let mut breaks = breaks(trimmed, width, indent, blank).into_iter().peekable();
    let mut line: Vec<Span<'static>> = Vec::new();
    let mut at = 0;
    for span in spans {
        let mut piece = String::new();
        for (_, cluster, _) in clusters(&span.content) {
            if at >= trimmed.len() {
                break;
            }
            // Two spans can form one cluster: then a break lies before the second.
            if breaks.next_if(|place| *place < at).is_some() || breaks.next_if_eq(&at).is_some() {
                line.push(Span::styled(std::mem::take(&mut piece), span.style));
                lines.push(Line::from(std::mem::take(&mut line)));
                line.push(Span::raw(" ".repeat(indent)));
            }
            piece.push_str(cluster);
            at += cluster.len();
        }
        line.push(Span::styled(piece, span.style));
    }
    lines.push(Line::from(line));
}

/// The byte offsets at which a row is broken: after a space if one is near, else at the edge. The spaces at
/// its beginning, `blank` bytes, stay with the first word.
fn breaks(text: &str, width: usize, indent: usize, blank: usize) -> Vec<usize> {
    let mut breaks = Vec::new();
    let mut used = 0;
    let mut space = None;
    for (at, cluster, wide) in clusters(text) {
        while used + wide > width {
            let last = breaks.last().copied().unwrap_or(0);
            // What follows the space is indented, and must still fit.
            let near = |space: &usize| {
                let rest = text.get(*space..at).map_or(0, columns);
                *space > last.max(blank) && at - *space < 24 && indent + rest <= width
            };
            let place = space.take().filter(near).unwrap_or(at);
            if place <= last {
                break;
            }
            breaks.push(place);
            used = indent + text.get(place..at).map_or(0, columns);
        }
        used += wide;
        if cluster == " " {
            space = Some(at + 1);
        }
    }
    breaks
}

fn limited(spans: Vec<Span<'static>>, width: usize) -> Line<'static> {
    let mut left = width;
    let mut kept = Vec::new();
    for span in spans {
        let mut piece = String::new();
        for (_, cluster, wide) in clusters(&span.content) {
            if wide > left {
                left = 0;
                break;
            }
            left -= wide;
            piece.push_str(cluster);
        }
        kept.push(Span::styled(piece, span.style));
        if left == 0 {
            break;
        }
    }
    Line::from(kept)
}

/// Whether a row is a separator line or part of a box, which is cut off instead of wrapped.
fn is_frame(row: &str) -> bool {
    let drawn = |character: char| ('\u{2500}'..='\u{259f}').contains(&character);
    let row = row.trim();
    let framed =
        row.chars().next().is_some_and(drawn) && row.chars().next_back().is_some_and(drawn);
    let rules = row.chars().filter(|character| drawn(*character)).count();
    framed || rules * 2 > row.chars().count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    /// What a terminal draws as one can be wider than a narrow place, and is never broken.
    fn fits(text: &str, width: usize) -> bool {
        let shown = text.graphemes(true).filter(|it| columns(it) > 0);
        columns(text) <= width || shown.count() == 1
    }

    fn plain(lines: &[Line<'_>]) -> Vec<String> {
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn words_stay_whole_where_they_can() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
        assert_eq!(wrap("a\n\nb", 4), ["a", "", "b"]);
    }

    #[test]
    fn much_room_on_the_screen_of_an_agent_is_one_line() {
        let shown = |capture| plain(&agent_screen(capture, 9, false));
        assert_eq!(shown("a\n\n\n\nb"), ["a", "", "", "", "b"]);
        assert_eq!(
            shown("a\n\n \n\n\nb\n\nc\n\n\n\n\n"),
            ["a", "", "b", "", "c"]
        );
        assert_eq!(shown("\n\n\n\n\n"), [""; 0]);
        assert_eq!(shown("\n\n\n\n\na"), ["", "a"]);
    }

    #[test]
    fn text_goes_on_in_the_next_line_and_frames_are_cut_off() {
        let lines = screen(
            "\x1b[32mabc\ndef\x1b[0mghi \x1b[4:3mx\x1b[m\n──────\n│ ab │\n\n\n",
            4,
            true,
        );
        assert_eq!(plain(&lines), ["abc", "defg", "hi x", "────", "│ ab"]);
        assert_eq!(lines[1].spans[0].style.fg, lines[0].spans[0].style.fg);
        assert_eq!(
            lines[0].spans[0].style.fg,
            Some(ratatui::style::Color::Green)
        );
    }

    #[test]
    fn a_long_row_is_broken_between_words_below_its_beginning() {
        let lines = screen("   some words that go on", 14, true);
        assert_eq!(plain(&lines), ["   some words ", "   that go on"]);
        // An accent on the last space of the indentation.
        let lines = screen("  \u{301}***─*", 6, true);
        assert_eq!(plain(&lines), ["  \u{301}***─", "  *"]);
    }

    #[test]
    fn without_colours_there_are_none() {
        let lines = screen("\x1b[31;44mred\x1b[0m", 10, false);
        assert_eq!(lines[0].spans[0].style, Style::new());
    }

    #[test]
    fn clusters_are_not_broken() {
        assert_eq!(wrap("👨‍👩‍👧👨‍👩‍👧x", 4), ["👨‍👩‍👧👨‍👩‍👧", "x"]);
        assert_eq!(hard_breaks("日本語", 4), [6]);
        assert_eq!(hard_breaks("abcdef", 4), [4]);
        assert_eq!((offset_of("日本", 2), offset_of("日本", 1)), (3, 3));
    }

    proptest! {
        #[test]
        fn pieces_of_a_text_are_the_text(text in "(\\PC|日|👨‍👩‍👧|\u{fe0f}|\u{301}| )*", width in 2_usize..9) {
            let mut from = 0;
            for end in hard_breaks(&text, width).into_iter().chain([text.len()]) {
                prop_assert!(fits(&text[from..end], width));
                from = end;
            }
            prop_assert_eq!(from, text.len());
        }

        #[test]
        fn narrow_and_wide(text in "( |\\*|日|a|❤️|👨‍👩‍👧|─|\u{301})*", width in 1_usize..8) {
            for line in screen(&text, width, false) {
                let shown = line.to_string();
                prop_assert!(fits(&shown, width), "{shown:?}");
            }
            for line in wrap(&text, width) {
                prop_assert!(fits(&line, width), "{line:?}");
            }
        }

        #[test]
        fn nothing_is_wider_than_its_place(text in "(\\PC|\u{1b}\\[[0-9;]{0,9}m|\n|\t|\u{202e}|[\\x00-\\x1f])*", width in 1_usize..12) {
            for line in screen(&text, width, true) {
                let shown = line.to_string();
                prop_assert!(fits(&shown, width), "{shown:?}");
                prop_assert!(!shown.chars().any(char::is_control));
                prop_assert!(!shown.contains('\u{202e}'), "turned");
            }
            // These only get printable text.
            let text = crate::model::printable(&text).replace('\t', " ");
            for line in wrap(&text, width) {
                prop_assert!(fits(&line, width));
            }
        }
    }
}
