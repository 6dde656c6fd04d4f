//! The audit of autoyes: each decision is written before it is carried out.
//!
//! Each line holds the hash of the one before it, so that accidental damage is found: a line that was
//! edited, cut off or lost. It is no protection against intent: there is no key, so a program that can
//! write the file can compute the hashes anew, and lines that are missing at the end leave no trace.
//! One file for a home. An answer reads its end; only `biv audit` reads all of it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Durability, Lock, LockMode, StoreError, append_line};
use crate::model::{InstanceId, RunId, Timestamp, Title};

/// How many bytes are read for the recent decisions: enough for an hour at the usual limits.
const RECENT: u64 = 512 * 1024;
const WAIT: Duration = Duration::from_secs(5);

/// One decision or its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuditEntry {
    pub at: Timestamp,
    pub instance: InstanceId,
    pub title: Title,
    pub run: RunId,
    pub agent: String,
    /// `screen` or `hook`.
    pub channel: String,
    /// Identifies the dialog; the same for its decision and its outcome.
    pub dialog: String,
    pub tool: Option<String>,
    /// Without secrets.
    pub command: Option<String>,
    pub paths: Vec<String>,
    pub decision: String,
    pub rule: Option<String>,
    pub reason: String,
    /// Identifies the policy that decided.
    pub policy: String,
    /// The keys to press; empty where none is pressed.
    pub keys: Vec<String>,
    /// `decided` before the answer is given, then the outcome.
    pub outcome: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuditLine {
    #[serde(flatten)]
    pub entry: AuditEntry,
    /// The hash of the line before.
    pub before: String,
    pub hash: String,
}

/// All readable lines, and where the first damage is: at that line or before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Audit {
    pub lines: Vec<AuditLine>,
    pub broken_at: Option<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct AuditLog {
    path: PathBuf,
    lock: PathBuf,
}

impl AuditLog {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            path: root.join("audit.jsonl"),
            lock: root.join("lock").join("audit.lock"),
        }
    }

    /// Appends an entry. It is on the disk when this returns.
    pub(crate) fn append(&self, entry: AuditEntry) -> Result<(), StoreError> {
        let _lock = Lock::take(&self.lock, LockMode::Exclusive, WAIT, "audit")?;
        let before = self
            .tail(64 * 1024)?
            .pop()
            .map(|line| line.hash)
            .unwrap_or_default();
        let hash = hash_of(&serde_json::to_vec(&entry).unwrap_or_default(), &before);
        let line = AuditLine {
            entry,
            before,
            hash,
        };
        append_line(&self.path, &line, Durability::Durable)
    }

    /// The last decisions on one instance, oldest first.
    pub(crate) fn recent(&self, instance: &InstanceId) -> Result<Vec<AuditEntry>, StoreError> {
        let lines = self.tail(RECENT)?;
        let entries = lines.into_iter().map(|line| line.entry);
        Ok(entries
            .filter(|entry| entry.instance == *instance)
            .collect())
    }

    /// Every line that can be read, with its hash compared.
    pub(crate) fn read(&self) -> Result<Audit, StoreError> {
        let text = match std::fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(StoreError::io("read", &self.path)(error)),
        };
        let mut lines: Vec<AuditLine> = Vec::new();
        let mut skipped = false;
        let mut before = String::new();
        let mut broken_at = None;
        for text in text
            .split(|byte| *byte == b'\n')
            .filter(|text| !text.is_empty())
        {
            let Ok(line) = serde_json::from_slice::<AuditLine>(text) else {
                skipped = true;
                continue;
            };
            let follows = line.before == before
                && entry_of(text).is_some_and(|entry| line.hash == hash_of(&entry, &line.before));
            if !follows && broken_at.is_none() {
                broken_at = Some(lines.len() + 1);
            }
            before.clone_from(&line.hash);
            lines.push(line);
        }
        if skipped && broken_at.is_none() {
            broken_at = Some(lines.len() + 1);
        }
        Ok(Audit { lines, broken_at })
    }

    fn tail(&self, bytes: u64) -> Result<Vec<AuditLine>, StoreError> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("read", &self.path)(error)),
        };
        let io = || StoreError::io("read", &self.path);
        let length = file.seek(SeekFrom::End(0)).map_err(io())?;
        let start = length.saturating_sub(bytes);
        file.seek(SeekFrom::Start(start)).map_err(io())?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io())?;
        let mut lines = text.split(|byte| *byte == b'\n');
        if start > 0 {
            // The first line may be incomplete.
            lines.next();
        }
        Ok(lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect())
    }
}

