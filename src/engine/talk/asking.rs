//! The dialog that an instance shows.

use std::time::Duration;

use crate::engine::base::{Core, Error, Unanswerable};
use crate::engine::typing::dialog::{DialogLook, OpenDialog};
use crate::engine::watch::self_report::self_report;
use crate::model::{Activity, AgentPlace, InstanceRecord};
use crate::store::InstanceDir;

/// How long a dialog that the agent has told of may take to be drawn.
const DRAWING: Duration = Duration::from_secs(5);
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
