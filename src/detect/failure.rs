//! Tells whether the turn that was drawn last was ended by an error of the model's service.
//!
//! An agent is at its prompt then, as after a turn that went well: the rows between the prompt and the input box tell
//! which it was.

use serde::Deserialize;

use super::pattern::{Fault, Pattern};
use super::row::Row;
use super::screen::Screen;

/// How many rows above the input box are looked at: an error that is further up was got over.
const REACH: usize = 8;

/// How an agent shows that a turn has failed, from its provider file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailureSpec {
    /// Counts upwards from the last row that matches: the input box.
    pub above: Pattern,
    /// The row with which the last prompt begins: what is above that belongs to another turn.
    pub prompt: Pattern,
    /// Rows that tell of a failure; the first group is the message.
    pub failed: Vec<Pattern>,
    /// Rows that look like one of those and tell of no failure.
    #[serde(default)]
    pub not: Vec<Pattern>,
}

impl FailureSpec {
    /// What the agent says about the failure of its last turn; None if that has not failed.
    pub(super) fn find(&self, screen: &Screen) -> Option<String> {
        let rows: Vec<&Row> = screen.filled().collect();
        let input = rows
            .iter()
            .rposition(|row| self.above.is_match(row.text()))?;
        let above = rows.get(..input)?.iter().rev().take(REACH);
        let turn = above.take_while(|row| !self.prompt.is_match(row.text()));
        turn.filter(|row| !self.not.iter().any(|not| not.is_match(row.text())))
            .filter_map(|row| {
                let message = self
                    .failed
                    .iter()
                    .find_map(|failed| failed.capture(row.text()));
                message.map(|message| message.trim().to_owned())
            })
            .last()
    }

    pub(super) fn check(&self, key: &str) -> Result<(), Fault> {
        self.above.check(&format!("{key}.above"))?;
        self.prompt.check(&format!("{key}.prompt"))?;
        for (field, patterns) in [("failed", &self.failed), ("not", &self.not)] {
            for (at, pattern) in patterns.iter().enumerate() {
                pattern.check(&format!("{key}.{field}[{at}]"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> FailureSpec {
        FailureSpec {
            above: Pattern::new(r"^>$"),
            prompt: Pattern::new(r"^> \S"),
            failed: vec![Pattern::new(r"^! (.*)")],
            not: vec![Pattern::new("^! interrupted")],
        }
    }

    #[test]
    fn only_the_last_turn_counts() {
        let found = |screen: &str| spec().find(&Screen::new(screen));
        let failed = Some("the service is away".to_owned());
        assert_eq!(found("> one\n! the service is away\n\n>\n"), failed);
        // What the agent writes below it.
        assert_eq!(
            found("> one\n! the service is away\n  for 2 s\n>\n"),
            failed
        );
        assert_eq!(found("> one\n! the service is away\n> two\nyes\n>\n"), None);
        assert_eq!(found("> one\n! interrupted\n>\n"), None);
        // Too long ago, and an agent that is not at its prompt.
        let later = "more\n".repeat(REACH);
        assert_eq!(found(&format!("! the service is away\n{later}>\n")), None);
        assert_eq!(found("> one\n! the service is away\n"), None);
    }
}
