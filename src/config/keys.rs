//! Keys as text: `c`, `enter`, `shift+up`, `ctrl+x p`.

use std::fmt;

use serde::{Deserialize, Deserializer};

/// One key with its modifiers. Shift is part of a character (`R`) and a modifier of other keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub code: KeyCode,
    pub ctrl: bool,
    pub alt: bool,
    pub shift: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyCode {
    Char(char),
    Enter,
    Esc,
    Tab,
    Backspace,
    Delete,
    Insert,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

const NAMES: &[(&str, KeyCode)] = &[
    ("space", KeyCode::Char(' ')),
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
];

impl Key {
    pub(crate) const fn plain(code: KeyCode) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
            shift: false,
        }
    }

    pub(crate) const fn char(character: char) -> Self {
        Self::plain(KeyCode::Char(character))
    }

    pub(crate) const fn ctrl(character: char) -> Self {
        Self {
            ctrl: true,
            ..Self::char(character)
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut key = Self::plain(KeyCode::Esc);
        loop {
            let modifier = match rest.split_once(['+', '-']) {
                Some(("ctrl", more)) => Some((&mut key.ctrl, more)),
                Some(("alt", more)) => Some((&mut key.alt, more)),
                Some(("shift", more)) => Some((&mut key.shift, more)),
                Some(_) | None => None,
            };
            match modifier {
                Some((flag, more)) if !more.is_empty() => {
                    *flag = true;
                    rest = more;
                }
                Some(_) | None => break,
            }
        }
        let mut letters = rest.chars();
        key.code = match (letters.next(), letters.next()) {
            (Some(letter), None) => KeyCode::Char(letter),
            _ => named(rest)?,
        };
        // A terminal sends the same for ctrl+shift+x and ctrl+x, and for shift+r and R.
        if let KeyCode::Char(letter) = key.code {
            if key.ctrl {
                key.code = KeyCode::Char(letter.to_ascii_lowercase());
            } else if key.shift {
                key.code = KeyCode::Char(letter.to_ascii_uppercase());
            }
            key.shift = false;
        }
        Some(key)
    }
}

fn named(name: &str) -> Option<KeyCode> {
    let function = name
        .strip_prefix(['F', 'f'])
        .and_then(|number| number.parse::<u8>().ok())
        .filter(|number| (1..=12).contains(number));
    match function {
        Some(number) => Some(KeyCode::F(number)),
        None => NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, code)| *code),
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (set, name) in [
            (self.ctrl, "ctrl-"),
            (self.alt, "alt-"),
            (self.shift, "shift-"),
        ] {
            if set {
                f.write_str(name)?;
            }
        }
        match self.code {
            KeyCode::Up => f.write_str("↑"),
            KeyCode::Down => f.write_str("↓"),
            KeyCode::Left => f.write_str("←"),
            KeyCode::Right => f.write_str("→"),
            KeyCode::F(number) => write!(f, "F{number}"),
            code => match (NAMES.iter().find(|(_, known)| *known == code), code) {
                (Some((name, _)), _) => f.write_str(name),
                (None, KeyCode::Char(letter)) => write!(f, "{letter}"),
                (None, _) => Ok(()),
            },
        }
    }
}

/// One key, or several that are pressed one after the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Chord(pub(crate) Vec<Key>);

impl Chord {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let keys: Option<Vec<Key>> = text.split_whitespace().map(Key::parse).collect();
        keys.filter(|keys| !keys.is_empty()).map(Self)
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, key) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{key}")?;
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Chord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "`{text}` is not a key such as \"c\", \"shift+up\" or \"ctrl+x p\""
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_parsed_in_all_their_spellings() {
        for (text, shown) in [
            ("c", "c"),
            ("R", "R"),
            ("shift+r", "R"),
            ("enter", "enter"),
            ("space", "space"),
            ("ctrl+x p", "ctrl-x p"),
            ("ctrl-X", "ctrl-x"),
            ("shift+up", "shift-↑"),
            ("alt+enter", "alt-enter"),
            ("f12", "F12"),
            ("/", "/"),
            ("+", "+"),
            ("ctrl++", "ctrl-+"),
            ("-", "-"),
        ] {
            let chord = Chord::parse(text).map(|chord| chord.to_string());
            assert_eq!(chord.as_deref(), Some(shown), "{text}");
        }
        for text in ["", "  ", "enterr", "f13", "meta+x", "cc"] {
            assert_eq!(Chord::parse(text), None, "{text}");
        }
    }
}
