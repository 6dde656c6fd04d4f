//! The keys that Bivouac can send to an agent.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A key by its tmux name. The set is closed: nothing that is read from a screen or a file can become
/// another key, a text or a tmux command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Enter,
    Escape,
    Tab,
    Up,
    Down,
    Left,
    Right,
    CtrlC,
    CtrlD,
    CtrlU,
    /// A digit or a lower-case letter, as in menus.
    Character(char),
}

impl Key {
    const NAMED: [(Self, &'static str); 10] = [
        (Self::Enter, "Enter"),
        (Self::Escape, "Escape"),
        (Self::Tab, "Tab"),
        (Self::Up, "Up"),
        (Self::Down, "Down"),
        (Self::Left, "Left"),
        (Self::Right, "Right"),
        (Self::CtrlC, "C-c"),
        (Self::CtrlD, "C-d"),
        (Self::CtrlU, "C-u"),
    ];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        if let Some((key, _)) = Self::NAMED.iter().find(|(_, known)| *known == name) {
            return Some(*key);
        }
        let mut characters = name.chars();
        match (characters.next(), characters.next()) {
            (Some(only), None) => Self::of_character(only),
            _ => None,
        }
    }

    pub(crate) fn of_character(character: char) -> Option<Self> {
        (character.is_ascii_digit() || character.is_ascii_lowercase())
            .then_some(Self::Character(character))
    }

    /// As `send-keys` takes it.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Character(character) => character.to_string(),
            named => Self::NAMED
                .iter()
                .find(|(key, _)| *key == named)
                .map(|(_, name)| (*name).to_owned())
                .unwrap_or_default(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| {
            let known: Vec<&str> = Self::NAMED.iter().map(|(_, name)| *name).collect();
            serde::de::Error::custom(format!(
                "`{name}` is not a key that may be pressed; known are {}, digits and small letters",
                known.join(", ")
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_by_its_name() {
        for (key, name) in Key::NAMED {
            assert_eq!(Key::from_name(name), Some(key));
            assert_eq!(key.name(), name);
        }
        assert_eq!(Key::from_name("y"), Some(Key::Character('y')));
        for name in ["", ";", "Y", "-", "é", "F1", "Enter ", "M-x", "kill-server"] {
            assert_eq!(Key::from_name(name), None, "{name}");
        }
    }
}
