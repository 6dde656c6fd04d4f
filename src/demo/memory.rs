//! What the agent knows of its session: read from the session file, kept up with it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::session::{Entry, Speaker};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Todo {
    pub text: String,
    pub done: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Memory {
    /// Every prompt of the session, in order: the number of turns is their number.
    pub prompts: Vec<String>,
    pub todos: Vec<Todo>,
    /// Whether permission was given for the rest of the session.
    pub allowed: bool,
    pub title: Option<String>,
    /// A turn has begun and not ended.
    pub open_turn: bool,
}

impl Memory {
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut memory = Self::default();
        for entry in entries {
            memory.learn(entry);
        }
        memory
    }

    pub(super) fn learn(&mut self, entry: &Entry) {
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

    /// The todo list as an entry; the whole list each time, so that the last one holds.
    pub(super) fn todo_entry(&self) -> Entry {
        let list: Vec<String> = self.todos.iter().map(Todo::row).collect();
        Entry::tool(
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
            Entry::user(1, "a"),
            memory.todo_entry(),
            Entry::system("", json!({"event": "turn_end"})),
            Entry::system("", json!({"event": "allow"})),
            Entry::user(2, "b"),
        ];
        let read = Memory::of(&entries);
        assert_eq!(read.prompts, ["a", "b"]);
        assert_eq!(read.todos, memory.todos);
        assert!(read.allowed && read.open_turn);
    }
}
