//! Titles (free text), slugs (safe parts of names) and comparison without white space.

use std::fmt;

use serde::{Deserialize, Serialize};

const LONGEST_TITLE: usize = 200;
/// Of a title that is made from a text.
const LONGEST_SUGGESTED: usize = 32;
const LONGEST_SLUG: usize = 40;

/// The user's name for an instance. It may contain any characters, so it never becomes part of a path, a
/// ref, a tmux name or a shell word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Title(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TitleError {
    #[error("a title cannot be empty")]
    Empty,
    #[error("a title can have at most {LONGEST_TITLE} characters, not {0}")]
    TooLong(usize),
}

impl Title {
    pub(crate) fn new(text: &str) -> Result<Self, TitleError> {
        let text = text.trim();
        match text.chars().count() {
            0 => Err(TitleError::Empty),
            length if length > LONGEST_TITLE => Err(TitleError::TooLong(length)),
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// A short one from the beginning of a text, such as a prompt; None where there is no word. Without what has a meaning
    /// in the name of an instance or in a shell.
    pub(crate) fn from_beginning(text: &str) -> Option<Self> {
        let line = text
            .lines()
            .find(|line| line.contains(char::is_alphanumeric))?;
        let plain: String = line
            .chars()
            .filter(|character| !['\'', '’'].contains(character))
            .map(|character| match character {
                '-' | '_' | '.' | '+' | '#' => character,
                character if character.is_alphanumeric() => character,
                _ => ' ',
            })
            .collect();
        let mut title = String::new();
        for word in plain.split_whitespace() {
            let length = title.chars().count() + 1 + word.chars().count();
            if !title.is_empty() && length > LONGEST_SUGGESTED {
                break;
            }
            title.push(' ');
            title.push_str(word);
        }
        let title = title.trim_matches(|character: char| !character.is_alphanumeric());
        let title: String = title.chars().take(LONGEST_SUGGESTED).collect();
        Self::new(&title).ok()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The last part of a path, as the name of a repository is shown.
pub(crate) fn directory_name(path: &std::path::Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().trim_end_matches(".git").to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "repository".to_owned())
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::printable_line(&self.0))
    }
}

/// The text without white space, to compare with a screen that wraps and indents.
pub(crate) fn without_whitespace(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The last `count` lines.
pub(crate) fn last_lines(text: &str, count: usize) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let Some(breaks) = count.checked_sub(1) else {
        return "";
    };
    let first = text.rmatch_indices('\n').nth(breaks);
    first.map_or(text, |(at, _)| text.get(at + 1..).unwrap_or_default())
}

/// The readable part of a branch or directory name: `[a-z0-9-]`, at most 40, never a leading dash.
/// Empty where no such character is left (`"日本語"`): callers then use the id alone.
pub(crate) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        if slug.len() >= LONGEST_SLUG {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_title_is_made_from_the_beginning_of_a_text() {
        for (text, title) in [
            ("fix the login", Some("fix the login")),
            (
                "\n\n  Fix the login page so that it works again",
                Some("Fix the login page so that it"),
            ),
            (
                "/review src/login.rs: don't \"stop\"",
                Some("review src login.rs dont stop"),
            ),
            ("model:say hi", Some("model say hi")),
            ("- a point", Some("a point")),
            ("feature-x", Some("feature-x")),
            ("--", None),
            ("", None),
        ] {
            let made = Title::from_beginning(text);
            assert_eq!(made.as_ref().map(Title::as_str), title, "{text:?}");
        }
        let long = Title::from_beginning(&"x".repeat(500)).unwrap();
        assert_eq!(long.as_str().len(), LONGEST_SUGGESTED);
    }

    #[test]
    fn the_last_lines_are_whole_lines() {
        for (text, count, expected) in [
            ("a\nb\nc", 2, "b\nc"),
            ("a\nb\nc\n", 2, "b\nc"),
            ("a\nb\nc", 3, "a\nb\nc"),
            ("a\nb\nc", 9, "a\nb\nc"),
            ("a\nb", 0, ""),
            ("", 2, ""),
        ] {
            assert_eq!(last_lines(text, count), expected, "{text:?} {count}");
        }
    }

    #[test]
    fn a_slug_keeps_what_is_readable() {
        for (title, expected) in [
            ("Fix the API", "fix-the-api"),
            ("  --rf / ../..; $(rm) ", "rf-rm"),
            ("日本語", ""),
            ("a.lock", "a-lock"),
            ("#(touch x)", "touch-x"),
        ] {
            assert_eq!(slug(title), expected);
        }
    }

    proptest! {
        #[test]
        fn a_slug_is_always_safe(title in "\\PC*|[\\x00-\\xff]*") {
            let slug = slug(&title);
            prop_assert!(slug.len() <= LONGEST_SLUG);
            prop_assert!(!slug.starts_with('-') && !slug.ends_with('-'));
            prop_assert!(slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
        }
    }
}
