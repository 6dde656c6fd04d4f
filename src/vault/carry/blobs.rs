//! The blobs of an export that was read.

use super::refusal::refused;
use crate::git::GitError;
use crate::vault::objects::{Wanted, read_blobs, sizes};
use crate::vault::repository::Vault;

pub(super) fn wanted<'a>(ids: impl Iterator<Item = &'a String>) -> Vec<Wanted> {
    ids.map(|id| Wanted {
        id: id.clone(),
        size: 0,
    })
    .collect()
}

/// The bytes of a blob that is not larger than this.
pub(super) fn blob(vault: &Vault, id: &str, limit: u64) -> Result<Vec<u8>, GitError> {
    let wanted = Wanted {
        id: id.to_owned(),
        size: 0,
    };
    let size = sizes(vault, std::slice::from_ref(&wanted))?;
    match size.first().copied().flatten() {
        Some(size) if size <= limit => {}
        Some(_) => return Err(refused("a part of it is too large")),
        None => return Err(refused(&format!("{id} is missing in it"))),
    }
    let mut bytes = Vec::new();
    read_blobs(vault, &[wanted], |_, blob| {
        if let Some(found) = blob.as_ref().and_then(|blob| blob.bytes()) {
            bytes = found.to_vec();
        }
        Ok(())
    })?;
    Ok(bytes)
}