/// The exact bytes of the entry in a line: a newer version may have written fields that this one does not
/// know.
fn entry_of(line: &[u8]) -> Option<Vec<u8>> {
    const LINK: &[u8] = b",\"before\":";
    let end = line.windows(LINK.len()).rposition(|part| part == LINK)?;
    Some([line.get(..end)?, b"}"].concat())
}

fn hash_of(entry: &[u8], before: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(before.as_bytes());
    hash.update(entry);
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(command: &str) -> AuditEntry {
        AuditEntry {
            at: Timestamp::from_epoch(1_800_000_000).unwrap(),
            instance: InstanceId::parse("23456789bc").unwrap(),
            title: Title::new("x").unwrap(),
            run: RunId::random(),
            agent: "demo".to_owned(),
            channel: "screen".to_owned(),
            dialog: "d".to_owned(),
            tool: Some("shell".to_owned()),
            command: Some(command.to_owned()),
            paths: Vec::new(),
            decision: "accept".to_owned(),
            rule: None,
            reason: String::new(),
            policy: "p".to_owned(),
            keys: vec!["1".to_owned()],
            outcome: "decided".to_owned(),
        }
    }

    fn log(dir: &Path) -> AuditLog {
        std::fs::create_dir(dir.join("lock")).unwrap();
        AuditLog::new(dir)
    }

    #[test]
    fn a_line_that_was_edited_or_lost_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        for command in ["one", "two", "three"] {
            log.append(entry(command)).unwrap();
        }
        let audit = log.read().unwrap();
        assert_eq!((audit.lines.len(), audit.broken_at), (3, None));
        assert_eq!(log.recent(&audit.lines[0].entry.instance).unwrap().len(), 3);
        let whole = std::fs::read_to_string(&log.path).unwrap();
        std::fs::write(&log.path, whole.replace("two", "TWO")).unwrap();
        assert_eq!(log.read().unwrap().broken_at, Some(2));
        let without: Vec<&str> = whole
            .lines()
            .enumerate()
            .filter(|(at, _)| *at != 1)
            .map(|(_, line)| line)
            .collect();
        std::fs::write(&log.path, without.join("\n")).unwrap();
        assert_eq!(log.read().unwrap().broken_at, Some(2));
    }

    #[test]
    fn a_field_of_a_newer_version_breaks_no_chain_and_a_changed_one_does() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        log.append(entry("one")).unwrap();
        let first = log.read().unwrap().lines.remove(0);
        let mut newer = serde_json::to_string(&entry("two")).unwrap();
        newer.insert_str(1, "\"seal\":{\"before\":1},");
        let hash = hash_of(newer.as_bytes(), &first.hash);
        newer.pop();
        let line = format!(
            "{newer},\"before\":\"{}\",\"hash\":\"{hash}\"}}\n",
            first.hash
        );
        let whole = std::fs::read_to_string(&log.path).unwrap() + &line;
        std::fs::write(&log.path, &whole).unwrap();
        log.append(entry("three")).unwrap();
        let audit = log.read().unwrap();
        assert_eq!((audit.lines.len(), audit.broken_at), (3, None));
        std::fs::write(&log.path, whole.replace("\"before\":1", "\"before\":2")).unwrap();
        assert_eq!(log.read().unwrap().broken_at, Some(2));
    }

    #[test]
    fn the_chain_goes_on_behind_a_torn_line() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        log.append(entry("one")).unwrap();
        let whole = std::fs::read(&log.path).unwrap();
        std::fs::write(&log.path, [&whole[..], b"{\"at\":"].concat()).unwrap();
        log.append(entry("two")).unwrap();
        let audit = log.read().unwrap();
        assert_eq!(audit.lines.len(), 2);
        assert_eq!(audit.lines[1].before, audit.lines[0].hash);
    }
}
