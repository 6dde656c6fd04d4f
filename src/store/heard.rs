//! The last word of an agent's hooks: one small file per instance, replaced by each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{InstanceDir, StoreError};
use crate::model::Timestamp;

/// What a hook told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Heard {
    pub format: u32,
    /// As the agent names it.
    pub event: String,
    /// What it is about: a tool, a kind of notification, a reason.
    pub detail: Option<String>,
    /// The conversation that the agent names.
    pub session: Option<String>,
    /// Those that this process was in before: `/clear` may change them while nobody looks.
    #[serde(default)]
    pub earlier: Vec<String>,
    /// Work goes on behind the prompt.
    pub background: bool,
    pub at: Timestamp,
}

/// So many conversations of one process are remembered.
const EARLIER: usize = 100;

impl Heard {
    pub(crate) const FORMAT: u32 = 1;

    /// The same word by someone who knows what was told before it.
    fn after(mut self, known: Self) -> Self {
        self.earlier = known.earlier;
        if self.session.is_none() {
            self.session = known.session;
        } else if let Some(before) = known.session.filter(|id| self.session.as_ref() != Some(id)) {
            self.earlier.retain(|id| *id != before);
            self.earlier.push(before);
            let surplus = self.earlier.len().saturating_sub(EARLIER);
            self.earlier.drain(..surplus);
        }
        self
    }
}

impl InstanceDir {
    /// What was heard last, if it can be understood: it is a hint, and others come.
    pub(crate) fn heard(&self) -> Option<Heard> {
        let heard: Heard = serde_json::from_slice(&std::fs::read(self.heard_path()).ok()?).ok()?;
        (heard.format == Heard::FORMAT).then_some(heard)
    }

    /// Keeps the word, unless a later one is there already. Not synced: after a power cut no agent runs
    /// that it could be about.
    pub(crate) fn hear(&self, heard: Heard) -> Result<(), StoreError> {
        let heard = match self.heard() {
            Some(known) if known.at > heard.at => return Ok(()),
            Some(known) => heard.after(known),
            None => heard,
        };
        let path = self.heard_path();
        let text = serde_json::to_vec(&heard).map_err(|error| StoreError::Corrupt {
            path: path.clone(),
            message: error.to_string(),
        })?;
        let mut fresh = tempfile::NamedTempFile::new_in(&self.path)
            .map_err(StoreError::io("write in", &self.path))?;
        std::io::Write::write_all(&mut fresh, &text).map_err(StoreError::io("write", &path))?;
        fresh
            .persist(&path)
            .map_err(|error| StoreError::io("replace", &path)(error.error))?;
        Ok(())
    }

    /// What an earlier process said is not about the next one.
    pub(crate) fn forget_heard(&self) {
        // Usually there is none.
        drop(std::fs::remove_file(self.heard_path()));
    }

    fn heard_path(&self) -> PathBuf {
        self.path.join("hook.json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(event: &str, at: &str) -> Heard {
        Heard {
            format: Heard::FORMAT,
            event: event.to_owned(),
            detail: None,
            session: None,
            earlier: Vec::new(),
            background: false,
            at: Timestamp::parse(at).unwrap(),
        }
    }

    #[test]
    fn the_latest_word_stands_whoever_writes_last() {
        let folder = tempfile::tempdir().unwrap();
        let dir = InstanceDir {
            path: folder.path().to_owned(),
        };
        assert_eq!(dir.heard(), None);
        let stop = heard("Stop", "2026-11-15T10:00:02Z");
        dir.hear(stop.clone()).unwrap();
        dir.hear(heard("PostToolUse", "2026-11-15T10:00:01Z"))
            .unwrap();
        assert_eq!(dir.heard(), Some(stop));
        std::fs::write(folder.path().join("hook.json"), "{\"format\":1,\"ev").unwrap();
        assert_eq!(dir.heard(), None, "a torn file is no word");
        let next = heard("UserPromptSubmit", "2026-11-15T10:00:03Z");
        dir.hear(next.clone()).unwrap();
        assert_eq!(dir.heard(), Some(next));
        dir.forget_heard();
        assert_eq!(dir.heard(), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn conversations_that_changed_unseen_are_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let dir = InstanceDir {
            path: folder.path().to_owned(),
        };
        for (second, session) in [(1, "a"), (2, "b"), (3, "b"), (4, "c"), (5, "a"), (6, "d")] {
            let mut word = heard("SessionStart", &format!("2026-11-15T10:00:0{second}Z"));
            word.session = Some(session.to_owned());
            dir.hear(word).unwrap();
        }
        let known = dir.heard().unwrap();
        assert_eq!(known.session.as_deref(), Some("d"));
        assert_eq!(known.earlier, ["b", "c", "a"]);
    }
}
