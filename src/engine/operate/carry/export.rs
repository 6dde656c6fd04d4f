//! `biv export`: an instance whose agent does not run as a stream of bytes.

use std::io::{Seek, Write};
use std::path::Path;

use serde::Serialize;

use crate::agents::{SessionTravel, TranscriptQuery};
use crate::engine::base::progress::Silent;
use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Core, Error, Scope, now};
use crate::engine::operate::carry::encryption::{Secrecy, encrypt};
use crate::engine::operate::carry::ended::has_ended;
use crate::engine::operate::carry::parts::{
    keep_printed, parts_of, printed_session, session_parts,
};
use crate::engine::operate::recover::LockedInstance;
use crate::git::{Checkout, Repo};
use crate::model::{InstanceId, InstanceRecord, RestingState, Title, printable_line};
use crate::store::{InstanceDir, Lock};
use crate::vault::{self, Known, LeftBehind, Order, Outgoing, ParkState, Part};

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ExportOptions {
    /// Files that git ignores come along.
    pub with_ignored: bool,
    /// The whole history comes along, for a repository that has nothing of it.
    pub with_history: bool,
    /// The receiver has nothing but the commit that the instance began with.
    pub base_only: bool,
}

/// An export that can be written. The instance stays as it is until this is dropped.
#[derive(Debug)]
pub(crate) struct PreparedExport {
    pub id: InstanceId,
    pub title: Title,
    pub(super) dir: InstanceDir,
    /// As it is on the disk.
    pub record: InstanceRecord,
    pub(super) lock: Lock,
    /// The hash of what travels beside the work.
    pub(super) parts: String,
    outgoing: Outgoing,
}

/// What was exported.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Exported {
    pub id: InstanceId,
    pub title: Title,
    /// The SHA-256 of the manifest, by which both sides know that they have the same.
    pub manifest: String,
    pub bytes: u64,
    /// What does not come along.
    pub left: Vec<LeftBehind>,
}

impl PreparedExport {
    /// What does not come along.
    pub(crate) fn left(&self) -> &[LeftBehind] {
        &self.outgoing.left
    }

    /// Writes it into a file that does not exist yet; under another name until it is whole.
    pub(crate) fn write_file(&self, path: &Path, secrecy: &Secrecy) -> Result<Exported, Error> {
        let failed = |error| Error::files("write", path)(error);
        let whole = std::path::absolute(path).map_err(failed)?;
        let above = whole.parent().unwrap_or(&whole);
        let mut file = tempfile::NamedTempFile::new_in(above).map_err(failed)?;
        let exported = match secrecy {
            Secrecy::Plain => self.write(file.as_file_mut())?,
            Secrecy::Key(key) => self.write_encrypted(file.path(), key.as_deref())?,
        };
        file.as_file().sync_all().map_err(failed)?;
        file.persist_noclobber(&whole)
            .map_err(|error| failed(error.error))?;
        Ok(exported)
    }

    /// Writes it into an empty file, encrypted.
    pub(in crate::engine) fn write_encrypted(
        &self,
        path: &Path,
        key: Option<&Path>,
    ) -> Result<Exported, Error> {
        let failed = |error| Error::files("write", path)(error);
        let above = path.parent().unwrap_or(path);
        // Without a name, so that nothing is left of the plain text whatever happens.
        let mut plain = tempfile::tempfile_in(above).map_err(failed)?;
        let exported = self.write(&mut plain)?;
        plain.rewind().map_err(failed)?;
        encrypt(&mut plain, path, key)?;
        let bytes = path.metadata().map_err(failed)?.len();
        Ok(Exported { bytes, ..exported })
    }

    /// Writes it into any pipe.
    pub(crate) fn write(&self, out: &mut (dyn Write + Send)) -> Result<Exported, Error> {
        let bytes = self.outgoing.write(out)?;
        Ok(Exported {
            id: self.id.clone(),
            title: self.title.clone(),
            manifest: self.outgoing.hash.clone(),
            bytes,
            left: self.outgoing.left.clone(),
        })
    }
}

