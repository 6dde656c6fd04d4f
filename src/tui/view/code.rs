//! A line of code: its numbers, its sign, and its text with colours.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::paint::styled;
use crate::engine::LineKind;
use crate::tui::diff::{Class, CodeLine, DiffPage, Shape};
use crate::tui::state::State;
use crate::tui::text::{hard_breaks, offset_of};
use crate::tui::theme::Theme;

/// One row of a line. `left` says which side it stands on, where the two versions are side by side.
pub(super) fn code(
    state: &State,
    page: &DiffPage,
    shape: Shape,
    line: usize,
    part: usize,
    left: Option<bool>,
) -> Line<'static> {
    let theme = &state.theme;
    let (Some(of), Some(text)) = (page.patch.lines.get(line), page.lines.get(line)) else {
        return Line::default();
    };
    let base = match of.kind {
        LineKind::Added => theme.added,
        LineKind::Removed => theme.removed,
        _ => theme.text,
    };
    let edge = if matches!(of.kind, LineKind::Added | LineKind::Removed) {
        base
    } else {
        theme.dim
    };
    let digits = page.digits;
    let number = |number: Option<u32>| match number.filter(|_| part == 0) {
        Some(number) => format!("{number:>digits$} "),
        None => " ".repeat(digits + 1),
    };
    let numbers = match left {
        Some(true) => number(of.old),
        Some(false) => number(of.new),
        None => number(of.old) + &number(of.new),
    };
    let width = shape.code(digits);
    let (start, end) = if shape.wrap {
        let breaks = hard_breaks(&text.text, width);
        let before = part.checked_sub(1).and_then(|part| breaks.get(part));
        let start = match (part, before) {
            (0, _) => 0,
            (_, Some(start)) => *start,
            (_, None) => text.text.len(),
        };
        (start, breaks.get(part).copied().unwrap_or(text.text.len()))
    } else {
        let start = offset_of(&text.text, state.shift);
        let rest = text.text.get(start..).unwrap_or_default();
        (start, start + offset_of(rest, width))
    };
    let sign = match (of.kind, part) {
        (LineKind::Added, 0) => "+ ",
        (LineKind::Removed, 0) => "- ",
        _ => "  ",
    };
    let mut spans = vec![styled(numbers, edge), styled(sign, edge)];
    spans.extend(pieces(theme, text, base, (start, end)));
    Line::from(spans)
}

/// The text between two offsets, cut where its colour or its emphasis changes.
fn pieces(
    theme: &Theme,
    line: &CodeLine,
    base: Style,
    (start, end): (usize, usize),
) -> Vec<Span<'static>> {
    let mut edges: Vec<usize> = line.parts.iter().map(|(end, _)| *end).collect();
    edges.extend(
        line.changed
            .iter()
            .flat_map(|range| [range.start, range.end]),
    );
    edges.push(end);
    edges.retain(|at| *at > start && *at <= end);
    edges.sort_unstable();
    edges.dedup();
    let mut from = start;
    let mut spans = Vec::with_capacity(edges.len());
    for to in edges {
        let class = line.parts.iter().find(|(end, _)| from < *end);
        let mut style = coloured(theme, base, class.map_or(Class::Plain, |(_, class)| *class));
        if line.changed.iter().any(|range| range.contains(&from)) {
            style = base.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        }
        if let Some(text) = line.text.get(from..to) {
            spans.push(styled(text, style));
        }
        from = to;
    }
    spans
}

/// Code that is the same has its colours; changed lines keep theirs where it has none.
pub(super) fn coloured(theme: &Theme, base: Style, class: Class) -> Style {
    match class {
        Class::Plain => base,
        Class::Comment => theme.code_comment,
        Class::Text => theme.code_text,
        Class::Number => theme.code_number,
        Class::Keyword => theme.code_keyword,
        Class::Type => theme.code_type,
    }
}
