//! The state file of Claude Squad: `~/.claude-squad/state.json`.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::engine::operate::import::{Left, Session};

/// Its number for a session whose worktree was removed.
const PAUSED: i64 = 3;

#[derive(Debug, Deserialize)]
struct Entry {
    title: String,
    #[serde(default)]
    path: PathBuf,
    #[serde(default)]
    branch: String,
    #[serde(default)]
    status: i64,
    #[serde(default)]
    program: String,
    worktree: Checkout,
}

#[derive(Debug, Deserialize)]
struct Checkout {
    #[serde(default)]
    repo_path: PathBuf,
    worktree_path: PathBuf,
    #[serde(default)]
    branch_name: String,
    #[serde(default)]
    base_commit_sha: String,
}

pub(super) fn usual_file() -> PathBuf {
    std::env::var_os("HOME")
        .map(PathBuf::from)
        .unwrap_or_default()
        .join(".claude-squad")
        .join("state.json")
}

/// Its sessions, and those that cannot be understood; an error if the file as a whole cannot.
pub(super) fn sessions(text: &[u8]) -> Result<(Vec<Session>, Vec<Left>), String> {
    let state: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let entries = match &state["instances"] {
        Value::Array(entries) => entries.clone(),
        // No session was ever started.
        Value::Null if state.is_object() => Vec::new(),
        // Older versions keep the list as a text within the text.
        Value::String(inner) => serde_json::from_str(inner).map_err(|error| error.to_string())?,
        _ => return Err("there is no list of instances in it".to_owned()),
    };
    let mut sessions = Vec::new();
    let mut left = Vec::new();
    for entry in entries {
        let title = entry["title"].as_str().unwrap_or("without a title");
        let title = title.to_owned();
        match serde_json::from_value::<Entry>(entry) {
            Ok(entry) => sessions.push(session(entry)),
            Err(error) => left.push(Left {
                title,
                reason: error.to_string(),
            }),
        }
    }
    Ok((sessions, left))
}

fn session(entry: Entry) -> Session {
    let or = |first: String, second: String| if first.is_empty() { second } else { first };
    let repository = if entry.worktree.repo_path.as_os_str().is_empty() {
        entry.path
    } else {
        entry.worktree.repo_path
    };
    Session {
        terminal: (entry.status != PAUSED).then(|| terminal(&entry.title)),
        title: entry.title,
        repository,
        worktree: entry.worktree.worktree_path,
        branch: or(entry.worktree.branch_name, entry.branch),
        base: Some(entry.worktree.base_commit_sha).filter(|commit| !commit.is_empty()),
        program: entry.program,
    }
}

/// What it calls the tmux session of a title.
fn terminal(title: &str) -> String {
    let name: String = title
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .map(|letter| if letter == '.' { '_' } else { letter })
        .collect();
    format!("claudesquad_{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_file_is_read_as_far_as_it_can_be() {
        let text = br#"{"help_screens_seen":7,"instances":[
            {"title":"fix v1.2","path":"/r","branch":"me/fix","status":1,"height":40,"width":120,
             "created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","auto_yes":false,
             "program":"claude --model opus",
             "worktree":{"repo_path":"/r","worktree_path":"/w/fix","session_name":"fix","branch_name":"me/fix",
                         "base_commit_sha":"abc","is_existing_branch":false},
             "diff_stats":{"added":1,"removed":0,"content":"+x"}},
            {"title":"old","path":"/r","branch":"me/old","status":3,"program":"aider",
             "worktree":{"repo_path":"","worktree_path":"/w/old","base_commit_sha":""}},
            {"title":"broken","worktree":7}]}"#;
        let (sessions, left) = sessions(text).unwrap();
        assert_eq!(sessions.len(), 2);
        assert_eq!(sessions[0].terminal.as_deref(), Some("claudesquad_fixv1_2"));
        assert_eq!(sessions[0].base.as_deref(), Some("abc"));
        assert_eq!(sessions[1].terminal, None);
        assert_eq!(sessions[1].repository, PathBuf::from("/r"));
        assert_eq!(sessions[1].branch, "me/old");
        assert_eq!(sessions[1].base, None);
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].title, "broken");
    }

    #[test]
    fn cut_off_at_any_byte_it_is_an_error_and_never_empty() {
        let text = br#"{"instances":[{"title":"a","worktree":{"worktree_path":"/w"}}]}"#;
        for end in 0..text.len() {
            assert!(sessions(&text[..end]).is_err(), "{end}");
        }
        assert!(sessions(b"[]").is_err());
        assert!(sessions(b"{}").unwrap().0.is_empty());
    }
}
