//! The dialog that an instance shows.

use crate::engine::base::{Core, Error, Unanswerable};
use crate::engine::typing::dialog::{DialogLook, OpenDialog};
use crate::model::{Activity, AgentPlace, InstanceRecord};

impl Core {
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
