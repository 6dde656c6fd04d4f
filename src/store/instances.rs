//! The instances of a home: one directory each.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::document::{keep_aside, read_document, text_of, write_document};
use super::replace::sync_directory;
use super::{JournalFile, Lock, LockMode, StoreError, ensure_private, replace_file};
use crate::lifecycle::Journal;
use crate::model::{InstanceId, InstanceRecord, RunId, RunRecord};

const FORMAT: &str = "{\"format\":1,\"min_reader\":1}\n";

/// Before the id of an instance that is being removed. No id begins like this.
const FORGOTTEN: &str = ".forgotten-";
/// A process that found the directory by its old name can make one more file in it.
const REMOVALS: usize = 10;

/// The state directory of a home.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    root: PathBuf,
}

/// What is on disk about one instance.
#[derive(Debug)]
pub(crate) enum Loaded {
    Known {
        record: Box<InstanceRecord>,
        journal: Option<Box<Journal>>,
    },
    /// Claimed by an operation that has not written the record yet.
    Unborn { journal: Box<Journal> },
    /// Newer, damaged or locked away: shown, never touched.
    Unreadable(StoreError),
}

impl Store {
    /// Looks at a state directory; nothing is made until [`Self::prepare`].
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Makes sure that the state can be written, before anything else is touched.
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

    /// Removes what a process that was killed while it removed an instance has left.
    pub(crate) fn sweep_forgotten(&self) {
        let entries = std::fs::read_dir(self.instances()).into_iter().flatten();
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(FORGOTTEN) {
                // What cannot be removed now is tried again by the next sweep.
                drop(remove_forgotten(&entry.path()));
            }
        }
    }

    pub(crate) fn instance(&self, id: &InstanceId) -> InstanceDir {
        InstanceDir {
            path: self.instances().join(id.as_str()),
        }
    }

    /// Claims the id: fails if the directory is there already.
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
        // A copy of the state from a backup may lack it: locks are empty files.
        ensure_private(&directory)?;
        let path = directory.join(format!("{name}.lock"));
        Lock::take(&path, LockMode::Exclusive, wait, purpose)
    }

    /// What autoyes has decided, in the whole home.
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
    pub(crate) fn load(&self) -> Loaded {
        let journal = match self.journal().read() {
            Ok(journal) => journal.map(Box::new),
            Err(error) => return Loaded::Unreadable(error),
        };
        match self.record() {
            Ok(record) => Loaded::Known {
                record: Box::new(record),
                journal,
            },
            Err(StoreError::Io {
                source,
                path,
                action,
            }) if source.kind() == std::io::ErrorKind::NotFound => match journal {
                Some(journal) => Loaded::Unborn { journal },
                None => Loaded::Unreadable(StoreError::Io {
                    action,
                    path,
                    source,
                }),
            },
            Err(error) => Loaded::Unreadable(error),
        }
    }

    pub(crate) fn record(&self) -> Result<InstanceRecord, StoreError> {
        read_document(&self.record_path())
    }

    /// The record before the last change. Never read in place of the record: it is offered by `biv doctor`.
    pub(crate) fn record_before(&self) -> Result<InstanceRecord, StoreError> {
        read_document(&self.backup_path())
    }

    /// The title of an instance whose record cannot be read, as far as that can be told.
    pub(crate) fn told_title(&self) -> Option<String> {
        text_of(&self.record_path(), "title").or_else(|| text_of(&self.backup_path(), "title"))
    }

    /// Puts the record before the last change in the place of a damaged one. Gives back where the damaged
    /// one is now. There is a record at any instant: a directory without one is taken for an unborn
    /// instance.
    pub(crate) fn restore_record(&self, _lock: &Lock) -> Result<PathBuf, StoreError> {
        self.record_before()?;
        let path = self.record_path();
        let backup = std::fs::read(self.backup_path())
            .map_err(StoreError::io("read", &self.backup_path()))?;
        let aside = keep_aside(&path)?;
        replace_file(&path, &backup)?;
        Ok(aside)
    }

    /// Writes the record that was read at `rev` and changed since, under the operation lock.
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
            // Beside them lie temporary files and what was set aside.
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

    /// The lock under which the instance is changed. Waits for up to five seconds.
    pub(crate) fn lock_operation(&self, purpose: &str) -> Result<Lock, StoreError> {
        self.take(
            "op.lock",
            LockMode::Exclusive,
            Duration::from_secs(5),
            purpose,
        )
    }

    /// The same, for whoever only looks whether an abandoned operation is to be carried on.
    pub(crate) fn try_lock_operation(&self, purpose: &str) -> Result<Lock, StoreError> {
        self.take("op.lock", LockMode::Exclusive, Duration::ZERO, purpose)
    }

    /// The lock under which a message waits for the agent and is typed: one at a time, whole.
    pub(crate) fn lock_typing(&self, wait: Duration) -> Result<Lock, StoreError> {
        self.take("send.lock", LockMode::Exclusive, wait, "send")
    }

    /// The lock under which keys are pressed, for as long as one message takes.
    pub(crate) fn lock_keys(&self, wait: Duration) -> Result<Lock, StoreError> {
        self.take("keys.lock", LockMode::Exclusive, wait, "typing")
    }

    /// Says that a person is here (attached, typing); timers and autoyes then keep away.
    pub(crate) fn presence(&self, purpose: &str) -> Result<Lock, StoreError> {
        // A timer holds it for the moment in which it makes sure that nobody is here.
        let wait = Duration::from_secs(5);
        self.take("presence.lock", LockMode::Shared, wait, purpose)
    }

    /// Makes sure that nobody is here, for as long as it is held: an error where somebody is.
    pub(crate) fn absence(&self, purpose: &str) -> Result<Lock, StoreError> {
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

    /// Takes the directory out of the list: for an instance that never came to be.
    ///
    /// It gets another name first. Other processes look for it by its id and make a lock file in what
    /// they find; a directory that is emptied in its place is never empty for sure.
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
        // A hard link costs nothing and is the very file that a reader saw.
        drop(std::fs::remove_file(&fresh));
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
                // As the daemon and `biv list` do: whether an operation is under way is told by its lock.
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
