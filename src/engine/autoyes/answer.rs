//! Answers a dialog on an agent's screen by the policy, or leaves it to the user.

use std::time::{Duration, Instant};

use crate::agents::Provider;
use crate::detect::ChoiceKind;
use crate::engine::autoyes::disguise::{Recorded, is_in_rows};
use crate::engine::autoyes::entries::{About, entry, outcome, past, was_left_to_a_person};
use crate::engine::autoyes::policy::{DialogSite, off, rule_on, seal_of};
use crate::engine::base::{Core, Error, Scope, now};
use crate::engine::typing::dialog::{DialogLook, OpenDialog, was_typed_at};
use crate::model::{EventKind, InstanceRecord, RestingState};
use crate::policy::{
    Decision, NoAnswer, Policy, Ruling, allowed, can_be_accepted, keys, redacted, request,
};
use crate::store::StoreError;

/// A decision that took this long is about a dialog that may not be there any more.
const LONG: Duration = Duration::from_millis(300);

/// What was done about an instance that shows a dialog.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct AutoyesAnswer {
    pub outcome: AutoyesOutcome,
    pub decision: Option<Decision>,
    pub rule: Option<String>,
    pub reason: String,
    pub keys: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AutoyesOutcome {
    /// Autoyes is off, or the instance does not run.
    Off,
    NoDialog,
    /// A client is attached or typing.
    PersonHere,
    Accepted,
    Rejected,
    /// Left to the user.
    Manual,
    /// The screen changed before the key: nothing was pressed.
    Stale,
    /// This dialog was answered before and is still there.
    AnsweredAlready,
    /// Not now: a limit is reached.
    Limited,
    /// The same dialogs repeat; autoyes is off now.
    Stopped,
}

impl AutoyesAnswer {
    fn none(outcome: AutoyesOutcome, reason: impl Into<String>) -> Self {
        Self {
            outcome,
            decision: None,
            rule: None,
            reason: reason.into(),
            keys: Vec::new(),
        }
    }

    fn of(outcome: AutoyesOutcome, ruling: &Ruling, keys: &[String]) -> Self {
        Self {
            outcome,
            decision: Some(ruling.decision),
            rule: ruling.rule.clone(),
            reason: ruling.reason.clone(),
            keys: keys.to_vec(),
        }
    }
}

/// What is needed to answer one dialog.
struct DialogCase<'c> {
    record: &'c InstanceRecord,
    provider: &'c Provider,
    open: OpenDialog<'c>,
}

impl Core {
    /// Looks at an instance and answers the dialog that it shows, if the policy says so and no client is
    /// attached or typing. At most one answer is given, and only after it is in the audit. `stood` is the
    /// time for which its screen is known not to have changed.
    pub(crate) fn answer_dialog(
        &self,
        given: &str,
        stood: Duration,
    ) -> Result<AutoyesAnswer, Error> {
        use AutoyesOutcome::{NoDialog, Off, PersonHere};
        let found = self.find(given, Scope::Here)?;
        let record = found.record;
        let place = match (&record.place, record.state, found.journal) {
            (Some(place), RestingState::Running, None) => place,
            _ => return Ok(AutoyesAnswer::none(Off, "it does not run")),
        };
        if !self.is_autoyes(&record) {
            return Ok(AutoyesAnswer::none(Off, "autoyes is off"));
        }
        let provider = self.provider_of(&record)?;
        let mut open = match OpenDialog::look(self.server_of(&record), &place.pane, provider)? {
            DialogLook::Open(open) => *open,
            DialogLook::NoPane => return Ok(AutoyesAnswer::none(Off, "its pane is gone")),
            DialogLook::NoDialog { .. } => {
                return Ok(AutoyesAnswer::none(NoDialog, "it shows no dialog"));
            }
        };
        if !open.has_settled(stood)? {
            return Ok(AutoyesAnswer::none(NoDialog, "its dialog did not stay"));
        }
        let policy = match self.policy(&[&record.worktree.path, &record.repository.root]) {
            Ok(policy) => policy,
            Err(mistake) => {
                let reason = off(&mistake);
                self.stop_autoyes(&record, &reason)?;
                return Ok(AutoyesAnswer::none(AutoyesOutcome::Stopped, reason));
            }
        };
        if was_typed_at(&open.look, policy.options.person_idle) {
            return Ok(AutoyesAnswer::none(PersonHere, "a user is at its terminal"));
        }
        let case = DialogCase {
            record: &record,
            provider,
            open,
        };
        let begun = Instant::now();
        let ruling = self.rule(&case, &policy);
        // The agent's own record may have been waited for: the user may have come meanwhile, or answered.
        if begun.elapsed() >= LONG {
            match case.open.look_again()? {
                None => return Ok(AutoyesAnswer::none(NoDialog, "its dialog did not stay")),
                Some(look) if was_typed_at(&look, policy.options.person_idle) => {
                    return Ok(AutoyesAnswer::none(PersonHere, "a user is at its terminal"));
                }
                Some(_) => {}
            }
        }
        // A user who attaches now waits for the moment that this takes.
        let alone = match found.dir.lock_absence("autoyes") {
            Ok(lock) => lock,
            Err(StoreError::Busy { .. }) => {
                let reason = "a user is attached or typing";
                return Ok(AutoyesAnswer::none(PersonHere, reason));
            }
            Err(error) => return Err(error.into()),
        };
        self.answer_by_policy(&case, &policy, ruling, alone)
    }

