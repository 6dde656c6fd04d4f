//! Joins a command from the rows that it was wrapped into.

use unicode_width::UnicodeWidthStr;

use super::spec::Wrap;

/// Columns that a border or a margin may use on the right.
const MARGIN: usize = 6;

/// Joins rows that start at the same column. Where a row had room for the next word, the break is a line
/// end of the command itself.
pub(super) fn join(rows: &[String], columns: usize, wrap: Wrap) -> String {
    let mut joined = String::new();
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            let before = rows.get(at - 1).map_or("", String::as_str);
            joined.push_str(seam(before, row, columns, wrap));
        }
        joined.push_str(row);
    }
    joined
}

/// For each break, whether it may be only the edge of the screen. A row that ends well before the edge,
/// with room for the next word, ends with a line end of the command.
pub(super) fn loose(rows: &[String], columns: usize, wrap: Wrap) -> Vec<bool> {
    rows.iter()
        .zip(rows.iter().skip(1))
        .map(|(before, after)| {
            let used = before.width();
            match wrap {
                Wrap::Hard => used + 1 >= columns,
                Wrap::Word => {
                    let word = after.split_whitespace().next().unwrap_or_default();
                    used + 1 + word.width() > columns * 3 / 4
                }
            }
        })
        .collect()
}

fn seam(before: &str, after: &str, columns: usize, wrap: Wrap) -> &'static str {
    let used = before.width();
    let word = after.split_whitespace().next().unwrap_or_default();
    if wrap == Wrap::Hard {
        return if used >= columns { "" } else { "\n" };
    }
    let room = columns.saturating_sub(MARGIN);
    if word.is_empty() || used + 1 + word.width() <= room {
        return "\n";
    }
    // Only a word that is longer than a row is broken inside.
    let end = before.split_whitespace().next_back().unwrap_or_default();
    if used >= room && end.width() + word.width() > room && !after.starts_with(' ') {
        ""
    } else {
        " "
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[&str], columns: usize, wrap: Wrap, expected: &str) {
        let rows: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
        assert_eq!(join(&rows, columns, wrap), expected);
    }

    #[test]
    fn words_that_did_not_fit_are_joined_and_lines_stay_lines() {
        check(
            &["cargo test --workspace --all-features", "--no-fail-fast"],
            40,
            Wrap::Word,
            "cargo test --workspace --all-features --no-fail-fast",
        );
        check(&["echo a", "rm -rf b"], 40, Wrap::Word, "echo a\nrm -rf b");
        let long = "x".repeat(40);
        check(&[&long, "yy"], 40, Wrap::Word, &format!("{long}yy"));
        check(&["12345678", "90"], 8, Wrap::Hard, "1234567890");
        check(&["1234567", "90"], 8, Wrap::Hard, "1234567\n90");
    }

    #[test]
    fn a_break_near_the_edge_may_be_the_edge() {
        let rows =
            |rows: &[&str]| -> Vec<String> { rows.iter().map(|r| (*r).to_owned()).collect() };
        let wide = "x".repeat(70);
        assert_eq!(loose(&rows(&["ls", "rm"]), 80, Wrap::Word), [false]);
        assert_eq!(loose(&rows(&[&wide, "rm"]), 80, Wrap::Word), [true]);
        assert_eq!(loose(&rows(&["ls", &wide]), 80, Wrap::Word), [true]);
        assert_eq!(loose(&rows(&[&wide, "rm"]), 80, Wrap::Hard), [false]);
        assert_eq!(loose(&rows(&["12345678", "rm"]), 8, Wrap::Hard), [true]);
    }
}
