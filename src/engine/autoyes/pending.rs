//! Who answers a request that an agent has made through a hook: the hook, or the user at the dialog.
//!
//! Agents draw their dialog while the hook is still being asked. A key for that dialog would reach what comes
//! after it if the hook answers in that moment.

use std::time::Duration;

use crate::engine::autoyes::entries::outcome;
use crate::engine::base::{Core, Error, now};
use crate::model::{InstanceRecord, Timestamp};
use crate::store::AuditEntry;

/// The event by which agents ask for permission.
pub(in crate::engine) const PERMISSION: &str = "PermissionRequest";

/// How long a hook may take to decide.
const DECIDING: Duration = Duration::from_secs(5);
const PROBE: Duration = Duration::from_millis(20);

/// Who answers the dialog that an instance shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Answerer {
    User,
    /// Autoyes has answered it through the agent's hook.
    Hook,
}

impl Core {
    /// Waits for the decision of a hook that was asked just now.
    pub(in crate::engine) fn answerer(&self, record: &InstanceRecord) -> Result<Answerer, Error> {
        let dir = self.store.instance(&record.id);
        let log = self.store.audit();
        loop {
            let asked = dir
                .hook_report()
                .filter(|report| report.event == PERMISSION)
                .map(|report| report.at)
                .filter(|at| at.until(now()) < DECIDING);
            let Some(asked) = asked else {
                return Ok(Answerer::User);
            };
            match decided(&log.recent(&record.id)?, asked) {
                Some(answerer) => return Ok(answerer),
                None if !self.is_autoyes(record) => return Ok(Answerer::User),
                None => std::thread::sleep(PROBE),
            }
        }
    }
}

/// What a hook that was asked at this time has decided; None if it has not yet.
fn decided(entries: &[AuditEntry], asked: Timestamp) -> Option<Answerer> {
    let since = |entry: &&AuditEntry| entry.channel == "hook" && entry.at >= asked;
    let last = entries.iter().rev().find(since)?;
    Some(match last.outcome.as_str() {
        outcome::TOLD => Answerer::Hook,
        _ => Answerer::User,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::autoyes::entries::outcome::{DECIDED, LEFT, STOPPED, TOLD};
    use crate::model::{InstanceId, RunId, Title};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_epoch(1_800_000_000 + second).unwrap()
    }

    fn entry(second: i64, channel: &str, outcome: &str) -> AuditEntry {
        AuditEntry {
            at: at(second),
            instance: InstanceId::parse("bcdfghjkmn").unwrap(),
            title: Title::new("asks").unwrap(),
            run: RunId::random(),
            agent: "claude".to_owned(),
            channel: channel.to_owned(),
            dialog: String::new(),
            tool: None,
            command: None,
            paths: Vec::new(),
            decision: "accept".to_owned(),
            rule: None,
            reason: String::new(),
            policy: String::new(),
            keys: Vec::new(),
            outcome: outcome.to_owned(),
        }
    }

    #[test]
    fn only_the_hook_that_was_asked_decides() {
        let decided = |entries: &[AuditEntry]| decided(entries, at(10));
        assert_eq!(decided(&[]), None);
        // An earlier request, and a decision about the screen.
        assert_eq!(decided(&[entry(9, "hook", TOLD)]), None);
        assert_eq!(decided(&[entry(11, "screen", DECIDED)]), None);
        let told = [entry(10, "hook", TOLD), entry(11, "screen", DECIDED)];
        assert_eq!(decided(&told), Some(Answerer::Hook));
        for left in [LEFT, STOPPED] {
            let left = [entry(9, "hook", TOLD), entry(11, "hook", left)];
            assert_eq!(decided(&left), Some(Answerer::User));
        }
    }
}
