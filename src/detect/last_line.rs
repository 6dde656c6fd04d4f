//! What an agent has drawn last, as one line.

use super::draft::{DraftSpec, REACH};
use super::row::Row;
use super::screen::Screen;

/// The last row with a word in it, without the room inside it; edges of boxes tell nothing. Where the agent's input box
/// is on the screen, the last one above it, if there is any: below it there is a status line, which says the same all day.
pub(crate) fn last_line(screen: &Screen, input: Option<&DraftSpec>) -> Option<String> {
    let has_word = |row: &&Row| row.has_word();
    let row = match input.and_then(|input| rows_above(screen, input)) {
        Some(above) => above.into_iter().rev().find(has_word)?,
        None => screen
            .filled()
            .rev()
            .find(has_word)
            .or_else(|| screen.filled().next_back())?,
    };
    let edges = |c: char| c.is_whitespace() || ('\u{2500}'..='\u{257f}').contains(&c);
    let text = row.text().trim_matches(edges);
    let text = if text.is_empty() { row.text() } else { text };
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The rows above the input box that are not about it; None where there is no box.
fn rows_above<'s>(screen: &'s Screen, input: &DraftSpec) -> Option<Vec<&'s Row>> {
    let rows = screen.rows();
    let top = match &input.inside {
        None => {
            let found = rows
                .iter()
                .rposition(|row| input.row.is_match(row.text()))?;
            let below = rows.get(found..)?.iter().filter(|row| !row.is_blank());
            (below.count() <= REACH && !input.is_box_hidden(screen)).then_some(found)?
        }
        Some(inside) => inside.top(screen)?,
    };
    let is_aside = |row: &Row| input.aside.iter().any(|aside| aside.is_match(row.text()));
    let above = rows.get(..top)?.iter();
    Some(above.filter(|row| !is_aside(row)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_has_a_word_in_it() {
        for (capture, expected) in [
            ("ready\n", Some("ready")),
            (
                "│ Allow it?  (y) │\n╰──────────────╯\n\n",
                Some("Allow it? (y)"),
            ),
            (
                " ← sidebar · Plan          test\n",
                Some("← sidebar · Plan test"),
            ),
            ("❯\u{a0}\n──────\n", Some("──────")),
            ("\n\n", None),
        ] {
            let line = last_line(&Screen::new(capture), None);
            assert_eq!(line.as_deref(), expected, "{capture:?}");
        }
    }
}
