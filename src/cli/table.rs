//! Tables whose columns are aligned, also with wide characters and colours.

use std::sync::OnceLock;

use super::words::{BOLD, RESET};
use crate::model::{columns, cut};

/// A column is not made narrower than this, or than its heading.
const NARROWEST: usize = 8;
/// The minimum width of the last column, if its content is that wide.
const LAST: usize = 10;

/// Formats rows below their headings, within the width of the terminal where there is one. The last column
/// is cut first; if that is not enough, the widest columns are made narrower.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>], width: Option<usize>) -> String {
    let count = headings.len();
    let mut widths: Vec<usize> = (0..count)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| visible_width(cell))
                .chain(headings.get(column).map(|heading| columns(heading)))
                .max()
                .unwrap_or(0)
        })
        .collect();
    if let Some(width) = width {
        fit(&mut widths, headings, width);
    }
    let headings: Vec<String> = headings
        .iter()
        .map(|h| format!("{BOLD}{h}{RESET}"))
        .collect();
    let mut text = String::new();
    for row in std::iter::once(&headings).chain(rows) {
        let mut line = String::new();
        let mut used = 0;
        for (column, cell) in row.iter().enumerate() {
            let last = column + 1 == count;
            let room = match width {
                Some(width) if last => width.saturating_sub(used),
                None if last => usize::MAX,
                _ => widths[column],
            };
            let cell = match visible_width(cell) > room {
                true => &cut_coloured(cell, room),
                false => cell,
            };
            line.push_str(cell);
            if !last {
                let padding = widths[column] - visible_width(cell) + 2;
                line.extend(std::iter::repeat_n(' ', padding));
                used += widths[column] + 2;
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Shrinks the widest column, one step at a time, until all fit or none can be made narrower.
fn fit(widths: &mut [usize], headings: &[&str], room: usize) {
    let Some((last, others)) = widths.split_last_mut() else {
        return;
    };
    loop {
        let used: usize = others.iter().map(|width| width + 2).sum();
        let widest = others
            .iter_mut()
            .zip(headings)
            .filter(|(width, heading)| **width > NARROWEST.max(columns(heading)))
            .max_by_key(|(width, _)| **width);
        match widest {
            Some((width, _)) if used + (*last).min(LAST) > room => *width -= 1,
            _ => return,
        }
    }
}

/// Cuts a text with colours.
fn cut_coloured(text: &str, room: usize) -> String {
    if !text.contains('\x1b') {
        return cut(text, room);
    }
    let plain = anstream::adapter::strip_str(text).to_string();
    let shown = cut(&plain, room);
    // A cell has one colour for its whole text.
    let colour = text.split_once('m').map_or("", |(colour, _)| colour);
    format!("{colour}m{shown}{RESET}")
}

fn visible_width(cell: &str) -> usize {
    columns(&anstream::adapter::strip_str(cell).to_string())
}

/// The width of the user's terminal, where it is at another machine.
static COLUMNS: OnceLock<u16> = OnceLock::new();

pub(super) fn set_columns(columns: u16) {
    // Set once, before anything is printed.
    COLUMNS.set(columns).ok();
}

/// The width of the terminal, where standard output is one.
pub(super) fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).map(|size| size.ws_col);
    let columns = size.ok().or_else(|| COLUMNS.get().copied())?;
    Some(usize::from(columns)).filter(|width| *width > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_is_wider_than_the_terminal() {
        let long = |letter: char| letter.to_string().repeat(70);
        let rows = vec![vec![
            long('t'),
            format!("\x1b[33m{}\x1b[0m", long('s')),
            long('b'),
            "last".to_owned(),
        ]];
        for width in [40, 80, 100, 200] {
            let text = table(&["TITLE", "STATE", "BRANCH", "LAST"], &rows, Some(width));
            for line in text.lines() {
                assert!(visible_width(line) <= width, "{width}: {line}");
            }
            assert!(text.contains("last"), "{text}");
            assert!(text.contains("\x1b[33msss"), "{text}");
        }
        let whole = table(&["TITLE", "STATE", "BRANCH", "LAST"], &rows, None);
        assert!(whole.contains(&long('b')));
    }

    #[test]
    fn columns_line_up_under_wide_and_coloured_cells() {
        let rows = vec![
            vec![
                "日本".to_owned(),
                "\x1b[32mok\x1b[0m".to_owned(),
                "x".to_owned(),
            ],
            vec![
                "a".to_owned(),
                "failed".to_owned(),
                "a long last line".to_owned(),
            ],
        ];
        let text = anstream::adapter::strip_str(&table(&["T", "STATE", "LAST"], &rows, Some(24)))
            .to_string();
        assert_eq!(
            text,
            "T     STATE   LAST\n日本  ok      x\na     failed  a long la…\n"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_aligned(
            cells in proptest::collection::vec("(a|日|👨‍👩‍👧|🇩|🇪|❤\u{fe0f}|\u{301}|\\PC){0,30}", 3..12),
            width in 30_usize..60,
        ) {
            let cell = |text: &String| crate::model::printable_line(text).trim().to_owned();
            let row = |pair: &[String]| vec![cell(&pair[0]), cell(&pair[1]), "last".to_owned()];
            let rows: Vec<Vec<String>> = cells.chunks_exact(2).map(row).collect();
            let text = table(&["ONE", "TWO", "LAST"], &rows, Some(width));
            let ends = text.lines().skip(1).map(|line| {
                prop_assert!(visible_width(line) <= width, "{line:?}");
                prop_assert!(line.ends_with("last"), "{line:?}");
                Ok(visible_width(line))
            });
            let ends: Vec<usize> = ends.collect::<Result<_, _>>()?;
            prop_assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
        }
    }
}
