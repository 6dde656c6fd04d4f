//! The result of one check of `biv doctor`.

use serde::Serialize;

/// How serious it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    Good,
    Warning,
    Problem,
}

/// One thing that was checked.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Finding {
    pub check: &'static str,
    pub health: Health,
    pub what: String,
    /// How to mend it, where there is something to mend.
    pub hint: Option<String>,
    pub mended: bool,
}

impl Finding {
    pub(crate) fn good(check: &'static str, what: String) -> Self {
        Self {
            check,
            health: Health::Good,
            what,
            hint: None,
            mended: false,
        }
    }

    pub(crate) fn bad(
        check: &'static str,
        health: Health,
        what: String,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            check,
            health,
            what,
            hint: Some(hint.into()),
            mended: false,
        }
    }
}
