//! Writes and reads the audit of autoyes.

use std::time::Duration;

use crate::engine::base::{Core, Error, Scope, now};
use crate::model::{InstanceId, InstanceRecord, Timestamp};
use crate::policy::{Decision, PastDecision, Request, Ruling, redacted};
use crate::store::{Audit, AuditEntry};

/// A request by hook is decided on before its dialog is seen, at most this long.
const HOOK_BEFORE_DIALOG: Duration = Duration::from_secs(5);

/// The outcomes of a decision, as the audit names them.
pub(super) mod outcome {
    /// Written before anything is pressed.
    pub(crate) const DECIDED: &str = "decided";
    /// The dialog disappeared after the answer.
    pub(crate) const GONE: &str = "gone";
    /// The dialog was still there when the time was up.
    pub(crate) const STAYS: &str = "stays";
    /// The screen had changed: nothing was pressed.
    pub(crate) const STALE: &str = "stale";
    /// Left to the user.
    pub(crate) const LEFT: &str = "left";
    /// Answered through the agent's hook, without a key.
    pub(crate) const TOLD: &str = "told";
    /// Refused by the seal; no dialog was answered.
    pub(crate) const DENIED: &str = "denied";
    /// The channel of such a refusal.
    pub(crate) const SEAL: &str = "seal";
    /// Autoyes ended here.
    pub(crate) const STOPPED: &str = "stopped";
}

/// Why a request by hook is left to the screen.
pub(super) const PERSON_TYPES: &str = "somebody is typing at its terminal";

/// Whether the last hook request was left to the user: its dialog is then on the screen.
pub(super) fn was_left_to_a_person(entries: &[AuditEntry]) -> bool {
    let last = entries.iter().rev().find(|entry| entry.channel == "hook");
    last.is_some_and(|last| last.outcome == outcome::LEFT && last.reason == PERSON_TYPES)
}

/// The instance of a decision, and how the request came.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    pub record: &'a InstanceRecord,
    pub channel: &'static str,
    pub dialog: &'a str,
    pub policy: &'a str,
}

pub(super) fn entry(
    about: About<'_>,
    request: &Request<'_>,
    ruling: &Ruling,
    keys: &[String],
    outcome: &str,
) -> AuditEntry {
    AuditEntry {
        at: now(),
        instance: about.record.id.clone(),
        title: about.record.title.clone(),
        run: about.record.run.clone(),
        agent: about.record.agent.clone(),
        channel: about.channel.to_owned(),
        dialog: about.dialog.to_owned(),
        tool: request.tool.map(str::to_owned),
        command: request.readings.first().map(|command| redacted(command)),
        paths: request.paths.clone(),
        decision: ruling.decision.name().to_owned(),
        rule: ruling.rule.clone(),
        reason: redacted(&ruling.reason),
        policy: about.policy.to_owned(),
        keys: keys.to_vec(),
        outcome: outcome.to_owned(),
    }
}

/// A connection that the seal of an agent has refused.
pub(in crate::engine) fn denied(record: &InstanceRecord, host: &str, port: u16) -> AuditEntry {
    AuditEntry {
        at: now(),
        instance: record.id.clone(),
        title: record.title.clone(),
        run: record.run.clone(),
        agent: record.agent.clone(),
        channel: outcome::SEAL.to_owned(),
        dialog: String::new(),
        tool: Some("connect".to_owned()),
        command: Some(format!("{host}:{port}")),
        paths: Vec::new(),
        decision: "reject".to_owned(),
        rule: None,
        reason: "not in the hosts of its seal".to_owned(),
        policy: String::new(),
        keys: Vec::new(),
        outcome: outcome::DENIED.to_owned(),
    }
}

/// The past decisions in the audit. One without an outcome may have been carried out, so it counts as
/// answered.
pub(super) fn past(entries: &[AuditEntry]) -> Vec<PastDecision> {
    let mut past: Vec<PastDecision> = Vec::new();
    for entry in entries {
        let decision = match entry.decision.as_str() {
            "accept" => Decision::Accept,
            "reject" => Decision::Reject,
            _ => Decision::Manual,
        };
        let fresh = PastDecision {
            at: entry.at,
            fingerprint: entry.dialog.clone(),
            decision,
            answered: true,
            gone: false,
        };
        let last = past
            .iter_mut()
            .rev()
            .find(|past| past.fingerprint == entry.dialog);
        match (entry.outcome.as_str(), last) {
            (outcome::DECIDED, _) => past.push(PastDecision {
                answered: !entry.keys.is_empty(),
                ..fresh
            }),
            (outcome::TOLD, _) => past.push(PastDecision {
                gone: true,
                ..fresh
            }),
            (outcome::GONE, Some(last)) => last.gone = true,
            (outcome::STALE, Some(last)) => last.answered = false,
            _ => {}
        }
    }
    past
}

impl Core {
    /// Whether the last decision about an instance left a question to the user, and is about one that was seen
    /// at this time. Where that cannot be read, nothing is known to be left.
    pub(in crate::engine) fn autoyes_left(&self, id: &InstanceId, seen: Timestamp) -> bool {
        let entries = self.store.audit().recent(id).unwrap_or_default();
        let last = entries.last().filter(|last| last.outcome == outcome::LEFT);
        // A hook is asked before its dialog is drawn.
        last.is_some_and(|last| last.at.until(seen) <= HOOK_BEFORE_DIALOG)
    }

    /// What autoyes has decided, of one instance or of all, and whether the log is whole.
    pub(crate) fn audit(&self, given: Option<&str>) -> Result<Audit, Error> {
        let mut audit = self.store.audit().read()?;
        if let Some(given) = given {
            let id = self.find(given, Scope::WithKilled)?.record.id;
            audit.lines.retain(|line| line.entry.instance == id);
        }
        Ok(audit)
    }
}
