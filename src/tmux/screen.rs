//! Captures of panes.

use super::early::Asked;
use super::pane::{format, parse_panes};
use super::server::{no_pane, not_installed};
use super::{EarlyClient, Pane, Server, TmuxError};
use crate::model::InstanceId;
use crate::process::Command;

/// The title and the visible lines of a pane, taken in one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Screenshot {
    pub pane: String,
    pub title: String,
    /// As in [`Pane`].
    pub in_mode: bool,
    pub dead: bool,
    /// Column and row of the cursor.
    pub cursor: (u16, u16),
    pub text: String,
}

/// Panes and screens that were asked for. The answer comes while the caller does other things.
#[derive(Debug)]
pub(crate) struct AskedScreens<'a> {
    batch: &'a [&'a str],
    asked: Option<Asked>,
}

/// Begins each pane's part of a combined answer. tmux escapes control characters in titles, and a screen has
/// none.
const PART: &str = "\u{1e}";
const FIELD: char = '\u{1f}';
/// The line between the list of panes and their captures.
const CAPTURES: &str = "\u{1e}\n";

/// Up to this many lines of history are captured at once. A slice may cut a wrapped line.
const WHOLE: usize = 12_000;
const SLICE: usize = 5_000;

/// Panes per call: the arguments of a command are limited to 16 kB.
const AT_ONCE: usize = 60;
/// The same where a pane is only captured.
const CAPTURED_AT_ONCE: usize = 400;

impl Server {
    /// Screenshots of several panes with as few calls as possible. A pane that is gone is left out.
    pub(crate) fn look(&self, panes: &[&str]) -> Result<Vec<Screenshot>, TmuxError> {
        let mut shots = Vec::new();
        let mut rest = panes;
        while !rest.is_empty() {
            let batch = &rest[..rest.len().min(AT_ONCE)];
            let seen = self.look_at_batch(batch)?;
            // A sequence stops at the first missing pane: continue after it.
            rest = &rest[(seen.len() + 1).min(batch.len())..];
            shots.extend(seen);
        }
        Ok(shots)
    }

