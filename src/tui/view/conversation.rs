//! The conversation tab: Markdown, with the output of tools folded.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::markdown::markdown;
use super::paint::{lines as paint_lines, styled};
use crate::engine::{ConversationEntry, Speaker};
use crate::model::printable;
use crate::tui::keys::Action;
use crate::tui::state::State;
use crate::tui::text::{cut, wrap};

/// How many lines are shown of the output of a tool that has failed, while it is folded.
const SHOWN_FAILURE: usize = 6;

/// So few lines are shown as they are.
const NOT_FOLDED: usize = 2;

pub(super) fn conversation(state: &State, area: Rect, buffer: &mut Buffer) {
    let page = state.page.conversation.as_ref();
    let page =
        page.filter(|(id, page)| state.selected.as_ref() == Some(id) && page.shape.is_some());
    let Some((_, page)) = page else {
        paint_lines([Line::from(styled("…", state.theme.dim))], area, buffer);
        return;
    };
    if page.lines.is_empty() {
        let words = "Nothing was said yet, or this agent keeps no transcript.";
        let words = wrap(words, usize::from(area.width)).into_iter();
        paint_lines(
            words.map(|line| Line::from(styled(line, state.theme.dim))),
            area,
            buffer,
        );
        return;
    }
    let end = page.lines.len().saturating_sub(state.scroll);
    let start = end.saturating_sub(usize::from(area.height));
    let shown = page.lines.get(start..end).unwrap_or_default();
    paint_lines(shown.iter().cloned(), area, buffer);
}

/// Turns the entries into lines, if that has not been done for this width.
pub(in crate::tui) fn arrange(state: &mut State, width: u16) {
    let Some((_, page)) = &state.page.conversation else {
        return;
    };
    let shape = Some((width, state.unfolded));
    if page.shape == shape {
        return;
    }
    let mut all = Vec::new();
    let mut starts = Vec::with_capacity(page.entries.len());
    for entry in &page.entries {
        if !all.is_empty() {
            all.push(Line::default());
        }
        starts.push(all.len());
        told(state, entry, usize::from(width), &mut all);
    }
    if let Some((_, page)) = &mut state.page.conversation {
        page.lines = all;
        page.starts = starts;
        page.shape = shape;
    }
}

fn told(state: &State, entry: &ConversationEntry, width: usize, all: &mut Vec<Line<'static>>) {
    let theme = &state.theme;
    let (who, style) = match entry.speaker {
        Speaker::User => ("you".to_owned(), theme.accent),
        Speaker::Assistant => ("agent".to_owned(), theme.strong),
        Speaker::System if entry.is_summary() => ("summary".to_owned(), theme.accent),
        Speaker::System => ("note".to_owned(), theme.dim),
        Speaker::Tool => (entry.tool_line(), theme.dim),
    };
    let time = entry.timestamp.local_second();
    let time = time.get(11..16).unwrap_or_default().to_owned();
    let mut head = vec![
        styled(format!("{time} "), theme.dim),
        styled(cut(&who, width.saturating_sub(8)), style),
    ];
    if entry.has_failed() {
        head.push(styled(" failed", theme.failed));
    }
    all.push(Line::from(head));
    let repeated = entry
        .text("subject")
        .is_some_and(|subject| subject == entry.content);
    if repeated {
        return;
    }
    let content = printable(entry.content.trim_end()).replace('\t', "    ");
    let room = width.saturating_sub(2);
    if entry.speaker != Speaker::Tool {
        for line in markdown(theme, &content, room) {
            let mut spans = vec![Span::raw("  ")];
            spans.extend(line.spans);
            all.push(Line::from(spans));
        }
        return;
    }
    let total = content.lines().count();
    let shown = match (state.unfolded || total <= NOT_FOLDED, entry.has_failed()) {
        (true, _) => usize::MAX,
        (false, true) => SHOWN_FAILURE,
        (false, false) => 0,
    };
    for line in content.lines().take(shown) {
        for piece in wrap(line, room) {
            all.push(Line::from(vec![
                styled("▏ ", theme.line),
                styled(piece, theme.dim),
            ]));
        }
    }
    if total > shown {
        let key = state.keymap.hint(Action::Fold).unwrap_or_default();
        let count = total - shown;
        let lines = if count == 1 { "line" } else { "lines" };
        let words = format!("▸ {count} {lines}");
        all.push(Line::from(vec![
            Span::raw("  "),
            styled(words, theme.dim),
            styled(format!("  {key}"), theme.accent),
            styled(" unfolds", theme.dim),
        ]));
    }
}
