//! The checkout in which results are checked: one for each repository and target, at a path that stays the
//! same, so that a check finds the build output of the last one.
//!
//! It is ours alone, and can be deleted at any time. A file beside it says for which commit it was made; while
//! it is being changed that file names none, and a checkout without one is made anew.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::base::{Core, Error, Progress, now};
use crate::engine::operate::repository_lock::stable_hash;
use crate::engine::operate::sizes::bytes_below;
use crate::git::{Checkout, Repo};
use crate::model::{InstanceId, InstanceRecord, Timestamp, marker};
use crate::process::stop_tree;
use crate::store::{InstanceDir, Lock, StoreError, ensure_private, replace_file};
use crate::vault::{self, Left};

/// Where the checkouts are, below the state directory.
const PLACES: &str = "checks";
/// In the name of a checkout that is being deleted.
const OLD: &str = ".old-";
const PROBE: Duration = Duration::from_millis(100);

/// A result to be checked.
pub(super) struct Checked<'a> {
    pub dir: &'a InstanceDir,
    pub record: &'a InstanceRecord,
    pub repository: &'a Repo,
    pub target: &'a str,
    pub commit: &'a str,
}

/// The place for checks of one repository and target. No other process has it meanwhile.
pub(super) struct CheckPlace {
    pub path: PathBuf,
    /// By this the processes of a check are recognised, also those that a killed landing has left.
    pub mark: InstanceId,
    _lock: Lock,
}

/// What is known about a checkout.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct About {
    repository: PathBuf,
    common_dir: PathBuf,
    target: String,
    /// The commit that it was made for; None while it is being changed.
    commit: Option<String>,
    used_at: Timestamp,
}

/// A checkout of checks that was deleted, or would be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FreedCheckout {
    pub path: PathBuf,
    /// None where that is not known any more.
    pub repository: Option<PathBuf>,
    pub target: Option<String>,
    pub freed_bytes: u64,
    /// What could not be deleted.
    pub left: Vec<Left>,
}

/// The checkouts of checks, by what becomes of them.
#[derive(Debug, Default)]
pub(in crate::engine) struct CheckPlaces {
    pub freed: Vec<FreedCheckout>,
    pub kept: Vec<PathBuf>,
    /// What is left of earlier ones, and cannot be deleted.
    pub stuck: Vec<Left>,
}

