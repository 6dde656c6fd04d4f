//! The diff tab: the files, and below them the rows of code.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::code::code;
use super::paint::{lines, styled};
use crate::engine::{FileChange, InstanceView, LineKind, PatchFile};
use crate::model::{place, printable_line};
use crate::tui::diff::{DiffPage, Row, Shape};
use crate::tui::keys::Action;
use crate::tui::state::State;
use crate::tui::text::{columns, cut, wrap};

/// The list of files, and the rows below it. The files get at most a third.
pub(in crate::tui) fn diff_places(area: Rect, files: usize) -> (Rect, Rect) {
    let wanted = u16::try_from(files + 1).unwrap_or(u16::MAX);
    let top = wanted.min((area.height / 3).max(2)).min(area.height);
    let above = Rect {
        height: top,
        ..area
    };
    let below = Rect {
        y: area.y + top,
        height: area.height - top,
        ..area
    };
    (above, below)
}

/// The first file of the list that is shown.
pub(in crate::tui) fn first_file(area: Rect, files: usize, current: usize) -> usize {
    let rows = usize::from(area.height.saturating_sub(1)).max(1);
    current
        .saturating_sub(rows / 2)
        .min(files.saturating_sub(rows))
}

pub(super) fn diff(state: &State, view: &InstanceView, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let page = state.page.diff.as_ref().filter(|(id, _)| *id == view.id);
    let Some((page, shape)) = page.and_then(|(_, page)| Some((page, page.shape()?))) else {
        lines([Line::from(styled("…", theme.dim))], area, buffer);
        return;
    };
    if page.patch.files.is_empty() && page.comments.is_empty() {
        let words = format!(
            "Nothing was changed against {}.",
            printable_line(&view.base)
        );
        lines([Line::from(styled(words, theme.dim))], area, buffer);
        return;
    }
    let (above, below) = diff_places(area, page.patch.files.len());
    let at = state.review.unwrap_or(state.scroll);
    let current = page.file_at(at).unwrap_or(0);
    files(state, page, current, above, buffer);
    let shown = page.rows.iter().enumerate().skip(state.scroll);
    for ((at, row), y) in shown.zip(below.top()..below.bottom()) {
        let place = Rect {
            y,
            height: 1,
            ..below
        };
        draw_row(state, page, shape, *row, place, buffer);
        if state.review == Some(at) {
            buffer.set_style(place, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

fn files(state: &State, page: &DiffPage, current: usize, area: Rect, buffer: &mut Buffer) {
    let rows = usize::from(area.height.saturating_sub(1)).max(1);
    let all = &page.patch.files;
    let listed = all
        .iter()
        .enumerate()
        .skip(first_file(area, all.len(), current))
        .take(rows)
        .map(|(at, file)| {
            let comments = page.comments.iter().filter(|it| it.file == file.path);
            file_line(
                state,
                file,
                comments.count(),
                at == current,
                usize::from(area.width),
            )
        });
    lines(listed.chain([totals(state, page, area)]), area, buffer);
}

/// How much was changed, and the keys of this tab.
fn totals(state: &State, page: &DiffPage, area: Rect) -> Line<'static> {
    let theme = &state.theme;
    let (added, removed) = page.totals();
    let count = match page.patch.files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let mut spans = vec![
        styled(format!("{count}  "), theme.dim),
        styled(format!("+{added}"), theme.added),
        styled(format!(" −{removed}"), theme.removed),
    ];
    if !page.comments.is_empty() {
        let words = match page.comments.len() {
            1 => "  1 comment".to_owned(),
            count => format!("  {count} comments"),
        };
        spans.push(styled(words, theme.marked));
    }
    let key = |action| state.keymap.hint(action).unwrap_or_default();
    let hints: &[(String, &str)] = &if state.review.is_some() {
        review_keys(page)
    } else {
        vec![
            (key(Action::Review), "comment"),
            (
                format!("{} {}", key(Action::PreviousFile), key(Action::NextFile)),
                "file",
            ),
            (key(Action::Wrap), "wrap"),
            (key(Action::SideBySide), "side by side"),
        ]
    };
    let used: usize = spans.iter().map(Span::width).sum();
    let mut room = usize::from(area.width).saturating_sub(used + 3);
    spans.push(Span::raw("   "));
    for (key, what) in hints {
        let wide = columns(key) + what.len() + 3;
        if wide > room {
            break;
        }
        room -= wide;
        spans.push(styled(key.clone(), theme.accent));
        spans.push(styled(format!(" {what}  "), theme.dim));
    }
    Line::from(spans)
}

/// The keys while a line is chosen for a comment.
pub(super) fn review_keys(page: &DiffPage) -> Vec<(String, &'static str)> {
    let mut keys = vec![("enter", "comment")];
    if !page.comments.is_empty() {
        keys.extend([("x", "drop"), ("s", "send them")]);
    }
    keys.push(("esc", "back"));
    keys.into_iter()
        .map(|(key, what)| (key.to_owned(), what))
        .collect()
}

fn file_line(
    state: &State,
    file: &PatchFile,
    comments: usize,
    current: bool,
    width: usize,
) -> Line<'static> {
    let theme = &state.theme;
    let counts = format!("  +{} −{}", file.added, file.removed);
    let badges = badges(file);
    let notes = match comments {
        0 => String::new(),
        count => format!("  ✎{count}"),
    };
    let room = width.saturating_sub(columns(&counts) + columns(&badges) + columns(&notes) + 2);
    let bar = if current {
        styled("▌", theme.accent)
    } else {
        Span::raw(" ")
    };
    let style = if current { theme.selected } else { theme.text };
    Line::from(vec![
        bar,
        styled(cut(&named(file), room), style),
        styled(badges, theme.paused),
        styled(format!("  +{}", file.added), theme.added),
        styled(format!(" −{}", file.removed), theme.removed),
        styled(notes, theme.marked),
    ])
}

/// The name, and what it was called before.
fn named(file: &PatchFile) -> String {
    let path = printable_line(&file.path);
    match &file.before {
        Some(before) => format!("{} → {path}", printable_line(before)),
        None => path,
    }
}

/// What happened to a file besides its lines: ` [new]`, ` [renamed] [+x]`.
fn badges(file: &PatchFile) -> String {
    let change = match file.change {
        FileChange::Modified => None,
        FileChange::New => Some("new".to_owned()),
        FileChange::Deleted => Some("deleted".to_owned()),
        FileChange::Renamed => Some("renamed".to_owned()),
        FileChange::Copied => Some("copied".to_owned()),
    };
    let mode =
        file.modes.as_ref().map(
            |(old, new)| match (old.ends_with("755"), new.ends_with("755")) {
                (false, true) => "+x".to_owned(),
                (true, false) => "-x".to_owned(),
                _ => format!("mode {old} → {new}"),
            },
        );
    let binary = file.binary.then(|| "binary".to_owned());
    [change, mode, binary]
        .into_iter()
        .flatten()
        .map(|badge| format!(" [{badge}]"))
        .collect()
}

fn draw_row(
    state: &State,
    page: &DiffPage,
    shape: Shape,
    row: Row,
    area: Rect,
    buffer: &mut Buffer,
) {
    match row {
        Row::Comment { comment, part } => {
            comment_row(state, page, shape, (comment, part), area, buffer)
        }
        Row::Pair { old, new, part } => {
            let half = u16::try_from(shape.half()).unwrap_or(area.width);
            let left = Rect {
                width: half.min(area.width),
                ..area
            };
            let right = Rect {
                x: (area.x + half + 1).min(area.right()),
                width: area.width.saturating_sub(half + 1),
                ..area
            };
            if let Some(line) = old {
                let line = code(state, page, shape, line, part, Some(true));
                buffer.set_line(left.x, left.y, &line, left.width);
            }
            if area.width > half {
                buffer.set_string(area.x + half, area.y, "│", state.theme.line);
            }
            if let Some(line) = new {
                let line = code(state, page, shape, line, part, Some(false));
                buffer.set_line(right.x, right.y, &line, right.width);
            }
        }
        Row::Line { line, part } => {
            let shown = match page.patch.lines.get(line).map(|line| line.kind) {
                Some(LineKind::File) => heading(state, page, line, usize::from(area.width)),
                Some(LineKind::Hunk) => spread(page, line, state.theme.accent),
                Some(LineKind::Note) => spread(page, line, state.theme.dim),
                _ => code(state, page, shape, line, part, None),
            };
            buffer.set_line(area.x, area.y, &shown, area.width);
        }
    }
}

fn spread(page: &DiffPage, line: usize, style: Style) -> Line<'static> {
    let text = page.lines.get(line).map_or("", |line| line.text.as_str());
    Line::from(styled(text, style))
}

/// The name of a file above its hunks.
fn heading(state: &State, page: &DiffPage, line: usize, width: usize) -> Line<'static> {
    let theme = &state.theme;
    let file = page.patch.files.iter().find(|file| file.line == line);
    let (name, badges) = file.map_or_else(Default::default, |file| (named(file), badges(file)));
    let name = cut(&name, width.saturating_sub(columns(&badges) + 2));
    let rule = width.saturating_sub(columns(&name) + columns(&badges) + 1);
    Line::from(vec![
        styled(name, theme.accent.add_modifier(Modifier::BOLD)),
        styled(badges, theme.paused),
        styled(format!(" {}", "─".repeat(rule.min(400))), theme.line),
    ])
}

/// A comment: its place, then its text.
fn comment_row(
    state: &State,
    page: &DiffPage,
    shape: Shape,
    (comment, part): (usize, usize),
    area: Rect,
    buffer: &mut Buffer,
) {
    let Some(comment) = page.comments.get(comment) else {
        return;
    };
    let theme = &state.theme;
    let text = match part {
        0 => styled(
            cut(&printable_line(&place(comment)), shape.comment()),
            theme.dim,
        ),
        part => styled(
            wrap(&crate::model::printable(&comment.text), shape.comment())
                .into_iter()
                .nth(part - 1)
                .unwrap_or_default(),
            theme.text,
        ),
    };
    let mark = if part == 0 { "  ✎ ▏" } else { "    ▏" };
    let line = Line::from(vec![styled(mark, theme.marked), text]);
    buffer.set_line(area.x, area.y, &line, area.width);
}
