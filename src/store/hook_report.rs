//! The last report of an agent's hooks: one small file per instance, replaced by each report.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::replace::replace_unsynced;
use super::{InstanceDir, StoreError};
use crate::model::Timestamp;

/// What a hook reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HookReport {
    pub format: u32,
    /// The event, as the agent names it.
    pub event: String,
    /// A detail of the event: a tool, a kind of notification, a reason.
    pub detail: Option<String>,
    /// The session id that the agent gives.
    pub session: Option<String>,
    /// Earlier session ids of this process. `/clear` may change the id several times between two looks.
    #[serde(default)]
    pub earlier: Vec<String>,
    /// Work continues in the background while the prompt is shown.
    pub background: bool,
    pub at: Timestamp,
    /// The event before it: an agent's farewell does not tell whether it was in its turn.
    #[serde(default)]
    pub before: Option<EventBefore>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventBefore {
    pub event: String,
    pub detail: Option<String>,
}

/// How many session ids of one process are kept.
const EARLIER: usize = 100;

impl HookReport {
    pub(crate) const FORMAT: u32 = 1;

    /// This report with the event and the session ids of the one before it.
    fn after(mut self, known: Self) -> Self {
        // An event that is repeated says no more than the first one.
        self.before = if known.event == self.event {
            known.before
        } else {
            Some(EventBefore {
                event: known.event,
                detail: known.detail,
            })
        };
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
    /// The last report; None where it cannot be read. It is a hint, and others follow.
    pub(crate) fn hook_report(&self) -> Option<HookReport> {
        let heard: HookReport =
            serde_json::from_slice(&std::fs::read(self.hook_report_path()).ok()?).ok()?;
        (heard.format == HookReport::FORMAT).then_some(heard)
    }

    /// Stores the report, unless a later one is stored already. Not synced: after a power cut its agent
    /// does not run.
    pub(crate) fn save_hook_report(&self, heard: HookReport) -> Result<(), StoreError> {
        let heard = match self.hook_report() {
            Some(known) if known.at > heard.at => return Ok(()),
            Some(known) => heard.after(known),
            None => heard,
        };
        let path = self.hook_report_path();
        let text = serde_json::to_vec(&heard).map_err(|error| StoreError::Corrupt {
            path: path.clone(),
            message: error.to_string(),
        })?;
        replace_unsynced(&path, &text)
    }

    /// Removes the report of an earlier process, which is not about the next one.
    pub(crate) fn forget_hook_report(&self) {
        if let Err(error) = std::fs::remove_file(self.hook_report_path())
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the last hook report was not removed");
        }
    }

    fn hook_report_path(&self) -> PathBuf {
        self.path.join("hook.json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(event: &str, at: &str) -> HookReport {
        HookReport {
            format: HookReport::FORMAT,
            event: event.to_owned(),
            detail: None,
            session: None,
            earlier: Vec::new(),
            background: false,
            at: Timestamp::parse(at).unwrap(),
            before: None,
        }
    }

    #[test]
    fn the_latest_report_is_kept_in_any_order_of_writing() {
        let folder = tempfile::tempdir().unwrap();
        let dir = InstanceDir {
            path: folder.path().to_owned(),
        };
        assert_eq!(dir.hook_report(), None);
        let stop = heard("Stop", "2026-11-15T10:00:02Z");
        dir.save_hook_report(stop.clone()).unwrap();
        dir.save_hook_report(heard("PostToolUse", "2026-11-15T10:00:01Z"))
            .unwrap();
        assert_eq!(dir.hook_report(), Some(stop));
        std::fs::write(folder.path().join("hook.json"), "{\"format\":1,\"ev").unwrap();
        assert_eq!(dir.hook_report(), None, "a torn file is no word");
        let next = heard("UserPromptSubmit", "2026-11-15T10:00:03Z");
        dir.save_hook_report(next.clone()).unwrap();
        assert_eq!(dir.hook_report(), Some(next));
        for second in 4..6 {
            let end = heard("SessionEnd", &format!("2026-11-15T10:00:0{second}Z"));
            dir.save_hook_report(end).unwrap();
        }
        let before = dir.hook_report().unwrap().before.unwrap();
        assert_eq!(before.event, "UserPromptSubmit");
        dir.forget_hook_report();
        assert_eq!(dir.hook_report(), None);
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
            dir.save_hook_report(word).unwrap();
        }
        let known = dir.hook_report().unwrap();
        assert_eq!(known.session.as_deref(), Some("d"));
        assert_eq!(known.earlier, ["b", "c", "a"]);
    }
}
