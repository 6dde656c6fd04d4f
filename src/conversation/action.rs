//! The last action of an agent.

use super::sentence::{clip, first_line};
use super::{ConversationEntry, Phase, Speaker};

const LONGEST: usize = 200;

/// The agent's last action in one line: its last use of a tool since the last prompt, else what it said,
/// else what it was asked.
pub(crate) fn last_action(entries: &[ConversationEntry]) -> Option<String> {
    let mut said = None;
    for (at, entry) in entries.iter().enumerate().rev() {
        match entry.speaker {
            Speaker::Tool => {
                if let Some(did) = tool_action(entry) {
                    let failed = entry.has_failed() || result_failed(entry, entries.get(at..)?);
                    let failed = if failed { " (failed)" } else { "" };
                    return Some(format!("{did}{failed}"));
                }
            }
            Speaker::Assistant if said.is_none() && !entry.content.trim().is_empty() => {
                said = Some(format!(
                    "said: {}",
                    clip(first_line(&entry.content), LONGEST)
                ));
            }
            Speaker::User if said.is_some() => return said,
            Speaker::User => {
                return Some(format!("was asked: {}", clip(&entry.content, LONGEST)));
            }
            Speaker::Assistant | Speaker::System => {}
        }
    }
    said.or_else(|| {
        // Everything else was summarised.
        entries.iter().rev().find_map(|entry| {
            let digest = entry.metadata.get("summary")?;
            Some(digest.get("action")?.as_str()?.to_owned())
        })
    })
}

/// The use of a tool in the past tense. None for changes of a todo list and for results.
pub(super) fn tool_action(entry: &ConversationEntry) -> Option<String> {
    let tool = entry.tool()?;
    if entry.phase() == Phase::Result || kind(tool) == ToolKind::List {
        return None;
    }
    let subject = entry.text("subject").map(|subject| clip(subject, LONGEST));
    let Some(subject) = subject.filter(|subject| !subject.is_empty()) else {
        return Some(format!("used {}", clip(tool, LONGEST)));
    };
    Some(match kind(tool) {
        ToolKind::Command => format!("ran `{subject}`"),
        ToolKind::Write => format!("wrote {subject}"),
        ToolKind::Read => format!("read {subject}"),
        ToolKind::Question => format!("asked: {subject}"),
        ToolKind::List | ToolKind::Other => format!("used {}: {subject}", clip(tool, LONGEST)),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    Command,
    Write,
    Read,
    Question,
    List,
    Other,
}

/// The purpose of a tool, by the names that agents use.
pub(super) fn kind(tool: &str) -> ToolKind {
    match tool {
        "Bash" | "bash" | "shell" | "shell_command" | "local_shell" | "exec_command" | "exec"
        | "run_shell_command" => ToolKind::Command,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "write" | "edit" | "patch"
        | "apply_patch" | "write_file" | "replace" => ToolKind::Write,
        "Read" | "read" | "read_file" | "read_many_files" | "view_image" => ToolKind::Read,
        "AskUserQuestion" | "question" | "request_user_input" | "ask_user" => ToolKind::Question,
        "TodoWrite" | "TodoRead" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet"
        | "update_plan" | "write_todos" | "todowrite" | "todoread" | "todo" => ToolKind::List,
        _ => ToolKind::Other,
    }
}

fn result_failed(call: &ConversationEntry, later: &[ConversationEntry]) -> bool {
    let Some(id) = call.text("call") else {
        return false;
    };
    later.iter().any(|entry| {
        entry.phase() == Phase::Result && entry.text("call") == Some(id) && entry.has_failed()
    })
}