    /// Asks for all panes, and for screenshots of the expected ones.
    pub(crate) fn ask_for_screens<'a>(
        &self,
        expected: &'a [&'a str],
        early: Option<EarlyClient>,
    ) -> AskedScreens<'a> {
        let batch = &expected[..expected.len().min(CAPTURED_AT_ONCE)];
        let asked = self.ask(&panes_and_captures(batch, &format()), early);
        AskedScreens { batch, asked }
    }

    /// All panes, and a screenshot of each that belongs to an instance. Only panes that were not expected cost a
    /// second call.
    pub(crate) fn panes_and_shots(
        &self,
        asked: AskedScreens<'_>,
    ) -> Result<(Vec<Pane>, Vec<Screenshot>), TmuxError> {
        let (mut panes, mut shots) = self.panes_and_batch(asked.batch, asked.asked)?;
        if panes.iter().any(Pane::is_unclear) {
            panes = self.panes()?;
        }
        let missing: Vec<&str> = panes
            .iter()
            .filter(|pane| pane.instance.is_some())
            .map(|pane| pane.id.as_str())
            .filter(|id| !shots.iter().any(|shot| shot.pane == **id))
            .collect();
        shots.extend(self.look(&missing)?);
        Ok((panes, shots))
    }

    /// The pane of an instance and its screenshot; in one call where it is the expected pane.
    pub(crate) fn pane_and_shot(
        &self,
        instance: &InstanceId,
        expected: Option<&str>,
        early: Option<EarlyClient>,
    ) -> Result<(Option<Pane>, Option<Screenshot>), TmuxError> {
        let batch = expected.as_slice();
        let asked = self.ask(&panes_and_captures(batch, &format()), early);
        let (panes, shots) = self.panes_and_batch(batch, asked)?;
        let own = panes
            .into_iter()
            .find(|pane| pane.instance.as_ref() == Some(instance));
        let pane = match own {
            Some(pane) if pane.is_unclear() => self.pane_of(instance)?,
            own => own,
        };
        let Some(pane) = pane else {
            return Ok((None, None));
        };
        let shot = match shots.into_iter().find(|shot| shot.pane == pane.id) {
            Some(shot) => Some(shot),
            None => self.look(&[&pane.id])?.into_iter().next(),
        };
        Ok((Some(pane), shot))
    }

    /// All panes, and screenshots of these, in one call. A pane that is gone is left out, and so may others be.
    fn panes_and_batch(
        &self,
        batch: &[&str],
        asked: Option<Asked>,
    ) -> Result<(Vec<Pane>, Vec<Screenshot>), TmuxError> {
        // A pane that is gone ends the sequence with an error after the list of panes.
        let answer = self.answer_to(&panes_and_captures(batch, &format()), asked)?;
        let (panes, screens) = answer.split_once(CAPTURES).unwrap_or((&answer, ""));
        if panes.is_empty() {
            return Ok((self.panes()?, Vec::new()));
        }
        let panes = parse_panes(panes)?;
        let shots = parse_captures(&panes, batch, screens);
        Ok((panes, shots))
    }

    /// None where there is no client of this server to be asked.
    fn ask(&self, commands: &[Vec<&str>], early: Option<EarlyClient>) -> Option<Asked> {
        early
            .filter(|early| early.is_of(&self.socket_path()))?
            .ask(commands)
    }

    /// What tmux prints for these commands, in one call; nothing without a server. They are asked now if they were not
    /// asked before.
    fn answer_to(&self, commands: &[Vec<&str>], asked: Option<Asked>) -> Result<String, TmuxError> {
        let told = asked.and_then(Asked::told);
        if let Some(told) = told.filter(|told| !told.is_empty()) {
            return Ok(told);
        }
        // `panes` handles a missing server.
        if !self.socket_path().exists() {
            return Ok(String::new());
        }
        let command = self.client().arg("-N").args(commands.join(&";"));
        let output = command.output().map_err(not_installed)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The whole scrollback and the screen below it, with colours. A long one is captured in slices,
    /// because every other session waits while the server prints.
    pub(crate) fn history(&self, pane: &Pane) -> Result<String, TmuxError> {
        let (lines, pane) = (pane.history, pane.id.as_str());
        if lines <= WHOLE {
            return self.slice(pane, "-", "-");
        }
        let mut text = String::new();
        for start in (1..=lines).rev().step_by(SLICE) {
            let end = start.saturating_sub(SLICE - 1).max(1);
            // The history may have grown since.
            let start = match start {
                first if first == lines => "-".to_owned(),
                start => format!("-{start}"),
            };
            text.push_str(&self.slice(pane, &start, &format!("-{end}"))?);
            // tmux repeats the colours at the start of each slice.
            text.push_str("\x1b[0m\n");
        }
        text.push_str(&self.slice(pane, "0", "-")?);
        Ok(text)
    }

    /// A pane and the last lines of its history and screen, with colours, in one call; None where there is no
    /// such pane. Without a number, as many as are captured at once.
    pub(crate) fn pane_and_text(
        &self,
        pane: &str,
        lines: Option<usize>,
        early: Option<EarlyClient>,
    ) -> Result<Option<(Pane, String)>, TmuxError> {
        let first = format!("-{}", lines.unwrap_or(WHOLE));
        let described = format();
        let commands = [
            vec!["display-message", "-p", "-t", pane, &described],
            vec!["capture-pane", "-p", "-e", "-J", "-S", &first, "-t", pane],
        ];
        let asked = self.ask(&commands, early);
        let answer = self.answer_to(&commands, asked)?;
        let (head, text) = answer.split_once('\n').unwrap_or((&answer, ""));
        // For a pane that is gone, tmux prints empty fields.
        let found = parse_panes(head).unwrap_or_default().into_iter().next();
        // The screen of a pane that is there has lines, even if nothing is on them.
        let found = found.filter(|_| !text.is_empty());
        Ok(found.map(|pane| (pane, text.to_owned())))
    }

    fn slice(&self, pane: &str, start: &str, end: &str) -> Result<String, TmuxError> {
        self.client()
            .args([
                "-N",
                "capture-pane",
                "-p",
                "-e",
                "-J",
                "-S",
                start,
                "-E",
                end,
            ])
            .args(["-t", pane])
            .text()
            .map_err(|error| no_pane(error, pane))
    }

    /// The last lines of history and screen, with colours on request.
    pub(crate) fn tail(
        &self,
        pane: &str,
        lines: usize,
        colours: bool,
    ) -> Result<String, TmuxError> {
        let mut command = self.client().args(["-N", "capture-pane", "-p", "-J"]);
        if colours {
            command = command.arg("-e");
        }
        command
            .args(["-S", &format!("-{lines}"), "-E", "-", "-t", pane])
            .text()
            .map_err(|error| no_pane(error, pane))
    }

    /// The screen of an instance's pane with `above` lines of history, with colours; None where the pane
    /// belongs to another instance now.
    pub(crate) fn screen_view(
        &self,
        pane: &str,
        instance: &InstanceId,
        above: usize,
    ) -> Result<Option<String>, TmuxError> {
        let answer = self
            .client()
            .args(["-N", "display-message", "-p", "-t", pane, "#{@biv_id}"])
            .args([";", "capture-pane", "-p", "-e", "-t", pane])
            .args(["-S", &format!("-{above}")])
            .text()
            .map_err(|error| no_pane(error, pane))?;
        let (owner, text) = answer.split_once('\n').unwrap_or((&answer, ""));
        Ok((owner == instance.as_str()).then(|| text.to_owned()))
    }

    fn look_at_batch(&self, panes: &[&str]) -> Result<Vec<Screenshot>, TmuxError> {
        let output = look_at(self.client().arg("-N"), panes)
            .output()
            .map_err(|error| no_pane(error, panes.first().unwrap_or(&"")))?;
        Ok(parse_shots(&String::from_utf8_lossy(&output.stdout)))
    }
}

