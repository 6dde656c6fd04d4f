//! What the instances have used of their models, as it is kept beside their records.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::model::{InstanceId, State, Timestamp, Title, TurnUsage, Usage, UsageLedger};
use crate::store::InstanceDir;

/// What is kept of one instance: agents delete their transcripts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::engine) struct KeptUsage {
    /// By the name of the transcript.
    pub sources: BTreeMap<String, UsageOfSource>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::engine) struct UsageOfSource {
    pub path: PathBuf,
    /// What the file looked like when it was read.
    pub stamp: Vec<(u64, i64, i64)>,
    /// How far it was read. Opaque here.
    pub bookmark: serde_json::Value,
    pub ledger: UsageLedger,
}

impl KeptUsage {
    /// What was kept last; nothing where that cannot be read, because it is counted again.
    pub(in crate::engine) fn of(dir: &InstanceDir) -> Self {
        let text = std::fs::read(dir.path.join(FILE)).ok();
        let kept = text.and_then(|text| serde_json::from_slice(&text).ok());
        kept.unwrap_or_default()
    }
}

impl UsageOfSource {
    /// Whether the transcript was written to since.
    pub(in crate::engine) fn is_stale(&self) -> bool {
        stamp(&self.path) != self.stamp
    }
}

/// What a transcript looks like now. A database is written through a file beside it.
pub(in crate::engine) fn stamp(path: &Path) -> Vec<(u64, i64, i64)> {
    let mut beside = path.as_os_str().to_owned();
    beside.push("-wal");
    let stamp_of = |path: &Path| {
        let file = std::fs::metadata(path).ok()?;
        Some((file.len(), file.mtime(), file.mtime_nsec()))
    };
    let all = [stamp_of(path), stamp_of(Path::new(&beside))];
    all.into_iter().flatten().collect()
}

pub(in crate::engine) const FILE: &str = "usage.json";

/// The usage of one instance, in short.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct UsageView {
    #[serde(flatten)]
    pub total: Usage,
    pub turns: usize,
    pub last_turn: Option<TurnUsage>,
    pub today: Usage,
}

impl UsageView {
    /// None where nothing is known.
    pub(in crate::engine) fn of(kept: &KeptUsage, now: Timestamp) -> Option<Self> {
        let ledgers = || kept.sources.values().map(|source| &source.ledger);
        let mut view = Self {
            total: Usage::default(),
            turns: 0,
            last_turn: None,
            today: Usage::default(),
        };
        let today = now.local_minute();
        let today = today.get(..10).unwrap_or_default();
        for ledger in ledgers() {
            view.total.add(ledger.total());
            view.turns += ledger.turns.len();
            if let Some(day) = ledger.days.get(today) {
                view.today.add(*day);
            }
        }
        view.last_turn = ledgers()
            .filter_map(|ledger| ledger.turns.last().copied())
            .max_by_key(|turn| turn.at);
        (view.total != Usage::default()).then_some(view)
    }
}

/// What one instance has used, in detail.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct InstanceUsage {
    pub id: InstanceId,
    pub title: Title,
    pub agent: String,
    pub state: State,
    #[serde(flatten)]
    pub total: Usage,
    pub turns: Vec<TurnUsage>,
}

/// What all have used.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct UsageReport {
    /// Those of which something is known, the dearest first.
    pub instances: Vec<InstanceUsage>,
    pub days: Vec<DayUsage>,
    pub total: Usage,
    /// Agents whose transcripts tell nothing of it.
    pub silent: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct DayUsage {
    pub day: String,
    #[serde(flatten)]
    pub usage: Usage,
}
