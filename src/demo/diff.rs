//! The diff of an edit, small enough for a dialog.

use super::paint::Ink;

/// Unchanged lines shown on either side.
const CONTEXT: usize = 2;

/// The changed region with line numbers: everything from the first to the last line that differs. Coarser
/// than a real diff, but always correct.
pub(super) fn rows(old: Option<&str>, new: &str) -> Vec<(Ink, String)> {
    let old: Vec<&str> = old.unwrap_or_default().lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let same_before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let same_after = old[same_before..]
        .iter()
        .rev()
        .zip(new[same_before..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let digits = old.len().max(new.len()).to_string().len();
    let row =
        |number: usize, mark: char, text: &str| format!("{:>digits$} {mark}{text}", number + 1);

    let mut rows = Vec::new();
    let unchanged = |rows: &mut Vec<(Ink, String)>, from: usize, to: usize| {
        rows.extend((from..to).map(|n| (Ink::Dim, row(n, ' ', new[n]))));
    };
    unchanged(&mut rows, same_before.saturating_sub(CONTEXT), same_before);
    for (n, line) in old
        .iter()
        .enumerate()
        .take(old.len() - same_after)
        .skip(same_before)
    {
        rows.push((Ink::Bad, row(n, '-', line)));
    }
    let end = new.len() - same_after;
    for (n, line) in new.iter().enumerate().take(end).skip(same_before) {
        rows.push((Ink::Good, row(n, '+', line)));
    }
    unchanged(&mut rows, end, (end + CONTEXT).min(new.len()));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(old: Option<&str>, new: &str) -> Vec<String> {
        rows(old, new).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_new_file_is_all_added() {
        assert_eq!(texts(None, "a\nb\n"), ["1 +a", "2 +b"]);
    }

    #[test]
    fn an_edit_shows_what_changes_between_what_stays() {
        assert_eq!(
            texts(Some("1\n2\n3\n4\n5\n6"), "1\n2\n3\nfour\n5\n6"),
            ["2  2", "3  3", "4 -4", "4 +four", "5  5", "6  6"]
        );
        assert_eq!(texts(Some("a\na\n"), "a\n"), ["1  a", "2 -a"]);
        assert_eq!(texts(Some("a"), "a"), ["1  a"]);
        assert_eq!(texts(Some(""), ""), Vec::<String>::new());
    }
}