/// Adds the commands whose output [`parse_shots`] reads.
fn look_at(mut command: Command, panes: &[&str]) -> Command {
    for (index, pane) in panes.iter().enumerate() {
        if index > 0 {
            command = command.arg(";");
        }
        // The id of a pane is not part of the format: tmux reads `%12` as part of a date.
        let format = format!(
            "{PART}#{{pane_id}}{FIELD}#{{pane_in_mode}}{FIELD}#{{pane_dead}}{FIELD}{CURSOR}{FIELD}#{{pane_title}}"
        );
        command = command
            .args(["display-message", "-p", "-t", pane, &format])
            .args([";", "capture-pane", "-p", "-t", pane]);
    }
    command
}

/// A list of panes and, after it, captures. A [`Screenshot`] needs no more: asking for the rest pane by pane would
/// take tmux longer than the captures themselves.
fn panes_and_captures<'a>(captured: &[&'a str], format: &'a str) -> Vec<Vec<&'a str>> {
    let mut commands = vec![vec!["list-panes", "-a", "-F", format]];
    if !captured.is_empty() {
        commands.push(vec!["display-message", "-p", PART]);
    }
    commands.extend(
        captured
            .iter()
            .map(|pane| vec!["capture-pane", "-p", "-t", pane]),
    );
    commands
}

/// The screens of these panes, one after another: each has as many lines as its pane has rows. None where the
/// lines are not those of all panes.
fn parse_captures(panes: &[Pane], captured: &[&str], screens: &str) -> Vec<Screenshot> {
    let captured: Option<Vec<&Pane>> = captured
        .iter()
        .map(|id| panes.iter().find(|pane| pane.id == *id))
        .collect();
    let lines: Vec<&str> = screens.lines().collect();
    let Some(captured) = captured.filter(|captured| {
        captured
            .iter()
            .map(|pane| usize::from(pane.rows))
            .sum::<usize>()
            == lines.len()
    }) else {
        return Vec::new();
    };
    let mut rest = lines.as_slice();
    let shot = |pane: &Pane| {
        let (own, others) = rest.split_at(pane.rows.into());
        rest = others;
        Screenshot {
            pane: pane.id.clone(),
            title: pane.title.clone(),
            in_mode: pane.in_mode,
            dead: pane.death.is_some(),
            cursor: pane.cursor,
            text: own.join("\n").trim_end_matches('\n').to_owned(),
        }
    };
    captured.into_iter().map(shot).collect()
}

