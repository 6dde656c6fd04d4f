//! The built-in demo agent: its entries are similar to ours (`src/demo/session.rs`).

use serde_json::Value;

use super::value::{is_true, text, todos};
use crate::conversation::{ConversationEntry, Speaker};
use crate::model::Timestamp;

pub(super) fn entries(line: &Value, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    let nothing = Value::Null;
    let metadata = line.get("metadata").unwrap_or(&nothing);
    let content = text(line, "content").unwrap_or_default();
    match text(line, "type") {
        Some("user") => found.push(ConversationEntry::new(at, Speaker::User, content)),
        Some("assistant") if !content.trim().is_empty() => {
            found.push(ConversationEntry::new(at, Speaker::Assistant, content));
        }
        Some("tool") => found.push(tool(content, metadata, at)),
        Some("system") => {
            // A turn that ended normally is left out.
            let outcome = text(metadata, "outcome").filter(|outcome| *outcome != "done");
            if let Some(outcome) = outcome {
                found.push(ConversationEntry::new(at, Speaker::System, outcome));
            }
        }
        _ => {}
    }
}

fn tool(content: &str, metadata: &Value, at: Timestamp) -> ConversationEntry {
    let subject = ["command", "path", "question", "subject"]
        .iter()
        .find_map(|key| text(metadata, key));
    let status = metadata.get("status");
    let failed = status.is_some_and(|status| status.as_i64() != Some(0))
        || is_true(metadata, "declined")
        || content.starts_with("Could not write");
    let entry = ConversationEntry::new(at, Speaker::Tool, content)
        .with_some("tool", text(metadata, "tool"))
        .with_some("subject", subject)
        .with_some("failed", failed.then_some(true));
    match todos(metadata.get("todos")) {
        Some(todos) => entry.with_todos(&todos),
        None => entry,
    }
}
