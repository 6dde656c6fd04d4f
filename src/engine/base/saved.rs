//! Where the work of an instance that does not run is kept, as its record says.

use serde::{Deserialize, Serialize};

use crate::engine::base::Error;
use crate::model::InstanceRecord;
use crate::vault::{Left, ParkingPlace, SnapshotFact};

/// Where the work of an instance that does not run is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::engine) struct SavedWork {
    pub snapshot: Option<SnapshotFact>,
    pub parking: Option<ParkingPlace>,
    /// What could not be deleted when the disk was to be freed; `gc` tries again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Left>,
}

impl SavedWork {
    /// What is kept for an instance. A vault that cannot be read is an error, never an empty one.
    pub(in crate::engine) fn of(record: &InstanceRecord) -> Result<Self, Error> {
        match &record.vault {
            None => Ok(Self::default()),
            Some(value) => serde_json::from_value(value.clone()).map_err(|error| Error::Vault {
                title: record.title.clone(),
                message: error.to_string(),
            }),
        }
    }

    /// As the record keeps it. A path that is not text cannot be kept there, and is an error.
    pub(in crate::engine) fn written(
        &self,
        record: &InstanceRecord,
    ) -> Result<serde_json::Value, Error> {
        serde_json::to_value(self).map_err(|error| Error::Vault {
            title: record.title.clone(),
            message: error.to_string(),
        })
    }
}
