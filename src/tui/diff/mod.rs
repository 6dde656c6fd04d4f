//! The changes of an instance, ready to be drawn: coloured, with the words that differ, and arranged in rows.
//!
//! Colours are found once, by the thread that reads the patch, so that drawing costs the visible rows only.

mod languages;
mod rows;
mod syntax;
mod words;

use std::ops::Range;

pub(super) use languages::language;
pub(super) use rows::{Row, Shape};
pub(super) use syntax::{Class, Open, parts};

use syntax::Part;

use crate::engine::{LineKind, Patch};
use crate::model::{ReviewComment, ReviewSide, printable_line};
use crate::tui::text::columns;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DiffPage {
    /// As git printed it, to know whether it has changed.
    pub raw: String,
    pub patch: Patch,
    /// One for each line of the patch.
    pub lines: Vec<CodeLine>,
    pub comments: Vec<ReviewComment>,
    /// Digits of the largest line number.
    pub digits: usize,
    /// The rows in the shape that was asked for last.
    pub rows: Vec<Row>,
    shape: Option<Shape>,
}

/// A line as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CodeLine {
    pub text: String,
    pub parts: Vec<Part>,
    /// What differs from the other version of the line.
    pub changed: Vec<Range<usize>>,
    pub columns: usize,
}

impl DiffPage {
    pub(super) fn new(raw: String, comments: Vec<ReviewComment>) -> Self {
        let patch = Patch::parse(&raw);
        let mut lines: Vec<CodeLine> = patch.lines.iter().map(|line| plain(&line.text)).collect();
        colour(&patch, &mut lines);
        compare(&patch, &mut lines);
        let numbers = patch.lines.iter().filter_map(|line| line.new.max(line.old));
        let digits = numbers.max().unwrap_or(0).to_string().len().max(2);
        Self {
            digits,
            raw,
            patch,
            lines,
            comments,
            rows: Vec::new(),
            shape: None,
        }
    }

    /// Arranges the rows for a shape, if they are not; returns whether that has changed them.
    pub(super) fn arrange(&mut self, shape: Shape) -> bool {
        if self.shape == Some(shape) {
            return false;
        }
        self.rows = rows::arrange(self, shape);
        self.shape = Some(shape);
        true
    }

    pub(super) fn shape(&self) -> Option<Shape> {
        self.shape
    }

    pub(super) fn replace_comments(&mut self, comments: Vec<ReviewComment>) {
        if self.comments != comments {
            self.comments = comments;
            self.shape = None;
        }
    }

    /// The line of the patch that a row shows.
    pub(super) fn line_of(&self, row: usize) -> Option<usize> {
        match *self.rows.get(row)? {
            Row::Line { line, .. } => Some(line),
            Row::Pair { old, new, .. } => new.or(old),
            Row::Comment { comment, .. } => self.line_of_comment(comment),
        }
    }

    /// The line that a comment is about, or the first of its file.
    pub(super) fn line_of_comment(&self, comment: usize) -> Option<usize> {
        let comment = self.comments.get(comment)?;
        let exact = comment
            .line
            .and_then(|line| self.patch.find(&comment.file, comment.side, line));
        let file = || {
            let mut files = self.patch.files.iter();
            files.find(|file| file.path == comment.file)
        };
        exact.or_else(|| Some(file()?.line))
    }

    /// The row of a line, or the first one behind it.
    pub(super) fn row_of(&self, line: usize) -> usize {
        let shows = |row: &Row| match *row {
            Row::Line { line: own, .. } => own >= line,
            Row::Pair { old, new, .. } => old.max(new).is_some_and(|own| own >= line),
            Row::Comment { .. } => false,
        };
        self.rows.iter().position(shows).unwrap_or(0)
    }

    /// The file at a row.
    pub(super) fn file_at(&self, row: usize) -> Option<usize> {
        self.patch.file_at(self.line_of(row)?)
    }

    /// Where a comment on a line of the patch belongs: file, line number and side.
    pub(super) fn place_of(&self, line: usize) -> Option<(String, Option<u32>, ReviewSide)> {
        let file = self.patch.files.get(self.patch.file_at(line)?)?;
        let of = self.patch.lines.get(line)?;
        let (number, side) = match of.kind {
            LineKind::Removed => (of.old, ReviewSide::Old),
            LineKind::Added | LineKind::Context => (of.new, ReviewSide::New),
            LineKind::File | LineKind::Note | LineKind::Hunk => (None, ReviewSide::New),
        };
        Some((file.path.clone(), number, side))
    }

    /// Added and removed lines of all files.
    pub(super) fn totals(&self) -> (usize, usize) {
        let files = self.patch.files.iter();
        files.fold((0, 0), |(added, removed), file| {
            (added + file.added, removed + file.removed)
        })
    }
}

fn plain(text: &str) -> CodeLine {
    let text = printable_line(&text.replace('\t', "    "));
    CodeLine {
        columns: columns(&text),
        parts: vec![(text.len(), Class::Plain)],
        changed: Vec::new(),
        text,
    }
}

/// Either version of a file is read by itself, so that a comment that was opened in one is not open in the
/// other.
fn colour(patch: &Patch, lines: &mut [CodeLine]) {
    let mut language = languages::language("");
    let mut files = patch.files.iter().peekable();
    let (mut old, mut new) = (syntax::Open::default(), syntax::Open::default());
    for (at, (line, code)) in patch.lines.iter().zip(lines).enumerate() {
        if let Some(file) = files.next_if(|file| file.line == at) {
            language = languages::language(&file.path);
        }
        match line.kind {
            LineKind::File | LineKind::Hunk => {
                (old, new) = (syntax::Open::default(), syntax::Open::default());
            }
            LineKind::Note => {}
            LineKind::Removed => code.parts = syntax::parts(language, &code.text, &mut old),
            LineKind::Added => code.parts = syntax::parts(language, &code.text, &mut new),
            LineKind::Context => {
                syntax::parts(language, &code.text, &mut old);
                code.parts = syntax::parts(language, &code.text, &mut new);
            }
        }
    }
}

/// Removed lines with as many added ones right behind them are their earlier versions.
fn compare(patch: &Patch, lines: &mut [CodeLine]) {
    for (removed, added) in runs(patch) {
        for (one, two) in removed.zip(added) {
            let (Some(old), Some(new)) = (lines.get(one), lines.get(two)) else {
                continue;
            };
            let (gone, come) = words::changed(&old.text, &new.text);
            lines[one].changed = gone;
            lines[two].changed = come;
        }
    }
}

/// Runs of removed lines, each with the run of added ones behind it. Either may be empty.
fn runs(patch: &Patch) -> Vec<(Range<usize>, Range<usize>)> {
    let kind = |at: usize| patch.lines.get(at).map(|line| line.kind);
    let end_of = |mut at: usize, wanted: LineKind| {
        while kind(at) == Some(wanted) {
            at += 1;
        }
        at
    };
    let mut runs = Vec::new();
    let mut at = 0;
    while at < patch.lines.len() {
        let removed = end_of(at, LineKind::Removed);
        let added = end_of(removed, LineKind::Added);
        if added > at {
            runs.push((at..removed, removed..added));
        }
        at = added.max(at + 1);
    }
    runs
}
