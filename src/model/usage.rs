//! What an agent has used of its model: tokens, and dollars where the agent tells them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Timestamp;

/// Answers that an agent may still write again, with more tokens.
const RECENT: usize = 64;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tokens {
    /// Without what came out of a cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Tokens {
    pub(crate) fn total(self) -> u64 {
        let Self {
            input,
            output,
            cache_read,
            cache_write,
        } = self;
        input + output + cache_read + cache_write
    }

    fn add(&mut self, more: Self) {
        self.input += more.input;
        self.output += more.output;
        self.cache_read += more.cache_read;
        self.cache_write += more.cache_write;
    }

    /// How much more than before.
    fn beyond(self, before: Self) -> Self {
        Self {
            input: self.input.saturating_sub(before.input),
            output: self.output.saturating_sub(before.output),
            cache_read: self.cache_read.saturating_sub(before.cache_read),
            cache_write: self.cache_write.saturating_sub(before.cache_write),
        }
    }
}

/// Tokens and their price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Usage {
    #[serde(flatten)]
    pub tokens: Tokens,
    /// None where the agent does not tell it.
    pub cost_usd: Option<f64>,
}

impl Usage {
    pub(crate) fn add(&mut self, more: Self) {
        self.tokens.add(more.tokens);
        if let Some(cost) = more.cost_usd {
            *self.cost_usd.get_or_insert(0.0) += cost;
        }
    }
}

/// What one turn has used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnUsage {
    pub at: Timestamp,
    #[serde(flatten)]
    pub usage: Usage,
}

/// What a transcript tells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum UsageEvent {
    /// A prompt of the user.
    Turn(Timestamp),
    /// An answer of the model. The same id again replaces it.
    Answer {
        at: Timestamp,
        id: Option<String>,
        usage: Usage,
    },
    /// All tokens of the conversation so far.
    Tokens(Timestamp, Tokens),
    /// The price of the conversation so far.
    Cost(Timestamp, f64),
}

/// What one conversation has used, by turn and by day.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct UsageLedger {
    pub turns: Vec<TurnUsage>,
    /// By local day: `2026-11-17`.
    pub days: BTreeMap<String, Usage>,
    recent: Vec<(String, Usage)>,
    tokens: Tokens,
    cost: f64,
}

impl UsageLedger {
    pub(crate) fn note(&mut self, event: UsageEvent) {
        match event {
            UsageEvent::Turn(at) => self.turns.push(TurnUsage {
                at,
                usage: Usage::default(),
            }),
            UsageEvent::Answer { at, id, usage } => {
                let more = match id {
                    None => usage,
                    Some(id) => self.beyond_known(id, usage),
                };
                self.add(at, more);
            }
            UsageEvent::Tokens(at, total) => {
                // An agent that begins to count again has used what it counts.
                let more = match total.total() < self.tokens.total() {
                    true => total,
                    false => total.beyond(self.tokens),
                };
                self.tokens = total;
                let cost_usd = None;
                let tokens = more;
                self.add(at, Usage { tokens, cost_usd });
            }
            UsageEvent::Cost(at, total) => {
                let more = if total < self.cost {
                    total
                } else {
                    total - self.cost
                };
                self.cost = total;
                let usage = Usage {
                    tokens: Tokens::default(),
                    cost_usd: Some(more),
                };
                self.add(at, usage);
            }
        }
    }

    /// What is new of an answer that may have been counted before.
    fn beyond_known(&mut self, id: String, usage: Usage) -> Usage {
        if let Some((_, known)) = self.recent.iter_mut().find(|(known, _)| *known == id) {
            let before = std::mem::replace(known, usage);
            let cost = usage
                .cost_usd
                .map(|cost| cost - before.cost_usd.unwrap_or(0.0));
            return Usage {
                tokens: usage.tokens.beyond(before.tokens),
                cost_usd: cost,
            };
        }
        if self.recent.len() >= RECENT {
            self.recent.remove(0);
        }
        self.recent.push((id, usage));
        usage
    }

