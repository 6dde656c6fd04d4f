//! A list in a popup: commands, search results, a queue, the audit.

use super::audit;
use super::editor::Editor;
use super::filter;
use super::keys::{Action, Keymap, TABLE};
use crate::engine::{AuditLine, QueueView, SearchResult};
use crate::model::{InstanceId, QueueEntry, QueueState, Title, printable_line};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Picker {
    pub content: Content,
    /// What was typed, where something can be.
    pub input: Option<Editor>,
    /// The row that is chosen.
    pub at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    Commands,
    Search {
        /// What was searched for last, and what was found; None while it is searched.
        words: String,
        found: Option<SearchResult>,
    },
    Queue {
        id: InstanceId,
        title: Title,
        queue: Option<QueueView>,
        /// A prompt was added: it is chosen once it is there.
        to_newest: bool,
    },
    Audit {
        id: InstanceId,
        title: Title,
        lines: Option<Vec<AuditLine>>,
    },
}

/// One row: what it is, and more about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PickRow {
    pub lead: String,
    pub text: String,
    /// How many characters of the text stand before what must be seen of it.
    pub before: usize,
    pub tail: String,
}

impl Picker {
    pub(super) fn commands() -> Self {
        Self {
            content: Content::Commands,
            input: Some(Editor::one_line("")),
            at: 0,
        }
    }

    pub(super) fn search() -> Self {
        Self {
            content: Content::Search {
                words: String::new(),
                found: Some(SearchResult::default()),
            },
            input: Some(Editor::one_line("")),
            at: 0,
        }
    }

    /// The same, while these words are searched for.
    pub(super) fn search_for(words: &str) -> Self {
        Self {
            content: Content::Search {
                words: words.to_owned(),
                found: None,
            },
            input: Some(Editor::one_line(words)),
            at: 0,
        }
    }

    pub(super) fn queue(id: InstanceId, title: Title) -> Self {
        Self {
            content: Content::Queue {
                id,
                title,
                queue: None,
                to_newest: false,
            },
            input: None,
            at: 0,
        }
    }

    pub(super) fn audit(id: InstanceId, title: Title) -> Self {
        Self {
            content: Content::Audit {
                id,
                title,
                lines: None,
            },
            input: None,
            at: 0,
        }
    }

    pub(super) fn title(&self) -> String {
        match &self.content {
            Content::Commands => "Commands".to_owned(),
            Content::Search { .. } => "Search all conversations".to_owned(),
            Content::Queue { title, .. } => format!("Queue of `{title}`"),
            Content::Audit { title, .. } => format!("What autoyes decided for `{title}`"),
        }
    }

