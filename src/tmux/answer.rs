//! Sends keys to a pane only if the pane still shows what was seen. Check and keys are one tmux command.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::termios::LocalModes;

use super::screen::{CURSOR, parse_cursor};
use super::server::no_pane;
use super::{Server, TmuxError};

/// A screenshot of a pane with everything that an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DetailedScreenshot {
    pub pid: i32,
    /// The user scrolls (copy mode): keys would go to tmux, not to the agent.
    pub in_mode: bool,
    pub dead: bool,
    /// Attached clients of its session.
    pub attached: u32,
    /// When one of them last sent a key, in seconds since the epoch.
    pub last_key: Option<i64>,
    /// Column and row of the cursor.
    pub cursor: (u16, u16),
    /// The terminal is in line mode: the program gets input line by line, not key by key.
    pub reads_lines: bool,
    pub title: String,
    /// With colours.
    pub text: String,
}

/// What must still be true when the key is sent.
#[derive(Debug, Clone)]
pub(crate) struct Expected<'e> {
    pub pid: i32,
    pub attached: u32,
    /// All rows of the pane, from the top, without colours.
    pub rows: &'e [&'e str],
    /// The first row that is compared.
    pub from: usize,
    /// The cursor position, where it matters.
    pub cursor: Option<(u16, u16)>,
}

const FIELD: char = '\u{1f}';

impl Server {
    pub(crate) fn take_detailed_screenshot(
        &self,
        pane: &str,
    ) -> Result<Option<DetailedScreenshot>, TmuxError> {
        let format = [
            "#{pane_pid}",
            "#{pane_in_mode}",
            "#{pane_dead}",
            "#{session_attached}",
            CURSOR,
            "#{pane_tty}",
            "#{pane_title}",
        ]
        .join(&FIELD.to_string());
        let output = self
            .client()
            .args(["-N", "display-message", "-p", "-t", pane, &format])
            .args([";", "capture-pane", "-p", "-e", "-t", pane])
            .args([";", "list-clients", "-t", pane, "-F"])
            .arg(format!("{FIELD}#{{client_activity}}"))
            .output()
            .map_err(|error| no_pane(error, pane))?;
        Ok(parse(&String::from_utf8_lossy(&output.stdout)))
    }

    /// Sends the keys if the pane is as expected; returns whether it was. tmux does nothing between the
    /// check and the keys, so no other dialog can appear in between.
    pub(crate) fn press_if(
        &self,
        pane: &str,
        expected: &Expected<'_>,
        keys: &[&str],
    ) -> Result<bool, TmuxError> {
        let press = format!(
            "send-keys -t {pane} {} ; display-message -p pressed",
            keys.join(" ")
        );
        let answer = self
            .client()
            .args(["-N", "if-shell", "-F", "-t", pane, &condition(expected)])
            .args([press.as_str(), "display-message -p stale"])
            .text()
            .map_err(|error| no_pane(error, pane))?;
        Ok(answer.trim() == "pressed")
    }

    /// Pastes the text under the same condition; returns whether it was.
    pub(crate) fn paste_if(
        &self,
        pane: &str,
        expected: &Expected<'_>,
        text: &str,
    ) -> Result<bool, TmuxError> {
        let buffer = fresh_buffer();
        let paste =
            format!("paste-buffer -p -r -d -b {buffer} -t {pane} ; display-message -p pasted");
        let answer = self
            .client()
            .args(["-N", "load-buffer", "-b", &buffer, "-", ";"])
            .args(["if-shell", "-F", "-t", pane, &condition(expected), &paste])
            .arg(format!(
                "delete-buffer -b {buffer} ; display-message -p stale"
            ))
            .stdin(text)
            .text()
            .map_err(|error| no_pane(error, pane))?;
        Ok(answer.trim() == "pasted")
    }
}

