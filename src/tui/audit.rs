//! What autoyes has decided, one row for each question, in plain words.
//!
//! The audit has a line for the decision and another one for what became of it. A question that came through a hook
//! and was left to the screen is decided on once more there.

use crate::engine::AuditLine;
use crate::model::printable_line;

/// A question, and how it was answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AuditRow {
    pub became: String,
    pub asked: String,
    pub reason: String,
}

/// The newest first.
pub(super) fn rows(lines: &[AuditLine]) -> Vec<AuditRow> {
    let mut told: Vec<Told<'_>> = Vec::new();
    for line in lines {
        let entry = &line.entry;
        let became = matches!(entry.outcome.as_str(), "gone" | "stays" | "stale");
        let decided = told.iter_mut().rev().find(|told| {
            let of = &told.line.entry;
            of.dialog == entry.dialog && of.instance == entry.instance
        });
        if became
            && let Some(decided) = decided
            && decided.outcome == "decided"
        {
            decided.outcome = &entry.outcome;
            continue;
        }
        if told.last().is_some_and(|last| last.is_asked_again_in(line)) {
            told.pop();
        }
        told.push(Told {
            line,
            outcome: &entry.outcome,
        });
    }
    told.iter().rev().map(Told::row).collect()
}

/// A decision, and what became of it.
struct Told<'a> {
    line: &'a AuditLine,
    outcome: &'a str,
}

impl Told<'_> {
    /// Whether this was left by a hook, and the next line is about its dialog on the screen.
    fn is_asked_again_in(&self, next: &AuditLine) -> bool {
        let (before, after) = (&self.line.entry, &next.entry);
        self.outcome == "left"
            && (before.channel.as_str(), after.channel.as_str()) == ("hook", "screen")
            && before.instance == after.instance
            && (&before.command, &before.paths) == (&after.command, &after.paths)
    }

    fn row(&self) -> AuditRow {
        let entry = &self.line.entry;
        let asked = entry.command.as_deref();
        let asked = asked.or(entry.paths.first().map(String::as_str));
        let reason = match self.outcome {
            "stale" => "the screen had changed",
            _ => &entry.reason,
        };
        AuditRow {
            became: self.words(),
            asked: printable_line(asked.or(entry.tool.as_deref()).unwrap_or("dialog")),
            reason: printable_line(reason),
        }
    }

    fn words(&self) -> String {
        let done = match self.line.entry.decision.as_str() {
            "accept" => "allowed",
            "reject" => "refused",
            _ => "left to you",
        };
        match self.outcome {
            "gone" | "told" | "denied" => done.to_owned(),
            "stays" => format!("{done}, still open"),
            "stale" => "not answered".to_owned(),
            "left" => "left to you".to_owned(),
            "stopped" => "stopped".to_owned(),
            // Its outcome is not written yet, or never was.
            _ => format!("{done}?"),
        }
    }
}