    /// The keys, for the status bar.
    pub(super) fn keys(&self) -> &'static [(&'static str, &'static str)] {
        match &self.content {
            Content::Commands => &[("enter", "do it"), ("↑↓", "choose"), ("esc", "back")],
            Content::Search { .. } => {
                &[("enter", "search, open"), ("↑↓", "choose"), ("esc", "back")]
            }
            Content::Queue {
                queue: Some(queue), ..
            } if queue.stopped.is_some() => &[
                ("c", "let it go on"),
                ("a", "add"),
                ("K J", "move"),
                ("x", "drop"),
                ("esc", "back"),
            ],
            Content::Queue { .. } => &[
                ("a", "add"),
                ("K J", "move"),
                ("x", "drop"),
                ("esc", "back"),
            ],
            Content::Audit { .. } => &[("↑↓", "scroll"), ("esc", "back")],
        }
    }

    /// What is said where there are no rows.
    pub(super) fn nothing(&self) -> &'static str {
        match &self.content {
            Content::Commands => "No command has these words.",
            Content::Search {
                words,
                found: Some(_),
            } if words.is_empty() => {
                "Words that were said, by you or by an agent, also of killed ones."
            }
            Content::Search { found: Some(_), .. } => "Nothing was found.",
            Content::Queue { queue: Some(_), .. } => "Nothing waits; `a` adds a prompt.",
            Content::Audit { lines: Some(_), .. } => "Nothing was decided yet.",
            Content::Search { .. } | Content::Queue { .. } | Content::Audit { .. } => "…",
        }
    }

    /// The commands that match what was typed, the best first.
    pub(super) fn actions(&self) -> Vec<(Action, &'static str, &'static str)> {
        let pattern = self.input.as_ref().map_or("", Editor::text);
        let rows = TABLE.iter().flat_map(|(_, rows)| *rows);
        let mut ranked: Vec<(usize, (Action, &str, &str))> = rows
            .filter(|row| !matches!(row.action, Action::Palette))
            .filter_map(|row| {
                let name = row.name.replace('_', " ");
                let rank = filter::rank(pattern, &name, row.words)?;
                Some((rank, (row.action, row.name, row.words)))
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, row)| row).collect()
    }

    pub(super) fn rows(&self, keymap: &Keymap) -> Vec<PickRow> {
        match &self.content {
            Content::Commands => self
                .actions()
                .into_iter()
                .map(|(action, name, words)| PickRow {
                    lead: keymap.all(action),
                    text: name.replace('_', " "),
                    before: 0,
                    tail: words.to_owned(),
                })
                .collect(),
            Content::Search { found, .. } => found
                .iter()
                .flat_map(|found| &found.matches)
                .map(|found| PickRow {
                    lead: found.title.to_string(),
                    text: found.line.clone(),
                    before: found.column,
                    tail: format!("turn {} · {}", found.turn, found.timestamp.local_minute()),
                })
                .collect(),
            Content::Queue { queue, .. } => queue.iter().flat_map(queue_rows).collect(),
            Content::Audit { lines, .. } => {
                let rows = lines.as_deref().map(audit::rows).unwrap_or_default();
                let row = |row: audit::AuditRow| PickRow {
                    lead: row.became,
                    text: row.asked,
                    before: 0,
                    tail: row.reason,
                };
                rows.into_iter().map(row).collect()
            }
        }
    }

    /// Takes the queue as it is now. When it comes for the first time, the next prompt to be sent is chosen; later the
    /// chosen one stays chosen wherever it has moved to.
    pub(super) fn take_queue(&mut self, view: QueueView) {
        let Content::Queue {
            queue, to_newest, ..
        } = &mut self.content
        else {
            return;
        };
        let waits = |entry: &QueueEntry| entry.state == QueueState::Waiting;
        let chosen = queue.as_ref().and_then(|queue| queue.entries.get(self.at));
        let wanted = match (chosen, std::mem::take(to_newest)) {
            (_, true) => view.entries.iter().rposition(waits),
            (Some(chosen), _) => {
                let same = |entry: &QueueEntry| entry.number == chosen.number;
                view.entries.iter().position(same).or(Some(self.at))
            }
            (None, _) => view.entries.iter().position(waits),
        };
        let last = view.entries.len().saturating_sub(1);
        self.at = wanted.unwrap_or(last).min(last);
        *queue = Some(view);
    }

    /// The queued prompt that is chosen, if it can still be changed.
    pub(super) fn waiting(&self) -> Option<u64> {
        let Content::Queue {
            queue: Some(queue), ..
        } = &self.content
        else {
            return None;
        };
        let entry = queue.entries.get(self.at)?;
        (entry.state == QueueState::Waiting).then_some(entry.number)
    }
}

/// Those that wait are numbered in the order in which they are sent, as `biv queue` does.
fn queue_rows(queue: &QueueView) -> Vec<PickRow> {
    let mut place = 0;
    let row = |entry: &QueueEntry| PickRow {
        lead: match entry.state {
            QueueState::Waiting => {
                place += 1;
                format!("○ {place}")
            }
            QueueState::Sending | QueueState::Running => "●".to_owned(),
            QueueState::Done => "✓".to_owned(),
            QueueState::Failed => "✗".to_owned(),
        },
        text: printable_line(&entry.prompt.replace('\n', " ")),
        before: 0,
        tail: entry
            .error
            .as_deref()
            .map(printable_line)
            .unwrap_or_default(),
    };
    queue.entries.iter().map(row).collect()
}
