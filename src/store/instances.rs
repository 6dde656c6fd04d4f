//! The instances of a home: one directory each.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::document::{keep_aside, read_document, text_of, write_document};
use super::replace::sync_directory;
use super::{JournalFile, Lock, LockMode, StoreError, ensure_private, replace_file};
use crate::lifecycle::Journal;
use crate::model::{InstanceId, InstanceRecord, RunId, RunRecord};

const FORMAT: &str = "{\"format\":1,\"min_reader\":1}\n";

/// The prefix of an instance directory that is being removed. No id begins like this.
const FORGOTTEN: &str = ".forgotten-";
/// How often a removal is repeated: a process that found the directory by its old name can create one more
/// file in it.
const REMOVALS: usize = 10;

/// The state directory of a home.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    root: PathBuf,
}

/// One instance as found on disk.
#[derive(Debug)]
pub(crate) enum LoadedInstance {
    Known {
        record: Box<InstanceRecord>,
        /// Of an operation that has not ended.
        journal: Option<Box<Journal>>,
    },
    /// Created by an operation that has not written the record yet.
    Unborn { journal: Box<Journal> },
    /// Newer, damaged or not accessible: shown, never changed.
    Unreadable(StoreError),
}

impl Store {
    /// A store in this state directory. Nothing is created before [`Self::prepare`].
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Creates the directories, before anything else is changed.
    pub(crate) fn prepare(&self) -> Result<(), StoreError> {
        for directory in [self.root.clone(), self.instances(), self.root.join("lock")] {
            ensure_private(&directory)?;
        }
        let format = self.root.join("FORMAT");
        match std::fs::read_to_string(&format) {
            Ok(text) => refuse_newer(&format, &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                replace_file(&format, FORMAT.as_bytes())
            }
            Err(error) => Err(StoreError::io("read", &format)(error)),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// All instances that have a directory, killed ones too, in no particular order.
    pub(crate) fn ids(&self) -> Result<Vec<InstanceId>, StoreError> {
        let directory = self.instances();
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("read", &directory)(error)),
        };
        Ok(entries
            .filter_map(|entry| InstanceId::parse(entry.ok()?.file_name().to_str()?))
            .collect())
    }

    /// Removes what is left of removals that were interrupted.
    pub(crate) fn sweep_forgotten(&self) {
        let entries = std::fs::read_dir(self.instances()).into_iter().flatten();
        for entry in entries.flatten() {
            // A failure is tried again by the next sweep.
            if entry.file_name().to_string_lossy().starts_with(FORGOTTEN)
                && let Err(error) = remove_forgotten(&entry.path())
            {
                tracing::debug!(%error, "the rest of a removed instance was not deleted");
            }
        }
    }

    pub(crate) fn instance(&self, id: &InstanceId) -> InstanceDir {
        InstanceDir {
            path: self.instances().join(id.as_str()),
        }
    }

    /// Creates the directory of an instance; fails if it exists.
    pub(crate) fn claim(&self, id: &InstanceId) -> Result<InstanceDir, StoreError> {
        let instance = self.instance(id);
        std::fs::create_dir(&instance.path).map_err(StoreError::io("make", &instance.path))?;
        ensure_private(&instance.path)?;
        for part in ["runs", "terminal"] {
            ensure_private(&instance.path.join(part))?;
        }
        sync_directory(&self.instances())?;
        Ok(instance)
    }

    /// A lock for a whole home or a repository, by name.
    pub(crate) fn lock(
        &self,
        name: &str,
        wait: Duration,
        purpose: &str,
    ) -> Result<Lock, StoreError> {
        let directory = self.root.join("lock");
        // State that was restored from a backup may lack this directory.
        ensure_private(&directory)?;
        let path = directory.join(format!("{name}.lock"));
        Lock::take(&path, LockMode::Exclusive, wait, purpose)
    }

    /// The autoyes audit of the home.
    pub(crate) fn audit(&self) -> super::audit::AuditLog {
        super::audit::AuditLog::new(&self.root)
    }

    fn instances(&self) -> PathBuf {
        self.root.join("instances")
    }
}

/// The directory of one instance.
#[derive(Debug, Clone)]
pub(crate) struct InstanceDir {
    pub path: PathBuf,
}

