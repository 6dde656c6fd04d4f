//! Drawing helpers.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};

use crate::tui::text::columns;
use crate::tui::theme::Theme;

/// The columns of a line, as it is drawn: each span by itself.
pub(super) fn line_width(line: &Line<'_>) -> usize {
    line.spans.iter().map(|span| columns(&span.content)).sum()
}

/// Draws lines from the top of an area, as many as fit.
pub(super) fn lines<'a>(
    lines: impl IntoIterator<Item = Line<'a>>,
    area: Rect,
    buffer: &mut Buffer,
) {
    for (line, y) in lines.into_iter().zip(area.top()..area.bottom()) {
        buffer.set_line(area.x, y, &line, area.width);
    }
}

/// One line with text at either end. Where both do not fit, the left one is cut.
pub(super) fn ends(left: Line<'_>, right: Line<'_>, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let right_width = u16::try_from(line_width(&right))
        .unwrap_or(u16::MAX)
        .min(area.width);
    let left_width = area
        .width
        .saturating_sub(right_width + u16::from(right_width > 0));
    buffer.set_line(area.x, area.y, &left, left_width);
    buffer.set_line(area.right() - right_width, area.y, &right, right_width);
}

/// Draws an empty box with a title in the middle of an area; returns its inside.
pub(super) fn frame(
    theme: &Theme,
    title: &str,
    (width, height): (u16, u16),
    area: Rect,
    buffer: &mut Buffer,
) -> Rect {
    let width = width.min(area.width);
    let height = height.min(area.height);
    let place = Rect::new(
        area.x + (area.width - width) / 2,
        area.y + (area.height - height) / 2,
        width,
        height,
    );
    // An area that is too small for a border has none.
    if width < 12 || height < 3 {
        Clear.render(place, buffer);
        return place;
    }
    Clear.render(place, buffer);
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.line)
        .title(Span::styled(format!(" {title} "), theme.strong));
    let inside = block.inner(place);
    block.render(place, buffer);
    Rect {
        x: inside.x + 1,
        width: inside.width.saturating_sub(2),
        ..inside
    }
}

/// `key what` pairs as spans.
pub(super) fn hints(theme: &Theme, pairs: &[(String, &str)]) -> Line<'static> {
    let mut spans = Vec::new();
    for (at, (key, what)) in pairs.iter().enumerate() {
        if at > 0 {
            spans.push(Span::raw("  "));
        }
        spans.push(Span::styled(key.clone(), theme.accent));
        spans.push(Span::styled(format!(" {what}"), theme.dim));
    }
    Line::from(spans)
}

pub(super) fn styled(text: impl Into<String>, style: Style) -> Span<'static> {
    Span::styled(text.into(), style)
}
