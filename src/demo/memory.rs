//! The agent's memory of its session, rebuilt from the session file.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::session::{SessionEntry, Speaker};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Todo {
    pub text: String,
    pub done: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Memory {
    /// Every prompt of the session, in order: one per turn.
    pub prompts: Vec<String>,
    pub todos: Vec<Todo>,
    /// Whether permission was given for the rest of the session.
    pub allowed: bool,
    pub title: Option<String>,
    /// A turn has begun and not ended.
    pub open_turn: bool,
}

impl Memory {
    pub(super) fn of(entries: &[SessionEntry]) -> Self {
        let mut memory = Self::default();
        for entry in entries {
            memory.learn(entry);
        }
        memory
    }

    pub(super) fn learn(&mut self, entry: &SessionEntry) {
        match entry.speaker {
            Speaker::User => {
                self.prompts.push(entry.content.clone());
                self.open_turn = true;
            }
            Speaker::Tool => {
                let todos = entry.metadata.get("todos").cloned();
                if let Some(todos) = todos.and_then(|value| serde_json::from_value(value).ok()) {
                    self.todos = todos;
                }
            }
            Speaker::System => match entry.event() {
                Some("allow") => self.allowed = true,
                Some("title") => self.title = Some(entry.content.clone()),
                Some("turn_end") => self.open_turn = false,
                Some(_) | None => {}
            },
            Speaker::Assistant => {}
        }
    }

    pub(super) fn turns(&self) -> usize {
        self.prompts.len()
    }

    /// The whole todo list as an entry; the last entry is the current list.
    pub(super) fn todo_entry(&self) -> SessionEntry {
        let list: Vec<String> = self.todos.iter().map(Todo::row).collect();
        SessionEntry::tool(
            &list.join("\n"),
            json!({ "tool": "todo", "todos": self.todos }),
        )
    }
}

impl Todo {
    pub(super) fn row(&self) -> String {
        let mark = if self.done { "☒" } else { "☐" };
        format!("{mark} {}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_is_the_same_as_what_is_read_back() {
        let mut memory = Memory::default();
        memory.todos.push(Todo {
            text: "pitch the tent".to_owned(),
            done: true,
        });
        let entries = [
            SessionEntry::user(1, "a"),
            memory.todo_entry(),
            SessionEntry::system("", json!({"event": "turn_end"})),
            SessionEntry::system("", json!({"event": "allow"})),
            SessionEntry::user(2, "b"),
        ];
        let read = Memory::of(&entries);
        assert_eq!(read.prompts, ["a", "b"]);
        assert_eq!(read.todos, memory.todos);
        assert!(read.allowed && read.open_turn);
    }
}
