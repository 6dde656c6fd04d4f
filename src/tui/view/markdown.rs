//! Markdown as agents write it, as lines for a terminal: headings, lists, quotes, code, emphasis.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::code::coloured;
use super::paint::styled;
use crate::tui::diff::{Open, language, parts};
use crate::tui::text::{columns, hard_breaks};
use crate::tui::theme::Theme;

/// The text as lines of at most `width` columns. It must be printable.
pub(super) fn markdown(theme: &Theme, text: &str, width: usize) -> Vec<Line<'static>> {
    let width = width.max(4);
    let mut lines = Vec::new();
    let mut fence: Option<(String, String, Open)> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some((mark, info, open)) = &mut fence {
            if trimmed.starts_with(mark.as_str()) {
                fence = None;
            } else {
                code_line(theme, line, info, open, width, &mut lines);
            }
            continue;
        }
        if let Some(mark) = ["```", "~~~"]
            .iter()
            .find(|mark| trimmed.starts_with(**mark))
        {
            let length = trimmed.len() - trimmed.trim_start_matches(&mark[..1]).len();
            let info = trimmed.get(length..).unwrap_or_default().trim();
            let info = info.split([' ', ',', '{']).next().unwrap_or_default();
            fence = Some((
                trimmed.get(..length).unwrap_or(mark).to_owned(),
                info.to_lowercase(),
                Open::default(),
            ));
            continue;
        }
        block(theme, line, width, &mut lines);
    }
    lines
}

fn code_line(
    theme: &Theme,
    line: &str,
    info: &str,
    open: &mut Open,
    width: usize,
    lines: &mut Vec<Line<'static>>,
) {
    let ending = match info {
        "rust" => "rs",
        "python" => "py",
        "javascript" | "typescript" => "ts",
        "shell" | "console" => "sh",
        other => other,
    };
    let pieces = parts(language(&format!("x.{ending}")), line, open);
    let mut breaks = hard_breaks(line, width.saturating_sub(2));
    breaks.push(line.len());
    let mut from = 0;
    for end in breaks {
        let mut spans = vec![styled("▏ ", theme.line)];
        for (edge, class) in &pieces {
            let to = (*edge).min(end);
            if to > from {
                let text = line.get(from..to).unwrap_or_default();
                spans.push(styled(text, coloured(theme, theme.text, *class)));
                from = to;
            }
        }
        lines.push(Line::from(spans));
    }
}

/// A line outside of code.
fn block(theme: &Theme, line: &str, width: usize, lines: &mut Vec<Line<'static>>) {
    let trimmed = line.trim_start();
    let indent = (columns(line) - columns(trimmed)).min(width / 3);
    let hashes = trimmed.len() - trimmed.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && trimmed.get(hashes..).is_some_and(|it| it.starts_with(' ')) {
        let text = trimmed.get(hashes..).unwrap_or_default().trim();
        let style = theme.accent.add_modifier(Modifier::BOLD);
        let spans = inline(theme, text, style);
        return flow(spans, width, (String::new(), style), 0, lines);
    }
    let rule = trimmed.len() >= 3
        && ["-", "*", "_"].iter().any(|mark| {
            trimmed
                .trim_end()
                .split(*mark)
                .all(|rest| rest.trim().is_empty())
        });
    if rule {
        lines.push(Line::from(styled("─".repeat(width.min(40)), theme.line)));
        return;
    }
    if trimmed.starts_with('|') {
        let mut from = 0;
        for end in hard_breaks(line, width).into_iter().chain([line.len()]) {
            let text = line.get(from..end).unwrap_or_default();
            lines.push(Line::from(styled(text, theme.text)));
            from = end;
        }
        return;
    }
    let (lead, lead_style, text, base) = lead_of(theme, trimmed);
    let lead = format!("{}{lead}", " ".repeat(indent));
    let hanging = columns(&lead).min(width / 2);
    let spans = inline(theme, text, base);
    flow(spans, width, (lead, lead_style), hanging, lines);
}

/// What stands in front of the text: a bullet, a number, the bar of a quote.
fn lead_of<'a>(theme: &Theme, line: &'a str) -> (String, Style, &'a str, Style) {
    for bullet in ["- ", "* ", "+ "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            let (mark, rest) = match (rest.strip_prefix("[ ] "), rest.strip_prefix("[x] ")) {
                (Some(rest), _) => ("☐ ", rest),
                (_, Some(rest)) => ("☑ ", rest),
                _ => ("• ", rest),
            };
            return (mark.to_owned(), theme.accent, rest, theme.text);
        }
    }
    if let Some(rest) = line.strip_prefix('>') {
        let quoted = rest.strip_prefix(' ').unwrap_or(rest);
        return ("▏ ".to_owned(), theme.line, quoted, theme.dim);
    }
    let digits = line.len()
        - line
            .trim_start_matches(|it: char| it.is_ascii_digit())
            .len();
    if (1..=3).contains(&digits)
        && let Some(rest) = line.get(digits..)
        && let Some(text) = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    {
        let number = line.get(..digits).unwrap_or_default();
        return (format!("{number}. "), theme.accent, text, theme.text);
    }
    (String::new(), theme.text, line, theme.text)
}

