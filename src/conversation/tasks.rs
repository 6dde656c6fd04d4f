//! The agent's todo list.

use serde::{Deserialize, Serialize};

use super::ConversationEntry;
use super::todo::Todo;

/// Further items are dropped.
const LONGEST_LIST: usize = 200;

/// The list after a number of entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct TodoList(Vec<Todo>);

impl TodoList {
    /// A whole list replaces the one before; a single task is added or changed.
    pub(super) fn take(&mut self, entry: &ConversationEntry) {
        let read = |key: &str| entry.metadata.get(key).cloned();
        if let Some(todos) = read("todos").and_then(|value| serde_json::from_value(value).ok()) {
            self.0 = todos;
        }
        if let Some(task) = read("task").and_then(|value| serde_json::from_value(value).ok()) {
            self.change(task);
        }
        self.0.truncate(LONGEST_LIST);
    }

    fn change(&mut self, task: Todo) {
        let known = self
            .0
            .iter_mut()
            .find(|todo| todo.id.is_some() && todo.id == task.id);
        match known {
            Some(todo) => {
                if !task.content.is_empty() {
                    todo.content = task.content;
                }
                if !task.status.is_empty() {
                    todo.status = task.status;
                }
            }
            None if task.content.is_empty() => {}
            None => self.0.push(task),
        }
    }

    pub(super) fn todos(&self) -> &[Todo] {
        &self.0
    }

    pub(super) fn open(&self) -> Vec<String> {
        self.0
            .iter()
            .filter(|todo| todo.is_open())
            .map(|todo| todo.content.clone())
            .collect()
    }
}

/// The open items of the agent's list, in its own words and order.
pub(crate) fn pending_tasks(entries: &[ConversationEntry]) -> Vec<String> {
    let mut list = TodoList::default();
    for entry in entries {
        list.take(entry);
    }
    list.open()
}
