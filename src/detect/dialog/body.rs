//! Reads what is above the choices of a dialog: the tool, the command, the paths and the question.

use super::frame::{self, Framed};
use super::spec::{DialogSpec, Frame, Tool, ToolSubject};
use super::{Choice, Dialog, field, wrap};

/// The choices that a reader found.
pub(super) struct Choices {
    pub choices: Vec<Choice>,
    pub selected: Option<usize>,
    /// The row of the first choice.
    pub first: usize,
    /// The question, where it is in the same row as the choices.
    pub asked: Option<String>,
    /// Whether every choice is on the screen, and one of them is marked.
    pub whole: bool,
    /// The number of the first choice that is on the screen.
    pub numbered_from: usize,
}

pub(super) fn read(spec: &DialogSpec, width: usize, rows: &[Framed<'_>], found: Choices) -> Dialog {
    let above = rows.get(..found.first).unwrap_or_default();
    let top = top(spec, above);
    let block = above.get(top.unwrap_or(0)..).unwrap_or_default();
    let asking = question_row(spec, block);
    let asked_below = found.asked.is_some();
    let question = found.asked.or_else(|| {
        let text = block.get(asking?)?.text;
        spec.question
            .as_ref()?
            .capture(text)
            .map(|text| text.trim().to_owned())
    });
    let tool = tool(spec, block, question.as_deref());

    let subject = subject(spec, block, asking);
    let cut = subject
        .iter()
        .any(|row| spec.cut.iter().any(|mark| mark.is_match(row)));
    let holds = tool.map_or(ToolSubject::Nothing, |(tool, _)| tool.holds);
    let shown = tool.is_some_and(|(tool, _)| !tool.partial)
        && spec.most_rows.is_none_or(|most| subject.len() <= most);
    let command_rows = match (holds, tool) {
        (ToolSubject::Command, _) => subject,
        // The heading has scrolled off the screen. The visible part of the subject is read anyway; not where the
        // question would name the tool, and names none.
        (_, None) if top.is_none() && !asked_below => subject,
        (ToolSubject::Path | ToolSubject::Nothing, _) => Vec::new(),
    };
    let command = (!command_rows.is_empty())
        .then(|| wrap::join(&command_rows, columns(spec, width), spec.wrap));
    let paths = tool.map_or_else(Vec::new, |(tool, at)| paths(spec, tool, at, block));
    let named = match holds {
        ToolSubject::Command => command.is_some(),
        ToolSubject::Path => !paths.is_empty(),
        ToolSubject::Nothing => true,
    };
    let field_open = field::is_open(spec, &found.choices, found.selected);
    Dialog {
        tool: tool.map(|(tool, _)| tool.tool.clone()),
        question,
        command,
        loose: wrap::loose(&command_rows, columns(spec, width), spec.wrap),
        rows: command_rows,
        paths,
        body: match top {
            Some(_) => block
                .iter()
                .map(|row| row.text.trim_end().to_owned())
                .collect(),
            None => Vec::new(),
        },
        height: rows.len() - top.unwrap_or(0),
        own_words: own_words(spec, &found.choices),
        field_open,
        choices: found.choices,
        selected: found.selected,
        plain: false,
        numbered_from: found.numbered_from,
        complete: found.whole && !cut && named && top.is_some() && shown,
    }
}

/// The choice that takes the user's own words.
fn own_words(spec: &DialogSpec, choices: &[Choice]) -> Option<usize> {
    let label = spec.own_words.as_ref()?;
    choices
        .iter()
        .position(|choice| label.is_match(&choice.label))
}

/// Where the dialog begins; None where that row has scrolled off the screen.
fn top(spec: &DialogSpec, above: &[Framed<'_>]) -> Option<usize> {
    match &spec.top {
        Some(top) => above.iter().rposition(|row| top.is_match(row.row.text())),
        // Without a pattern for it: the paragraph above the choices.
        None => {
            let end = above.iter().rposition(|row| !row.is_blank())?;
            let blank = above.iter().take(end).rposition(Framed::is_blank)?;
            Some(blank + 1)
        }
    }
}

/// The tool that the topmost heading names, else the one that the question names.
fn tool<'d>(
    spec: &'d DialogSpec,
    block: &[Framed<'_>],
    question: Option<&str>,
) -> Option<(&'d Tool, Option<usize>)> {
    // A heading is in the first two rows. Rows further down may be content.
    let below = block
        .iter()
        .skip(1)
        .position(|row| !row.is_blank() && !row.is_line());
    let last = below.map_or(0, |at| at + 1);
    let headed = block
        .iter()
        .enumerate()
        .take(last + 1)
        .find_map(|(at, row)| {
            let mut tools = spec.tools.iter();
            tools
                .find(|tool| tool.head.is_match(row.text))
                .map(|tool| (tool, Some(at)))
        });
    headed.or_else(|| {
        let mut tools = spec.tools.iter();
        tools
            .find(|tool| question.is_some_and(|asked| tool.head.is_match(asked)))
            .map(|tool| (tool, None))
    })
}

fn question_row(spec: &DialogSpec, block: &[Framed<'_>]) -> Option<usize> {
    let question = spec.question.as_ref()?;
    block.iter().rposition(|row| question.is_match(row.text))
}

/// The rows of the subject, without frame and common indentation.
fn subject(spec: &DialogSpec, block: &[Framed<'_>], asking: Option<usize>) -> Vec<String> {
    if let Some(fence) = &spec.fence {
        let fences: Vec<usize> = block
            .iter()
            .enumerate()
            .filter(|(_, row)| fence.is_match(row.text))
            .map(|(at, _)| at)
            .collect();
        // The content may have rows that look like a fence: the outermost two count.
        if let (Some(first), Some(last)) = (fences.first(), fences.last())
            && last > first
        {
            let inside = block.get(first + 1..*last).unwrap_or_default();
            let rows = inside.iter().map(|row| match spec.frame {
                Frame::Box => frame::strip(row.text, Frame::Box),
                Frame::None | Frame::Bar => row.text,
            });
            return without_gutter(spec.gutter.as_deref(), outdented(rows));
        }
    }
    if let Some(command) = &spec.command {
        let start = block.iter().position(|row| command.is_match(row.text));
        let Some(start) = start else {
            return Vec::new();
        };
        let end = asking.filter(|at| *at > start).unwrap_or(block.len());
        let rows = block.get(start..end).unwrap_or_default();
        let mut rows = rows.iter().map(|row| row.text);
        let head = rows.next().and_then(|row| command.capture(row));
        let mut subject: Vec<String> = head.into_iter().map(str::to_owned).collect();
        subject.extend(outdented(rows));
        return trimmed(subject);
    }
    match spec.fence {
        Some(_) => Vec::new(),
        None => outdented(block.iter().map(|row| row.text)),
    }
}

/// The rows of a command without the bar before each of them. A single row has none: one that begins like a
/// bar is the command's own.
fn without_gutter(gutter: Option<&str>, rows: Vec<String>) -> Vec<String> {
    let Some(gutter) = gutter.filter(|_| rows.len() > 1) else {
        return rows;
    };
    // An empty line of the command has the bar alone.
    let inside = |row: &String| {
        let rest = row.strip_prefix(gutter);
        let rest = rest.or_else(|| (row == gutter.trim_end()).then_some(""));
        rest.map(str::to_owned)
    };
    let stripped: Option<Vec<String>> = rows.iter().map(inside).collect();
    stripped.unwrap_or(rows)
}

/// Every path that the dialog names. A path that is missed here would be allowed without a check.
fn paths(spec: &DialogSpec, tool: &Tool, at: Option<usize>, block: &[Framed<'_>]) -> Vec<String> {
    let found: Vec<&str> = match (&tool.path, tool.holds, at) {
        (Some(path), _, _) => block
            .iter()
            .filter_map(|row| path.capture(row.text))
            .collect(),
        (None, ToolSubject::Path, Some(at)) => block
            .iter()
            .skip(at + 1)
            .find(|row| !row.is_blank() && !row.is_line())
            .map(|row| row.text)
            .into_iter()
            .collect(),
        (None, ToolSubject::Path, None) => block
            .iter()
            .find(|row| !row.is_blank())
            .map(|row| frame::strip(row.text, spec.frame))
            .into_iter()
            .collect(),
        (None, ToolSubject::Command | ToolSubject::Nothing, _) => Vec::new(),
    };
    let mut paths: Vec<String> = found
        .into_iter()
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect();
    paths.dedup();
    paths
}

fn outdented<'r>(rows: impl Iterator<Item = &'r str>) -> Vec<String> {
    let rows: Vec<&str> = rows.collect();
    let indent = rows
        .iter()
        .filter(|row| !row.trim().is_empty())
        .map(|row| row.chars().take_while(|c| *c == ' ').count())
        .min()
        .unwrap_or(0);
    trimmed(
        rows.iter()
            .map(|row| {
                row.chars()
                    .skip(indent)
                    .collect::<String>()
                    .trim_end()
                    .to_owned()
            })
            .collect(),
    )
}

fn trimmed(mut rows: Vec<String>) -> Vec<String> {
    while rows.last().is_some_and(|row| row.trim().is_empty()) {
        rows.pop();
    }
    let blank = rows.iter().take_while(|row| row.trim().is_empty()).count();
    rows.drain(..blank);
    rows
}

/// How many columns the subject may use.
fn columns(spec: &DialogSpec, width: usize) -> usize {
    match spec.frame {
        Frame::None => width,
        Frame::Bar => width.saturating_sub(6),
        Frame::Box => width.saturating_sub(6),
    }
}
