//! The conversation tab.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint::{lines as paint_lines, styled};
use crate::engine::{ConversationEntry, Speaker};
use crate::model::printable;
use crate::tui::state::State;
use crate::tui::text::{cut, wrap};

/// How many lines of a tool's output are shown.
const SHOWN_OUTPUT: usize = 6;

pub(super) fn conversation(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some(all) = lines(state, area.width) else {
        paint_lines([Line::from(styled("…", state.theme.dim))], area, buffer);
        return;
    };
    if all.is_empty() {
        let words = "Nothing was said yet, or this agent keeps no transcript.";
        let words = wrap(words, usize::from(area.width)).into_iter();
        paint_lines(
            words.map(|line| Line::from(styled(line, state.theme.dim))),
            area,
            buffer,
        );
        return;
    }
    let end = all.len().saturating_sub(state.scroll);
    let start = end.saturating_sub(usize::from(area.height));
    paint_lines(all[start..end].iter().cloned(), area, buffer);
}

/// The whole conversation as lines; None where it has not been read yet.
pub(super) fn lines(state: &State, width: u16) -> Option<Vec<Line<'static>>> {
    let id = state.selected.as_ref()?;
    let (of, entries) = state.page.conversation.as_ref()?;
    if of != id {
        return None;
    }
    let mut all = Vec::new();
    for entry in entries {
        if !all.is_empty() {
            all.push(Line::default());
        }
        told(state, entry, usize::from(width), &mut all);
    }
    Some(all)
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
    let limit = if entry.speaker == Speaker::Tool {
        SHOWN_OUTPUT
    } else {
        usize::MAX
    };
    let style = if entry.speaker == Speaker::Tool {
        theme.dim
    } else {
        theme.text
    };
    let total = content.lines().count();
    for line in content.lines().take(limit) {
        for piece in wrap(line, width.saturating_sub(2)) {
            all.push(Line::from(vec![Span::raw("  "), styled(piece, style)]));
        }
    }
    if total > limit {
        all.push(Line::from(styled(
            format!("  … +{} lines", total - limit),
            theme.dim,
        )));
    }
}
