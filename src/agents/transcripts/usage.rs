//! What the transcripts tell of tokens and prices.
//!
//! | agent | where | measured with |
//! |---|---|---|
//! | Claude Code | `message.usage`, repeated on each line of a message; `cost-state` has the price so far | 2.1.325 |
//! | Codex | `token_count` has the total so far, cached tokens within the input; no price | 0.149 |
//! | Gemini CLI | `tokens` of a message, cached within the input, which is written again; no price | fixture |
//! | OpenCode | `tokens` and `cost` of a message that is complete | 1.18 |
//! | described ones | `usage` of a rule in the agent's file | see there |

use serde_json::Value;

use super::bookmark::{Bookmark, check};
use super::lines::{Lines, Next};
use super::opencode::Database;
use super::reading::{Continuity, TranscriptFile, TranscriptForm};
use super::value::text;
use super::{claude, codex, described, gemini};
use crate::agents::TranscriptFormat;
use crate::agents::described::LineRules;
use crate::conversation::{ConversationEntry, Speaker};
use crate::model::{Timestamp, Tokens, Usage, UsageEvent};

/// What was read, and how far.
#[derive(Debug)]
pub(crate) struct UsageReading {
    pub events: Vec<UsageEvent>,
    pub bookmark: Bookmark,
    pub continuity: Continuity,
}

impl TranscriptFile {
    /// What was used since the bookmark. A database is always read from the beginning.
    pub(crate) fn usage_since(
        &self,
        bookmark: Option<Bookmark>,
        now: Timestamp,
    ) -> std::io::Result<UsageReading> {
        match &self.form {
            TranscriptForm::JsonLines(format) => {
                let told = |line: &Value| text(line, "timestamp").and_then(Timestamp::parse);
                self.lines_since(bookmark, now, told, |line, at, bookmark, found| {
                    of_line(*format, line, at, bookmark, found);
                })
            }
            TranscriptForm::Described { lines, time } if lines.tell_usage() => {
                let told = |line: &Value| time.as_ref()?.time(line);
                self.lines_since(bookmark, now, told, |line, at, _, found| {
                    of_described(lines, line, at, found);
                })
            }
            TranscriptForm::Database { session } => {
                let database = Database::open(&self.path).map_err(std::io::Error::other)?;
                let messages = database.messages(session).map_err(std::io::Error::other)?;
                Ok(UsageReading {
                    events: messages.iter().filter_map(of_opencode).collect(),
                    bookmark: Bookmark::default(),
                    continuity: Continuity::Anew,
                })
            }
            // Aider's chats round the numbers, and have no times; nothing says where those of others are.
            TranscriptForm::Chats { .. } | TranscriptForm::Described { .. } => Ok(UsageReading {
                events: Vec::new(),
                bookmark: Bookmark::default(),
                continuity: Continuity::Anew,
            }),
        }
    }

    /// Reads the lines behind the bookmark; all of them where the file is another one.
    fn lines_since(
        &self,
        bookmark: Option<Bookmark>,
        now: Timestamp,
        told: impl Fn(&Value) -> Option<Timestamp>,
        read: impl Fn(&Value, Timestamp, &mut Bookmark, &mut Vec<UsageEvent>),
    ) -> std::io::Result<UsageReading> {
        let known = bookmark.filter(|bookmark| {
            let there = check(&self.path, bookmark.offset);
            there.is_ok_and(|there| there == Some(bookmark.check))
        });
        let continuity = match known {
            Some(_) => Continuity::Continues,
            None => Continuity::Anew,
        };
        let mut bookmark = known.unwrap_or_else(|| Bookmark {
            last: Some(now),
            ..Bookmark::default()
        });
        let mut lines = Lines::open(&self.path, bookmark.offset)?;
        let mut events = Vec::new();
        loop {
            match lines.next()? {
                Next::End => break,
                Next::TooLong => {}
                Next::Line(line) => {
                    let Ok(line) = serde_json::from_slice::<Value>(line) else {
                        continue;
                    };
                    bookmark.last = told(&line).or(bookmark.last);
                    let Some(at) = bookmark.last else { continue };
                    read(&line, at, &mut bookmark, &mut events);
                }
            }
        }
        bookmark.offset = lines.offset();
        bookmark.check = check(&self.path, bookmark.offset)?.unwrap_or_default();
        Ok(UsageReading {
            events,
            bookmark,
            continuity,
        })
    }
}

fn of_line(
    format: TranscriptFormat,
    line: &Value,
    at: Timestamp,
    bookmark: &mut Bookmark,
    found: &mut Vec<UsageEvent>,
) {
    let mut said = Vec::new();
    match format {
        TranscriptFormat::Claude => claude::entries(line, at, &mut said),
        TranscriptFormat::Codex => codex::entries(line, at, &mut said),
        TranscriptFormat::Gemini => {
            gemini::entries(line, at, &mut said);
            said.retain(|entry| entry.speaker == Speaker::User && bookmark.is_new(entry));
        }
        TranscriptFormat::Demo
        | TranscriptFormat::Opencode
        | TranscriptFormat::Aider
        | TranscriptFormat::Described
        | TranscriptFormat::None => return,
    }
    let asked = |entry: &ConversationEntry| entry.speaker == Speaker::User;
    if said.iter().any(asked) {
        found.push(UsageEvent::Turn(at));
    }
    found.extend(match format {
        TranscriptFormat::Claude => of_claude(line, at),
        TranscriptFormat::Codex => of_codex(line, at),
        _ => of_gemini(line, at),
    });
}

