//! Systems on which a seal cannot be built.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::SealError;
use super::sealed::Sealed;
use crate::model::SealLayer;

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Mirror {
    pub outside: PathBuf,
    pub copy: PathBuf,
    pub draft: PathBuf,
}

impl Mirror {
    pub(crate) fn update(&self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) struct Built {
    never: Infallible,
    pub layers: Vec<SealLayer>,
}

pub(crate) struct Running {
    never: Infallible,
}

pub(crate) fn build(_: &Sealed) -> Result<Built, SealError> {
    Err(SealError::Unsupported)
}

impl Built {
    pub(crate) fn start(self) -> Result<Running, SealError> {
        match self.never {}
    }
}

impl Running {
    pub(crate) fn wait(self) -> ExitCode {
        match self.never {}
    }
}

pub(crate) fn run_inside(_: &str, _: &[std::ffi::OsString]) -> ExitCode {
    ExitCode::FAILURE
}

pub(crate) fn layers_of_machine(_: &Path) -> Vec<SealLayer> {
    Vec::new()
}