    fn answer_by_policy(
        &self,
        case: &DialogCase<'_>,
        policy: &Policy,
        mut ruling: Ruling,
        alone: crate::store::Lock,
    ) -> Result<AutoyesAnswer, Error> {
        let record = case.record;
        let mut keys: Vec<String> =
            keys(&case.open.dialog, ruling.decision, policy.options.on_reject)
                .into_iter()
                .map(|key| key.name())
                .collect();
        if ruling.decision == Decision::Accept && keys.is_empty() {
            ruling = Ruling::manual("the screen does not tell which key says yes");
        }
        // If the agent reacts to the first key alone, the next key would answer its next question.
        if case.open.dialog.plain && keys.len() > 1 && !case.open.look.reads_lines {
            ruling = Ruling::manual("the program reads keys, not lines");
            keys.clear();
        }
        let log = self.store.audit();
        let entries = log.recent(&record.id)?;
        let request = request(&record.agent, &case.open.dialog);
        let about = About {
            record,
            channel: "screen",
            dialog: &case.open.id,
            policy: &policy.digest,
        };
        let note = |ruling: &Ruling, keys: &[String], outcome: &str| {
            log.append(entry(about, &request, ruling, keys, outcome))
        };
        if keys.is_empty() {
            let last = entries.last();
            let known = last
                .is_some_and(|last| last.dialog == case.open.id && last.outcome == outcome::LEFT);
            if !known {
                note(&ruling, &[], outcome::LEFT)?;
                let kind = match ruling.decision {
                    Decision::Reject => EventKind::AutoyesRejected,
                    Decision::Accept | Decision::Manual => EventKind::AutoyesManual,
                };
                self.tell(kind, case, &ruling, &[]);
            }
            return Ok(AutoyesAnswer::of(AutoyesOutcome::Manual, &ruling, &[]));
        }
        // An agent that asks through its hook is answered there. Its dialog may still be on the screen
        // afterwards, and a key would go to whatever comes next. Except if the request was left to a user
        // who has gone without an answer.
        let by_hook = self.store.instance(&record.id).hook_report().is_some();
        if by_hook && !was_left_to_a_person(&entries) {
            let reason = "its hook is answered, not its screen";
            return Ok(AutoyesAnswer::none(AutoyesOutcome::AnsweredAlready, reason));
        }
        let halt = allowed(
            &past(&entries),
            now(),
            &case.open.id,
            ruling.decision,
            &policy.options,
        );
        match halt {
            Ok(()) => {}
            Err(NoAnswer::AnsweredAlready) => {
                let reason = "it was answered before and still stands";
                return Ok(AutoyesAnswer::none(AutoyesOutcome::AnsweredAlready, reason));
            }
            Err(NoAnswer::TooMany(reason)) => {
                return Ok(AutoyesAnswer::none(AutoyesOutcome::Limited, reason));
            }
            Err(NoAnswer::Stop(reason)) => {
                let stopped = Ruling::manual(reason);
                note(&stopped, &[], outcome::STOPPED)?;
                drop(alone);
                self.stop_autoyes(record, reason)?;
                return Ok(AutoyesAnswer::none(AutoyesOutcome::Stopped, reason));
            }
        }
        let ruling = self.saved_first(record, ruling);
        if ruling.decision == Decision::Manual {
            note(&ruling, &[], outcome::LEFT)?;
            self.tell(EventKind::AutoyesManual, case, &ruling, &[]);
            return Ok(AutoyesAnswer::of(AutoyesOutcome::Manual, &ruling, &[]));
        }
        // It may have been switched off since: the switch is read last.
        if !self.is_autoyes(record) {
            return Ok(AutoyesAnswer::none(AutoyesOutcome::Off, "autoyes is off"));
        }
        note(&ruling, &keys, outcome::DECIDED)?;
        let pressed = case.open.press(&keys)?;
        drop(alone);
        if !pressed {
            note(&ruling, &keys, outcome::STALE)?;
            keys.clear();
            return Ok(AutoyesAnswer::of(AutoyesOutcome::Stale, &ruling, &keys));
        }
        let given = match ruling.decision {
            Decision::Reject => ChoiceKind::No,
            Decision::Accept | Decision::Manual => ChoiceKind::YesOnce,
        };
        let gone = case.open.is_gone_in_time(given)?;
        let became = if gone { outcome::GONE } else { outcome::STAYS };
        note(&ruling, &keys, became)?;
        let (kind, outcome) = match ruling.decision {
            Decision::Reject => (EventKind::AutoyesRejected, AutoyesOutcome::Rejected),
            Decision::Accept | Decision::Manual => {
                (EventKind::AutoyesAnswered, AutoyesOutcome::Accepted)
            }
        };
        self.tell(kind, case, &ruling, &keys);
        Ok(AutoyesAnswer::of(outcome, &ruling, &keys))
    }

