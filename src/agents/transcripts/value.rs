//! Helpers that the formats share.

use serde_json::Value;

use crate::conversation::{ConversationEntry, Speaker, Todo};
use crate::model::Timestamp;

/// How many bytes of a tool's output are kept. The agent's transcript has the rest.
const KEPT_OUTPUT: usize = 64 * 1024;
/// The arguments of a call are kept if they are no longer than this.
const KEPT_INPUT: usize = 16 * 1024;

pub(super) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

pub(super) fn is_true(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool) == Some(true)
}

/// The call of a tool.
pub(super) fn call(
    at: Timestamp,
    tool: &str,
    id: Option<&str>,
    input: &Value,
) -> ConversationEntry {
    let subject = subject(input);
    let small = serde_json::to_string(input).is_ok_and(|text| text.len() <= KEPT_INPUT);
    ConversationEntry::new(at, Speaker::Tool, subject.clone().unwrap_or_default())
        .with("tool", tool)
        .with("phase", "call")
        .with_some("call", id)
        .with_some("subject", subject)
        .with_some("input", small.then(|| input.clone()))
}

/// The result of a tool.
pub(super) fn result(
    at: Timestamp,
    id: Option<&str>,
    output: &str,
    failed: bool,
) -> ConversationEntry {
    let kept = beginning(output, KEPT_OUTPUT);
    let cut = (kept.len() < output.len()).then_some(output.len());
    ConversationEntry::new(at, Speaker::Tool, kept)
        .with("phase", "result")
        .with_some("call", id)
        .with("failed", failed)
        .with_some("bytes", cut)
}

/// The subject of a tool: a command, else a path, else a search text.
fn subject(input: &Value) -> Option<String> {
    let command = input.get("command").or_else(|| input.get("cmd"));
    if let Some(Value::Array(words)) = command {
        return shell_words(words);
    }
    let keys = [
        "file_path",
        "path",
        "absolute_path",
        "notebook_path",
        "filePath",
        "url",
        "query",
        "pattern",
        "question",
        "subject",
        "description",
        "prompt",
    ];
    command
        .and_then(Value::as_str)
        .or_else(|| keys.iter().find_map(|key| text(input, key)))
        .map(str::to_owned)
        .or_else(|| {
            let first = input.get("questions")?.get(0)?;
            text(first, "question").map(str::to_owned)
        })
}

/// `["bash", "-lc", "cargo test"]` is `cargo test`.
fn shell_words(words: &[Value]) -> Option<String> {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [] => None,
        [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => {
            Some((*script).to_owned())
        }
        words => Some(words.join(" ")),
    }
}

/// A todo list; agents use different names for text and status.
pub(super) fn todos(list: Option<&Value>) -> Option<Vec<Todo>> {
    let list = list?.as_array()?;
    let todo = |item: &Value| {
        let content = ["content", "step", "description", "text", "subject"]
            .iter()
            .find_map(|key| text(item, key))?;
        let done = if is_true(item, "done") {
            "completed"
        } else {
            "pending"
        };
        Some(Todo::new(content, text(item, "status").unwrap_or(done)))
    };
    Some(list.iter().filter_map(todo).collect())
}

/// The content of a call that changes a todo list: the list as text.
pub(super) fn listed(entry: ConversationEntry, todos: &[Todo]) -> ConversationEntry {
    let rows: Vec<String> = todos
        .iter()
        .map(|todo| match todo.status.as_str() {
            "completed" | "cancelled" => format!("☒ {}", todo.content),
            _ => format!("☐ {}", todo.content),
        })
        .collect();
    ConversationEntry {
        content: rows.join("\n"),
        ..entry.with_todos(todos)
    }
}

/// The text of content that is a string, one part, or many parts.
pub(super) fn joined(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts: Vec<String> = parts
                .iter()
                .map(joined)
                .filter(|part| !part.is_empty())
                .collect();
            parts.join("\n")
        }
        Value::Object(_) => match (text(content, "text"), text(content, "type")) {
            (Some(text), _) => text.to_owned(),
            (None, Some("image" | "input_image")) => "[image]".to_owned(),
            (None, _) => String::new(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Whether a text was written by the program in the user's name.
pub(super) fn starts_with_any(text: &str, marks: &[&str]) -> bool {
    let text = text.trim_start();
    marks.iter().any(|mark| text.starts_with(mark))
}

fn beginning(text: &str, length: usize) -> &str {
    let mut end = text.len().min(length);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}