/// The name of a paste buffer that no other process uses.
fn fresh_buffer() -> String {
    format!(
        "biv-{}-{}",
        std::process::id(),
        uuid::Uuid::new_v4().simple()
    )
}

fn parse(answer: &str) -> Option<DetailedScreenshot> {
    let (head, rest) = answer.split_once('\n')?;
    let mut fields = head.splitn(7, FIELD);
    let mut look = DetailedScreenshot {
        pid: fields.next()?.parse().ok()?,
        in_mode: fields.next()? != "0",
        dead: fields.next()? == "1",
        attached: fields.next()?.parse().ok()?,
        cursor: parse_cursor(fields.next()?),
        reads_lines: reads_lines(Path::new(fields.next()?)),
        title: fields.next()?.to_owned(),
        last_key: None,
        text: String::new(),
    };
    let mut screen = Vec::new();
    for line in rest.lines() {
        match line.strip_prefix(FIELD) {
            Some(activity) => look.last_key = look.last_key.max(activity.parse().ok()),
            None => screen.push(line),
        }
    }
    look.text = screen.join("\n");
    Some(look)
}

/// Whether this terminal is in line mode. False where that cannot be read.
fn reads_lines(terminal: &Path) -> bool {
    let opened = std::fs::File::options()
        .read(true)
        .custom_flags(OFlags::NOCTTY.union(OFlags::NONBLOCK).bits().cast_signed())
        .open(terminal);
    opened
        .ok()
        .and_then(|terminal| rustix::termios::tcgetattr(terminal).ok())
        .is_some_and(|modes| modes.local_modes.contains(LocalModes::ICANON))
}

fn condition(expected: &Expected<'_>) -> String {
    let mut terms = vec![
        format!("#{{==:#{{pane_pid}},{}}}", expected.pid),
        "#{==:#{pane_in_mode},0}".to_owned(),
        "#{==:#{pane_dead},0}".to_owned(),
        format!("#{{==:#{{session_attached}},{}}}", expected.attached),
    ];
    if let Some((column, row)) = expected.cursor {
        terms.push(format!(
            "#{{==:#{{cursor_x}} #{{cursor_y}},{column} {row}}}"
        ));
    }
    for row in expected.rows.iter().skip(expected.from) {
        let pattern = Pattern::of(row);
        if pattern.says_something() {
            let first = expected.rows.iter().position(|row| pattern.fits(row));
            let line = first.map_or(0, |at| at + 1);
            terms.push(format!("#{{==:#{{C/r:{}}},{line}}}", pattern.written()));
        }
    }
    all_of(&terms)
}

/// A balanced tree of two-argument conditions: older servers support neither longer lists nor deep nesting.
fn all_of(terms: &[String]) -> String {
    match terms {
        [] => "1".to_owned(),
        [only] => only.clone(),
        many => {
            let (left, right) = many.split_at(many.len() / 2);
            format!("#{{&&:{},{}}}", all_of(left), all_of(right))
        }
    }
}

/// A row as a pattern in a tmux format. Characters with a meaning in formats are replaced by single-character
/// wildcards.
struct Pattern(Vec<Piece>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Exactly(char),
    /// Any one character, for one that cannot be written in a format.
    One,
    /// One or more, for characters beyond ASCII: servers count them as bytes or as characters.
    Some,
}

impl Pattern {
    fn of(row: &str) -> Self {
        let mut pieces = Vec::new();
        for character in row.trim_end().chars() {
            let piece = match character {
                '{' | '}' | '#' | ',' | '%' | '^' | '\\' | '[' | ']' | '`' => Piece::One,
                ' '..='~' => Piece::Exactly(character),
                _ => Piece::Some,
            };
            if piece != Piece::Some || pieces.last() != Some(&Piece::Some) {
                pieces.push(piece);
            }
        }
        Self(pieces)
    }

    fn says_something(&self) -> bool {
        let letter =
            |piece: &Piece| matches!(piece, Piece::Exactly(c) if c.is_ascii_alphanumeric());
        self.0.iter().any(letter)
    }

