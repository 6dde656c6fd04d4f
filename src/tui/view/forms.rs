//! Questions and forms.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::paint::{frame, hints, lines, styled};
use super::words::repository_name;
use crate::model::{printable, printable_line};
use crate::tui::dialog::{
    CommentForm, Confirm, Field, NewForm, OnYes, RenameForm, SendForm, WordsForm,
};
use crate::tui::editor::Editor;
use crate::tui::state::State;
use crate::tui::text::{cut, wrap};

const NEXT_FIELD: (&str, &str) = ("tab", "next field");
const NEW_LINE: (&str, &str) = ("alt-enter", "new line");
const LABEL: u16 = 12;

pub(super) fn confirm(state: &State, confirm: &Confirm, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let width = area.width.saturating_sub(4).clamp(1, 64);
    let inner = usize::from(width).saturating_sub(4);
    let mut all: Vec<Line<'_>> = wrap(&printable(&confirm.question), inner)
        .into_iter()
        .map(|line| Line::from(styled(line, theme.strong)))
        .collect();
    all.push(Line::default());
    for detail in &confirm.details {
        for line in wrap(&printable(detail), inner) {
            all.push(Line::from(styled(line, theme.text)));
        }
    }
    if let Some((words, set)) = confirm.option {
        let mark = if set { "[x]" } else { "[ ]" };
        all.push(Line::from(vec![
            styled("b ", theme.accent),
            styled(format!("{mark} {words}"), theme.text),
        ]));
    }
    all.push(Line::default());
    let no = match confirm.on_yes {
        OnYes::Setup(..) => "go without it",
        OnYes::Kill(_)
        | OnYes::Restart(_)
        | OnYes::Push(_)
        | OnYes::Land(_)
        | OnYes::Autoyes(_)
        | OnYes::PauseAll => "no",
    };
    all.push(hints(
        theme,
        &[
            ("y".to_owned(), "yes"),
            ("n".to_owned(), no),
            ("esc".to_owned(), "back"),
        ],
    ));
    let height = u16::try_from(all.len() + 2).unwrap_or(u16::MAX);
    let inside = frame(theme, "Sure?", (width, height), area, buffer);
    // On a small screen the answers have priority over the details.
    let excess = all.len().saturating_sub(usize::from(inside.height));
    if excess > 0 && all.len() > 2 {
        let end = all.len() - 1;
        all.drain(end.saturating_sub(excess)..end);
    }
    lines(all, inside, buffer);
}

pub(super) fn send(
    state: &State,
    form: &SendForm,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let theme = &state.theme;
    let width = area.width.saturating_sub(4).clamp(1, 90);
    let (rows, _) = form.prompt.rows(usize::from(width).saturating_sub(4));
    let wanted = u16::try_from(rows.len()).unwrap_or(u16::MAX).max(3);
    let height = wanted.saturating_add(4).min(area.height);
    let verb = if form.queue.is_some() {
        "Queue for"
    } else {
        "Send to"
    };
    let title = format!("{verb} {}", cut(&printable_line(&form.titles), 50));
    let inside = frame(theme, &title, (width, height), area, buffer);
    let text = Rect {
        height: inside.height.saturating_sub(2).max(1).min(inside.height),
        ..inside
    };
    let cursor = edit(&form.prompt, text, buffer);
    complaint(state, form.trouble.as_deref(), inside, buffer);
    let enter = if form.queue.is_some() {
        "queue it"
    } else {
        "send"
    };
    foot(state, enter, &[NEW_LINE], inside, buffer);
    cursor
}

pub(super) fn rename(
    state: &State,
    form: &RenameForm,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let width = area.width.saturating_sub(4).clamp(1, 50);
    let height = 5.min(area.height);
    let inside = frame(&state.theme, "Another title", (width, height), area, buffer);
    let text = Rect {
        height: 1.min(inside.height),
        ..inside
    };
    let cursor = edit(&form.title, text, buffer);
    complaint(state, form.trouble.as_deref(), inside, buffer);
    foot(state, "rename", &[], inside, buffer);
    cursor
}

