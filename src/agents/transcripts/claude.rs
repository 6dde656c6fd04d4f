//! Claude Code: `projects/<directory>/<session>.jsonl`, one content block a line.
//!
//! Lines of sub-agents (`isSidechain`), of the program itself (`isMeta`, reminders, slash commands) and of
//! its bookkeeping are not part of the conversation.

use serde_json::{Value, json};

use super::value::{call, is_true, joined, listed, result, starts_with_any, text, todos};
use crate::conversation::{ConversationEntry, Speaker};
use crate::model::Timestamp;

const NOT_SAID: [&str; 5] = [
    "<system-reminder>",
    "<local-command",
    "<command-",
    "<bash-",
    "<task-notification>",
];
const INTERRUPTED: &str = "[Request interrupted by user";

pub(super) fn entries(line: &Value, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    if is_true(line, "isSidechain") || is_true(line, "isMeta") {
        return;
    }
    let first = found.len();
    let content = line
        .get("message")
        .and_then(|message| message.get("content"));
    match (text(line, "type"), content) {
        (Some("user"), Some(_)) if is_true(line, "isCompactSummary") => {
            found.push(ConversationEntry::new(
                at,
                Speaker::System,
                "the agent summed up its context",
            ));
        }
        (Some("user"), Some(Value::Array(blocks))) => {
            let (results, said): (Vec<&Value>, Vec<&Value>) = blocks
                .iter()
                .partition(|block| text(block, "type") == Some("tool_result"));
            for block in results {
                returned(line, block, at, found);
            }
            let said: Vec<String> = said.into_iter().map(joined).collect();
            prompt(&said.join("\n"), at, found);
        }
        (Some("user"), Some(content)) => prompt(&joined(content), at, found),
        (Some("assistant"), Some(content)) => {
            let error = is_true(line, "isApiErrorMessage");
            let blocks = content
                .as_array()
                .map_or(std::slice::from_ref(content), Vec::as_slice);
            for block in blocks {
                from_agent(block, error, at, found);
            }
        }
        _ => {}
    }
    if let Some(id) = text(line, "uuid") {
        for entry in found.iter_mut().skip(first) {
            entry.metadata.insert("id".to_owned(), id.into());
        }
    }
}

fn prompt(text: &str, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    if text.starts_with(INTERRUPTED) {
        found.push(ConversationEntry::new(at, Speaker::System, "interrupted"));
    } else if !text.trim().is_empty() && !starts_with_any(text, &NOT_SAID) {
        found.push(ConversationEntry::new(at, Speaker::User, text));
    }
}

fn returned(line: &Value, block: &Value, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    let output = block.get("content").map(joined).unwrap_or_default();
    let entry = result(
        at,
        text(block, "tool_use_id"),
        &output,
        is_true(block, "is_error"),
    );
    // A task has its number only after it was created.
    let made = line
        .get("toolUseResult")
        .and_then(|result| result.get("task"));
    let task = made.and_then(|task| Some((text(task, "id")?, text(task, "subject")?)));
    found.push(entry.with_some(
        "task",
        task.map(|(id, subject)| json!({ "id": id, "content": subject, "status": "pending" })),
    ));
}

fn from_agent(block: &Value, error: bool, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    match text(block, "type") {
        Some("tool_use") => {
            let nothing = Value::Null;
            let input = block.get("input").unwrap_or(&nothing);
            let tool = text(block, "name").unwrap_or("tool");
            let mut entry = call(at, tool, text(block, "id"), input);
            match tool {
                "TodoWrite" => {
                    if let Some(todos) = todos(input.get("todos")) {
                        entry = listed(entry, &todos);
                    }
                }
                "TaskUpdate" => {
                    let id = text(input, "taskId");
                    let change = id.map(|id| {
                        let content = text(input, "subject").unwrap_or_default();
                        let status = text(input, "status").unwrap_or_default();
                        json!({ "id": id, "content": content, "status": status })
                    });
                    entry = entry.with_some("task", change);
                }
                _ => {}
            }
            found.push(entry);
        }
        Some("thinking" | "redacted_thinking") => {}
        Some(_) | None => {
            let said = joined(block);
            if said.trim().is_empty() || said == "No response requested." {
                return;
            }
            found.push(if error {
                ConversationEntry::new(at, Speaker::System, said).with("failed", true)
            } else {
                ConversationEntry::new(at, Speaker::Assistant, said)
            });
        }
    }
}