impl InstanceDir {
    pub(crate) fn load(&self) -> LoadedInstance {
        // First the journal: an operation that ends in between has written its record before.
        let journal = match self.journal().read_open() {
            Ok(journal) => journal.map(Box::new),
            Err(error) => return LoadedInstance::Unreadable(error),
        };
        match self.record() {
            Ok(record) => LoadedInstance::Known {
                record: Box::new(record),
                journal,
            },
            Err(error) if error.is_missing_file() => match self.journal().read() {
                Ok(Some(journal)) => LoadedInstance::Unborn {
                    journal: Box::new(journal),
                },
                Ok(None) => LoadedInstance::Unreadable(error),
                Err(error) => LoadedInstance::Unreadable(error),
            },
            Err(error) => LoadedInstance::Unreadable(error),
        }
    }

    pub(crate) fn record(&self) -> Result<InstanceRecord, StoreError> {
        read_document(&self.record_path())
    }

    /// The record before the last change. Never used instead of the record; `biv doctor` offers it.
    pub(crate) fn record_before(&self) -> Result<InstanceRecord, StoreError> {
        read_document(&self.backup_path())
    }

    /// The title of an instance whose record cannot be read, if the title can.
    pub(crate) fn readable_title(&self) -> Option<String> {
        text_of(&self.record_path(), "title").or_else(|| text_of(&self.backup_path(), "title"))
    }

    /// Replaces a damaged record by the one before the last change; returns the new path of the damaged
    /// one. There is a record at any instant: a directory without one counts as an instance that is being
    /// created.
    pub(crate) fn restore_record(&self, _lock: &Lock) -> Result<PathBuf, StoreError> {
        self.record_before()?;
        let path = self.record_path();
        let backup = std::fs::read(self.backup_path())
            .map_err(StoreError::io("read", &self.backup_path()))?;
        let aside = keep_aside(&path)?;
        replace_file(&path, &backup)?;
        Ok(aside)
    }

    /// Writes a changed record under the operation lock. Fails if the stored `rev` is not the one that was
    /// read.
    pub(crate) fn save(&self, record: &mut InstanceRecord) -> Result<(), StoreError> {
        let path = self.record_path();
        if path.exists() {
            let on_disk = self.record()?;
            if on_disk.rev != record.rev {
                return Err(StoreError::Stale { path });
            }
            self.keep_backup(&path)?;
        }
        record.rev += 1;
        write_document(&path, record)
    }

    pub(crate) fn has_record(&self) -> bool {
        self.record_path().exists()
    }

    pub(crate) fn journal(&self) -> JournalFile {
        JournalFile::new(self.path.join("journal.jsonl"))
    }

    pub(crate) fn save_run(&self, run: &RunRecord) -> Result<(), StoreError> {
        write_document(&self.run_path(&run.run_id), run)
    }

    pub(crate) fn run(&self, id: &RunId) -> Result<RunRecord, StoreError> {
        read_document(&self.run_path(id))
    }

