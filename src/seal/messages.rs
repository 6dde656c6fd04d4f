//! What the process outside and the one that builds the seal say to each other.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::plan::SealPlan;
use super::sealed::Environment;
use crate::model::SealLayer;

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToInside {
    /// With the standard input of the program as descriptor.
    Orders(Box<Orders>),
    Start,
    /// The terminal is gone.
    Hangup,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Orders {
    pub plan: SealPlan,
    pub argv: Vec<String>,
    pub environment: Environment,
    pub directory: PathBuf,
    /// The proxy, where it listens outside.
    pub proxy: Option<ProxyAddress>,
    /// The pid of the process outside, which the program gets inside too.
    pub pid: i32,
    pub biv: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProxyAddress {
    pub port: u16,
    /// User and password, where other users can reach the port.
    pub credentials: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromInside {
    /// The first process of the pid namespace wants the orders again.
    Again,
    /// Everything is built. With listeners as descriptors: the proxy's, then one for each forwarded port.
    Ready {
        layers: Vec<SealLayer>,
    },
    Started,
    /// This machine does not allow namespaces.
    NoNamespaces {
        message: String,
    },
    Failed {
        message: String,
    },
}
