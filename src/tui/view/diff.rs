//! The diff tab: the files, and below them the lines.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::paint::{lines, styled};
use crate::engine::InstanceView;
use crate::model::printable_line;
use crate::tui::diff::{DiffFile, DiffLine, DiffPage, LineKind};
use crate::tui::state::State;
use crate::tui::text::cut;

pub(super) fn diff(state: &State, view: &InstanceView, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let page = state.page.diff.as_ref().filter(|(id, _)| *id == view.id);
    let Some((_, page)) = page else {
        lines([Line::from(styled("…", theme.dim))], area, buffer);
        return;
    };
    if page.files.is_empty() {
        let words = format!(
            "Nothing was changed against {}.",
            printable_line(&view.base)
        );
        lines([Line::from(styled(words, theme.dim))], area, buffer);
        return;
    }
    // The files get at most a third, the lines get the rest.
    let wanted = u16::try_from(page.files.len() + 1).unwrap_or(u16::MAX);
    let top = wanted.min((area.height / 3).max(2)).min(area.height);
    let current = page.file_at(state.scroll).unwrap_or(0);
    files(
        state,
        page,
        current,
        Rect {
            height: top,
            ..area
        },
        buffer,
    );
    let below = Rect {
        y: area.y + top,
        height: area.height - top,
        ..area
    };
    let shown = page
        .lines
        .iter()
        .skip(state.scroll)
        .take(usize::from(below.height))
        .map(|line| shown(state, line, usize::from(below.width)));
    lines(shown, below, buffer);
}

fn files(state: &State, page: &DiffPage, current: usize, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let rows = usize::from(area.height.saturating_sub(1)).max(1);
    let start = current
        .saturating_sub(rows / 2)
        .min(page.files.len().saturating_sub(rows));
    let listed = page
        .files
        .iter()
        .enumerate()
        .skip(start)
        .take(rows)
        .map(|(at, file)| file_line(state, file, at == current, usize::from(area.width)));
    let added: usize = page.files.iter().map(|file| file.added).sum();
    let removed: usize = page.files.iter().map(|file| file.removed).sum();
    let count = match page.files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let total = Line::from(vec![
        styled(format!("{count}  "), theme.dim),
        styled(format!("+{added}"), theme.added),
        styled(format!(" −{removed}"), theme.removed),
        styled("   [ ] previous, next file", theme.dim),
    ]);
    lines(listed.chain([total]), area, buffer);
}

fn file_line(state: &State, file: &DiffFile, current: bool, width: usize) -> Line<'static> {
    let theme = &state.theme;
    let counts = format!("+{} −{}", file.added, file.removed);
    let room = width.saturating_sub(counts.len() + 4);
    let bar = if current {
        styled("▌", theme.accent)
    } else {
        Span::raw(" ")
    };
    let style = if current { theme.selected } else { theme.text };
    Line::from(vec![
        bar,
        styled(cut(&printable_line(&file.path), room), style),
        Span::raw("  "),
        styled(format!("+{}", file.added), theme.added),
        styled(format!(" −{}", file.removed), theme.removed),
    ])
}

fn shown(state: &State, line: &DiffLine, width: usize) -> Line<'static> {
    let theme = &state.theme;
    let text = printable_line(&line.text.replace('\t', "    "));
    let text = cut(&text, width);
    match line.kind {
        LineKind::File => {
            let rule = width.saturating_sub(text.chars().count() + 1);
            Line::from(vec![
                styled(text, theme.accent.add_modifier(Modifier::BOLD)),
                styled(format!(" {}", "─".repeat(rule.min(400))), theme.line),
            ])
        }
        LineKind::Note => Line::from(styled(text, theme.dim)),
        LineKind::Hunk => Line::from(styled(text, theme.accent)),
        LineKind::Added => Line::from(styled(text, theme.added)),
        LineKind::Removed => Line::from(styled(text, theme.removed)),
        LineKind::Context => Line::from(styled(text, theme.text)),
    }
}
