//! Gemini CLI: `tmp/<project>/chats/session-<time>-<start of session>.jsonl`.
//!
//! A header, then messages. A message is written again under the same id when more of it is known (tokens,
//! tool calls), so each entry has an id by which it is imported once. `$set` and `$rewindTo` change Gemini's
//! memory, not the conversation.

use serde_json::Value;

use super::value::{call, joined, listed, result, starts_with_any, text, todos};
use crate::conversation::{ConversationEntry, Speaker};
use crate::model::Timestamp;

const NOT_SAID: [&str; 2] = ["<session_context>", "<system-reminder>"];

pub(super) fn entries(line: &Value, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    let Some(id) = text(line, "id") else { return };
    let said = line.get("content").map(run_on).unwrap_or_default();
    let speaker = match text(line, "type") {
        Some("user") if starts_with_any(&said, &NOT_SAID) => return,
        Some("user") => Speaker::User,
        Some("gemini") => Speaker::Assistant,
        Some("error") => Speaker::System,
        _ => return,
    };
    if !said.trim().is_empty() {
        let failed = (speaker == Speaker::System).then_some(true);
        let entry = ConversationEntry::new(at, speaker, said).with("id", id);
        found.push(entry.with_some("failed", failed));
    }
    let calls = line.get("toolCalls").and_then(Value::as_array);
    for used in calls.into_iter().flatten() {
        tool(used, at, found);
    }
}

fn tool(used: &Value, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    let at = text(used, "timestamp")
        .and_then(Timestamp::parse)
        .unwrap_or(at);
    let name = text(used, "name").unwrap_or("tool");
    let id = text(used, "id");
    let nothing = Value::Null;
    let input = used.get("args").unwrap_or(&nothing);
    let mut entry = call(at, name, id, input);
    if name == "write_todos"
        && let Some(todos) = todos(input.get("todos"))
    {
        entry = listed(entry, &todos);
    }
    found.push(entry);
    let failed = match text(used, "status") {
        Some("success") => false,
        Some("error" | "cancelled") => true,
        // Still running: it will be written again.
        _ => return,
    };
    let output = text(used, "resultDisplay").map(str::to_owned);
    let output = output.unwrap_or_else(|| used.get("result").map(response).unwrap_or_default());
    found.push(result(at, id, &output, failed));
}

/// The parts of a result: texts and function responses.
fn response(result: &Value) -> String {
    match result {
        Value::Array(parts) => parts.iter().map(response).collect::<Vec<_>>().join("\n"),
        other => match other
            .get("functionResponse")
            .and_then(|answer| answer.get("response"))
        {
            Some(answer) => ["output", "error"]
                .iter()
                .find_map(|key| text(answer, key))
                .map_or_else(|| answer.to_string(), str::to_owned),
            None => joined(other),
        },
    }
}

/// Joins the parts of a text without separators.
fn run_on(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.iter().map(joined).collect(),
        other => joined(other),
    }
}
