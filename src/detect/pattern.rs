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

    /// Where the first match ends.
    pub(crate) fn end_of(&self, text: &str) -> Option<usize> {
        Some(self.regex()?.find(text)?.end())
    }

    /// Checks that it is a valid regular expression.
    pub(crate) fn check(&self, key: &str) -> Result<(), Fault> {
        match Regex::new(&self.0.source) {
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
            .get_or_init(|| Regex::new(&self.0.source).ok())
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

/// The last line of the message. The lines before it show the expression with a caret below it.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim().trim_start_matches("error: ").to_owned()
}
