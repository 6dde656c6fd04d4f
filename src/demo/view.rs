//! The live region below the scrollback. Pure: state and time in, rows out.

use std::time::Duration;

use super::dialog::Dialog;
use super::paint::{Ink, Line, cut, width_of, wrap};
use super::reply;
use super::state::{Agent, ExitKey, Size, Step, Turn};
use crate::model::printable_line;

/// How often animations are redrawn.
const SPINNER_EVERY: Duration = Duration::from_millis(200);
const TITLE_EVERY: Duration = Duration::from_millis(800);
const SPINNER: [&str; 6] = ["✻", "✽", "✶", "✳", "✢", "✶"];
const VERBS: [&str; 6] = [
    "Pondering",
    "Foraging",
    "Whittling",
    "Mapping",
    "Brewing",
    "Stargazing",
];
/// The most rows of the input box.
const INPUT_ROWS: usize = 8;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub lines: Vec<Line>,
    /// Row and column of the cursor, where there is an input box.
    pub cursor: Option<(usize, usize)>,
    pub title: String,
}

pub(super) fn view(agent: &Agent, now: Duration) -> Frame {
    let (mut lines, mut cursor) = match agent.dialog() {
        Some(dialog) => (dialog_rows(dialog, agent.size), None),
        None => prompt_rows(agent, now),
    };
    // Never taller than the screen: rows that scrolled off cannot be erased.
    let excess = lines.len().saturating_sub(agent.size.rows.max(1));
    lines.drain(..excess);
    if let Some((row, _)) = &mut cursor {
        *row = row.saturating_sub(excess);
    }
    Frame {
        lines,
        cursor,
        title: title(agent, now),
    }
}

/// When the view changes by time alone; None while nothing is animated.
pub(super) fn next_change(agent: &Agent, now: Duration) -> Option<Duration> {
    let hint = agent.exit_hint.map(|(_, until)| until);
    let turn = agent.turn.as_ref().and_then(|turn| match &turn.step {
        Step::Busy { until } => Some((*until).min(tick_after(now, SPINNER_EVERY))),
        Step::Muted { until } => Some(*until),
        Step::Streaming(stream) => Some(stream.next.min(tick_after(now, TITLE_EVERY))),
        Step::Running(_) => Some(tick_after(now, SPINNER_EVERY)),
        Step::Ready | Step::Reading(_) | Step::Writing(_) | Step::Asking(..) => None,
    });
    hint.into_iter().chain(turn).min()
}

fn tick_after(now: Duration, every: Duration) -> Duration {
    every * (phase(now, every) + 1)
}

fn phase(now: Duration, every: Duration) -> u32 {
    u32::try_from(now.as_millis() / every.as_millis()).unwrap_or(0)
}

/// `◐ …` and `◑ …` while busy, `✳ …` otherwise, as in Claude Code.
fn title(agent: &Agent, now: Duration) -> String {
    let topic = agent.memory.title.as_deref().unwrap_or("Demo agent");
    let mark = match agent.turn.as_ref().map(|turn| &turn.step) {
        None | Some(Step::Asking(..)) => "✳",
        // Not animated: this state shows no sign of being busy.
        Some(Step::Muted { .. }) => "◐",
        Some(_) if phase(now, TITLE_EVERY).is_multiple_of(2) => "◐",
        Some(_) => "◑",
    };
    format!("{mark} {}", cut(&printable_line(topic), 60))
}

fn prompt_rows(agent: &Agent, now: Duration) -> (Vec<Line>, Option<(usize, usize)>) {
    let columns = agent.size.columns;
    let mut lines = Vec::new();
    if let Some(turn) = &agent.turn {
        lines.extend(progress_rows(turn, now));
    }
    for prompt in &agent.queue {
        let gist = reply::gist(prompt, columns.saturating_sub(16));
        lines.push(Line::new(Ink::Dim, &format!("  ⎿  queued: {gist}")));
    }
    lines.push(Line::blank());
    lines.push(rule('─', columns));

    let shown = agent.editor.shown();
    let width = columns.saturating_sub(3);
    let rows: Vec<String> = wrap(&shown, width).collect();
    // The cursor needs a cell after a full row.
    let room = INPUT_ROWS.min(agent.size.rows.saturating_sub(6)).max(1);
    let first = rows.len().saturating_sub(room);
    for (index, row) in rows.iter().enumerate().skip(first) {
        let lead = if index == first {
            Line::new(Ink::Accent, "❯\u{a0}")
        } else {
            Line::plain("  ")
        };
        lines.push(lead.and(Ink::Plain, row));
    }
    let last = rows.last().map_or(0, |row| width_of(row));
    let cursor = (lines.len() - 1, 2 + last);
    lines.push(rule('─', columns));
    lines.push(Line::new(
        Ink::Dim,
        &cut(footer(agent), columns.saturating_sub(1)),
    ));
    (lines, Some(cursor))
}