    fn written(&self) -> String {
        let mut text = "^".to_owned();
        for piece in &self.0 {
            match piece {
                Piece::Exactly(c @ ('.' | '*' | '+' | '?' | '(' | ')' | '|' | '$')) => {
                    text.extend(['[', *c, ']']);
                }
                Piece::Exactly(c) => text.push(*c),
                Piece::One => text.push('.'),
                Piece::Some => text.push_str(".+"),
            }
        }
        text.push('$');
        text
    }

    /// Whether this pattern, as the server reads it, matches a row.
    fn fits(&self, row: &str) -> bool {
        let row: Vec<char> = row.trim_end().chars().collect();
        let (mut piece, mut at) = (0, 0);
        // The last piece that may take more characters, and up to which one it has taken them.
        let mut taker: Option<(usize, usize)> = None;
        while let Some(character) = row.get(at) {
            let fits = match self.0.get(piece) {
                Some(Piece::Exactly(wanted)) => wanted == character,
                Some(Piece::One) => true,
                Some(Piece::Some) => {
                    taker = Some((piece, at));
                    true
                }
                None => false,
            };
            if !fits {
                let Some((some, taken)) = taker else {
                    return false;
                };
                taker = Some((some, taken + 1));
                (piece, at) = (some, taken + 1);
            }
            piece += 1;
            at += 1;
        }
        piece == self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_written_so_that_no_format_can_come_out_of_it() {
        let pattern = Pattern::of("│ a#{b}, 100% (x|y) $z [1] #(id) ❯❯ ; \\ │  ");
        assert_eq!(
            pattern.written(),
            "^.+ a..b.. 100. [(]x[|]y[)] [$]z .1. .[(]id[)] .+ ; . .+$"
        );
        assert!(pattern.fits("│ a#{b}, 100% (x|y) $z [1] #(id) ❯❯ ; \\ │"));
        assert!(!pattern.fits("│ a#{b}, 100% (x|y) +z [1] #(id) ❯❯ ; \\ │"));
    }

    #[test]
    fn rows_that_differ_in_one_character_are_told_apart() {
        let main = Pattern::of(" git push origin main");
        assert!(main.fits(" git push origin main "));
        for other in [
            " git push origin +main",
            " git push origin maim",
            "git push origin main",
            " git push origin main;",
        ] {
            assert!(!main.fits(other), "{other}");
        }
        assert!(!Pattern::of("────").says_something());
        // What stands for several characters takes as many as the rest of the row leaves.
        let dashes = Pattern::of("a──b──b");
        for (row, fits) in [
            ("a─b─b", true),
            ("a──b──b──b", true),
            ("a──b──", false),
            ("ab──b", false),
            ("a──b──bc", false),
        ] {
            assert_eq!(dashes.fits(row), fits, "{row}");
        }
    }

    #[test]
    fn a_question_that_stays_when_it_was_answered_is_known_by_the_cursor() {
        let mut expected = Expected {
            pid: 7,
            attached: 0,
            rows: &["Continue? [Y/n]"],
            from: 0,
            cursor: Some((16, 0)),
        };
        let cursor = "#{==:#{cursor_x} #{cursor_y},16 0}";
        assert!(condition(&expected).contains(cursor));
        expected.cursor = None;
        assert!(!condition(&expected).contains("cursor"));
    }

    #[test]
    fn a_look_is_taken_apart() {
        let look = parse(
            "7\u{1f}0\u{1f}0\u{1f}2\u{1f}3 4\u{1f}/no/tty\u{1f}a title\nrow 1\n\nrow 3\n\u{1f}100\n\u{1f}200\n",
        )
        .unwrap();
        assert_eq!((look.pid, look.attached, look.last_key), (7, 2, Some(200)));
        assert_eq!(look.text, "row 1\n\nrow 3");
        assert!(parse("").is_none());
    }
}
