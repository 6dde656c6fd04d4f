//! Who has an instance that travels between machines.

use serde::{Deserialize, Serialize};

use super::InstanceId;

/// Exactly one machine has an instance. Each hand-over gives it the next number: a machine that has seen a
/// higher number, or the same number in another hand, refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lease {
    pub number: u64,
    pub holder: Holder,
    /// It ran when its move began, and is resumed where the move ends.
    #[serde(default)]
    pub resume: bool,
    /// Where its branch was when it left or arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "at")]
pub(crate) enum Holder {
    /// This machine.
    Here,
    /// A host of this machine.
    Host {
        host: String,
        /// Its id there.
        id: InstanceId,
        /// The host has confirmed that it has it.
        #[serde(default)]
        confirmed: bool,
    },
    /// All of it has arrived, and the machine that it comes from has not handed it over.
    Offered {
        /// None: that machine gave it to us, and we do not know how to reach it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<HostInstance>,
        /// The hash of what has arrived beside the work.
        parts: String,
    },
    /// A machine that has fetched it from here.
    Elsewhere {
        /// The hash of what it has fetched beside the work.
        parts: String,
    },
}

/// An instance on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostInstance {
    pub host: String,
    pub id: InstanceId,
}

impl Lease {
    /// Of an instance that has not moved yet.
    pub(crate) fn first() -> Self {
        Self {
            number: 0,
            holder: Holder::Here,
            resume: false,
            branch_at: None,
        }
    }

    /// The host that has it, or that it comes from.
    pub(crate) fn host(&self) -> Option<HostInstance> {
        match &self.holder {
            Holder::Host { host, id, .. } => Some(HostInstance {
                host: host.clone(),
                id: id.clone(),
            }),
            Holder::Offered { from, .. } => from.clone(),
            Holder::Here | Holder::Elsewhere { .. } => None,
        }
    }

    /// Another machine has fetched it from here.
    pub(crate) fn is_left(&self) -> bool {
        matches!(self.holder, Holder::Elsewhere { .. })
    }

    /// Only a trace of it is here: another machine has fetched it, or offers it.
    pub(crate) fn is_trace(&self) -> bool {
        matches!(
            self.holder,
            Holder::Elsewhere { .. } | Holder::Offered { from: None, .. }
        )
    }
}
