//! The rows of the diff tab: one below the other or side by side, wrapped or not, with comments in between.

use std::collections::BTreeMap;

use super::{CodeLine, DiffPage};
use crate::engine::LineKind;
use crate::tui::text::{hard_breaks, wrap};

/// How the rows are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) struct Shape {
    pub width: usize,
    pub wrap: bool,
    /// The old version on the left, the new one on the right.
    pub side_by_side: bool,
}

/// One row of the screen. `part` counts the rows of what is wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum Row {
    Line {
        line: usize,
        part: usize,
    },
    Pair {
        old: Option<usize>,
        new: Option<usize>,
        part: usize,
    },
    Comment {
        comment: usize,
        part: usize,
    },
}

impl Row {
    /// Whether it is the first row of what it shows.
    pub(in crate::tui) fn is_first(self) -> bool {
        match self {
            Self::Line { part, .. } | Self::Pair { part, .. } | Self::Comment { part, .. } => {
                part == 0
            }
        }
    }
}

impl Shape {
    /// The columns for the numbers and the sign in front of the code.
    pub(in crate::tui) fn gutter(self, digits: usize) -> usize {
        match self.side_by_side {
            true => digits + 3,
            false => digits * 2 + 4,
        }
    }

    /// The columns of one side.
    pub(in crate::tui) fn half(self) -> usize {
        match self.side_by_side {
            true => self.width.saturating_sub(1) / 2,
            false => self.width,
        }
    }

    pub(in crate::tui) fn code(self, digits: usize) -> usize {
        self.half().saturating_sub(self.gutter(digits)).max(1)
    }

    pub(in crate::tui) fn comment(self) -> usize {
        self.width.saturating_sub(6).clamp(1, 90)
    }
}

pub(super) fn arrange(page: &DiffPage, shape: Shape) -> Vec<Row> {
    let width = shape.code(page.digits);
    let mut below: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for at in 0..page.comments.len() {
        below.entry(page.line_of_comment(at)).or_default().push(at);
    }
    let mut rows = Vec::with_capacity(page.lines.len());
    let comments_of = |line: Option<usize>, rows: &mut Vec<Row>| {
        for comment in below.get(&line).into_iter().flatten().copied() {
            let text = page.comments.get(comment).map_or("", |it| it.text.as_str());
            let parts = wrap(text, shape.comment()).len();
            rows.extend((0..=parts).map(|part| Row::Comment { comment, part }));
        }
    };
    // Of files that are not in the patch any more.
    comments_of(None, &mut rows);
    let parts = |line: Option<usize>| {
        let line = line.and_then(|line| page.lines.get(line));
        line.map_or(1, |line| parts_of(line, width, shape.wrap))
    };
    let mut at = 0;
    while at < page.lines.len() {
        let kind = |at: usize| page.patch.lines.get(at).map(|line| line.kind);
        if !shape.side_by_side || !matches!(kind(at), Some(LineKind::Removed | LineKind::Added)) {
            let both = Some(at).filter(|_| kind(at) == Some(LineKind::Context));
            for part in 0..parts(Some(at)) {
                rows.push(match both.filter(|_| shape.side_by_side) {
                    Some(line) => Row::Pair {
                        old: Some(line),
                        new: Some(line),
                        part,
                    },
                    None => Row::Line { line: at, part },
                });
            }
            comments_of(Some(at), &mut rows);
            at += 1;
            continue;
        }
        let end_of = |mut at: usize, wanted: LineKind| {
            while kind(at) == Some(wanted) {
                at += 1;
            }
            at
        };
        let added = end_of(at, LineKind::Removed);
        let end = end_of(added, LineKind::Added);
        for offset in 0..(added - at).max(end - added) {
            let old = Some(at + offset).filter(|line| *line < added);
            let new = Some(added + offset).filter(|line| *line < end);
            for part in 0..parts(old).max(parts(new)) {
                rows.push(Row::Pair { old, new, part });
            }
            for line in [old, new].into_iter().flatten() {
                comments_of(Some(line), &mut rows);
            }
        }
        at = end;
    }
    rows
}

fn parts_of(line: &CodeLine, width: usize, wrapped: bool) -> usize {
    match wrapped && line.columns > width {
        true => hard_breaks(&line.text, width).len() + 1,
        false => 1,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::model::{NewComment, Review, ReviewSide, Timestamp};

    const PATCH: &str = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,4 +1,4 @@\n one\n\
                         -two\n-three\n+a long line that has to be wrapped\n four\n";

    fn shape(side_by_side: bool, wrap: bool) -> Shape {
        Shape {
            width: 30,
            wrap,
            side_by_side,
        }
    }

    #[test]
    fn versions_stand_beside_each_other_or_below() {
        let mut page = DiffPage::new(PATCH.to_owned(), Vec::new());
        page.arrange(shape(false, false));
        let lines: Vec<Row> = (0..7).map(|line| Row::Line { line, part: 0 }).collect();
        assert_eq!(page.rows, lines);
        page.arrange(shape(true, false));
        let pair = |old, new| Row::Pair { old, new, part: 0 };
        assert_eq!(
            page.rows[2..],
            [
                pair(Some(2), Some(2)),
                pair(Some(3), Some(5)),
                pair(Some(4), None),
                pair(Some(6), Some(6))
            ]
        );
        page.arrange(shape(false, true));
        assert_eq!(page.rows[6], Row::Line { line: 5, part: 1 });
        assert_eq!(page.row_of(6), 7);
    }

    #[test]
    fn a_comment_stands_below_its_line() {
        let mut review = Review::default();
        for (file, line, side) in [
            ("a.rs", Some(2), ReviewSide::Old),
            ("a.rs", Some(99), ReviewSide::New),
            ("gone.rs", Some(1), ReviewSide::New),
        ] {
            let comment = NewComment {
                file: file.to_owned(),
                line,
                side,
                hunk: Vec::new(),
                text: "Why?".to_owned(),
            };
            review.add(comment, Timestamp::from_epoch(0).unwrap());
        }
        let mut page = DiffPage::new(PATCH.to_owned(), review.comments);
        page.arrange(shape(false, false));
        let at = |row: Row| page.rows.iter().position(|it| *it == row).unwrap();
        let comment = |comment| Row::Comment { comment, part: 0 };
        assert_eq!(at(comment(2)), 0, "its file is not there any more");
        assert_eq!(at(comment(1)), at(Row::Line { line: 0, part: 0 }) + 1);
        assert_eq!(at(comment(0)), at(Row::Line { line: 3, part: 0 }) + 1);
    }
}