/// What is asked, and a line for the answer below.
pub(super) fn words(
    state: &State,
    form: &WordsForm,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let width = area.width.saturating_sub(4).clamp(1, 90);
    let inner = usize::from(width).saturating_sub(4);
    let mut asked = wrap(&printable_line(&form.asked), inner);
    asked.truncate(3);
    let above = u16::try_from(asked.len()).unwrap_or(0);
    // On a small screen the line has priority.
    let above = above.min(area.height.saturating_sub(6));
    let title = format!("Answer `{}` in your own words", printable_line(&form.title));
    let title = cut(&title, inner);
    let height = (above + 6).min(area.height);
    let inside = frame(&state.theme, &title, (width, height), area, buffer);
    let style = state.theme.dim;
    let asked = asked.into_iter().take(usize::from(above));
    lines(
        asked.map(|row| Line::from(styled(row, style))),
        inside,
        buffer,
    );
    let top = (above + u16::from(above > 0)).min(inside.height.saturating_sub(1));
    let text = Rect {
        y: inside.y + top,
        height: 1.min(inside.height),
        ..inside
    };
    let cursor = edit(&form.words, text, buffer);
    complaint(state, form.trouble.as_deref(), inside, buffer);
    foot(state, "answer", &[], inside, buffer);
    cursor
}

/// The code that a comment is about, and its text below.
pub(super) fn comment(
    state: &State,
    form: &CommentForm,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let theme = &state.theme;
    let width = area.width.saturating_sub(4).clamp(1, 90);
    let inner = usize::from(width).saturating_sub(4);
    let code: Vec<Line<'_>> = form
        .about
        .hunk
        .iter()
        .map(|line| {
            let style = match line.as_bytes().first() {
                Some(b'+') => theme.added,
                Some(b'-') => theme.removed,
                _ => theme.dim,
            };
            let text = printable_line(&line.replace('\t', "    "));
            Line::from(styled(cut(&text, inner), style))
        })
        .collect();
    let (rows, _) = form.text.rows(inner);
    let wanted = u16::try_from(rows.len()).unwrap_or(u16::MAX).max(3);
    // On a small screen the text has priority over the code.
    let room = area.height.saturating_sub(wanted.saturating_add(5));
    let above = u16::try_from(code.len()).unwrap_or(u16::MAX).min(room);
    let height = wanted.saturating_add(above + u16::from(above > 0) + 4);
    let title = match form.about.line {
        Some(line) => format!("{}, line {line}", printable_line(&form.about.file)),
        None => printable_line(&form.about.file),
    };
    let title = cut(&title, inner);
    let inside = frame(theme, &title, (width, height), area, buffer);
    lines(code.into_iter().take(usize::from(above)), inside, buffer);
    let top = above + u16::from(above > 0);
    let text = Rect {
        y: inside.y + top.min(inside.height),
        height: inside
            .height
            .saturating_sub(top + 2)
            .max(1)
            .min(inside.height),
        ..inside
    };
    let cursor = edit(&form.text, text, buffer);
    complaint(state, form.trouble.as_deref(), inside, buffer);
    foot(state, "keep it", &[NEW_LINE], inside, buffer);
    cursor
}

pub(super) fn new(
    state: &State,
    form: &NewForm,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let theme = &state.theme;
    let fields = form.fields();
    let width = area.width.saturating_sub(4).clamp(1, 78);
    let text_width = usize::from(width.saturating_sub(4 + LABEL));
    let prompt_rows = form.prompt.as_ref().map_or(0, |prompt| {
        u16::try_from(prompt.rows(text_width).0.len())
            .unwrap_or(u16::MAX)
            .clamp(3, 10)
    });
    let plain = u16::try_from(fields.len()).unwrap_or(0) - u16::from(prompt_rows > 0);
    let height = (plain + prompt_rows + 4).min(area.height);
    let title = if form.prompt.is_some() {
        "New instance, with a prompt"
    } else {
        "New instance"
    };
    let inside = frame(theme, title, (width, height), area, buffer);
    let body_end = inside.bottom().saturating_sub(2).max(inside.top() + 1);
    let mut y = inside.top();
    let mut cursor = None;
    // Where not all fields fit, they are shown from the current one on.
    let at = fields
        .iter()
        .position(|field| *field == form.field)
        .unwrap_or(0);
    let room = usize::from(body_end - inside.top());
    let first = if usize::from(plain + prompt_rows) > room {
        at
    } else {
        0
    };
    for field in fields.iter().skip(first) {
        if y >= body_end {
            break;
        }
        let rows = if *field == Field::Prompt {
            prompt_rows
        } else {
            1
        };
        let place = Rect {
            y,
            height: rows.min(body_end - y),
            ..inside
        };
        if let Some(found) = self::field(state, form, *field, place, buffer) {
            cursor = Some(found);
        }
        y += rows;
    }
    complaint(state, form.trouble.as_deref(), inside, buffer);
    let keys: &[_] = match form.prompt {
        Some(_) => &[NEXT_FIELD, NEW_LINE],
        None => &[NEXT_FIELD],
    };
    foot(state, "start it", keys, inside, buffer);
    cursor
}

