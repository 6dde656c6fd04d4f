//! Whether an instance's dialogs are answered by the policy.

use serde::{Deserialize, Serialize};

use super::{InstanceRecord, Timestamp};

/// The autoyes switch of an instance. It has its own file, so that it can be changed while an operation
/// holds the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AutoyesSwitch {
    pub format: u32,
    pub on: bool,
    /// When it turns off by itself.
    pub until: Option<Timestamp>,
    pub changed_at: Timestamp,
    /// Why it was switched off other than by the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

impl AutoyesSwitch {
    pub(crate) const FORMAT: u32 = 1;

    pub(crate) fn turned(on: bool, until: Option<Timestamp>, at: Timestamp) -> Self {
        Self {
            format: Self::FORMAT,
            on,
            until,
            changed_at: at,
            stopped: None,
        }
    }

    /// Switched off because something went wrong.
    pub(crate) fn stopped(reason: &str, at: Timestamp) -> Self {
        Self {
            stopped: Some(reason.to_owned()),
            ..Self::turned(false, None, at)
        }
    }

    /// The switch as the record has it: as set when the instance was created, or last changed by a version
    /// that kept it in the record.
    pub(crate) fn of(record: &InstanceRecord) -> Self {
        Self::turned(record.autoyes, record.autoyes_until, record.created_at)
    }

    pub(crate) fn is_on(&self, now: Timestamp) -> bool {
        self.on && self.until.is_none_or(|until| now < until)
    }
}
