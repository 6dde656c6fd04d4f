//! Draws the toasts.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::paint::{lines, styled};
use crate::model::printable;
use crate::tui::state::{State, Toast, ToastKind};
use crate::tui::text::wrap;

const WIDEST: u16 = 64;
const LONGEST: usize = 8;
/// How many of these are the first ones.
const FIRST: usize = 2;

/// The rows that the toasts take, at most a third of the screen.
pub(super) fn height(state: &State, screen: Rect) -> u16 {
    let mut total = 0;
    for toast in &state.toasts {
        let widest = usize::from(screen.width.saturating_sub(2).min(WIDEST)).saturating_sub(3);
        let text = worded(state, toast, Style::new(), widest.max(1));
        total += u16::try_from(text.len()).unwrap_or(u16::MAX).min(20) + 1;
    }
    total.min(screen.height / 3)
}

/// The newest at the bottom, the others above it as far as they fit.
pub(super) fn toasts(state: &State, area: Rect, buffer: &mut Buffer) {
    let mut bottom = area.bottom();
    for toast in state.toasts.iter().rev() {
        let style = style(state, toast.kind);
        let widest = usize::from(area.width.saturating_sub(2).min(WIDEST)).saturating_sub(3);
        let text = worded(state, toast, style, widest.max(1));
        let height = u16::try_from(text.len()).unwrap_or(u16::MAX);
        let longest = text.iter().map(Line::width).max().unwrap_or(0) + 2;
        let width = u16::try_from(longest).unwrap_or(u16::MAX).min(area.width);
        let Some(top) = bottom.checked_sub(height).filter(|top| *top > area.top()) else {
            break;
        };
        let place = Rect::new(area.right() - width, top, width, height);
        Clear.render(place, buffer);
        lines(text, place, buffer);
        bottom = top.saturating_sub(1);
    }
}

fn style(state: &State, kind: ToastKind) -> Style {
    match kind {
        ToastKind::Good => state.theme.ready,
        ToastKind::Note => state.theme.accent,
        ToastKind::Bad => state.theme.failed,
    }
}

fn worded(state: &State, toast: &Toast, style: Style, width: usize) -> Vec<Line<'static>> {
    let mut text: Vec<Line<'static>> = Vec::new();
    let mut line = |words: String, words_style: Style| {
        let bar = styled("▌ ", style);
        text.push(Line::from(vec![
            bar,
            styled(words, words_style),
            Span::raw(" "),
        ]));
    };
    for words in shortened(wrap(&printable(&toast.text), width)) {
        line(words, state.theme.text);
    }
    for hint in &toast.hints {
        for words in wrap(&printable(&format!("hint: {hint}")), width) {
            line(words, state.theme.dim);
        }
    }
    text
}

/// What went wrong comes first, and why it did at the end: the last words of an agent are a whole screen.
fn shortened(mut rows: Vec<String>) -> Vec<String> {
    if rows.len() > LONGEST {
        let cut = rows.len() - (LONGEST - FIRST);
        rows.splice(FIRST..cut, ["…".to_owned()]);
    }
    rows
}
