//! Ids as distinct types, and the names that are derived from them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// No vowels and no characters that look alike: an id never spells a word and is easy to read aloud.
const ALPHABET: &[u8; 28] = b"23456789bcdfghjkmnpqrstvwxyz";
const LETTERS: u128 = 28;
const LENGTH: usize = 10;

/// Ten random letters (48 bits). The first two or three usually identify an instance. Ids that are ordered
/// by time would share their first letters.
fn random_letters() -> String {
    letters(uuid::Uuid::new_v4().as_u128())
}

fn letters(mut bits: u128) -> String {
    (0..LENGTH)
        .map(|_| {
            let letter = ALPHABET[(bits % LETTERS) as usize];
            bits /= LETTERS;
            char::from(letter)
        })
        .collect()
}

fn is_well_formed(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub(crate) struct $name(String);

        impl $name {
            pub(crate) fn random() -> Self {
                Self(random_letters())
            }

            pub(crate) fn parse(text: &str) -> Option<Self> {
                is_well_formed(text).then(|| Self(text.to_owned()))
            }

        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                Self::parse(&text).ok_or_else(|| format!("`{text}` is not an id"))
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// One agent with its worktree.
    InstanceId
);
id!(
    /// One attempt of an instance, from a fresh agent session until it is superseded.
    RunId
);
id!(
    /// One journalled operation.
    OperationId
);

impl InstanceId {
    /// The same id for the same number, for what is no instance and has processes all the same.
    pub(crate) fn of_number(number: u64) -> Self {
        Self(letters(u128::from(number)))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl RunId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The tmux session of an instance. Made from the id alone: no user text ever reaches tmux.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct SessionName(String);

impl SessionName {
    pub(crate) fn of(id: &InstanceId) -> Self {
        Self(format!("biv-{id}"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_well_formed_and_differ() {
        let ids: std::collections::HashSet<_> = (0..1000).map(|_| InstanceId::random()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(
            ids.iter()
                .all(|id| InstanceId::parse(id.as_str()).is_some())
        );
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in [
            "",
            "short",
            "../../etc/p",
            "aaaaaaaaaa",
            "2345678_90",
            "BCDFGHJKMN",
        ] {
            assert_eq!(InstanceId::parse(text), None, "{text}");
        }
    }
}