    /// All runs, oldest first, and those that cannot be read.
    pub(crate) fn runs(&self) -> Result<(Vec<RunRecord>, Vec<StoreError>), StoreError> {
        let directory = self.path.join("runs");
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok((Vec::new(), Vec::new()));
            }
            Err(error) => return Err(StoreError::io("read", &directory)(error)),
        };
        let mut runs: Vec<RunRecord> = Vec::new();
        let mut unreadable = Vec::new();
        for entry in entries {
            let path = entry.map_err(StoreError::io("read", &directory))?.path();
            // The directory also has temporary files and damaged files that were renamed.
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            match read_document(&path) {
                Ok(run) => runs.push(run),
                Err(error) => unreadable.push(error),
            }
        }
        runs.sort_by_key(|run| run.created_at);
        Ok((runs, unreadable))
    }

    /// The lock for changing the instance. Waits for up to five seconds.
    pub(crate) fn lock_operation(&self, purpose: &str) -> Result<Lock, StoreError> {
        self.take(
            "op.lock",
            LockMode::Exclusive,
            Duration::from_secs(5),
            purpose,
        )
    }

    /// The same without waiting, to check whether an operation was abandoned.
    pub(crate) fn try_lock_operation(&self, purpose: &str) -> Result<Lock, StoreError> {
        self.take("op.lock", LockMode::Exclusive, Duration::ZERO, purpose)
    }

    /// The lock for sending a message: it is held from the wait for the agent until the message is typed.
    pub(crate) fn lock_typing(&self, wait: Duration) -> Result<Lock, StoreError> {
        self.take("send.lock", LockMode::Exclusive, wait, "send")
    }

    /// The lock for pressing keys, held for one message.
    pub(crate) fn lock_keys(&self, wait: Duration) -> Result<Lock, StoreError> {
        self.take("keys.lock", LockMode::Exclusive, wait, "typing")
    }

    /// The lock that says that the user is present (attached, typing): timers and autoyes then do not
    /// act.
    pub(crate) fn lock_presence(&self, purpose: &str) -> Result<Lock, StoreError> {
        // A timer holds it briefly while it checks that the user is absent.
        let wait = Duration::from_secs(5);
        self.take("presence.lock", LockMode::Shared, wait, purpose)
    }

    /// Keeps the user out while it is held; an error where the user is present.
    pub(crate) fn lock_absence(&self, purpose: &str) -> Result<Lock, StoreError> {
        self.take(
            "presence.lock",
            LockMode::Exclusive,
            Duration::ZERO,
            purpose,
        )
    }

    pub(crate) fn terminal(&self) -> PathBuf {
        self.path.join("terminal")
    }

    /// Removes the directory of an instance whose creation was rolled back.
    ///
    /// It is renamed first. Other processes find it by its id and create lock files in it, so a directory
    /// under its own name may not stay empty.
    pub(crate) fn forget(&self) -> Result<(), StoreError> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let aside = self.path.with_file_name(format!("{FORGOTTEN}{name}"));
        match std::fs::rename(&self.path, &aside) {
            Ok(()) => remove_forgotten(&aside),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(StoreError::io("remove", &self.path)(error)),
        }
    }

    fn take(
        &self,
        name: &str,
        mode: LockMode,
        wait: Duration,
        purpose: &str,
    ) -> Result<Lock, StoreError> {
        Lock::take(&self.path.join(name), mode, wait, purpose)
    }

    fn keep_backup(&self, path: &Path) -> Result<(), StoreError> {
        let backup = self.backup_path();
        let fresh = self.path.join("record.json.bak.new");
        // A hard link is cheap and keeps exactly the file that readers saw.
        if let Err(error) = std::fs::remove_file(&fresh)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(StoreError::io("remove", &fresh)(error));
        }
        std::fs::hard_link(path, &fresh)
            .and_then(|()| std::fs::rename(&fresh, &backup))
            .map_err(StoreError::io("keep", &backup))
    }

    fn record_path(&self) -> PathBuf {
        self.path.join("record.json")
    }

    fn backup_path(&self) -> PathBuf {
        self.path.join("record.json.bak")
    }

    pub(crate) fn run_path(&self, id: &RunId) -> PathBuf {
        self.path.join("runs").join(format!("{id}.json"))
    }
}

fn remove_forgotten(directory: &Path) -> Result<(), StoreError> {
    use std::io::ErrorKind::{DirectoryNotEmpty, NotFound};
    let mut attempts = REMOVALS;
    loop {
        attempts -= 1;
        match std::fs::remove_dir_all(directory) {
            Err(error) if error.kind() == DirectoryNotEmpty && attempts > 0 => {}
            Err(error) if error.kind() != NotFound => {
                return Err(StoreError::io("remove", directory)(error));
            }
            Ok(()) | Err(_) => return Ok(()),
        }
    }
}

fn refuse_newer(path: &Path, text: &str) -> Result<(), StoreError> {
    let declared = serde_json::from_str::<serde_json::Value>(text)
        .ok()
        .and_then(|value| value.get("min_reader")?.as_u64());
    match declared {
        Some(1) => Ok(()),
        Some(found) => Err(StoreError::Newer {
            path: path.to_owned(),
            found,
        }),
        None => Err(StoreError::Corrupt {
            path: path.to_owned(),
            message: "no format is declared".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn an_instance_is_removed_while_others_look_at_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned());
        store.prepare().unwrap();
        let id = InstanceId::random();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                // As the daemon and `biv list` do: the lock shows whether an operation is under way.
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        drop(store.instance(&id).try_lock_operation("settle"));
                    }
                });
            }
            let removed: Vec<_> = (0..300)
                .map(|_| store.claim(&id).and_then(|dir| dir.forget()))
                .collect();
            over.store(true, Ordering::Relaxed);
            for removed in removed {
                removed.unwrap();
            }
        });
        assert_eq!(store.ids().unwrap(), []);
    }

    #[test]
    fn what_a_removal_that_was_cut_off_has_left_is_no_instance_and_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned());
        store.prepare().unwrap();
        let id = InstanceId::random();
        let dir = store.claim(&id).unwrap();
        let left = folder.path().join(format!("instances/{FORGOTTEN}{id}"));
        std::fs::rename(&dir.path, &left).unwrap();
        assert_eq!(store.ids().unwrap(), []);
        store.sweep_forgotten();
        assert!(!left.exists());
    }
}
