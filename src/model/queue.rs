//! The prompt queue of an instance: prompts are sent one at a time, in order, each at most once.

use serde::{Deserialize, Serialize};

use super::Timestamp;

/// How many finished prompts are kept for display.
const REMEMBERED: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Queue {
    pub format: u32,
    /// The number of the last prompt.
    pub last: u64,
    /// Why the queue has stopped, if it has.
    pub stopped: Option<String>,
    /// When a turn was cut off, until the user has looked at the agent or it has got another prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_at: Option<Timestamp>,
    pub entries: Vec<QueueEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QueueEntry {
    pub number: u64,
    pub prompt: String,
    pub state: QueueState,
    pub added_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub error: Option<String>,
    /// Sent with `biv send` rather than queued: it is sent before the queued prompts.
    #[serde(default)]
    pub ahead: bool,
    /// Typed as it is: what the agent takes for a command is one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw: bool,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub unknown: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum QueueState {
    Waiting,
    /// It is being typed. After a crash in this state it is unknown whether it arrived.
    Sending,
    /// Its turn is under way.
    Running,
    Done,
    Failed,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    Done,
    Failed(String),
}

/// Whether a prompt of the queue may be typed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueStart {
    Now,
    /// Other prompts are before it.
    NotYet,
    /// Another process is typing it, or has typed it.
    ByAnother,
    /// It was removed from the queue.
    Removed,
}

/// How many prompts are in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct QueueCounts {
    pub done: u64,
    pub running: u64,
    pub waiting: u64,
    pub failed: u64,
}

impl QueueCounts {
    /// Whether a prompt is running or waiting.
    pub(crate) fn is_open(self) -> bool {
        self.running + self.waiting > 0
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            format: Self::FORMAT,
            last: 0,
            stopped: None,
            cut_at: None,
            entries: Vec::new(),
        }
    }
}

impl Queue {
    pub(crate) const FORMAT: u32 = 1;

    pub(crate) fn counts(&self) -> QueueCounts {
        let count = |states: &[QueueState]| {
            let those = self.entries.iter().filter(|e| states.contains(&e.state));
            u64::try_from(those.count()).unwrap_or(u64::MAX)
        };
        QueueCounts {
            done: count(&[QueueState::Done]),
            running: count(&[QueueState::Sending, QueueState::Running]),
            waiting: count(&[QueueState::Waiting]),
            failed: count(&[QueueState::Failed]),
        }
    }

    /// Adds a prompt at the end. A stopped queue continues: the user has just looked at it.
    pub(crate) fn add(&mut self, prompt: String, now: Timestamp) -> u64 {
        self.restart();
        let entry = self.numbered(prompt, now);
        self.entries.push(entry);
        self.last
    }

    /// Adds a prompt before all queued ones and after those that were put ahead earlier.
    pub(crate) fn put_ahead(&mut self, prompt: String, now: Timestamp) -> u64 {
        let entry = QueueEntry {
            ahead: true,
            ..self.numbered(prompt, now)
        };
        let last_before = self
            .entries
            .iter()
            .rposition(|entry| entry.ahead || entry.state != QueueState::Waiting);
        self.entries
            .insert(last_before.map_or(0, |at| at + 1), entry);
        self.last
    }

    /// Adds prompts before all queued ones, in their order. The same ones of the same time are added once.
    pub(crate) fn put_batch_ahead(&mut self, prompts: &[String], at: Timestamp) {
        let is_of_them =
            |entry: &QueueEntry| entry.added_at == at && prompts.contains(&entry.prompt);
        if self.entries.iter().any(is_of_them) {
            return;
        }
        for prompt in prompts {
            self.put_ahead(prompt.clone(), at);
        }
    }

    /// A stopped queue continues.
    pub(crate) fn restart(&mut self) {
        self.stopped = None;
        self.looked_at();
    }

    /// A turn was cut off, which the user is told until they look.
    pub(crate) fn tell_of_cut(&mut self, now: Timestamp) {
        self.cut_at = Some(now);
    }

    /// The user has seen how far the turn came.
    pub(crate) fn looked_at(&mut self) {
        self.cut_at = None;
    }

    fn numbered(&mut self, prompt: String, now: Timestamp) -> QueueEntry {
        self.last += 1;
        QueueEntry {
            number: self.last,
            prompt,
            state: QueueState::Waiting,
            added_at: now,
            started_at: None,
            ended_at: None,
            error: None,
            ahead: false,
            raw: false,
            unknown: serde_json::Map::new(),
        }
    }

    /// The prompt is typed as it is.
    pub(crate) fn mark_raw(&mut self, number: u64) {
        if let Some(entry) = self.entry(number) {
            entry.raw = true;
        }
    }

