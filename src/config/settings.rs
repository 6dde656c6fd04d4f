//! What can be set, with its types.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use super::Chord;

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Settings {
    pub new: New,
    pub launch: Launch,
    pub terminal: Terminal,
    pub pause: Pause,
    pub resume: Resume,
    pub snapshots: Snapshots,
    pub compact: Compact,
    pub limits: Limits,
    pub ui: Ui,
    /// What each key of the terminal UI does: actions by name, with the keys that ask for them.
    pub keys: BTreeMap<String, Vec<Chord>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct New {
    pub agent: String,
    pub base: String,
    pub branch_prefix: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Launch {
    #[serde(deserialize_with = "duration")]
    pub ready: Duration,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Terminal {
    pub columns: u16,
    pub rows: u16,
    pub history: u32,
    pub detach_key: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Pause {
    #[serde(deserialize_with = "duration")]
    pub wait: Duration,
    #[serde(deserialize_with = "duration")]
    pub grace: Duration,
    #[serde(deserialize_with = "duration")]
    pub stop: Duration,
    pub worktree: WorktreeOnPause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WorktreeOnPause {
    Park,
    Remove,
    Keep,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Resume {
    pub prompt: ResumePrompt,
    #[serde(deserialize_with = "duration")]
    pub ready: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ResumePrompt {
    None,
    Auto,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Snapshots {
    #[serde(deserialize_with = "duration")]
    pub keep: Duration,
    #[serde(deserialize_with = "duration")]
    pub park: Duration,
    #[serde(deserialize_with = "bytes")]
    pub ignored_limit: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Compact {
    pub after: usize,
    pub keep: usize,
    pub command: String,
    #[serde(deserialize_with = "duration")]
    pub idle: Duration,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Limits {
    pub active: u32,
}

/// The terminal UI.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Ui {
    pub theme: ThemeName,
    pub mouse: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ThemeName {
    Auto,
    Dark,
    Light,
    None,
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    super::parse_duration(&text).ok_or_else(|| {
        serde::de::Error::custom(format!(
            "`{text}` is not a duration such as \"30s\" or \"10m\""
        ))
    })
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let (number, unit) = text.split_at(
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let factor = match unit.trim() {
        "" | "B" => Some(1),
        "kB" | "KB" => Some(1_000),
        "MB" => Some(1_000_000),
        "GB" => Some(1_000_000_000_u64),
        _ => None,
    };
    number
        .parse::<u64>()
        .ok()
        .zip(factor)
        .and_then(|(number, factor)| number.checked_mul(factor))
        .ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not a size such as \"50MB\"")))
}
