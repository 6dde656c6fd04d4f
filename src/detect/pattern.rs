//! A regular expression from a provider file.

use std::sync::{Arc, OnceLock};

use regex::Regex;
use regex_syntax::hir::{Hir, HirKind};
use serde::Deserialize;

/// Compiled at first use, and only where a text has what each match has: most commands need few of all patterns, and a
/// look would wait longer for the compiling than for all else that it computes. A caller with a pattern from a user
/// calls [`Self::check`] first.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Pattern(Arc<Lazy>);

#[derive(Debug)]
struct Lazy {
    source: String,
    expression: OnceLock<Expression>,
}

/// A pattern as it is meant.
#[derive(Debug)]
struct Expression {
    text: String,
    /// A text that each match has.
    needed: Option<String>,
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
        self.regex_for(text)
            .is_some_and(|regex| regex.is_match(text))
    }

    /// The first group that matched, else the whole match.
    pub(crate) fn capture<'t>(&self, text: &'t str) -> Option<&'t str> {
        let captures = self.regex_for(text)?.captures(text)?;
        captures
            .iter()
            .skip(1)
            .flatten()
            .next()
            .or_else(|| captures.get(0))
            .map(|found| found.as_str())
    }

    /// The groups of a match as one text; empty where the match leaves them out. Without groups: the whole match.
    pub(crate) fn groups(&self, text: &str) -> Option<String> {
        let captures = self.regex_for(text)?.captures(text)?;
        let mut groups = captures.iter();
        let whole = groups.next().flatten();
        match captures.len() {
            0 | 1 => whole.map(|found| found.as_str().to_owned()),
            _ => Some(groups.flatten().map(|found| found.as_str()).collect()),
        }
    }

    /// Where the first match ends.
    pub(crate) fn end_of(&self, text: &str) -> Option<usize> {
        Some(self.regex_for(text)?.find(text)?.end())
    }

    /// Checks that it is a valid regular expression.
    pub(crate) fn check(&self, key: &str) -> Result<(), Fault> {
        match Expression::of(&self.0.source).compile() {
            Ok(_) => Ok(()),
            Err(error) => Err(Fault {
                key: key.to_owned(),
                message: format!("not a valid pattern: {}", reason(&error)),
            }),
        }
    }

    /// None where it cannot match.
    fn regex_for(&self, text: &str) -> Option<&Regex> {
        let expression = self
            .0
            .expression
            .get_or_init(|| Expression::of(&self.0.source));
        let needed = expression.needed.as_ref();
        if needed.is_some_and(|needed| !text.contains(needed)) {
            return None;
        }
        let compiled = expression
            .compiled
            .get_or_init(|| expression.compile().ok());
        compiled.as_ref()
    }
}

impl From<String> for Pattern {
    fn from(source: String) -> Self {
        Self(Arc::new(Lazy {
            source,
            expression: OnceLock::new(),
        }))
    }
}

impl Expression {
    /// A space means any white space: agents draw no-break spaces where one expects a space. Where that changes what the
    /// expression means (`[ -~]`, verbose mode), it stays as it was written.
    fn of(source: &str) -> Self {
        let verbose = source.starts_with("(?") && source.contains('x');
        let wider = with_any_white_space(source);
        let wider = match regex_syntax::parse(&wider) {
            Ok(parsed) if !verbose => Some((wider, Some(parsed))),
            _ => None,
        };
        let (text, parsed) =
            wider.unwrap_or_else(|| (source.to_owned(), regex_syntax::parse(source).ok()));
        Self {
            text,
            needed: parsed.as_ref().and_then(part_of_each),
            compiled: OnceLock::new(),
        }
    }

    fn compile(&self) -> Result<Regex, regex::Error> {
        Regex::new(&self.text)
    }
}

/// The longest text that is found to be in each match.
fn part_of_each(expression: &Hir) -> Option<String> {
    match expression.kind() {
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok(),
        HirKind::Capture(group) => part_of_each(&group.sub),
        HirKind::Repetition(repeated) if repeated.min > 0 => part_of_each(&repeated.sub),
        HirKind::Concat(parts) => parts
            .iter()
            .filter_map(part_of_each)
            .max_by_key(String::len),
        _ => None,
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

    #[test]
    fn what_each_match_has_is_found() {
        for (pattern, needed) in [
            (r"^ ?Esc to cancel · Tab\b", Some("cancel")),
            (r"^❯\x{a0}(.*)$", Some("❯\u{a0}")),
            ("^─{10,}", Some("─")),
            ("(?:ab|cd)efg?h*", Some("ef")),
            (r"(\d+ )?(files?)", Some("file")),
            ("(?i)continue", None),
            ("(?x) two words", Some("twowords")),
            ("one|two", None),
            ("^[ -~]+$", None),
            ("(unclosed", None),
        ] {
            let found = Expression::of(pattern).needed;
            assert_eq!(found.as_deref(), needed, "{pattern}");
        }
    }
}
