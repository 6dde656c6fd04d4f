//! The facts of an operation: names chosen, commits made, processes started.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Facts by name. They are plain JSON here, because this room may not import the rooms that define their
/// types. Each fact has one writer and is read back with the type that it was written with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Facts(Map<String, Value>);

impl Facts {
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// With one more fact. A value that cannot be JSON is left out; no fact is such a value.
    pub(crate) fn with(mut self, name: &str, value: &impl Serialize) -> Self {
        if let Ok(value) = serde_json::to_value(value) {
            self.0.insert(name.to_owned(), value);
        }
        self
    }

    /// The fact of this name, if it is known and has this type.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_value(self.0.get(name)?.clone()).ok()
    }

    pub(crate) fn merge(&mut self, later: &Self) {
        for (name, value) in &later.0 {
            self.0.insert(name.clone(), value.clone());
        }
    }
}