    fn add(&mut self, at: Timestamp, usage: Usage) {
        if self.turns.is_empty() {
            self.note(UsageEvent::Turn(at));
        }
        if let Some(turn) = self.turns.last_mut() {
            turn.usage.add(usage);
        }
        let day = at.local_minute();
        let day = day.get(..10).unwrap_or(&day).to_owned();
        self.days.entry(day).or_default().add(usage);
    }

    pub(crate) fn total(&self) -> Usage {
        let mut total = Usage::default();
        for day in self.days.values() {
            total.add(*day);
        }
        total
    }
}

/// A number of tokens: `950`, `12.3k`, `4.1M`.
pub(crate) fn shown_count(count: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "it is rounded for display")]
    let number = count as f64;
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.1}k", number / 1e3),
        _ => format!("{:.1}M", number / 1e6),
    }
}

/// Dollars: `$0.02`, and four digits for less.
pub(crate) fn shown_cost(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.01 {
        return format!("${dollars:.4}");
    }
    format!("${dollars:.2}")
}

/// Tokens and cost in short: `12.3k $0.02`.
pub(crate) fn shown_usage(usage: Usage) -> String {
    let tokens = shown_count(usage.tokens.total());
    match usage.cost_usd {
        Some(cost) => format!("{tokens} {}", shown_cost(cost)),
        None => tokens,
    }
}

/// The same where no heading tells what is counted.
pub(crate) fn told_usage(usage: Usage) -> String {
    let tokens = format!("{} tokens", shown_count(usage.tokens.total()));
    match usage.cost_usd {
        Some(cost) => format!("{tokens} {}", shown_cost(cost)),
        None => tokens,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn tokens(input: u64, output: u64) -> Tokens {
        Tokens {
            input,
            output,
            ..Tokens::default()
        }
    }

    fn usage(input: u64, output: u64, cost_usd: Option<f64>) -> Usage {
        Usage {
            tokens: tokens(input, output),
            cost_usd,
        }
    }

    #[test]
    fn an_answer_that_is_written_again_counts_once() {
        let mut ledger = UsageLedger::default();
        let noon = at("2026-11-14T12:00:00Z");
        ledger.note(UsageEvent::Turn(noon));
        for output in [1, 9, 9] {
            let id = Some("m1".to_owned());
            let usage = usage(10, output, None);
            ledger.note(UsageEvent::Answer {
                at: noon,
                id,
                usage,
            });
        }
        ledger.note(UsageEvent::Turn(noon));
        let answer = usage(1, 1, Some(0.5));
        ledger.note(UsageEvent::Answer {
            at: noon,
            id: None,
            usage: answer,
        });
        assert_eq!(ledger.turns[0].usage, usage(10, 9, None));
        assert_eq!(ledger.turns[1].usage, usage(1, 1, Some(0.5)));
        assert_eq!(ledger.total(), usage(11, 10, Some(0.5)));
    }

    #[test]
    fn totals_are_taken_apart_into_turns_and_days() {
        let mut ledger = UsageLedger::default();
        let (first, second) = (at("2026-11-14T12:00:00Z"), at("2026-11-16T12:00:00Z"));
        ledger.note(UsageEvent::Tokens(first, tokens(10, 5)));
        ledger.note(UsageEvent::Tokens(first, tokens(10, 5)));
        ledger.note(UsageEvent::Turn(second));
        ledger.note(UsageEvent::Tokens(second, tokens(30, 6)));
        ledger.note(UsageEvent::Cost(second, 1.0));
        // Counted from the beginning again.
        ledger.note(UsageEvent::Tokens(second, tokens(2, 2)));
        ledger.note(UsageEvent::Cost(second, 0.25));
        assert_eq!(ledger.days.len(), 2);
        assert_eq!(ledger.turns[0].usage, usage(10, 5, None));
        assert_eq!(ledger.turns[1].usage, usage(22, 3, Some(1.25)));
    }
}
