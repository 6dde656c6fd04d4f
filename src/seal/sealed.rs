//! What a caller hands over: a program and the seal around it.

use std::path::PathBuf;

use super::plan::SealPlan;
use super::proxy::{AllowedHost, OnDenied};

/// Names the socket for `biv hook`; by it `biv` knows that it runs inside a seal.
pub(crate) const VARIABLE: &str = "BIV_SEAL";

/// An environment; names and values as bytes, because they need not be text.
pub(crate) type Environment = Vec<(Vec<u8>, Vec<u8>)>;

/// A program and the seal around it.
pub(crate) struct Sealed {
    pub plan: SealPlan,
    pub argv: Vec<String>,
    pub environment: Environment,
    pub directory: PathBuf,
    pub hosts: Vec<AllowedHost>,
    pub biv: PathBuf,
    pub on_denied: OnDenied,
}
