//! A screen rule: what must be on the screen, and the activity that it means.

use serde::Deserialize;

use super::pattern::{Fault, Pattern};
use super::row::Row;
use super::screen::{CursorAt, Screen};
use super::version::{AgentVersion, VersionRange};
use crate::model::Activity;

/// How many rows are searched for an anchor: more than any agent's input box and menus take.
const REACH: usize = 40;

/// Rules are tried in the order of the file; the first that matches decides.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub name: String,
    pub activity: Activity,
    /// A pattern for the pane's title. A pane without a title does not match.
    pub title: Option<Pattern>,
    /// How many rows are looked at, counted from the bottom; blank rows do not count.
    pub last: Option<usize>,
    /// Counts upwards from the last row that matches, instead of from the bottom.
    pub above: Option<Pattern>,
    /// Looks only below the last row that matches.
    pub below: Option<Pattern>,
    /// One row must match one of these.
    #[serde(default)]
    pub any: Vec<Pattern>,
    /// Each of these must match some row.
    #[serde(default)]
    pub all: Vec<Pattern>,
    /// None of these may match any row.
    #[serde(default)]
    pub not: Vec<Pattern>,
    /// Where the cursor must be, seen from the last row.
    pub cursor: Option<CursorAt>,
    /// The versions of the agent to which it applies; all by default.
    pub version: Option<VersionRange>,
    /// The dialog that is then on the screen, by its name in the provider file.
    pub dialog: Option<String>,
    /// What is open, and what Enter would do there, in the words for the user.
    pub says: Option<String>,
    /// A usage limit: the first group is the time at which it resets. The agent is at its prompt, and takes
    /// the next one after that time.
    pub resets: Option<Pattern>,
}

impl Rule {
    pub(crate) fn holds(&self, screen: &Screen, title: Option<&str>) -> bool {
        if let Some(pattern) = &self.title
            && !title.is_some_and(|title| pattern.is_match(title))
        {
            return false;
        }
        if !self.reads_screen() {
            return true;
        }
        if self.cursor.is_some_and(|at| !screen.has_cursor(at)) {
            return false;
        }
        let Some(rows) = self.window(screen) else {
            return false;
        };
        let seen = |pattern: &Pattern| rows.iter().any(|row| pattern.is_match(row.text()));
        (self.any.is_empty() || self.any.iter().any(seen))
            && self.all.iter().all(seen)
            && !self.not.iter().any(seen)
    }

    /// The first group that one of the `any` patterns finds, where the rule holds.
    pub(super) fn find(&self, screen: &Screen, title: Option<&str>) -> Option<String> {
        if !self.holds(screen, title) {
            return None;
        }
        let rows = self.window(screen)?;
        self.any.iter().find_map(|pattern| {
            let found = rows.iter().find_map(|row| pattern.capture(row.text()))?;
            Some(found.to_owned())
        })
    }

    /// When the limit resets, as the screen says.
    pub(super) fn reset_time(&self, screen: &Screen) -> Option<String> {
        let pattern = self.resets.as_ref()?;
        let rows = self.window(screen)?;
        let found = rows.iter().find_map(|row| pattern.capture(row.text()))?;
        Some(found.trim().to_owned())
    }

    /// Whether it looks at more than the title.
    pub(crate) fn reads_screen(&self) -> bool {
        !(self.any.is_empty() && self.all.is_empty() && self.not.is_empty())
    }

    pub(crate) fn fits(&self, version: Option<&AgentVersion>) -> bool {
        match (&self.version, version) {
            (Some(range), Some(version)) => range.contains(version),
            (Some(_), None) | (None, _) => true,
        }
    }

    pub(super) fn check(&self, key: &str) -> Result<(), Fault> {
        let fault = |field: &str, message: &str| {
            Err(Fault {
                key: format!("{key}.{field}"),
                message: message.to_owned(),
            })
        };
        if self.reads_screen() && self.last.is_none_or(|last| last == 0) {
            return fault(
                "last",
                "a rule that looks at the screen says at how many of its last lines",
            );
        }
        if !self.reads_screen() && self.title.is_none() {
            return fault(
                "name",
                "a rule needs `title`, `any`, `all` or `not`, else it would always hold",
            );
        }
        if self.any.is_empty() && self.all.is_empty() && self.title.is_none() {
            return fault(
                "not",
                "`not` alone would hold on every other screen; add `any`, `all` or `title`",
            );
        }
        for (field, pattern) in [
            ("title", &self.title),
            ("above", &self.above),
            ("below", &self.below),
            ("resets", &self.resets),
        ] {
            if let Some(pattern) = pattern {
                pattern.check(&format!("{key}.{field}"))?;
            }
        }
        for (field, patterns) in [("any", &self.any), ("all", &self.all), ("not", &self.not)] {
            for (at, pattern) in patterns.iter().enumerate() {
                pattern.check(&format!("{key}.{field}[{at}]"))?;
            }
        }
        Ok(())
    }

    /// The rows that the rule may look at; None where its anchor is not on the screen.
    fn window<'s>(&self, screen: &'s Screen) -> Option<Vec<&'s Row>> {
        let last = self.last.unwrap_or(0);
        let mut rows: Vec<&Row> = screen.filled().rev().take(REACH.max(last)).collect();
        if let Some(anchor) = &self.above {
            let at = rows.iter().position(|row| anchor.is_match(row.text()))?;
            rows.drain(..=at);
        }
        if let Some(anchor) = &self.below {
            let at = rows.iter().position(|row| anchor.is_match(row.text()))?;
            rows.truncate(at);
        }
        rows.truncate(last);
        Some(rows)
    }
}