    /// Whether the prompt is typed as it is.
    pub(crate) fn is_raw(&self, number: u64) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.number == number && entry.raw)
    }

    /// The prompt to send next; None while one is under way or the queue is stopped.
    pub(crate) fn next(&self) -> Option<&QueueEntry> {
        let under_way = self.counts().running > 0;
        if self.stopped.is_some() || under_way {
            return None;
        }
        self.entries
            .iter()
            .find(|entry| entry.state == QueueState::Waiting)
    }

    /// The prompt that is being typed or that the agent works on.
    pub(crate) fn current(&self) -> Option<&QueueEntry> {
        self.entries
            .iter()
            .find(|entry| matches!(entry.state, QueueState::Sending | QueueState::Running))
    }

    /// Begins to type the next one.
    pub(crate) fn begin(&mut self, now: Timestamp) -> Option<(u64, String)> {
        let number = self.next()?.number;
        let entry = self.entry(number)?;
        entry.state = QueueState::Sending;
        entry.started_at = Some(now);
        Some((number, entry.prompt.clone()))
    }

    /// Begins to type this one if it is next, even in a stopped queue.
    pub(crate) fn begin_prompt(&mut self, number: u64, now: Timestamp) -> QueueStart {
        let under_way = self.current().is_some();
        let first = self
            .entries
            .iter()
            .find(|entry| entry.state == QueueState::Waiting)
            .map(|entry| entry.number);
        let Some(entry) = self.entry(number) else {
            return QueueStart::Removed;
        };
        if entry.state != QueueState::Waiting {
            return QueueStart::ByAnother;
        }
        if under_way || first != Some(number) {
            return QueueStart::NotYet;
        }
        entry.state = QueueState::Sending;
        entry.started_at = Some(now);
        QueueStart::Now
    }

    /// Removes a prompt that has not arrived, for the process that added it.
    pub(crate) fn remove_prompt(&mut self, number: u64) {
        self.entries.retain(|entry| {
            entry.number != number
                || !matches!(entry.state, QueueState::Waiting | QueueState::Sending)
        });
    }

    /// Removes the last of those that were put ahead and still wait.
    pub(crate) fn remove_last_ahead(&mut self) -> Option<String> {
        let at = self
            .entries
            .iter()
            .rposition(|entry| entry.ahead && entry.state == QueueState::Waiting)?;
        Some(self.entries.remove(at).prompt)
    }

    /// Removes a prompt that waits; returns whether it did.
    pub(crate) fn drop_waiting(&mut self, number: u64) -> bool {
        let before = self.entries.len();
        self.entries
            .retain(|entry| entry.number != number || entry.state != QueueState::Waiting);
        self.entries.len() < before
    }

    /// Exchanges a prompt that waits with the waiting one before or after it. Prompts that were sent stay
    /// before those that were queued.
    pub(crate) fn move_waiting(&mut self, number: u64, forward: bool) {
        let waiting: Vec<usize> = (0..self.entries.len())
            .filter(|at| self.entries[*at].state == QueueState::Waiting)
            .collect();
        let Some(place) = waiting
            .iter()
            .position(|at| self.entries[*at].number == number)
        else {
            return;
        };
        let other = if forward {
            place.checked_sub(1)
        } else {
            Some(place + 1)
        };
        if let Some(other) = other.and_then(|other| waiting.get(other))
            && self.entries[*other].ahead == self.entries[waiting[place]].ahead
        {
            self.entries.swap(waiting[place], *other);
        }
    }

    /// The prompt has arrived at the agent.
    pub(crate) fn sent(&mut self, number: u64) {
        if let Some(entry) = self.entry(number) {
            entry.state = QueueState::Running;
        }
    }

    /// The turn of the current prompt is over, or will not begin. A failure stops the queue. None where
    /// no prompt was under way.
    pub(crate) fn finish(&mut self, end: TurnEnd, now: Timestamp) -> Option<u64> {
        let number = self.current()?.number;
        let entry = self.entry(number)?;
        entry.ended_at = Some(now);
        match end {
            TurnEnd::Done => entry.state = QueueState::Done,
            TurnEnd::Failed(reason) => {
                entry.state = QueueState::Failed;
                entry.error = Some(reason.clone());
                self.stopped = Some(reason);
            }
        }
        self.forget_old();
        Some(number)
    }

    /// Stops the queue until the user adds to it or clears it. Waiting prompts stay.
    pub(crate) fn stop(&mut self, reason: String) {
        self.stopped = Some(reason);
    }

    /// Stops the queue if prompts wait; the one that is under way tells by its end whether they go on.
    pub(crate) fn hold(&mut self, reason: &str) {
        if self.next().is_some() {
            self.stopped = Some(reason.to_owned());
        }
    }

    /// Removes everything but the prompt that is under way; returns how many had waited.
    pub(crate) fn clear(&mut self) -> u64 {
        let waiting = self.counts().waiting;
        self.restart();
        self.entries
            .retain(|entry| matches!(entry.state, QueueState::Sending | QueueState::Running));
        waiting
    }

    fn forget_old(&mut self) {
        let over =
            |entry: &QueueEntry| matches!(entry.state, QueueState::Done | QueueState::Failed);
        let mut spare = self.entries.iter().filter(|e| over(e)).count();
        self.entries.retain(|entry| {
            let goes = over(entry) && spare > REMEMBERED;
            spare -= usize::from(goes);
            !goes
        });
    }

    fn entry(&mut self, number: u64) -> Option<&mut QueueEntry> {
        self.entries.iter_mut().find(|entry| entry.number == number)
    }
}

#[cfg(test)]
mod tests;
