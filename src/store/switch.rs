//! The autoyes switch of an instance: a file that is replaced atomically without a lock, so that turning it
//! off takes effect at once, whatever else is under way.

use std::path::PathBuf;

use super::document::{read_if_there, set_aside, write_document};
use super::{Document, InstanceDir, StoreError};
use crate::model::{AutoyesSwitch, InstanceRecord};

impl Document for AutoyesSwitch {
    const FORMAT: u32 = Self::FORMAT;
}

impl InstanceDir {
    /// The switch; the value in the record where there is no file.
    pub(crate) fn autoyes(&self, record: &InstanceRecord) -> Result<AutoyesSwitch, StoreError> {
        let turned = read_if_there(&self.autoyes_path())?;
        Ok(turned.unwrap_or_else(|| AutoyesSwitch::of(record)))
    }

    /// Sets the switch. The last writer wins.
    pub(crate) fn turn_autoyes(&self, switch: &AutoyesSwitch) -> Result<(), StoreError> {
        let path = self.autoyes_path();
        match write_document(&path, switch) {
            // A damaged file counts as off, and must not stay damaged.
            Err(StoreError::Corrupt { .. }) => {
                set_aside(&path)?;
                write_document(&path, switch)
            }
            other => other,
        }
    }

    fn autoyes_path(&self) -> PathBuf {
        self.path.join("autoyes.json")
    }
}