/// Why a form was refused, in the line above its keys.
fn complaint(state: &State, trouble: Option<&str>, inside: Rect, buffer: &mut Buffer) {
    if let Some(trouble) = trouble
        && inside.height > 2
    {
        let words = cut(&printable_line(trouble), usize::from(inside.width));
        let line = Line::from(styled(words, state.theme.failed));
        buffer.set_line(inside.x, inside.bottom() - 2, &line, inside.width);
    }
}

fn field(
    state: &State,
    form: &NewForm,
    field: Field,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let theme = &state.theme;
    let current = form.field == field;
    let style = if current {
        theme.accent.add_modifier(Modifier::BOLD)
    } else {
        theme.dim
    };
    let label = Line::from(styled(field.name(), style));
    buffer.set_line(area.x, area.y, &label, area.width);
    let value = Rect {
        x: area.x + LABEL.min(area.width),
        width: area.width.saturating_sub(LABEL),
        ..area
    };
    let choice = |text: String| {
        let text = cut(
            &printable_line(&text),
            usize::from(value.width).saturating_sub(4),
        );
        if current {
            Line::from(vec![
                styled("‹ ", theme.accent),
                Span::raw(text),
                styled(" ›", theme.accent),
            ])
        } else {
            Line::from(text)
        }
    };
    let empty = |editor: &Editor, words: &str, buffer: &mut Buffer| {
        if editor.is_empty() {
            let line = Line::from(styled(words.to_owned(), theme.dim));
            let behind_cursor = u16::from(current);
            let width = value.width.saturating_sub(behind_cursor);
            buffer.set_line(value.x + behind_cursor, value.y, &line, width);
        }
    };
    let line = match field {
        Field::Title => {
            let cursor = edit(&form.title, value, buffer);
            empty(&form.title, "a short one is made for you", buffer);
            return cursor.filter(|_| current);
        }
        Field::Prompt => {
            let prompt = form.prompt.as_ref()?;
            let cursor = edit(prompt, value, buffer);
            empty(
                prompt,
                "what it is to do; alt-enter breaks the line",
                buffer,
            );
            return cursor.filter(|_| current);
        }
        Field::Base => {
            let cursor = edit(&form.base, value, buffer);
            return cursor.filter(|_| current);
        }
        Field::Agent => {
            let agent = form.agents.get(form.agent).cloned();
            choice(agent.unwrap_or_else(|| "the default one".to_owned()))
        }
        Field::Repository => {
            let path = form.repositories.get(form.repository);
            choice(path.map(|path| repository_name(path)).unwrap_or_default())
        }
        Field::Autoyes => {
            let words = if form.autoyes {
                "on: its dialogs are answered by the policy"
            } else {
                "off"
            };
            choice(words.to_owned())
        }
    };
    buffer.set_line(value.x, value.y, &line, value.width);
    None
}

/// The text of an editor, scrolled so that its cursor is visible.
fn edit(editor: &Editor, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    if area.width == 0 || area.height == 0 {
        return None;
    }
    let (rows, (row, column)) = editor.rows(usize::from(area.width));
    let height = usize::from(area.height);
    let top = (row + 1).saturating_sub(height);
    let shown = rows.iter().skip(top).take(height);
    lines(
        shown.map(|row| Line::from(printable_line(row))),
        area,
        buffer,
    );
    let column = u16::try_from(column).unwrap_or(0).min(area.width - 1);
    let row = u16::try_from(row - top).unwrap_or(0);
    Some(Position::new(area.x + column, area.y + row))
}

/// The keys of a form; where it is narrow, without those that not every form has.
fn foot(
    state: &State,
    enter: &'static str,
    own: &[(&'static str, &'static str)],
    inside: Rect,
    buffer: &mut Buffer,
) {
    if inside.height < 3 {
        return;
    }
    let own = own.iter().filter(|_| inside.width > 50);
    let pairs: Vec<(String, &str)> = std::iter::once(&("enter", enter))
        .chain(own)
        .chain(std::iter::once(&("esc", "back")))
        .map(|(key, what)| ((*key).to_owned(), *what))
        .collect();
    let line = hints(&state.theme, &pairs);
    buffer.set_line(inside.x, inside.bottom() - 1, &line, inside.width);
}