fn progress_rows(turn: &Turn, now: Duration) -> Vec<Line> {
    let verb = match &turn.step {
        Step::Busy { .. } => VERBS[turn.number % VERBS.len()],
        Step::Running(_) => "Running",
        Step::Streaming(stream) => return vec![reply::streamed(&stream.row)],
        Step::Muted { .. }
        | Step::Ready
        | Step::Reading(_)
        | Step::Writing(_)
        | Step::Asking(..) => return Vec::new(),
    };
    let frame = phase(now.saturating_sub(turn.began), SPINNER_EVERY) as usize;
    let seconds = now.saturating_sub(turn.began).as_secs();
    vec![
        Line::blank(),
        Line::new(Ink::Warm, SPINNER[frame % SPINNER.len()])
            .and(Ink::Warm, &format!(" {verb}…"))
            .and(Ink::Dim, &format!(" ({seconds}s · esc to interrupt)")),
    ]
}

fn footer(agent: &Agent) -> &'static str {
    match agent.exit_hint {
        Some((ExitKey::CtrlC, _)) => "  Press Ctrl-C again to exit",
        Some((ExitKey::CtrlD, _)) => "  Press Ctrl-D again to exit",
        None if agent.memory.allowed => "  ⏵⏵ not asking this session · /help for commands",
        None => "  /help for commands · say hello for a tour",
    }
}

/// Whether the parts have blank rows and lines between them; not on a low screen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Airy,
    Tight,
}

fn dialog_rows(dialog: &Dialog, size: Size) -> Vec<Line> {
    let airy = spaced_dialog_rows(dialog, size, Spacing::Airy);
    if airy.len() <= size.rows {
        return airy;
    }
    spaced_dialog_rows(dialog, size, Spacing::Tight)
}

fn spaced_dialog_rows(dialog: &Dialog, size: Size, spacing: Spacing) -> Vec<Line> {
    let columns = size.columns;
    let blank = |lines: &mut Vec<Line>| {
        if spacing == Spacing::Airy {
            lines.push(Line::blank());
        }
    };
    let indented = |text: &str, lines: &mut Vec<Line>| {
        lines.extend(
            wrap(text, columns.saturating_sub(2)).map(|row| Line::plain(&format!(" {row}"))),
        );
    };
    let mut head = Vec::new();
    blank(&mut head);
    head.push(rule('─', columns));
    head.push(Line::new(Ink::Bold, &format!(" {}", dialog.heading)));
    if let Some(subject) = &dialog.subject {
        indented(subject, &mut head);
    }
    let mut foot = Vec::new();
    if dialog.body.is_empty() {
        blank(&mut foot);
    }
    indented(&dialog.question, &mut foot);
    for (index, choice) in dialog.choices.iter().enumerate() {
        foot.extend(choice_rows(
            index,
            choice,
            dialog.selected == index,
            columns,
        ));
    }
    blank(&mut foot);
    foot.push(Line::new(Ink::Dim, &cut(dialog.kind.footer(), columns)));

    let room = size.rows.saturating_sub(head.len() + foot.len());
    head.extend(body_rows(dialog, columns, room, spacing));
    head.extend(foot);
    head
}

fn choice_rows(index: usize, choice: &str, selected: bool, columns: usize) -> Vec<Line> {
    let (lead, ink) = if selected {
        (" ❯ ", Ink::Accent)
    } else {
        ("   ", Ink::Plain)
    };
    wrap(choice, columns.saturating_sub(7))
        .enumerate()
        .map(|(part, row)| match part {
            0 => Line::new(ink, &format!("{lead}{}. {row}", index + 1)),
            _ => Line::new(ink, &format!("      {row}")),
        })
        .collect()
}

/// The command or diff between dashed lines, cut where the screen is too low.
fn body_rows(dialog: &Dialog, columns: usize, room: usize, spacing: Spacing) -> Vec<Line> {
    if dialog.body.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<Line> = dialog
        .body
        .iter()
        .flat_map(|(ink, text)| {
            wrap(text, columns.saturating_sub(2)).map(|row| Line::new(*ink, &format!(" {row}")))
        })
        .collect();
    let rules = match spacing {
        Spacing::Airy => 2,
        Spacing::Tight => 0,
    };
    // At least the first row, and a note that there is more.
    let room = room.saturating_sub(rules).max(2);
    if rows.len() > room {
        let hidden = rows.len() - (room - 1);
        rows.truncate(room - 1);
        rows.push(Line::new(Ink::Dim, &format!(" … +{hidden} lines")));
    }
    if spacing == Spacing::Airy {
        rows.insert(0, rule('╌', columns));
        rows.push(rule('╌', columns));
    }
    rows
}

fn rule(character: char, columns: usize) -> Line {
    Line::new(Ink::Dim, &character.to_string().repeat(columns))
}
