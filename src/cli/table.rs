//! Columns that line up, also under wide characters and colours.

use unicode_width::UnicodeWidthStr;

use super::words::{BOLD, RESET};

/// Lays rows out below their headings; the last column may run to the end of the line.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>], width: Option<usize>) -> String {
    let columns = headings.len();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| visible_width(cell))
                .chain(headings.get(column).map(|heading| heading.width()))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let headings: Vec<String> = headings
        .iter()
        .map(|h| format!("{BOLD}{h}{RESET}"))
        .collect();
    let mut text = String::new();
    for row in std::iter::once(&headings).chain(rows) {
        let mut line = String::new();
        let mut used = 0;
        for (column, cell) in row.iter().enumerate() {
            let last = column + 1 == columns;
            let room = width.map(|width| width.saturating_sub(used));
            let cell = match room {
                Some(room) if last && visible_width(cell) > room => &cut(cell, room),
                _ => cell,
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

pub(super) fn visible_width(cell: &str) -> usize {
    anstream::adapter::strip_str(cell).to_string().width()
}

/// The beginning of a text that has no colours, as far as there is room.
pub(super) fn cut(text: &str, room: usize) -> String {
    let mut cut = String::new();
    let mut used = 0;
    for character in text.chars() {
        let width = unicode_width::UnicodeWidthChar::width(character).unwrap_or(0);
        if used + width + 1 > room {
            cut.push('…');
            break;
        }
        cut.push(character);
        used += width;
    }
    cut
}

/// How wide the terminal is, where standard output is one.
pub(super) fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
