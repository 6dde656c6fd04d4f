//! What a seal allows, as data. Built outside by the engine, carried to the process that builds the seal.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Mirror;
use crate::model::SealNetwork;

/// The socket to which `biv hook` reports, in the private temporary directory.
pub(crate) const REPORT_SOCKET: &str = ".biv.sock";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Access {
    /// List, and nothing more.
    List,
    /// Read, list, execute.
    Read,
    /// Everything.
    Write,
}

/// In which kind of seal a grant holds. Landlock can only add to what it allows; a mount namespace can
/// also hide a part of a directory that is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Where {
    Both,
    WithNamespaces,
    LandlockAlone,
}

/// A file or directory that can be used inside, with everything below it. One that does not exist is
/// left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub path: PathBuf,
    pub access: Access,
    pub within: Where,
}

impl Grant {
    pub(crate) fn read(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            access: Access::Read,
            within: Where::Both,
        }
    }

    pub(crate) fn list(path: impl Into<PathBuf>) -> Self {
        Self {
            access: Access::List,
            ..Self::read(path)
        }
    }

    pub(crate) fn write(path: impl Into<PathBuf>) -> Self {
        Self {
            access: Access::Write,
            ..Self::read(path)
        }
    }

    pub(crate) fn within(self, within: Where) -> Self {
        Self { within, ..self }
    }
}

/// A directory of ours that is found at another path inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Replacement {
    pub source: PathBuf,
    pub target: PathBuf,
}

/// Everything that a seal allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealPlan {
    pub grants: Vec<Grant>,
    /// The private home and temporary directories, with namespaces.
    pub replacements: Vec<Replacement>,
    /// Directories below a grant that are empty inside, with namespaces.
    pub masks: Vec<PathBuf>,
    /// Files below a writable directory that cannot be changed, with namespaces.
    pub shields: Vec<PathBuf>,
    /// Files of which the program sees a copy that follows the original, with namespaces.
    pub mirrors: Vec<Mirror>,
    /// An empty directory on which the root of the mount namespace is built.
    pub root: PathBuf,
    /// The private temporary directory.
    pub temporary: PathBuf,
    pub network: SealNetwork,
    /// Ports on the loopback outside that are reached under the same port inside.
    pub loopback_ports: Vec<u16>,
    /// False: only Landlock is used, as on a machine without user namespaces.
    pub namespaces: bool,
}

impl SealPlan {
    pub(crate) fn grants_for(&self, namespaces: bool) -> impl Iterator<Item = &Grant> {
        self.grants.iter().filter(move |grant| match grant.within {
            Where::Both => true,
            Where::WithNamespaces => namespaces,
            Where::LandlockAlone => !namespaces,
        })
    }
}
