//! Codex: `sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`.
//!
//! The conversation is in `response_item`s. `event_msg`s repeat it for the screen; here they only show that
//! a turn was interrupted. Messages that Codex adds in the user's name are left out.

use serde_json::Value;

use super::value::{call, joined, listed, result, starts_with_any, text, todos};
use crate::conversation::{ConversationEntry, Speaker};
use crate::model::Timestamp;

const NOT_SAID: [&str; 8] = [
    "<environment_context>",
    "<turn_aborted>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<skill>",
    "<user_shell_command>",
];

pub(super) fn entries(line: &Value, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    let Some(payload) = line.get("payload") else {
        return;
    };
    match (text(line, "type"), text(payload, "type")) {
        (Some("response_item"), Some(kind)) => item(kind, payload, at, found),
        (Some("event_msg"), Some("turn_aborted")) => {
            found.push(ConversationEntry::new(at, Speaker::System, "interrupted"));
        }
        (Some("event_msg"), Some("error")) => {
            let message = text(payload, "message").unwrap_or("error");
            found.push(ConversationEntry::new(at, Speaker::System, message).with("failed", true));
        }
        (Some("compacted"), _) => {
            found.push(ConversationEntry::new(
                at,
                Speaker::System,
                "the agent summed up its context",
            ));
        }
        _ => {}
    }
}

fn item(kind: &str, payload: &Value, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    let id = text(payload, "call_id");
    match kind {
        "message" => message(payload, at, found),
        "function_call" => {
            let tool = text(payload, "name").unwrap_or("tool");
            let arguments = text(payload, "arguments").unwrap_or_default();
            let input = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
            let mut entry = call(at, tool, id, &input);
            if tool == "update_plan"
                && let Some(plan) = todos(input.get("plan"))
            {
                entry = listed(entry, &plan);
            }
            found.push(patched(entry, &input));
        }
        "custom_tool_call" => {
            let tool = text(payload, "name").unwrap_or("tool");
            let input = payload.get("input").cloned().unwrap_or_default();
            found.push(patched(call(at, tool, id, &input), &input));
        }
        "local_shell_call" => {
            let action = payload.get("action").cloned().unwrap_or_default();
            found.push(call(at, "shell", id, &action));
        }
        "web_search_call" => {
            let action = payload.get("action").cloned().unwrap_or_default();
            found.push(call(at, "web_search", id, &action));
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = payload.get("output").cloned().unwrap_or_default();
            let (output, failed) = outcome(&output);
            found.push(result(at, id, &output, failed));
        }
        _ => {}
    }
}

fn message(payload: &Value, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    let said = payload.get("content").map(joined).unwrap_or_default();
    if said.trim().is_empty() {
        return;
    }
    match text(payload, "role") {
        Some("user") if !starts_with_any(&said, &NOT_SAID) => {
            found.push(ConversationEntry::new(at, Speaker::User, said));
        }
        Some("assistant") => found.push(ConversationEntry::new(at, Speaker::Assistant, said)),
        _ => {}
    }
}

/// Adds the files that a patch changes, from the text of the patch.
fn patched(entry: ConversationEntry, input: &Value) -> ConversationEntry {
    let patch = input
        .as_str()
        .or_else(|| text(input, "input"))
        .unwrap_or_default();
    let files: Vec<&str> = patch
        .lines()
        .filter_map(|line| {
            ["*** Add File: ", "*** Update File: ", "*** Delete File: "]
                .iter()
                .find_map(|mark| line.strip_prefix(mark))
        })
        .collect();
    if entry.tool() != Some("apply_patch") || files.is_empty() {
        return entry;
    }
    let files = files.join(", ");
    ConversationEntry {
        content: files.clone(),
        ..entry.with("subject", files)
    }
}

/// The output of a tool, and whether it failed: from a flag, from the exit status in a wrapper, or from the
/// line in which Codex prints it.
fn outcome(output: &Value) -> (String, bool) {
    if let Some(text) = output.as_str() {
        let wrapped: Option<Value> = serde_json::from_str(text).ok();
        let inner = wrapped
            .as_ref()
            .and_then(|value| value.get("output")?.as_str());
        if let (Some(value), Some(inner)) = (&wrapped, inner) {
            let code = value
                .get("metadata")
                .and_then(|meta| meta.get("exit_code")?.as_i64());
            return (inner.to_owned(), code.is_some_and(|code| code != 0));
        }
        return (text.to_owned(), says_failed(text));
    }
    let content = output.get("content").unwrap_or(output);
    let text = joined(content);
    let failed =
        output.get("success").and_then(Value::as_bool) == Some(false) || says_failed(&text);
    (text, failed)
}

fn says_failed(output: &str) -> bool {
    output.lines().take(8).any(|line| {
        ["Process exited with code ", "Exit code: ", "exit code: "]
            .iter()
            .find_map(|mark| line.trim().strip_prefix(mark))
            .is_some_and(|code| code.trim() != "0")
    })
}
