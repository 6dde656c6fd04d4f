//! The requests of `fixtures/policy`, drawn into the dialogs in which agents ask.
//!
//! A template is a recorded dialog with these places: `{row}` stands for every row of the request,
//! one below the other, `{first}` for its first row, `{next}` for those behind it, `{name}` for the
//! last part of a path. `{c}`, with any one character, fills the row with it to the width of the
//! screen.

use std::path::Path;

use super::Decision;
use crate::agents::Catalog;
use crate::detect::explain;

/// One request and the screen that shows it.
pub(crate) struct Drawn {
    pub agent: String,
    /// Names the request in messages.
    pub name: String,
    pub screen: String,
}

/// Every request of the two lists that is to be decided like this.
pub(crate) fn drawn(expected: Decision) -> Vec<Drawn> {
    let accepted = list("accepted.txt");
    let others = list("not-accepted.txt");
    let accepted = accepted
        .iter()
        .map(|entry| (Decision::Accept.name(), entry.clone()));
    let others = others.iter().map(|entry| {
        let (decision, request) = entry[0].split_once(' ').unwrap();
        let mut rest = entry.clone();
        rest[0] = request.to_owned();
        (decision, rest)
    });
    accepted
        .chain(others)
        .filter(|(decision, _)| *decision == expected.name())
        .map(|(_, entry)| draw(&entry))
        .collect()
}

/// The entries of a list: the line of each, and its further rows.
fn list(file: &str) -> Vec<Vec<String>> {
    let mut entries: Vec<Vec<String>> = Vec::new();
    for line in read(file).lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.strip_prefix('|') {
            Some(row) => {
                let row = row.strip_prefix(' ').unwrap_or(row).to_owned();
                entries.last_mut().unwrap().push(row);
            }
            None => entries.push(vec![line.to_owned()]),
        }
    }
    entries
}

fn read(file: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/policy")
        .join(file);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A request, drawn into the dialog of a template: `claude/shell 110 ls`.
pub(crate) fn draw(entry: &[String]) -> Drawn {
    let mut words = entry[0].splitn(3, ' ');
    let template = words.next().unwrap();
    let columns: usize = words.next().unwrap().parse().unwrap();
    let first = words.next().unwrap();
    let rows: Vec<&str> = std::iter::once(first)
        .chain(entry[1..].iter().map(String::as_str))
        .collect();
    let name = first.rsplit('/').next().unwrap();
    let mut lines = Vec::new();
    for line in read(&format!("templates/{template}.txt")).split('\n') {
        let (place, shown) = if line.contains("{row}") {
            ("{row}", &rows[..])
        } else if line.contains("{next}") {
            ("{next}", &rows[1..])
        } else {
            ("{first}", &rows[..1])
        };
        let line = line.replace("{name}", name);
        lines.extend(shown.iter().map(|row| filled(&line, place, row, columns)));
    }
    Drawn {
        agent: template.split('/').next().unwrap().to_owned(),
        name: entry.join("\n| "),
        screen: lines.join("\n"),
    }
}

/// The line with the row in its place, and `{c}` as often as there is room for.
fn filled(line: &str, place: &str, row: &str, columns: usize) -> String {
    let letters: Vec<char> = line.chars().collect();
    let fill = letters
        .windows(3)
        .position(|part| part[0] == '{' && part[2] == '}');
    let Some(fill) = fill else {
        return line.replace(place, row);
    };
    let part = |letters: &[char]| letters.iter().collect::<String>().replace(place, row);
    let before = part(&letters[..fill]);
    let after = part(&letters[fill + 3..]);
    let used = before.chars().count() + after.chars().count();
    let filling = letters[fill + 1].to_string();
    [before, filling.repeat(columns.saturating_sub(used)), after].concat()
}

/// A request that no dialog shows would be left to the user whatever it is.
#[test]
fn every_request_is_read_back_from_its_screen() {
    let catalog = Catalog::built_in();
    for expected in [Decision::Accept, Decision::Reject, Decision::Manual] {
        for request in drawn(expected) {
            let rules = catalog.require(&request.agent).unwrap().rules();
            let dialog = explain(rules, &request.screen, None).dialog;
            let dialog = dialog.unwrap_or_else(|| panic!("no dialog\n{}", request.screen));
            let read: String = dialog.command.into_iter().chain(dialog.paths).collect();
            let asked = request.name.split_whitespace();
            let first = asked
                .skip_while(|word| word.parse::<usize>().is_err())
                .nth(1);
            assert!(read.contains(first.unwrap()), "{read}\n{}", request.screen);
        }
    }
}

#[test]
fn the_lists_are_whole() {
    for (expected, least) in [
        (Decision::Accept, 121),
        (Decision::Reject, 295),
        (Decision::Manual, 129),
    ] {
        let count = drawn(expected).len();
        assert!(count >= least, "{}: {count}", expected.name());
    }
}