impl Core {
    /// Waits until no other landing is checked in this place, and says whether it had to.
    pub(super) fn hold_check_place(
        &self,
        repository: &Repo,
        target: &str,
        progress: &mut dyn Progress,
    ) -> Result<(CheckPlace, bool), Error> {
        self.expire_check_places(false);
        let common_dir = repository.common_dir().as_os_str().as_bytes();
        let mark = InstanceId::of_number(stable_hash(&[common_dir, target.as_bytes()]));
        let mut waited = false;
        let lock = loop {
            match self.lock_place(&mark, "land") {
                Ok(lock) => break lock,
                Err(StoreError::Busy { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            if progress.is_interrupted() {
                return Err(Error::Interrupted);
            }
            if !waited {
                progress.note(&format!(
                    "another landing on `{target}` is being checked; this one waits"
                ));
                progress.waiting("another landing is being checked");
                waited = true;
            }
            std::thread::sleep(PROBE);
        };
        let place = CheckPlace {
            path: self.check_places().join(mark.as_str()),
            mark,
            _lock: lock,
        };
        Ok((place, waited))
    }

    /// The checkout with exactly the files of the result, and the ignored files of the last check.
    pub(super) fn ready_check_place(
        &self,
        place: &CheckPlace,
        checked: &Checked<'_>,
        progress: &mut dyn Progress,
    ) -> Result<Checkout, Error> {
        // A landing that was killed has left its check running, which writes here.
        stop_tree(None, &marker(&place.mark), self.settings().pause.stop)?;
        ensure_private(&self.check_places())?;
        let mut about = About {
            repository: checked.repository.root().to_owned(),
            common_dir: checked.repository.common_dir().to_owned(),
            target: checked.target.to_owned(),
            commit: None,
            used_at: now(),
        };
        let before = About::of(&place.path)
            .filter(|known| known.common_dir == about.common_dir && known.target == about.target)
            .and_then(|known| known.commit);
        about.write(&place.path)?;
        let renewed = before.map(|before| {
            checked
                .repository
                .renew_scratch(&place.path, &before, checked.commit)
        });
        let checkout = match renewed {
            Some(Ok(checkout)) => checkout,
            failed => {
                if let Some(Err(error)) = failed {
                    tracing::debug!(%error, path = %place.path.display(), "renew a check's checkout");
                    progress.note(
                        "the checkout of the last check cannot be used again; it is made anew",
                    );
                }
                self.make_anew(place, checked, progress)?
            }
        };
        about.commit = Some(checked.commit.to_owned());
        about.write(&place.path)?;
        Ok(checkout)
    }

    fn make_anew(
        &self,
        place: &CheckPlace,
        checked: &Checked<'_>,
        progress: &mut dyn Progress,
    ) -> Result<Checkout, Error> {
        let common_dir = checked.repository.common_dir();
        let left = self.clear_place(&place.path, Some(checked.repository))?;
        tell_left(&left, progress);
        let _lock = self.lock_repository_at(common_dir, "land")?;
        Ok(checked
            .repository
            .add_scratch(&place.path, checked.commit)?)
    }

    /// After a check: ends what it has left running, and deletes the checkout where none is to be kept.
    pub(super) fn leave_check_place(
        &self,
        place: &CheckPlace,
        repository: &Repo,
        progress: &mut dyn Progress,
    ) {
        let settings = self.settings();
        let ended = stop_tree(None, &marker(&place.mark), settings.pause.stop);
        if let Err(error) = ended {
            progress.note(&format!("the check has left processes: {error}"));
            return;
        }
        // A branch that the check has switched to would count as checked out.
        let detached = repository.detach_scratch(&place.path);
        if detached && !settings.land.keep_checkout.is_zero() {
            return;
        }
        match self.clear_place(&place.path, Some(repository)) {
            Ok(left) => tell_left(&left, progress),
            Err(error) => progress.note(&format!(
                "the checkout of the check stays at {}: {}",
                place.path.display(),
                error.told()
            )),
        }
    }

    /// Deletes the checkouts that were not used for `land.keep_checkout`, and those whose repository is gone.
    /// One that is in use is left alone.
    pub(in crate::engine) fn expire_check_places(&self, dry_run: bool) -> CheckPlaces {
        let mut places = CheckPlaces::default();
        if !dry_run {
            places.stuck = self.sweep_old();
        }
        let entries = std::fs::read_dir(self.check_places());
        for entry in entries.into_iter().flatten().flatten() {
            let path = entry.path();
            let mark = entry.file_name().to_str().and_then(InstanceId::parse);
            let Some(mark) = mark else {
                continue;
            };
            let Ok(_lock) = self.lock_place(&mark, "gc") else {
                places.kept.push(path);
                continue;
            };
            let about = About::of(&path);
            if about.as_ref().is_some_and(|about| self.is_kept(about)) {
                places.kept.push(path);
                continue;
            }
            let mut freed = FreedCheckout {
                freed_bytes: bytes_below(&path),
                repository: about.as_ref().map(|about| about.repository.clone()),
                target: about.as_ref().map(|about| about.target.clone()),
                left: Vec::new(),
                path,
            };
            if !dry_run {
                let repository = freed.repository.as_deref();
                let repository = repository.and_then(|root| Repo::discover(root).ok());
                match self.clear_place(&freed.path, repository.as_ref()) {
                    Ok(left) => freed.left = left,
                    Err(error) => freed.left = vec![Left::new(&freed.path, error.told())],
                }
            }
            places.freed.push(freed);
        }
        places
    }

    fn is_kept(&self, about: &About) -> bool {
        let unused = about.used_at.until(now());
        unused < self.settings().land.keep_checkout && about.common_dir.is_dir()
    }

    /// Takes a checkout out of the way and out of git's list, and deletes it. What a check has made
    /// undeletable does not keep the next one from having a checkout: it stays under another name.
    fn clear_place(&self, path: &Path, repository: Option<&Repo>) -> Result<Vec<Left>, Error> {
        let mut aside = path.file_name().unwrap_or_default().to_owned();
        aside.push(format!("{OLD}{}", InstanceId::random()));
        let aside = PathBuf::from(aside);
        if path.symlink_metadata().is_ok() {
            let to = self.check_places().join(&aside);
            std::fs::rename(path, to).map_err(Error::files("rename", path))?;
        }
        if let Some(repository) = repository {
            let _lock = self.lock_repository_at(repository.common_dir(), "land")?;
            repository.deregister_missing(path)?;
        }
        drop(std::fs::remove_file(About::path(path)));
        Ok(self.delete_old(&aside))
    }

    /// Deletes what was taken out of the way before, and says what cannot be deleted.
    fn sweep_old(&self) -> Vec<Left> {
        let entries = std::fs::read_dir(self.check_places());
        let names = entries.into_iter().flatten().flatten();
        names
            .map(|entry| PathBuf::from(entry.file_name()))
            .filter(|name| name.to_string_lossy().contains(OLD))
            .flat_map(|name| self.delete_old(&name))
            .collect()
    }

    fn delete_old(&self, name: &Path) -> Vec<Left> {
        let directory = self.check_places();
        let mut left = vault::delete_tree(&directory, name);
        for one in &mut left {
            one.path = directory.join(&one.path).display().to_string();
        }
        left
    }

    fn check_places(&self) -> PathBuf {
        self.home.state.join(PLACES)
    }

    fn lock_place(&self, mark: &InstanceId, purpose: &str) -> Result<Lock, StoreError> {
        self.store
            .lock(&format!("check-{mark}"), Duration::ZERO, purpose)
    }
}

impl About {
    fn path(checkout: &Path) -> PathBuf {
        checkout.with_extension("json")
    }

    /// None also for what cannot be read: then the checkout is made anew.
    fn of(checkout: &Path) -> Option<Self> {
        let text = std::fs::read(Self::path(checkout)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn write(&self, checkout: &Path) -> Result<(), Error> {
        let path = Self::path(checkout);
        let text = serde_json::to_vec(self)
            .map_err(|error| Error::files("write", &path)(std::io::Error::other(error)))?;
        Ok(replace_file(&path, &text)?)
    }
}

fn tell_left(left: &[Left], progress: &mut dyn Progress) {
    if let Some(first) = left.first() {
        progress.note(&format!(
            "{} paths of an earlier check cannot be deleted, such as {} ({}); `biv gc` tries again",
            left.len(),
            first.path,
            first.why
        ));
    }
}