fn of_described(rules: &LineRules, line: &Value, at: Timestamp, found: &mut Vec<UsageEvent>) {
    let mut said = Vec::new();
    described::entries(rules, line, at, &mut said);
    if said.iter().any(|entry| entry.speaker == Speaker::User) {
        found.push(UsageEvent::Turn(at));
    }
    for rule in rules.iter() {
        let Some(usage) = &rule.usage else { continue };
        let told = rule.parts(line).into_iter();
        found.extend(told.filter_map(|part| {
            Some(UsageEvent::Answer {
                at,
                id: None,
                usage: Usage {
                    tokens: usage.tokens(part)?,
                    cost_usd: None,
                },
            })
        }));
    }
}

fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or(0)
}

fn of_claude(line: &Value, at: Timestamp) -> Option<UsageEvent> {
    if text(line, "type") == Some("cost-state") {
        let cost = line.get("totalCostUSD")?.as_f64()?;
        return Some(UsageEvent::Cost(at, cost));
    }
    let message = line.get("message")?;
    let usage = message.get("usage").filter(|usage| usage.is_object())?;
    let tokens = Tokens {
        input: number(usage, "input_tokens"),
        output: number(usage, "output_tokens"),
        cache_read: number(usage, "cache_read_input_tokens"),
        cache_write: number(usage, "cache_creation_input_tokens"),
    };
    Some(UsageEvent::Answer {
        at,
        id: text(message, "id").map(str::to_owned),
        usage: Usage {
            tokens,
            cost_usd: None,
        },
    })
}

fn of_codex(line: &Value, at: Timestamp) -> Option<UsageEvent> {
    let payload = line.get("payload")?;
    if text(payload, "type") != Some("token_count") {
        return None;
    }
    let total = payload.pointer("/info/total_token_usage")?;
    let cached = number(total, "cached_input_tokens");
    let written = number(total, "cache_write_input_tokens");
    let input = number(total, "input_tokens");
    Some(UsageEvent::Tokens(
        at,
        Tokens {
            input: input.saturating_sub(cached + written),
            output: number(total, "output_tokens"),
            cache_read: cached,
            cache_write: written,
        },
    ))
}

fn of_gemini(line: &Value, at: Timestamp) -> Option<UsageEvent> {
    let tokens = line.get("tokens").filter(|tokens| tokens.is_object())?;
    let cached = number(tokens, "cached");
    let thoughts = number(tokens, "thoughts");
    Some(UsageEvent::Answer {
        at,
        id: text(line, "id").map(str::to_owned),
        usage: Usage {
            tokens: Tokens {
                input: (number(tokens, "input") + number(tokens, "tool")).saturating_sub(cached),
                output: number(tokens, "output") + thoughts,
                cache_read: cached,
                cache_write: 0,
            },
            cost_usd: None,
        },
    })
}

