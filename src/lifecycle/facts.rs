//! The facts of an operation: names chosen, commits made, processes started.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The name of a fact in the journal, and the type of its value.
#[derive(Debug)]
pub(crate) struct Fact<T> {
    name: &'static str,
    value: PhantomData<fn() -> T>,
}

impl<T> Clone for Fact<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Fact<T> {}

impl<T> Fact<T> {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            value: PhantomData,
        }
    }
}

/// Stands for a value that could not be written, with the reason.
const UNWRITABLE: &str = "unwritable";

fn value_of<T: DeserializeOwned>(value: &Value) -> Result<T, serde_json::Error> {
    match value.get(UNWRITABLE).and_then(Value::as_str) {
        Some(reason) => Err(serde::de::Error::custom(reason)),
        None => serde_json::from_value(value.clone()),
    }
}

/// A fact that is in the journal and is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("the fact `{name}` in the journal cannot be read")]
pub(crate) struct UnreadableFact {
    name: &'static str,
    #[source]
    source: serde_json::Error,
}

/// Facts by name. They are plain JSON here, because this room may not import the rooms that define their
/// types. Each fact has one writer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Facts(Map<String, Value>);

impl Facts {
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// With one more fact. Where its value cannot be JSON (a path that is not text), reading it is an
    /// error: a fact that is silently left out would be taken for absent.
    pub(crate) fn with<T: Serialize>(self, fact: Fact<T>, value: &T) -> Self {
        self.insert(fact.name, value)
    }

    /// With a fact that may be that there is none: it replaces one that was known before.
    pub(crate) fn with_option<T: Serialize>(self, fact: Fact<T>, value: &Option<T>) -> Self {
        self.insert(fact.name, value)
    }

    fn insert(mut self, name: &str, value: &impl Serialize) -> Self {
        let value = serde_json::to_value(value)
            .unwrap_or_else(|error| json!({ UNWRITABLE: error.to_string() }));
        self.0.insert(name.to_owned(), value);
        self
    }

    /// The fact, if it is known. One that cannot be read is an error and never an absent one: it was
    /// written by another version, or the file is damaged.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        fact: Fact<T>,
    ) -> Result<Option<T>, UnreadableFact> {
        match self.0.get(fact.name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value_of(value).map(Some).map_err(|source| UnreadableFact {
                name: fact.name,
                source,
            }),
        }
    }

    /// Whether the fact is known.
    pub(crate) fn has<T>(&self, fact: Fact<T>) -> bool {
        self.0.get(fact.name).is_some_and(|value| !value.is_null())
    }

    pub(crate) fn merge(&mut self, later: &Self) {
        for (name, value) in &later.0 {
            self.0.insert(name.clone(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: Fact<u64> = Fact::new("number");
    const WORDS: Fact<String> = Fact::new("number");

    #[test]
    fn what_cannot_be_read_is_not_taken_for_absent() {
        let facts = Facts::none().with(NUMBER, &7);
        assert_eq!(facts.read(NUMBER).unwrap(), Some(7));
        assert!(facts.has(WORDS));
        let error = facts.read(WORDS).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the fact `number` in the journal cannot be read"
        );
    }

    #[test]
    fn a_path_that_is_not_text_is_not_left_out() {
        use std::os::unix::ffi::OsStrExt;
        const PATH: Fact<std::path::PathBuf> = Fact::new("path");
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(b"\xff"));
        let facts = Facts::none().with(PATH, &path.to_owned());
        assert!(facts.has(PATH));
        assert!(facts.read(PATH).is_err());
    }

    #[test]
    fn a_later_none_replaces_what_was_known() {
        let mut facts = Facts::none().with(NUMBER, &7);
        facts.merge(&Facts::none().with_option(NUMBER, &None));
        assert_eq!(facts.read(NUMBER).unwrap(), None);
        assert!(!facts.has(NUMBER));
    }
}