/// Text with emphasis, code and links.
fn inline(theme: &Theme, text: &str, base: Style) -> Vec<(String, Style)> {
    let mut spans: Vec<(String, Style)> = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let found = marked(theme, rest, base).filter(|_| {
            // An underscore or a star inside a word is a part of it.
            first == '`' || first == '[' || !before.is_alphanumeric()
        });
        if let Some((inner, style, length)) = found {
            if !plain.is_empty() {
                spans.push((std::mem::take(&mut plain), base));
            }
            spans.push((inner, style));
            before = ' ';
            rest = rest.get(length..).unwrap_or_default();
            continue;
        }
        plain.push(first);
        before = first;
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
    }
    if !plain.is_empty() {
        spans.push((plain, base));
    }
    spans
}

/// What stands between marks at the start of the text: its content, its look, and the length of it all.
fn marked(theme: &Theme, text: &str, base: Style) -> Option<(String, Style, usize)> {
    let between = |mark: &str| {
        let inner = text.strip_prefix(mark)?;
        let end = inner.find(mark)?;
        let inner = inner.get(..end)?;
        let tight = !inner.is_empty() && inner.trim() == inner;
        tight.then(|| (inner.to_owned(), end + mark.len() * 2))
    };
    if let Some((inner, length)) = between("``").or_else(|| between("`")) {
        return Some((inner, theme.code_text, length));
    }
    for (mark, modifier) in [
        ("**", Modifier::BOLD),
        ("__", Modifier::BOLD),
        ("~~", Modifier::CROSSED_OUT),
        ("*", Modifier::ITALIC),
        ("_", Modifier::ITALIC),
    ] {
        if let Some((inner, length)) = between(mark) {
            return Some((inner, base.add_modifier(modifier), length));
        }
    }
    let inner = text.strip_prefix('[')?;
    let (label, behind) = inner.split_once("](")?;
    let (target, _) = behind.split_once(')')?;
    if label.contains('[') || label.is_empty() || target.contains(' ') {
        return None;
    }
    let length = label.len() + target.len() + 4;
    let shown = if label == target {
        label.to_owned()
    } else {
        format!("{label} ({target})")
    };
    Some((shown, base.add_modifier(Modifier::UNDERLINED), length))
}

/// Breaks spans between words. The first line has a lead, the others are indented below its text.
fn flow(
    spans: Vec<(String, Style)>,
    width: usize,
    (lead, lead_style): (String, Style),
    hanging: usize,
    lines: &mut Vec<Line<'static>>,
) {
    let mut used = columns(&lead);
    let mut line = vec![styled(lead, lead_style)];
    let mut empty = true;
    let mut next = |line: &mut Vec<Span<'static>>| {
        let indent = Span::raw(" ".repeat(hanging));
        lines.push(Line::from(std::mem::replace(line, vec![indent])));
        hanging
    };
    for (text, style) in spans {
        for word in text.split_inclusive(' ') {
            if !empty && used + columns(word.trim_end()) > width {
                used = next(&mut line);
                empty = true;
            }
            let word = if empty && used > 0 && word == " " {
                ""
            } else {
                word
            };
            // A word that is longer than a line is broken anywhere.
            let mut from = 0;
            let room = width.saturating_sub(used).max(1);
            let mut breaks = Vec::new();
            if columns(word.trim_end()) > room {
                breaks = hard_breaks(
                    word.trim_end(),
                    width.saturating_sub(hanging.max(used)).max(1),
                );
            }
            for end in breaks {
                line.push(styled(word.get(from..end).unwrap_or_default(), style));
                used = next(&mut line);
                from = end;
            }
            let rest = word.get(from..).unwrap_or_default();
            used += columns(rest);
            empty &= rest.is_empty();
            line.push(styled(rest, style));
        }
    }
    next(&mut line);
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &str, width: usize) -> Vec<String> {
        markdown(&Theme::dark(), text, width)
            .iter()
            .map(|line| line.to_string().trim_end().to_owned())
            .collect()
    }

    #[test]
    fn blocks_have_their_looks() {
        let text = "# A *title*\n\n- one that is longer than the line\n  - two\n3. three\n> quoted\n---\n\
                    ```rust\nlet x = 1; // long enough to wrap\n```\n| a | b |\n";
        assert_eq!(
            plain(text, 20),
            [
                "A title",
                "",
                "• one that is longer",
                "  than the line",
                "  • two",
                "3. three",
                "▏ quoted",
                "────────────────────",
                "▏ let x = 1; // long",
                "▏  enough to wrap",
                "| a | b |",
            ]
        );
    }

    #[test]
    fn emphasis_is_shown_and_names_stay_whole() {
        let theme = Theme::dark();
        let line = markdown(
            &theme,
            "Use `my_file_name` and **not** a*b*c or snake_case_name.",
            80,
        );
        assert_eq!(
            line[0].to_string(),
            "Use my_file_name and not a*b*c or snake_case_name."
        );
        let span = |text: &str| {
            let spans = &line[0].spans;
            spans
                .iter()
                .find(|it| it.content.trim() == text)
                .unwrap()
                .style
        };
        assert_eq!(span("my_file_name"), theme.code_text);
        assert!(span("not").add_modifier.contains(Modifier::BOLD));
        assert_eq!(
            plain("See [the docs](https://example.org/x) now", 80),
            ["See the docs (https://example.org/x) now"]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_its_place(
            text in "(# |- |> |[0-9]\\. |`|\\*|_|\\[|\\]\\(|\\)|```|\n| |日|❤️|\\PC)*",
            width in 4_usize..40,
        ) {
            let text = crate::model::printable(&text).replace('\t', " ");
            for line in markdown(&Theme::dark(), &text, width) {
                let shown = line.to_string();
                let last = shown.trim_end();
                // One letter can be wider than the half of a narrow line that is left for it.
                prop_assert!(columns(last) <= width + 2, "{last:?} in {width}");
            }
        }
    }
}
