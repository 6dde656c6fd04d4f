//! A digest as text.

use std::fmt::Write;

use super::digest::Problem;
use super::sentence::clip;
use super::{ConversationEntry, Digest, Speaker};
use crate::model::Timestamp;

const NOTHING: &str = "Nothing was found.";
/// How many characters of a tool's output a summary program gets.
const SHOWN_OUTPUT: usize = 600;

impl Digest {
    /// The summary entry that replaces the entries of this digest; None where there are none. Its time
    /// is that of the last of them.
    pub(crate) fn summary(&self) -> Option<ConversationEntry> {
        let to = self.to?;
        let value = serde_json::to_value(self).ok()?;
        Some(
            ConversationEntry::new(to, Speaker::System, self.sections(to))
                .with("summary", value)
                .with_some("run", self.run.clone())
                .with_todos(self.todos()),
        )
    }

    fn sections(&self, to: Timestamp) -> String {
        let mut text = format!("Summary of {} earlier entries", self.entries);
        if let Some(from) = self.from {
            // Writing into a string cannot fail.
            write!(text, " ({from} to {to})").ok();
        }
        let mut section = |heading: &str, lines: Vec<String>| {
            write!(text, "\n\n## {heading}\n").ok();
            if lines.is_empty() {
                text.push_str(NOTHING);
            } else {
                text.push_str(&lines.join("\n"));
            }
        };
        section("Overview", self.overview());
        section("Key decisions", listed(&self.decisions));
        section(
            "Problems and solutions",
            self.problems.iter().map(told).collect(),
        );
        section("Current state", self.current_state());
        section("Pending tasks", listed(&self.pending_tasks()));
        text
    }

    fn overview(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.task.as_ref().map(|task| format!("Task: {task}")));
        if !self.requests.is_empty() {
            lines.push("Then asked:".to_owned());
            lines.extend(listed(&self.requests));
        }
        if self.commands > 0 {
            lines.push(format!("Commands run: {}", self.commands));
        }
        lines.extend(self.files_line());
        lines
    }

    fn files_line(&self) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let more = match self.more_files {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("Files written: {}{more}", self.files.join(", ")))
    }

    fn current_state(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.state.clone());
        lines.extend(
            self.action
                .as_ref()
                .map(|action| format!("Last action: {action}")),
        );
        lines
    }
}

/// The state of the work in a few lines, for the pause record. None for an empty conversation.
pub(crate) fn brief(entries: &[ConversationEntry]) -> Option<String> {
    let digest = Digest::of(entries);
    let mut lines = Vec::new();
    lines.extend(digest.task.as_ref().map(|task| format!("Task: {task}")));
    let latest = digest.requests.last();
    lines.extend(latest.map(|request| format!("Last asked: {request}")));
    lines.extend(digest.files_line());
    let unsolved = digest
        .problems
        .iter()
        .rev()
        .find(|problem| problem.solution.is_none());
    lines.extend(unsolved.map(|problem| format!("Open problem: {}", problem.what)));
    lines.extend(digest.state.map(|state| format!("State: {state}")));
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// An entry as plain text, for a summary program.
pub(crate) fn transcript_text(entry: &ConversationEntry) -> String {
    let who = match entry.speaker {
        Speaker::User => "User",
        Speaker::Assistant => "Assistant",
        Speaker::System => "Note",
        Speaker::Tool => "Tool",
    };
    let tool = entry
        .tool()
        .map(|tool| format!(" {tool}"))
        .unwrap_or_default();
    let subject = entry
        .text("subject")
        .map(|subject| format!(" ({subject})"))
        .unwrap_or_default();
    let content = match entry.speaker {
        Speaker::Tool => clip(&entry.content, SHOWN_OUTPUT),
        Speaker::User | Speaker::Assistant | Speaker::System => entry.content.clone(),
    };
    format!("{who}{tool}{subject}: {content}\n\n")
}

fn told(problem: &Problem) -> String {
    match problem.solution.as_deref() {
        None => format!("- {} (open)", problem.what),
        Some("") => format!("- {}", problem.what),
        Some(solution) => format!("- {} → {solution}", problem.what),
    }
}

fn listed(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| format!("- {line}")).collect()
}
