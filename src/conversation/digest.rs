//! The digest of many entries, collected one by one in bounded memory.

use serde::{Deserialize, Serialize};

use super::action::{ToolKind, kind, tool_action};
use super::sentence::{clip, first_line, sentences};
use super::tasks::TodoList;
use super::todo::Todo;
use super::{ConversationEntry, Phase, Speaker};
use crate::model::Timestamp;

const LONGEST_PROMPT: usize = 400;
const LONGEST_SENTENCE: usize = 240;
const LONGEST_STATE: usize = 800;
const REQUESTS: usize = 8;
const DECISIONS: usize = 12;
const PROBLEMS: usize = 12;
const FILES: usize = 30;
const OPEN_CALLS: usize = 64;

/// Words in sentences that make a decision.
const DECIDING: [&str; 14] = [
    "decided",
    "decision",
    "i'll use",
    "i will use",
    "i chose",
    "chosen",
    "going with",
    "instead of",
    "rather than",
    "the approach",
    "we agreed",
    "let's use",
    "trade-off",
    "prefer",
];
/// Words in sentences that describe a problem.
const TROUBLED: [&str; 9] = [
    "the problem",
    "the issue",
    "root cause",
    "the bug",
    "fails because",
    "failed because",
    "the error",
    "doesn't work",
    "is broken",
];
/// Words in sentences that describe a solution.
const MENDED: [&str; 9] = [
    "fixed",
    "the fix",
    "solved",
    "resolved",
    "works now",
    "passes now",
    "pass now",
    "the solution",
    "turned out",
];

/// The content of a summary. A later summary continues from it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Digest {
    pub(super) entries: u64,
    pub(super) prompts: u64,
    pub(super) from: Option<Timestamp>,
    pub(super) to: Option<Timestamp>,
    /// The first prompt.
    pub(super) task: Option<String>,
    /// The last prompts.
    pub(super) requests: Vec<String>,
    pub(super) commands: u64,
    pub(super) files: Vec<String>,
    pub(super) more_files: u64,
    pub(super) decisions: Vec<String>,
    pub(super) problems: Vec<Problem>,
    /// The agent's last message.
    pub(super) state: Option<String>,
    pub(super) action: Option<String>,
    pub(super) run: Option<String>,
    pub(super) todos: TodoList,
    /// Calls whose result is not known yet: id, subject.
    open_calls: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Problem {
    pub what: String,
    /// The command or file that failed, to notice when it succeeds.
    #[serde(default)]
    pub subject: Option<String>,
    #[serde(default)]
    pub solution: Option<String>,
}

