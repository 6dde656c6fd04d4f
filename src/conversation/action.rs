//! What the agent did last.

use super::sentence::{clip, first_line};
use super::{Entry, Phase, Speaker};

const LONGEST: usize = 200;

/// What the agent did last, in a line: the last thing it did with a tool since it was asked something,
/// else what it said, else what it was asked.
pub(crate) fn last_action(entries: &[Entry]) -> Option<String> {
    let mut said = None;
    for (at, entry) in entries.iter().enumerate().rev() {
        match entry.speaker {
            Speaker::Tool => {
                if let Some(did) = deed(entry) {
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
        // Everything else was summed up.
        entries.iter().rev().find_map(|entry| {
            let digest = entry.metadata.get("summary")?;
            Some(digest.get("action")?.as_str()?.to_owned())
        })
    })
}

/// What the use of a tool was, in the past tense. Keeping a list is no deed, and neither is getting
/// an answer back.
pub(super) fn deed(entry: &Entry) -> Option<String> {
    let tool = entry.tool()?;
    if entry.phase() == Phase::Result || kind(tool) == Kind::List {
        return None;
    }
    let subject = entry.text("subject").map(|subject| clip(subject, LONGEST));
    let Some(subject) = subject.filter(|subject| !subject.is_empty()) else {
        return Some(format!("used {}", clip(tool, LONGEST)));
    };
    Some(match kind(tool) {
        Kind::Command => format!("ran `{subject}`"),
        Kind::Write => format!("wrote {subject}"),
        Kind::Read => format!("read {subject}"),
        Kind::Question => format!("asked: {subject}"),
        Kind::List | Kind::Other => format!("used {}: {subject}", clip(tool, LONGEST)),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Command,
    Write,
    Read,
    Question,
    List,
    Other,
}

/// What a tool is for, by the names that agents give it.
pub(super) fn kind(tool: &str) -> Kind {
    match tool {
        "Bash" | "bash" | "shell" | "shell_command" | "local_shell" | "exec_command" | "exec"
        | "run_shell_command" => Kind::Command,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "write" | "edit" | "patch"
        | "apply_patch" | "write_file" | "replace" => Kind::Write,
        "Read" | "read" | "read_file" | "read_many_files" | "view_image" => Kind::Read,
        "AskUserQuestion" | "question" | "request_user_input" | "ask_user" => Kind::Question,
        "TodoWrite" | "TodoRead" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet"
        | "update_plan" | "write_todos" | "todowrite" | "todoread" | "todo" => Kind::List,
        _ => Kind::Other,
    }
}

fn result_failed(call: &Entry, later: &[Entry]) -> bool {
    let Some(id) = call.text("call") else {
        return false;
    };
    later.iter().any(|entry| {
        entry.phase() == Phase::Result && entry.text("call") == Some(id) && entry.has_failed()
    })
}
