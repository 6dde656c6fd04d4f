//! A regular expression from a provider file.

use std::sync::{Arc, OnceLock};

use regex::Regex;
use serde::Deserialize;

/// Compiled at first use: most commands need the patterns of one agent or of none. A caller with a pattern
/// from a user calls [`Self::check`] first.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Pattern(Arc<Lazy>);

#[derive(Debug)]
struct Lazy {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

/// A mistake in a provider file, and its place: `rules[2].any[0]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub key: String,
    pub message: String,
}

impl Pattern {
    #[cfg(test)]
    pub(crate) fn new(source: &str) -> Self {
        Self::from(source.to_owned())
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// The first group that matched, else the whole match.
    pub(crate) fn capture<'t>(&self, text: &'t str) -> Option<&'t str> {
        let captures = self.regex()?.captures(text)?;
        captures
            .iter()
            .skip(1)
            .flatten()
            .next()
            .or_else(|| captures.get(0))
            .map(|found| found.as_str())
    }

    /// The first group of a match; empty where the match leaves it out. Without groups: the whole match.
    pub(crate) fn group<'t>(&self, text: &'t str) -> Option<&'t str> {
        let captures = self.regex()?.captures(text)?;
        let mut groups = captures.iter();
        let whole = groups.next().flatten();
        match captures.len() {
            0 | 1 => whole.map(|found| found.as_str()),
            _ => Some(groups.flatten().next().map_or("", |found| found.as_str())),
        }
    }

    /// Where the first match ends.
    pub(crate) fn end_of(&self, text: &str) -> Option<usize> {
        Some(self.regex()?.find(text)?.end())
    }

    /// Checks that it is a valid regular expression.
    pub(crate) fn check(&self, key: &str) -> Result<(), Fault> {
        match compiled(&self.0.source) {
            Ok(_) => Ok(()),
            Err(error) => Err(Fault {
                key: key.to_owned(),
                message: format!("not a valid pattern: {}", reason(&error)),
            }),
        }
    }

    fn regex(&self) -> Option<&Regex> {
        self.0
            .compiled
            .get_or_init(|| compiled(&self.0.source).ok())
            .as_ref()
    }
}

impl From<String> for Pattern {
    fn from(source: String) -> Self {
        Self(Arc::new(Lazy {
            source,
            compiled: OnceLock::new(),
        }))
    }
}

/// A space means any white space: agents draw no-break spaces where one expects a space.
fn compiled(source: &str) -> Result<Regex, regex::Error> {
    // Where that changes what the expression means (`[ -~]`, verbose mode), it stays as it was written.
    let verbose = source.starts_with("(?") && source.contains('x');
    match Regex::new(&with_any_white_space(source)) {
        Ok(regex) if !verbose => Ok(regex),
        _ => Regex::new(source),
    }
}

fn with_any_white_space(source: &str) -> String {
    let mut escaped = false;
    let mut pattern = String::with_capacity(source.len());
    for letter in source.chars() {
        match letter {
            ' ' if !escaped => pattern.push_str(r"\s"),
            _ => pattern.push(letter),
        }
        escaped = letter == '\\' && !escaped;
    }
    pattern
}

/// The last line of the message. The lines before it show the expression with a caret below it.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_any_white_space() {
        for (pattern, text) in [
            ("^ +⎿ +Not logged in", " ⎿ \u{a0}Not\u{a0}logged in"),
            (r"^a\ b c$", "a b\u{a0}c"),
            ("^[ x]+$", "x \u{a0}"),
            ("^[ -~]+$", "plain text"),
            ("^a {2,}b", "a\u{a0} b"),
        ] {
            assert!(Pattern::new(pattern).is_match(text), "{pattern}");
            Pattern::new(pattern).check("key").unwrap();
        }
        assert!(!Pattern::new("^[ -~]+$").is_match("\u{a0}"));
        // A no-break space that is asked for is not just any.
        assert!(!Pattern::new(r"^❯\x{a0}").is_match("❯ x"));
    }
}