    /// The policy's decision about the screen; an acceptance is checked against the agent's own record.
    fn rule(&self, case: &DialogCase<'_>, policy: &Policy) -> Ruling {
        // What its choices mean is not known: not even a refusal is typed.
        if let Some(reason) = self.unmeasured_now(case.provider, case.record) {
            return Ruling::manual(reason);
        }
        if case.open.dialog.field_open {
            return Ruling::manual("a user has opened a field for text in the dialog");
        }
        let agent = &case.record.agent;
        let start = case.record.agent_directory();
        let site = DialogSite {
            worktree: &case.record.worktree.path,
            start: &start,
        };
        let seal = seal_of(case.record);
        let seen = rule_on(policy, agent, &case.open.dialog, site, seal);
        // How a command that was broken into rows reads, the record says.
        let in_rows = case.provider.settles() && is_in_rows(&case.open.dialog);
        let undecided = in_rows && can_be_accepted(&case.open.dialog);
        if seen.decision != Decision::Accept && !undecided {
            return seen;
        }
        let commands = match self.check_against_record(case.provider, case.record, &case.open) {
            Ok(Recorded::Nothing) => return seen,
            Ok(Recorded::Commands(commands)) => commands,
            Err(_) if seen.decision == Decision::Reject => return seen,
            Err(doubt) => return Ruling::manual(doubt),
        };
        let mut request = request(agent, &case.open.dialog);
        request.seal = seal;
        request.readings = commands;
        if in_rows {
            // Its rows have more readings than are listed, and only one that is meant.
            request.complete = case.open.dialog.complete;
            return site.decide(policy, &request);
        }
        let written = site.decide(policy, &request);
        if written.decision == Decision::Accept {
            seen
        } else {
            written
        }
    }

    fn tell(&self, kind: EventKind, case: &DialogCase<'_>, ruling: &Ruling, keys: &[String]) {
        let command = case.open.dialog.command.as_deref().map(redacted);
        let data = serde_json::json!({
            "tool": case.open.dialog.tool,
            "command": command,
            "paths": case.open.dialog.paths,
            "rule": ruling.rule,
            "reason": ruling.reason,
            "keys": keys,
        });
        self.emit(kind, case.record, data);
    }
}
