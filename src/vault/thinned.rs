//! How far a worktree is on its way from whole to thinned and back, written down in its admin
//! directory before each part of the way begins:
//!
//! ```text
//! (none) → thinning → thinned → refilling → refilled → (none)
//!              ↑                    │           │
//!              └────────────────────┴───────────┘   the disk is freed again
//! ```
//!
//! Files are deleted in `thinning` and written in `refilling`, both in the parking place only. Once
//! the marker says `refilled`, the files belong to the user again. The only thing that is still
//! written is what a power cut took away from a file that was not touched since.

use std::path::PathBuf;

use super::ParkingPlace;
use crate::git::disk::{UNFINISHED, replace_durably, sync_dir};
use crate::git::{Checkout, GitError};
use crate::process::{boot_id, crash};

const MARKER: &str = "bivouac-thinned";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Phase {
    /// Files are being deleted; what could not be deleted is still there.
    Thinning,
    /// Everything that was to be deleted is.
    Thinned,
    /// Files are being written, since this boot.
    Refilling { boot: String },
    /// Every file is there again. What was written may be on the disk only in part when the machine
    /// is not in this boot any more.
    Refilled { boot: String },
    /// Any of these: the marker was written by a version that did not say.
    Unsaid,
}

impl Phase {
    pub(super) fn refilling() -> Self {
        Self::Refilling {
            boot: boot_id().to_owned(),
        }
    }

    pub(super) fn refilled() -> Self {
        Self::Refilled {
            boot: boot_id().to_owned(),
        }
    }

    /// Whether the power may have gone off since files were written: no crash of a program alone
    /// takes anything away from a file.
    pub(super) fn power_cut_possible(&self) -> bool {
        match self {
            Self::Thinning | Self::Thinned => false,
            Self::Refilling { boot } | Self::Refilled { boot } => boot != boot_id(),
            Self::Unsaid => true,
        }
    }

    fn parse(word: Option<&str>, boot: Option<&str>) -> Option<Self> {
        let boot = boot.unwrap_or_default().to_owned();
        match word {
            None => Some(Self::Unsaid),
            Some("thinning") => Some(Self::Thinning),
            Some("thinned") => Some(Self::Thinned),
            Some("refilling") => Some(Self::Refilling { boot }),
            Some("refilled") => Some(Self::Refilled { boot }),
            Some(_) => None,
        }
    }

    fn lines(&self) -> String {
        match self {
            Self::Thinning => "thinning\n".to_owned(),
            Self::Thinned => "thinned\n".to_owned(),
            Self::Refilling { boot } => format!("refilling\n{boot}\n"),
            Self::Refilled { boot } => format!("refilled\n{boot}\n"),
            Self::Unsaid => String::new(),
        }
    }
}

/// The commit that holds the manifest, the snapshot that it belongs to, and the phase: a line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    pub commit: String,
    pub reference: String,
    pub phase: Phase,
}

impl Marker {
    fn path(checkout: &Checkout) -> PathBuf {
        checkout.git_dir.join(MARKER)
    }

    pub(super) fn read(checkout: &Checkout) -> Result<Option<Self>, GitError> {
        let path = Self::path(checkout);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(GitError::reading(&path)(error)),
        };
        let mut lines = text.lines();
        let (Some(commit), Some(reference)) = (lines.next(), lines.next()) else {
            // Cut off while an earlier version wrote it: nothing has been deleted yet.
            return Ok(None);
        };
        let word = lines.next();
        let phase = Phase::parse(word, lines.next()).ok_or_else(|| GitError::Manifest {
            reference: reference.to_owned(),
            problem: format!("`{}` is not known", word.unwrap_or_default()),
        })?;
        Ok(Some(Self {
            commit: commit.to_owned(),
            reference: reference.to_owned(),
            phase,
        }))
    }

    /// Says that this phase begins; on the disk when it returns.
    pub(super) fn enter(self, checkout: &Checkout, phase: Phase) -> Result<Self, GitError> {
        let marker = Self { phase, ..self };
        let text = format!(
            "{}\n{}\n{}",
            marker.commit,
            marker.reference,
            marker.phase.lines()
        );
        replace_durably(&Self::path(checkout), text.as_bytes(), None)?;
        crash::effect();
        Ok(marker)
    }

    pub(super) fn remove(checkout: &Checkout) -> Result<(), GitError> {
        let path = Self::path(checkout);
        // A draft that stays is overwritten by the next marker.
        drop(std::fs::remove_file(checkout.git_dir.join(UNFINISHED)));
        std::fs::remove_file(&path).map_err(GitError::writing(&path))?;
        sync_dir(&checkout.git_dir)?;
        crash::effect();
        Ok(())
    }
}

/// How much of a parked worktree is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnDisk {
    Whole,
    /// Freeing the disk, or bringing the files back, has begun and not ended.
    Part,
    /// Only what is kept by intention.
    Least,
}

pub(crate) fn on_disk(place: &ParkingPlace) -> Result<OnDisk, GitError> {
    let marker = Marker::read(&place.checkout())?;
    Ok(match marker.map(|marker| marker.phase) {
        None | Some(Phase::Refilled { .. }) => OnDisk::Whole,
        Some(Phase::Thinning | Phase::Refilling { .. } | Phase::Unsaid) => OnDisk::Part,
        Some(Phase::Thinned) => OnDisk::Least,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_reads_back_and_an_unknown_one_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let checkout = Checkout {
            dir: home.path().to_owned(),
            git_dir: home.path().to_owned(),
            common_dir: home.path().to_owned(),
        };
        let marker = Marker {
            commit: "c".to_owned(),
            reference: "r".to_owned(),
            phase: Phase::Unsaid,
        };
        for phase in [
            Phase::Unsaid,
            Phase::Thinning,
            Phase::Thinned,
            Phase::refilling(),
            Phase::refilled(),
        ] {
            let written = marker.clone().enter(&checkout, phase).unwrap();
            assert_eq!(Marker::read(&checkout).unwrap(), Some(written));
        }
        std::fs::write(Marker::path(&checkout), "c\nr\nfolded\n").unwrap();
        assert!(Marker::read(&checkout).is_err());
        std::fs::write(Marker::path(&checkout), "c\n").unwrap();
        assert_eq!(Marker::read(&checkout).unwrap(), None);
        Marker::remove(&checkout).unwrap();
        assert_eq!(Marker::read(&checkout).unwrap(), None);
    }

    #[test]
    fn only_another_boot_can_have_cut_the_power() {
        assert!(!Phase::refilled().power_cut_possible());
        assert!(
            Phase::Refilled {
                boot: "another".to_owned()
            }
            .power_cut_possible()
        );
    }
}