impl Core {
    /// The files of the agent's own session, where they can travel.
    fn session_of(&self, dir: &InstanceDir, record: &InstanceRecord) -> Result<Vec<Part>, Error> {
        let provider = self.provider_of(record)?;
        let Some(reference) = &record.session_ref else {
            return Ok(Vec::new());
        };
        if provider.session_travel() == SessionTravel::Commands {
            let files = printed_session(dir)?.into_iter().collect();
            return Ok(session_parts(files, &record.worktree.path));
        }
        let query = TranscriptQuery {
            reference,
            worktree: &record.worktree.path,
            below: record.below(),
            since: record.created_at,
        };
        let files = provider.session_files(query, &self.host);
        Ok(session_parts(files, &record.worktree.path))
    }

    /// Lets an agent that prints its session do so, once for each export: what is handed over later is compared
    /// with that.
    fn print_session(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        repository: &Repo,
    ) -> Result<Option<LeftBehind>, Error> {
        let provider = self.provider_of(record)?;
        let printed = record.session_ref.as_ref().and_then(|reference| {
            provider.printed_session(reference, repository.root(), &self.host)
        });
        let (file, left) = match printed {
            None => (None, None),
            Some(Ok(file)) => (Some(file), None),
            Some(Err(why)) => {
                let left = LeftBehind {
                    path: "session".into(),
                    why: format!(
                        "the session of {} could not be exported: {}",
                        provider.display(),
                        printable_line(&why)
                    ),
                };
                (None, Some(left))
            }
        };
        keep_printed(dir, file.as_ref())?;
        Ok(left)
    }

    /// Gathers an instance whose agent does not run; nothing is written outside of the repository's own place.
    pub(crate) fn prepare_export(
        &self,
        given: &str,
        options: ExportOptions,
    ) -> Result<PreparedExport, Error> {
        self.prepare()?;
        self.gather_export(self.lock_instance(given, Scope::Living, "export")?, options)
    }

    /// Everything that travels beside the work.
    pub(super) fn all_parts(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
    ) -> Result<Vec<Part>, Error> {
        let mut parts = parts_of(dir, record)?;
        parts.extend(self.session_of(dir, record)?);
        Ok(parts)
    }

    pub(super) fn gather_export(
        &self,
        locked: LockedInstance,
        options: ExportOptions,
    ) -> Result<PreparedExport, Error> {
        let LockedInstance {
            dir,
            mut record,
            lock,
        } = locked;
        let ended = has_ended(record.state);
        if record.state != RestingState::Paused && !ended {
            return Err(Error::NotExportable {
                title: record.title,
                state: record.state.into(),
            });
        }
        let repository = self.require_repository(&dir, &mut record, &mut Silent)?;
        let mut saved = SavedWork::of(&record)?;
        if ended {
            if let Err(error) = self.import_conversation(&dir, &record) {
                tracing::warn!(%error, "import the conversation of an agent that has ended");
            }
            saved.snapshot = Some(self.snapshot_ended(&repository, &record)?);
        }
        let Some(snapshot) = saved.snapshot else {
            return Err(Error::NotExportable {
                title: record.title,
                state: record.state.into(),
            });
        };
        let checkout = match &saved.parking {
            Some(place) if vault::park_state(place)? == ParkState::Parked => place.checkout(),
            _ => Checkout::live(&repository, &record.worktree.path)?,
        };
        let known = match (&record.base.commit, options) {
            (
                _,
                ExportOptions {
                    with_history: true, ..
                },
            ) => Known::Nothing,
            (
                Some(base),
                ExportOptions {
                    base_only: true, ..
                },
            ) => Known::Base { base: base.clone() },
            (
                None,
                ExportOptions {
                    base_only: true, ..
                },
            ) => Known::Nothing,
            (base, _) => Known::Usual { base: base.clone() },
        };
        let session_left = self.print_session(&dir, &record, &repository)?;
        let mut parts = self.all_parts(&dir, &record)?;
        if ended {
            self.with_live_scrollback(&dir, &record, &mut parts)?;
        }
        let hash = vault::hash_of_parts(&parts);
        let mut outgoing = vault::prepare_export(
            &repository,
            Order {
                checkout: &checkout,
                snapshot: &snapshot,
                branch: record.branch.as_ref().map(|branch| branch.name.as_str()),
                parts,
                with_ignored: options.with_ignored,
                known,
                at: now(),
            },
        )?;
        outgoing.left.extend(session_left);
        if ended {
            vault::release_passing(&repository, &record.id, now())?;
        }
        Ok(PreparedExport {
            id: record.id.clone(),
            title: record.title.clone(),
            dir,
            record,
            lock,
            parts: hash,
            outgoing,
        })
    }
}
