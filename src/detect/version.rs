//! Versions of agents, and version ranges.

use std::fmt;

use serde::{Deserialize, Deserializer};

/// `2.1.325`: numbers, compared one by one. Missing numbers count as 0.
#[derive(Debug, Clone)]
pub(crate) struct AgentVersion(Vec<u64>);

/// `>=2.1, <3`: every part must match.
#[derive(Debug, Clone)]
pub(crate) struct VersionRange(Vec<(Comparison, AgentVersion)>);

#[derive(Debug, Clone, Copy)]
enum Comparison {
    Less,
    AtMost,
    Equal,
    AtLeast,
    Greater,
}

impl AgentVersion {
    /// The first version in the text: `codex-cli 0.166.0 (musl)` → `0.166.0`.
    pub(crate) fn find(text: &str) -> Option<Self> {
        text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
            .map(|word| word.trim_matches('.'))
            .filter(|word| word.contains('.'))
            .find_map(Self::parse)
    }

    fn parse(text: &str) -> Option<Self> {
        let numbers: Result<Vec<u64>, _> = text.split('.').map(str::parse).collect();
        numbers.ok().filter(|numbers| !numbers.is_empty()).map(Self)
    }

    fn number(&self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or(0)
    }
}

impl PartialEq for AgentVersion {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for AgentVersion {}

impl PartialOrd for AgentVersion {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for AgentVersion {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (0..self.0.len().max(other.0.len()))
            .map(|at| self.number(at).cmp(&other.number(at)))
            .find(|ordering| ordering.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    }
}

impl fmt::Display for AgentVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (comparison, bound)) in self.0.iter().enumerate() {
            let sign = match comparison {
                Comparison::Less => "<",
                Comparison::AtMost => "<=",
                Comparison::Equal => "=",
                Comparison::AtLeast => ">=",
                Comparison::Greater => ">",
            };
            let before = if at > 0 { ", " } else { "" };
            write!(f, "{before}{sign}{bound}")?;
        }
        Ok(())
    }
}

impl VersionRange {
    pub(crate) fn contains(&self, version: &AgentVersion) -> bool {
        self.0.iter().all(|(comparison, bound)| {
            let ordering = version.cmp(bound);
            match comparison {
                Comparison::Less => ordering.is_lt(),
                Comparison::AtMost => ordering.is_le(),
                Comparison::Equal => ordering.is_eq(),
                Comparison::AtLeast => ordering.is_ge(),
                Comparison::Greater => ordering.is_gt(),
            }
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let parts: Option<Vec<_>> = text
            .split(',')
            .map(|part| {
                let part = part.trim();
                let digits = part.find(|c: char| c.is_ascii_digit())?;
                let (sign, version) = part.split_at(digits);
                let comparison = match sign.trim() {
                    "<" => Comparison::Less,
                    "<=" => Comparison::AtMost,
                    "=" => Comparison::Equal,
                    ">=" => Comparison::AtLeast,
                    ">" => Comparison::Greater,
                    _ => return None,
                };
                Some((comparison, AgentVersion::parse(version)?))
            })
            .collect();
        parts.map(Self)
    }
}

impl<'de> Deserialize<'de> for VersionRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "`{text}` is not a range of versions; write for example \">=2.1, <3\""
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        for (text, expected) in [
            ("2.1.325 (Claude Code)", Some("2.1.325")),
            ("codex-cli 0.166.0", Some("0.166.0")),
            ("aider 0.86.2\n", Some("0.86.2")),
            ("v1.18.33", Some("1.18.33")),
            ("no version at all 7", None),
        ] {
            let found = AgentVersion::find(text).map(|version| version.to_string());
            assert_eq!(found.as_deref(), expected);
        }
    }

    #[test]
    fn a_range_holds_between_its_bounds() {
        let range = VersionRange::parse(">=2.1, <3").unwrap();
        for (version, expected) in [
            ("2.0.9", false),
            ("2.1", true),
            ("2.99.1", true),
            ("3.0", false),
        ] {
            assert_eq!(
                range.contains(&AgentVersion::find(version).unwrap()),
                expected,
                "{version}"
            );
        }
        assert_eq!(range.to_string(), ">=2.1, <3");
        assert!(VersionRange::parse("~2").is_none());
        assert!(VersionRange::parse("").is_none());
    }
}