fn of_opencode((id, at, data): &(String, i64, Value)) -> Option<UsageEvent> {
    let at = Timestamp::from_epoch_millis(*at)?;
    if text(data, "role") == Some("user") {
        return Some(UsageEvent::Turn(at));
    }
    let tokens = data.get("tokens")?;
    let cached = |name: &str| {
        let cache = tokens.get("cache");
        cache.map_or(0, |cache| number(cache, name))
    };
    Some(UsageEvent::Answer {
        at,
        id: Some(id.clone()),
        usage: Usage {
            tokens: Tokens {
                input: number(tokens, "input"),
                output: number(tokens, "output") + number(tokens, "reasoning"),
                cache_read: cached("read"),
                cache_write: cached("write"),
            },
            cost_usd: data.get("cost").and_then(Value::as_f64),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::UsageLedger;

    fn ledger(format: TranscriptFormat, text: &str) -> UsageLedger {
        ledger_of(TranscriptForm::JsonLines(format), text)
    }

    fn ledger_of(form: TranscriptForm, text: &str) -> UsageLedger {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        // Written in two parts, as an agent does.
        let half = text.len() / 2;
        let file = TranscriptFile {
            path: path.clone(),
            form,
        };
        let now = Timestamp::parse("2026-11-14T12:00:00Z").unwrap();
        let mut ledger = UsageLedger::default();
        let mut bookmark = None;
        for part in [&text[..half], text, text] {
            std::fs::write(&path, part).unwrap();
            let read = file.usage_since(bookmark, now).unwrap();
            for event in read.events {
                ledger.note(event);
            }
            bookmark = Some(read.bookmark);
        }
        ledger
    }

    #[test]
    fn claude_repeats_a_message_and_tells_the_price_at_its_end() {
        let ledger = ledger(
            TranscriptFormat::Claude,
            r#"{"type":"user","message":{"role":"user","content":"do it"},"uuid":"a","timestamp":"2026-11-14T12:00:01Z"}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"I do."}],"usage":{"input_tokens":4,"output_tokens":1,"cache_read_input_tokens":100,"cache_creation_input_tokens":20}},"timestamp":"2026-11-14T12:00:02Z"}
{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}],"usage":{"input_tokens":4,"output_tokens":9,"cache_read_input_tokens":100,"cache_creation_input_tokens":20}},"timestamp":"2026-11-14T12:00:03Z"}
{"type":"user","message":{"role":"user","content":"and again"},"uuid":"b","timestamp":"2026-11-14T12:01:00Z"}
{"type":"assistant","isSidechain":true,"message":{"id":"m2","content":[],"usage":{"input_tokens":1,"output_tokens":2}},"timestamp":"2026-11-14T12:01:01Z"}
{"type":"cost-state","totalCostUSD":0.5}
"#,
        );
        assert_eq!(ledger.turns.len(), 2);
        let first = Tokens {
            input: 4,
            output: 9,
            cache_read: 100,
            cache_write: 20,
        };
        assert_eq!(ledger.turns[0].usage.tokens, first);
        assert_eq!(ledger.turns[1].usage.tokens.total(), 3);
        assert_eq!(ledger.total().cost_usd, Some(0.5));
    }

    #[test]
    fn codex_tells_totals_and_gemini_writes_again() {
        let codex = ledger(
            TranscriptFormat::Codex,
            r#"{"timestamp":"2026-11-14T12:00:00Z","type":"event_msg","payload":{"type":"token_count","info":null}}
{"timestamp":"2026-11-14T12:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}]}}
{"timestamp":"2026-11-14T12:00:02Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":100,"cached_input_tokens":80,"output_tokens":10}}}}
{"timestamp":"2026-11-14T12:00:03Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":300,"cached_input_tokens":200,"output_tokens":15}}}}
"#,
        );
        let tokens = Tokens {
            input: 100,
            output: 15,
            cache_read: 200,
            cache_write: 0,
        };
        assert_eq!(codex.total().tokens, tokens);
        assert_eq!(codex.total().cost_usd, None);
        assert_eq!(codex.turns.len(), 1);
        let gemini = ledger(
            TranscriptFormat::Gemini,
            r#"{"id":"u","timestamp":"2026-11-14T12:00:01Z","type":"user","content":[{"text":"do it"}]}
{"id":"g","timestamp":"2026-11-14T12:00:02Z","type":"gemini","content":"I do.","tokens":{"input":9,"output":2,"cached":4,"thoughts":1,"total":12}}
{"id":"g","timestamp":"2026-11-14T12:00:02Z","type":"gemini","content":"I do.","tokens":{"input":9,"output":2,"cached":4,"thoughts":1,"total":12},"toolCalls":[]}
"#,
        );
        assert_eq!(gemini.total().tokens.total(), 12);
        assert_eq!(gemini.turns.len(), 1);
    }

    /// The form of the lines is that of Copilot 1.0.102, Qwen Code 0.24.4 and Kimi Code 2.1.0.
    #[test]
    fn described_transcripts_tell_it_too() {
        let catalog = crate::agents::Catalog::built_in();
        let copilot = r#"{"type":"user.message","data":{"content":"hi"},"timestamp":"2026-11-18T15:36:00Z"}
{"type":"session.usage_record","data":{"usage":{"model":"test","inputTokens":100,"outputTokens":7,"cacheReadTokens":40,"cacheWriteTokens":0,"cost":0.0}},"timestamp":"2026-11-18T15:36:01Z"}
"#;
        let qwen = r#"{"type":"user","provenance":"real_user","message":{"role":"user","parts":[{"text":"hi"}]},"timestamp":"2026-11-18T15:36:00Z"}
{"timestamp":"2026-11-18T15:36:17.511Z","type":"assistant","message":{"role":"model","parts":[{"text":"cached"}]},"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":7,"thoughtsTokenCount":0,"totalTokenCount":107,"cachedContentTokenCount":40}}
"#;
        let kimi = r#"{"type":"turn.prompt","origin":{"kind":"user"},"input":[{"text":"hi"}],"time":1795016200000}
{"type":"usage.record","agentId":"main","usage":{"inputOther":60,"output":7,"inputCacheRead":40,"inputCacheCreation":0},"usageScope":"turn","time":1795016200405}
{"type":"context.append_loop_event","event":{"type":"step.end","usage":{"inputOther":60,"output":7,"inputCacheRead":40,"inputCacheCreation":0}},"time":1795016200423}
"#;
        for (agent, text) in [("copilot", copilot), ("qwen", qwen), ("kimi", kimi)] {
            let described = catalog.require(agent).unwrap().transcript();
            let (lines, time) = (described.lines.clone(), described.time.clone());
            let ledger = ledger_of(TranscriptForm::Described { lines, time }, text);
            let expected = Tokens {
                input: 60,
                output: 7,
                cache_read: 40,
                cache_write: 0,
            };
            assert_eq!(ledger.turns.len(), 1, "{agent}");
            assert_eq!(ledger.turns[0].usage.tokens, expected, "{agent}");
        }
    }
}
