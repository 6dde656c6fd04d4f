//! Whether an instance's dialogs are answered by the policy.

use serde::{Deserialize, Serialize};

use super::{InstanceRecord, Timestamp};

/// The switch, in a file of its own: it is turned while an operation holds the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AutoyesSwitch {
    pub format: u32,
    pub on: bool,
    /// When that ends by itself.
    pub until: Option<Timestamp>,
    pub changed_at: Timestamp,
}

impl AutoyesSwitch {
    pub(crate) const FORMAT: u32 = 1;

    pub(crate) fn turned(on: bool, until: Option<Timestamp>, at: Timestamp) -> Self {
        Self {
            format: Self::FORMAT,
            on,
            until,
            changed_at: at,
        }
    }

    /// As it was when the instance was made, or when a version that kept it in the record turned it last.
    pub(crate) fn of(record: &InstanceRecord) -> Self {
        Self::turned(record.autoyes, record.autoyes_until, record.created_at)
    }

    pub(crate) fn is_on(&self, now: Timestamp) -> bool {
        self.on && self.until.is_none_or(|until| now < until)
    }
}
