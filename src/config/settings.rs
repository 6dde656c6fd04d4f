//! The settings, as types.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use super::Chord;
use crate::model::SealNetwork;

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Settings {
    pub new: New,
    pub launch: Launch,
    pub terminal: Terminal,
    pub pause: Pause,
    pub resume: Resume,
    pub snapshots: Snapshots,
    pub compact: Compact,
    pub idle: Idle,
    pub limits: Limits,
    pub land: Land,
    pub notify: Notify,
    pub seal: Seal,
    pub hosts: Hosts,
    pub ui: Ui,
    /// The keys of the terminal UI: action name to keys.
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
    pub next_key: String,
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
pub(crate) struct Idle {
    pub suspend: bool,
    #[serde(deserialize_with = "idle_timeout")]
    pub timeout: Duration,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Limits {
    pub active: u32,
    /// 0: no limit.
    #[serde(deserialize_with = "bytes")]
    pub memory: u64,
    /// Whether work is taken up again when a usage limit has reset.
    #[serde(rename = "continue")]
    pub continues: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Land {
    /// Empty: the base of the instance.
    pub into: String,
    #[serde(deserialize_with = "duration")]
    pub check_timeout: Duration,
    /// Zero: the checkout of a check is deleted after it.
    #[serde(deserialize_with = "duration")]
    pub keep_checkout: Duration,
    pub hooks: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Notify {
    pub by: Vec<NotifyBy>,
    #[serde(deserialize_with = "duration")]
    pub turn: Duration,
    pub command: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NotifyBy {
    Bell,
    Desktop,
}

/// What a sealed agent may use besides its worktree and its own state.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Seal {
    /// Whether new instances are sealed without `--seal`.
    pub default: bool,
    pub network: SealNetwork,
    pub hosts: Vec<String>,
    pub read: Vec<String>,
    pub write: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Hosts {
    #[serde(deserialize_with = "duration")]
    pub deadline: Duration,
    /// How long a host that sends something may say nothing.
    #[serde(deserialize_with = "silence")]
    pub silence: Duration,
    /// 0: as much as the disk allows.
    #[serde(deserialize_with = "bytes")]
    pub fetch_limit: u64,
}

/// A host says every two seconds that it is there. Less would take a busy one for one that has stopped.
const SHORTEST_SILENCE: Duration = Duration::from_secs(5);

fn silence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let silence = duration(deserializer)?;
    if silence < SHORTEST_SILENCE {
        return Err(serde::de::Error::custom("give 5s or more"));
    }
    Ok(silence)
}

/// The range of an idle timeout. A shorter one would pause agents that the user has just left.
pub(crate) const IDLE_TIMEOUTS: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(60)..=Duration::from_secs(120 * 60);

fn idle_timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let timeout = duration(deserializer)?;
    if IDLE_TIMEOUTS.contains(&timeout) {
        Ok(timeout)
    } else {
        Err(serde::de::Error::custom("give 1m to 120m"))
    }
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