/// The format that [`parse_cursor`] reads.
pub(super) const CURSOR: &str = "#{cursor_x} #{cursor_y}";

pub(super) fn parse_cursor(text: &str) -> (u16, u16) {
    let (column, row) = text.split_once(' ').unwrap_or_default();
    (column.parse().unwrap_or(0), row.parse().unwrap_or(0))
}

fn parse_shots(answer: &str) -> Vec<Screenshot> {
    answer
        .split(PART)
        .skip(1)
        .filter_map(|part| {
            let (head, text) = part.split_once('\n')?;
            let mut fields = head.splitn(5, FIELD);
            // For a pane that is gone, tmux prints empty fields.
            let pane = fields.next().filter(|pane| !pane.is_empty())?;
            Some(Screenshot {
                pane: pane.to_owned(),
                in_mode: fields.next()? != "0",
                dead: fields.next()? == "1",
                cursor: parse_cursor(fields.next()?),
                title: fields.next()?.to_owned(),
                text: text.trim_end_matches('\n').to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_combined_answer_is_taken_apart() {
        let shots = parse_shots(
            "\u{1e}%1\u{1f}0\u{1f}0\u{1f}7 2\u{1f}a title\nline 1\n\nline 3\n\n\n\u{1e}%2\u{1f}1\u{1f}1\u{1f}0 0\u{1f}\n\n",
        );
        assert_eq!(shots.len(), 2);
        assert_eq!(shots[0].text, "line 1\n\nline 3");
        assert_eq!(shots[0].title, "a title");
        assert_eq!(shots[0].cursor, (7, 2));
        assert!(shots[1].in_mode && shots[1].dead && shots[1].text.is_empty());
    }

    #[test]
    fn captures_are_told_apart_by_the_rows_of_their_panes() {
        let pane = |id: &str, rows: u16| {
            let fields = [
                "",
                "23456789bc",
                "session",
                id,
                "100",
                "99",
                "0",
                "",
                "",
                "80",
            ];
            let rest = ["17", "0", "1", "1", "7", "2", "0", "a title"];
            let rows = rows.to_string();
            let line = [&fields[..], &[&rows], &rest[..]].concat();
            parse_panes(&line.join("\u{1f}")).unwrap().remove(0)
        };
        let panes = [pane("%1", 3), pane("%2", 2), pane("%3", 2)];
        let shots = parse_captures(&panes, &["%3", "%1"], "two\n\none\n\n three \n");
        let texts: Vec<(&str, &str)> = shots
            .iter()
            .map(|shot| (shot.pane.as_str(), shot.text.as_str()))
            .collect();
        assert_eq!(texts, [("%3", "two"), ("%1", "one\n\n three ")]);
        assert!(shots[0].in_mode && !shots[0].dead);
        assert_eq!(
            (shots[0].cursor, shots[0].title.as_str()),
            ((7, 2), "a title")
        );
        // The last pane was not captured, or is not in the list: nobody knows whose lines these are.
        assert_eq!(parse_captures(&panes, &["%1", "%2"], "1\n2\n3\n"), []);
        assert_eq!(parse_captures(&panes, &["%1", "%9"], "1\n2\n3\n"), []);
    }

    #[test]
    fn a_pane_that_is_gone_is_no_blank_screen() {
        let shots = parse_shots(
            "\u{1e}%1\u{1f}0\u{1f}0\u{1f}0 0\u{1f}a title\nline\n\u{1e}\u{1f}\u{1f}\u{1f}\u{1f}\n",
        );
        assert_eq!(shots.len(), 1);
        assert_eq!(shots[0].pane, "%1");
    }
}