impl Digest {
    pub(crate) fn of<'e>(entries: impl IntoIterator<Item = &'e ConversationEntry>) -> Self {
        let mut digest = Self::default();
        for entry in entries {
            digest.take(entry);
        }
        digest
    }

    /// The number of entries, including those of earlier summaries.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    pub(crate) fn pending_tasks(&self) -> Vec<String> {
        self.todos.open()
    }

    pub(crate) fn todos(&self) -> &[Todo] {
        self.todos.todos()
    }

    pub(crate) fn take(&mut self, entry: &ConversationEntry) {
        if entry.is_summary() {
            return self.go_on_from(entry);
        }
        self.entries += 1;
        self.from = self.from.or(Some(entry.timestamp));
        self.to = Some(entry.timestamp);
        if let Some(run) = entry.text("run") {
            if self.run.as_deref().is_some_and(|known| known != run) {
                // A fresh attempt starts with an empty list.
                self.todos = TodoList::default();
            }
            self.run = Some(run.to_owned());
        }
        self.todos.take(entry);
        match entry.speaker {
            Speaker::User => self.was_asked(entry),
            Speaker::Assistant => self.said(&entry.content),
            Speaker::Tool => self.used(entry),
            Speaker::System => {}
        }
    }

    /// A summary replaces everything before it.
    fn go_on_from(&mut self, summary: &ConversationEntry) {
        let read = summary.metadata.get("summary").cloned();
        match read.and_then(|value| serde_json::from_value::<Self>(value).ok()) {
            Some(before) if self.entries == 0 => *self = before,
            Some(_) => {}
            None => self.state = Some(clip(&summary.content, LONGEST_STATE)),
        }
    }

    fn was_asked(&mut self, entry: &ConversationEntry) {
        let prompt = clip(&entry.content, LONGEST_PROMPT);
        if prompt.is_empty() {
            return;
        }
        self.prompts += 1;
        self.action = Some(format!("was asked: {prompt}"));
        if self.task.is_none() {
            self.task = Some(prompt);
        } else {
            remember(&mut self.requests, prompt, REQUESTS);
        }
    }

    fn said(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.state = Some(clip(text, LONGEST_STATE));
        for sentence in sentences(text) {
            let lower = sentence.to_lowercase();
            let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
            let clipped = clip(&sentence, LONGEST_SENTENCE);
            if has(&MENDED) {
                self.solve(clipped);
            } else if has(&TROUBLED) {
                self.trouble(clipped, None);
            } else if has(&DECIDING) {
                remember(&mut self.decisions, clipped, DECISIONS);
            }
        }
    }

    fn used(&mut self, entry: &ConversationEntry) {
        let subject = entry.text("subject").unwrap_or_default();
        if let Some(did) = tool_action(entry) {
            let kind = kind(entry.tool().unwrap_or_default());
            self.commands += u64::from(kind == ToolKind::Command);
            if kind == ToolKind::Write {
                self.touched(subject);
            }
            self.action = Some(did);
        }
        match entry.phase() {
            Phase::Call => {
                if let Some(call) = entry.text("call") {
                    let open = (call.to_owned(), clip(subject, LONGEST_SENTENCE));
                    remember(&mut self.open_calls, open, OPEN_CALLS);
                }
            }
            Phase::Result => {
                let call = entry.text("call").unwrap_or_default();
                let at = self.open_calls.iter().position(|(id, _)| id == call);
                let subject = at
                    .map(|at| self.open_calls.remove(at).1)
                    .unwrap_or_default();
                self.ended(entry, &subject);
            }
            Phase::Both => self.ended(entry, &clip(subject, LONGEST_SENTENCE)),
        }
        if entry.phase() != Phase::Call
            && entry
                .tool()
                .is_some_and(|tool| kind(tool) == ToolKind::Question)
        {
            let about = if subject.is_empty() { "asked" } else { subject };
            let answer = clip(&entry.content, LONGEST_SENTENCE);
            let decision = format!("{} → {answer}", clip(about, LONGEST_SENTENCE));
            remember(&mut self.decisions, decision, DECISIONS);
        }
    }

    /// A tool has ended: with an error, or with success where it failed before.
    fn ended(&mut self, entry: &ConversationEntry, subject: &str) {
        if entry.has_failed() {
            let why = clip(telling_line(&entry.content), LONGEST_SENTENCE);
            let what = match (subject, why.as_str()) {
                ("", why) => why.to_owned(),
                (subject, "") => format!("`{subject}` failed"),
                (subject, why) => format!("`{subject}` failed: {why}"),
            };
            let subject = Some(subject.to_owned()).filter(|subject| !subject.is_empty());
            self.trouble(what, subject);
        } else if !subject.is_empty() {
            let healed = self.problems.iter_mut().filter(|problem| {
                problem.solution.is_none() && problem.subject.as_deref() == Some(subject)
            });
            for problem in healed {
                problem.solution = Some("it succeeded later".to_owned());
            }
        }
    }

    fn touched(&mut self, path: &str) {
        let path = clip(path, LONGEST_SENTENCE);
        if path.is_empty() || self.files.contains(&path) {
            return;
        }
        if self.files.len() < FILES {
            self.files.push(path);
        } else {
            self.more_files += 1;
        }
    }

    fn trouble(&mut self, what: String, subject: Option<String>) {
        if what.is_empty() || self.problems.iter().any(|problem| problem.what == what) {
            return;
        }
        let problem = Problem {
            what,
            subject,
            solution: None,
        };
        remember(&mut self.problems, problem, PROBLEMS);
    }

    fn solve(&mut self, how: String) {
        match self
            .problems
            .iter_mut()
            .rev()
            .find(|problem| problem.solution.is_none())
        {
            Some(problem) => problem.solution = Some(how),
            None => {
                if self
                    .problems
                    .iter()
                    .all(|problem| problem.solution.as_ref() != Some(&how))
                {
                    let problem = Problem {
                        what: how,
                        subject: None,
                        solution: Some(String::new()),
                    };
                    remember(&mut self.problems, problem, PROBLEMS);
                }
            }
        }
    }
}

/// Adds a new item; drops the oldest when the list is full.
fn remember<T: PartialEq>(list: &mut Vec<T>, item: T, limit: usize) {
    if list.last() == Some(&item) {
        return;
    }
    if list.len() >= limit {
        list.remove(0);
    }
    list.push(item);
}

/// The line of an output with the error message, which is rarely the first line.
fn telling_line(output: &str) -> &str {
    output
        .lines()
        .take(200)
        .map(str::trim)
        .find(|line| {
            let lower = line.to_lowercase();
            [
                "error",
                "failed",
                "fatal",
                "panicked",
                "denied",
                "not found",
                "no such",
            ]
            .iter()
            .any(|word| lower.contains(word))
        })
        .unwrap_or_else(|| first_line(output))
}
