//! The agent's answers, and their form in the scrollback.

use std::iter::once;

use super::command::COMMANDS;
use super::memory::{Memory, Todo};
use super::paint::{Ink, Line, block, cut, width_of};

const WORDS: &[&str] = &[
    "the",
    "tents",
    "stand",
    "in",
    "a",
    "row",
    "and",
    "each",
    "has",
    "its",
    "own",
    "small",
    "fire;",
    "somebody",
    "hums,",
    "somebody",
    "counts",
    "the",
    "stars,",
    "and",
    "nothing",
    "is",
    "lost",
    "overnight.",
];

/// A note on the block above it.
pub(super) fn note(ink: Ink, text: &str, columns: usize) -> Vec<Line> {
    block((Ink::Dim, "  ⎿  "), ink, text, columns)
}

/// One line of a tool's output.
pub(super) fn output(first: bool, text: &str, columns: usize) -> Vec<Line> {
    let mark = if first { "  ⎿  " } else { "     " };
    block((Ink::Dim, mark), Ink::Plain, text, columns)
}

pub(super) fn streamed(row: &str) -> Line {
    match row.strip_prefix("● ") {
        Some(text) => Line::new(Ink::Accent, "● ").and(Ink::Plain, text),
        None => Line::plain(row),
    }
}

/// The word after `said` words of a stream: the same each time.
pub(super) fn stream_word(said: usize) -> &'static str {
    WORDS[said % WORDS.len()]
}

pub(super) fn todos(todos: &[Todo], columns: usize) -> Vec<Line> {
    let mut lines = vec![
        Line::blank(),
        Line::new(Ink::Accent, "● ").and(Ink::Bold, "Todos"),
    ];
    for (index, todo) in todos.iter().enumerate() {
        let ink = if todo.done { Ink::Dim } else { Ink::Plain };
        let mark = if index == 0 { "  ⎿  " } else { "     " };
        lines.extend(block((Ink::Dim, mark), ink, &todo.row(), columns));
    }
    lines
}

pub(super) fn numbered_lines(count: usize) -> Vec<Line> {
    let inks = [
        Ink::Good,
        Ink::Accent,
        Ink::Cool,
        Ink::Warm,
        Ink::Bad,
        Ink::Plain,
    ];
    let digits = count.to_string().len();
    (1..=count)
        .map(|number| {
            Line::plain("  ").and(
                inks[number % inks.len()],
                &format!("line {number:0digits$} of {count}"),
            )
        })
        .collect()
}

/// All prompts so far, without the last one.
pub(super) fn recall(memory: &Memory) -> String {
    let Some((_, earlier)) = memory.prompts.split_last() else {
        return "You have not told me anything yet.".to_owned();
    };
    if earlier.is_empty() {
        return "This is the first thing you tell me.".to_owned();
    }
    let heading = "You told me:".to_owned();
    let prompts = (1..).zip(earlier);
    let prompts = prompts.map(|(number, prompt)| format!("{number}. {}", gist(prompt, 70)));
    once(heading).chain(prompts).collect::<Vec<_>>().join("\n")
}

/// The prompt in one short line.
pub(super) fn gist(prompt: &str, columns: usize) -> String {
    let first = prompt.trim().lines().next().unwrap_or_default();
    let more = prompt.trim().lines().count().saturating_sub(1);
    let first = cut(first, columns);
    match more {
        0 => first,
        more => format!("{first} (+{})", count(more, "line")),
    }
}

pub(super) fn help() -> String {
    let commands: Vec<String> = COMMANDS
        .iter()
        .map(|(name, arguments, _)| format!("{name} {arguments}").trim_end().to_owned())
        .collect();
    let widest = commands
        .iter()
        .map(|command| width_of(command))
        .max()
        .unwrap_or(0);
    let rows = commands
        .iter()
        .zip(COMMANDS)
        .map(|(command, (_, _, what))| {
            let gap = " ".repeat(widest - width_of(command));
            format!("{command}{gap}  {what}")
        });
    once("I do what a prompt's lines say, in order:".to_owned())
        .chain(rows)
        .chain(["Or say hello for a short tour, or anything else for a chat.".to_owned()])
        .collect::<Vec<_>>()
        .join("\n")
}

/// An answer that shows the prompt and the memory.
pub(super) fn answer(memory: &Memory) -> String {
    let heard = memory
        .prompts
        .last()
        .map(|prompt| gist(prompt, 60))
        .unwrap_or_default();
    let turn = memory.turns();
    let heard = match turn % 3 {
        1 => format!("I hear you: “{heard}”."),
        2 => format!("“{heard}”, noted."),
        _ => format!("Understood: “{heard}”."),
    };
    let before = match memory
        .prompts
        .len()
        .checked_sub(2)
        .and_then(|at| memory.prompts.get(at))
    {
        Some(prompt) => format!(
            "Before that you told me “{}”; I keep that in mind.",
            gist(prompt, 40)
        ),
        None => "It is the first thing you tell me in this session.".to_owned(),
    };
    let offer = "I am only a demo and change nothing by myself: say hello for a short tour, or /help for what I can do.";
    if turn == 1 {
        format!("{heard} {before}\n\n{offer}")
    } else {
        format!("{heard} {before}")
    }
}

pub(super) fn tour_report(declined: bool) -> &'static str {
    if declined {
        "All right, I left things as they are. Tell me when you want to try it after all."
    } else {
        "Done: hello.sh is there and it runs. Now pause me, come back tomorrow, and ask me what you told me."
    }
}

/// `1 line`, `2 lines`.
pub(super) fn count(number: usize, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}

/// A sleep in its own session, without a parent: macOS has no `setsid` program.
pub(super) fn detached(seconds: f64) -> String {
    format!(
        "if command -v setsid >/dev/null; then setsid sleep {seconds} & \
         else perl -MPOSIX=setsid -e 'setsid; exec \"sleep\", @ARGV' {seconds} & fi"
    )
}
