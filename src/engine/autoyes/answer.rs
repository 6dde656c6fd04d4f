//! Answers a dialog on an agent's screen by the policy, or leaves it to the user.

use std::time::{Duration, Instant};

use crate::agents::Provider;
use crate::detect::{Dialog, Screen};
use crate::engine::autoyes::entries::{About, entry, outcome, past, was_left_to_a_person};
use crate::engine::autoyes::policy::{off, rule_on, site};
use crate::engine::base::{Core, Error, Scope, now};
use crate::engine::watch::archive::BANNER;
use crate::model::{EventKind, InstanceRecord, RestingState};
use crate::policy::{
    Decision, NoAnswer, Policy, Ruling, allowed, fingerprint, keys, redacted, request,
};
use crate::store::StoreError;
use crate::tmux::{DetailedScreenshot, Expected, Server};

/// How long an answered dialog may take to disappear.
const GOING: Duration = Duration::from_secs(2);
const PROBE: Duration = Duration::from_millis(10);

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
    server: Server,
    pane: &'c str,
    provider: &'c Provider,
    look: DetailedScreenshot,
    dialog: Dialog,
    fingerprint: String,
}

impl Core {
    /// Looks at an instance and answers the dialog that it shows, if the policy says so and no client is
    /// attached or typing. At most one answer is given, and only after it is in the audit.
    pub(crate) fn answer_dialog(&self, given: &str) -> Result<AutoyesAnswer, Error> {
        use AutoyesOutcome::{NoDialog, Off, PersonHere};
        let found = self.find(given, Scope::Living)?;
        let record = found.record;
        let place = match (&record.place, record.state, found.journal) {
            (Some(place), RestingState::Running, None) => place,
            _ => return Ok(AutoyesAnswer::none(Off, "it does not run")),
        };
        if !self.is_autoyes(&record) {
            return Ok(AutoyesAnswer::none(Off, "autoyes is off"));
        }
        let provider = self.provider_of(&record)?;
        let server = self.server_of(&record);
        let Some(mut look) = server.take_detailed_screenshot(&place.pane)? else {
            return Ok(AutoyesAnswer::none(Off, "its pane is gone"));
        };
        let Some(dialog) = dialog_of(provider, &look) else {
            return Ok(AutoyesAnswer::none(NoDialog, "it shows no dialog"));
        };
        let hold = provider.dialog_hold();
        if !hold.is_zero() {
            std::thread::sleep(hold);
            match server.take_detailed_screenshot(&place.pane)? {
                Some(later) if dialog_of(provider, &later).as_ref() == Some(&dialog) => {
                    look = later;
                }
                _ => return Ok(AutoyesAnswer::none(NoDialog, "its dialog did not stay")),
            }
        }
        let policy = match self.policy(&[&record.worktree.path, &record.repository.root]) {
            Ok(policy) => policy,
            Err(mistake) => {
                let reason = off(&mistake);
                self.stop_autoyes(&record, &reason)?;
                return Ok(AutoyesAnswer::none(AutoyesOutcome::Stopped, reason));
            }
        };
        if is_here(&look, policy.options.person_idle) {
            return Ok(AutoyesAnswer::none(PersonHere, "a user is at its terminal"));
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
        let case = DialogCase {
            fingerprint: fingerprint(&dialog),
            pane: &place.pane,
            record: &record,
            server,
            provider,
            look,
            dialog,
        };
        self.answer(&case, &policy, alone)
    }

    fn answer(
        &self,
        case: &DialogCase<'_>,
        policy: &Policy,
        alone: crate::store::Lock,
    ) -> Result<AutoyesAnswer, Error> {
        let record = case.record;
        let mut ruling = self.rule(case, policy);
        let mut keys: Vec<String> = keys(&case.dialog, ruling.decision, policy.options.on_reject)
            .into_iter()
            .map(|key| key.name())
            .collect();
        if ruling.decision == Decision::Accept && keys.is_empty() {
            ruling = Ruling::manual("the screen does not tell which key says yes");
        }
        // If the agent reacts to the first key alone, the next key would answer its next question.
        if case.dialog.plain && keys.len() > 1 && !case.look.reads_lines {
            ruling = Ruling::manual("the program reads keys, not lines");
            keys.clear();
        }
        let log = self.store.audit();
        let entries = log.recent(&record.id)?;
        let request = request(&record.agent, &case.dialog);
        let about = About {
            record,
            channel: "screen",
            dialog: &case.fingerprint,
            policy: &policy.digest,
        };
        let note = |ruling: &Ruling, keys: &[String], outcome: &str| {
            log.append(entry(about, &request, ruling, keys, outcome))
        };
        if keys.is_empty() {
            let last = entries.last();
            let known = last.is_some_and(|last| {
                last.dialog == case.fingerprint && last.outcome == outcome::LEFT
            });
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
            &case.fingerprint,
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
        // It may have been switched off since: the switch is read last.
        if !self.is_autoyes(record) {
            return Ok(AutoyesAnswer::none(AutoyesOutcome::Off, "autoyes is off"));
        }
        note(&ruling, &keys, outcome::DECIDED)?;
        let pressed = case.press(&keys)?;
        drop(alone);
        if !pressed {
            note(&ruling, &keys, outcome::STALE)?;
            keys.clear();
            return Ok(AutoyesAnswer::of(AutoyesOutcome::Stale, &ruling, &keys));
        }
        let gone = case.is_gone_in_time()?;
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
        let (agent, worktree) = (&case.record.agent, &case.record.worktree.path);
        let seen = rule_on(policy, agent, &case.dialog, worktree);
        if seen.decision != Decision::Accept {
            return seen;
        }
        let command = match self.check_against_record(case.provider, case.record, &case.dialog) {
            Ok(None) => return seen,
            Ok(Some(command)) => command,
            Err(doubt) => return Ruling::manual(doubt),
        };
        let mut request = request(agent, &case.dialog);
        request.readings = vec![command];
        let written = policy.decide(&request, &site(worktree));
        if written.decision == Decision::Accept {
            seen
        } else {
            written
        }
    }

    fn tell(&self, kind: EventKind, case: &DialogCase<'_>, ruling: &Ruling, keys: &[String]) {
        let command = case.dialog.command.as_deref().map(redacted);
        let data = serde_json::json!({
            "tool": case.dialog.tool,
            "command": command,
            "paths": case.dialog.paths,
            "rule": ruling.rule,
            "reason": ruling.reason,
            "keys": keys,
        });
        self.emit(kind, case.record, data);
    }
}

impl DialogCase<'_> {
    fn press(&self, keys: &[String]) -> Result<bool, Error> {
        let screen = Screen::new(&self.look.text);
        let rows: Vec<&str> = screen.rows().iter().map(|row| row.text()).collect();
        let expected = Expected {
            pid: self.look.pid,
            attached: self.look.attached,
            from: rows.len().saturating_sub(self.dialog.height),
            rows: &rows,
            // The question of a plain program stays on the screen when it goes on; the cursor moves.
            cursor: self.dialog.plain.then_some(self.look.cursor),
        };
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        Ok(self.server.press_if(self.pane, &expected, &keys)?)
    }

    fn is_gone_in_time(&self) -> Result<bool, Error> {
        let pressed_at = Instant::now();
        while pressed_at.elapsed() < GOING {
            let look = self.server.take_detailed_screenshot(self.pane)?;
            let dialog = look.and_then(|look| dialog_of(self.provider, &look));
            if dialog.is_none_or(|dialog| fingerprint(&dialog) != self.fingerprint) {
                return Ok(true);
            }
            std::thread::sleep(PROBE);
        }
        Ok(false)
    }
}

fn dialog_of(provider: &Provider, look: &DetailedScreenshot) -> Option<Dialog> {
    if look.dead || look.in_mode {
        return None;
    }
    let screen = Screen::new(&look.text)
        .with_cursor(look.cursor)
        .below(BANNER);
    provider.judge(&screen, Some(&look.title)).dialog
}

pub(super) fn is_here(look: &DetailedScreenshot, idle: Duration) -> bool {
    let now = now().seconds_since_epoch();
    let idle = i64::try_from(idle.as_secs()).unwrap_or(i64::MAX);
    look.last_key
        .is_some_and(|last| now.saturating_sub(last) < idle)
}
