//! The dialog that an instance shows.

use std::time::{Duration, Instant};

use crate::detect::{Dialog, Key};
use crate::engine::base::{Core, Error, Unanswerable};
use crate::engine::typing::dialog::{DialogLook, OpenDialog, was_typed_at};
use crate::engine::watch::self_report::self_report;
use crate::model::{Activity, AgentPlace, InstanceRecord};
use crate::store::InstanceDir;

/// A user who has pressed a key at the agent's terminal within this time is still typing. Autoyes keeps
/// away for longer; here the user wants the answer.
pub(super) const TYPING: Duration = Duration::from_secs(3);

/// How long a dialog that the agent has told of may take to be drawn.
const DRAWING: Duration = Duration::from_secs(5);
/// How long a dialog may move, with what is above it.
const MOVING: Duration = Duration::from_secs(3);
/// A dialog that does not change for so long has been drawn.
const DRAWN: Duration = Duration::from_millis(60);
/// How long an agent may show a part of its dialog, or none, while it draws its screen anew.
const REDRAWING: Duration = Duration::from_secs(1);
const PROBE: Duration = Duration::from_millis(20);

impl Core {
    /// The dialog that an instance shows, or is about to draw: the hooks of an agent tell of it first, so that it
    /// is listed as waiting before there is anything to read.
    pub(super) fn dialog_soon_in<'r>(
        &'r self,
        dir: &InstanceDir,
        record: &'r InstanceRecord,
        place: &'r AgentPlace,
    ) -> Result<OpenDialog<'r>, Error> {
        let provider = self.provider_of(record)?;
        let asked_just_now = || {
            let report = self_report(provider, dir, &self.host, Some(&place.agent));
            report.is_some_and(|report| {
                let asks = matches!(report.activity, Activity::Approval | Activity::Question);
                asks && report.age < DRAWING
            })
        };
        loop {
            match self.dialog_in(record, place) {
                Err(Error::Unanswerable { .. }) if asked_just_now() => std::thread::sleep(PROBE),
                found => return found,
            }
        }
    }

    /// The same, when all of it is drawn: a part of a dialog has another id.
    pub(super) fn whole_dialog_in<'r>(
        &'r self,
        dir: &InstanceDir,
        record: &'r InstanceRecord,
        place: &'r AgentPlace,
    ) -> Result<OpenDialog<'r>, Error> {
        let mut open = self.dialog_soon_in(dir, record, place)?;
        let since = Instant::now();
        while !open.is_same_after(DRAWN)? && since.elapsed() < MOVING {
            open = self.dialog_soon_in(dir, record, place)?;
        }
        Ok(open)
    }

    /// The dialog when it stays where it is: the one that is bound to this id, else any that is there.
    pub(super) fn dialog_at_rest<'r>(
        &'r self,
        record: &'r InstanceRecord,
        place: &'r AgentPlace,
        mut open: OpenDialog<'r>,
        bound: Option<&str>,
    ) -> Result<OpenDialog<'r>, Error> {
        let since = Instant::now();
        while !open.has_settled(Duration::ZERO)? {
            open = match self.dialog_again(record, place, bound)? {
                Some(now) if since.elapsed() <= MOVING => now,
                _ => return Err(unanswerable(record, Unanswerable::Changed)),
            };
        }
        Ok(open)
    }

    /// Presses these keys of a dialog, once, also where the dialog has moved meanwhile with what is above it. Returns the
    /// keys; None if the dialog has gone or changed, or somebody types.
    pub(super) fn press_in<'r>(
        &'r self,
        record: &'r InstanceRecord,
        place: &'r AgentPlace,
        open: &mut OpenDialog<'r>,
        keys_of: impl Fn(&Dialog) -> Vec<Key>,
    ) -> Result<Option<Vec<String>>, Error> {
        let since = Instant::now();
        loop {
            // Another choice may be selected by now: the keys lead from that one.
            let keys = keys_of(&open.dialog);
            let keys: Vec<String> = keys.into_iter().map(Key::name).collect();
            if open.press(&keys)? {
                return Ok(Some(keys));
            }
            // The question of a plain program stays on the screen when it goes on.
            if open.dialog.plain || since.elapsed() > MOVING {
                return Ok(None);
            }
            match self.dialog_again(record, place, Some(&open.id))? {
                Some(now) if !was_typed_at(&now.look, TYPING) => *open = now,
                _ => return Ok(None),
            }
        }
    }

    /// The dialog with this id, or any, as it is drawn by now; None if it has gone or changed.
    fn dialog_again<'r>(
        &'r self,
        record: &'r InstanceRecord,
        place: &'r AgentPlace,
        id: Option<&str>,
    ) -> Result<Option<OpenDialog<'r>>, Error> {
        let since = Instant::now();
        loop {
            match self.dialog_in(record, place) {
                Ok(now) if id.is_none_or(|id| now.id == id) => return Ok(Some(now)),
                Ok(_) | Err(Error::Unanswerable { .. }) if since.elapsed() < REDRAWING => {
                    std::thread::sleep(PROBE);
                }
                Ok(_) | Err(Error::Unanswerable { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn dialog_in<'r>(
        &'r self,
        record: &'r InstanceRecord,
        place: &'r AgentPlace,
    ) -> Result<OpenDialog<'r>, Error> {
        let provider = self.provider_of(record)?;
        match OpenDialog::look(self.server_of(record), &place.pane, provider)? {
            DialogLook::Open(open) => Ok(*open),
            DialogLook::NoDialog {
                activity: activity @ (Activity::Blocked | Activity::Menu),
                says,
            } => Err(Error::NeedsPerson {
                title: record.title.clone(),
                activity,
                says,
            }),
            DialogLook::NoPane | DialogLook::NoDialog { .. } => {
                Err(unanswerable(record, Unanswerable::NoDialog))
            }
        }
    }
}

pub(super) fn unanswerable(record: &InstanceRecord, why: Unanswerable) -> Error {
    Error::Unanswerable {
        title: record.title.clone(),
        why,
    }
}
