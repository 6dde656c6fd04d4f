//! Finds the instance for the title, id or prefix that the user typed.

use crate::engine::base::error::Candidate;
use crate::engine::base::{Core, Error};
use crate::lifecycle::Journal;
use crate::model::{InstanceId, InstanceRecord, RestingState, Title};
use crate::store::{InstanceDir, LoadedInstance, StoreError};

/// Which instances a command can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Living,
    /// Only what this machine has: one that is on another machine is refused.
    Here,
    /// For the history and for bringing one back.
    WithKilled,
    Killed,
}

impl Scope {
    fn holds(self, record: &InstanceRecord) -> bool {
        let killed = record.state == RestingState::Killed;
        match self {
            Self::Living | Self::Here => !killed,
            Self::WithKilled => true,
            Self::Killed => killed,
        }
    }
}

/// An instance with what is on disk about it.
#[derive(Debug)]
pub(in crate::engine) struct Found {
    pub dir: InstanceDir,
    pub record: InstanceRecord,
    /// Of an operation that has not come to its end.
    pub journal: Option<Journal>,
}

/// An instance that cannot be read, and why.
pub(in crate::engine) type Unread = (InstanceId, StoreError);

/// What is stored of all instances in a scope.
pub(in crate::engine) struct Stored {
    pub found: Vec<Found>,
    pub unreadable: Vec<Unread>,
    /// Creations that have just begun, or were cut off.
    pub without_record: Vec<InstanceId>,
}

impl Core {
    /// The instance with this title or id, or with a unique prefix of either. A whole title wins over a
    /// prefix. `repository/title` tells equal titles apart.
    pub(in crate::engine) fn find(&self, given: &str, scope: Scope) -> Result<Found, Error> {
        let found = match self.lookup(given, scope)? {
            Some(found) => found,
            None => return Err(self.not_in(scope, given)),
        };
        if scope == Scope::Here {
            require_here(&found.record)?;
        }
        Ok(found)
    }

    fn lookup(&self, given: &str, scope: Scope) -> Result<Option<Found>, Error> {
        // A whole id needs no look at the others.
        if let Some(id) = InstanceId::parse(given)
            && let Some(found) = self.load(&id, scope)
        {
            return Ok(Some(found));
        }
        let (mut exact, mut prefixed) = (Vec::new(), Vec::new());
        let (all, unreadable) = self.records(scope)?;
        for record in all {
            let (id, title) = (record.id.as_str(), record.title.as_str());
            // A title may look like the full name of another: then it is not known which of them is meant.
            let qualified = given.contains('/') && full_name(&record) == given;
            if id == given || title == given || qualified {
                exact.push(record);
            } else if !given.is_empty() && (id.starts_with(given) || title.starts_with(given)) {
                prefixed.push(record);
            }
        }
        // One that cannot be read and is named exactly is meant, not one whose name only begins so.
        if exact.is_empty()
            && let Some(error) = self.unreadable_as(given, unreadable)
        {
            return Err(error);
        }
        // A trace of one that another machine has gives way to what is here.
        let mut matches = [exact, prefixed]
            .into_iter()
            .flat_map(|matches| {
                let (traces, known): (Vec<_>, Vec<_>) =
                    matches.into_iter().partition(InstanceRecord::is_trace);
                [known, traces]
            })
            .find(|matches| !matches.is_empty())
            .unwrap_or_default();
        match (matches.pop(), matches.is_empty()) {
            (Some(record), true) => self.load_named(&record.id, given, scope).map(Some),
            (Some(last), false) => {
                matches.push(last);
                let mut candidates: Vec<Candidate> = matches
                    .into_iter()
                    .map(|record| Candidate {
                        repository: repository_name(&record),
                        id: record.id,
                        title: record.title,
                    })
                    .collect();
                candidates.sort();
                Err(Error::Ambiguous {
                    given: given.to_owned(),
                    candidates,
                })
            }
            (None, _) => Ok(None),
        }
    }

    /// Why nothing in this scope has this name: it was killed, was not killed, or nothing is called so.
    fn not_in(&self, scope: Scope, given: &str) -> Error {
        let given = given.to_owned();
        match scope {
            Scope::Living | Scope::Here => match self.last_killed(&given) {
                Some(record) => Error::Ended {
                    title: record.title,
                    id: record.id,
                    landed_on: record.landed.map(|landing| landing.target),
                },
                None => Error::NoSuchInstance { given },
            },
            Scope::WithKilled => Error::NoSuchInstance { given },
            Scope::Killed => match self.lookup(&given, Scope::Living) {
                Ok(Some(Found { record, .. })) => Error::NotKilled {
                    state: record.state.into(),
                    title: record.title,
                },
                _ => Error::NoSuchKilled { given },
            },
        }
    }

    /// The killed instance of this name; of several with one title, the last.
    fn last_killed(&self, given: &str) -> Option<InstanceRecord> {
        let (killed, _) = self.records(Scope::Killed).ok()?;
        let named = killed
            .into_iter()
            .filter(|record| record.id.as_str() == given || record.title.as_str() == given);
        let last = named.max_by_key(|record| record.killed_at);
        last.or_else(|| Some(self.lookup(given, Scope::Killed).ok()??.record))
    }

    /// The reason, if the name is that of an instance that cannot be read.
    fn unreadable_as(&self, given: &str, unreadable: Vec<Unread>) -> Option<Error> {
        let named = |id: &InstanceId| {
            id.as_str() == given
                || self.store.instance(id).readable_title().as_deref() == Some(given)
        };
        let (_, error) = unreadable.into_iter().find(|(id, _)| named(id))?;
        Some(error.into())
    }

    /// The records in this scope, and those that could not be read. Journals are left out: only the one of the
    /// instance that is meant is needed.
    fn records(&self, scope: Scope) -> Result<(Vec<InstanceRecord>, Vec<Unread>), Error> {
        let mut records = Vec::new();
        let mut unreadable = Vec::new();
        for id in self.store.ids()? {
            match self.store.instance(&id).record() {
                Ok(record) if scope.holds(&record) => records.push(record),
                Ok(_) => {}
                // Its creation has just begun, or was cut off and is about to be taken back.
                Err(error) if error.is_missing_file() => {}
                Err(error) => unreadable.push((id, error)),
            }
        }
        Ok((records, unreadable))
    }

    /// The instance that a name was found to mean, with its journal.
    fn load_named(&self, id: &InstanceId, given: &str, scope: Scope) -> Result<Found, Error> {
        let dir = self.store.instance(id);
        match dir.load() {
            LoadedInstance::Known { record, journal } if scope.holds(&record) => Ok(Found {
                dir,
                record: *record,
                journal: journal.map(|journal| *journal),
            }),
            LoadedInstance::Unreadable(error) if !error.is_missing_file() => Err(error.into()),
            // Gone since its record was read.
            _ => Err(Error::NoSuchInstance {
                given: given.to_owned(),
            }),
        }
    }

    /// The instance with exactly this id, if it is in this scope and can be read.
    fn load(&self, id: &InstanceId, scope: Scope) -> Option<Found> {
        self.load_named(id, id.as_str(), scope).ok()
    }

    /// Everything on disk in this scope, and what of it could not be read.
    pub(in crate::engine) fn all(&self, scope: Scope) -> Result<(Vec<Found>, Vec<Unread>), Error> {
        let stored = self.stored(scope)?;
        Ok((stored.found, stored.unreadable))
    }

    /// The same, with the directories that have no record.
    pub(in crate::engine) fn stored(&self, scope: Scope) -> Result<Stored, Error> {
        let mut found = Vec::new();
        let mut unreadable = Vec::new();
        let mut without_record = Vec::new();
        for id in self.store.ids()? {
            let dir = self.store.instance(&id);
            match dir.load() {
                LoadedInstance::Known { record, journal } => {
                    if scope.holds(&record) {
                        found.push(Found {
                            dir,
                            record: *record,
                            journal: journal.map(|journal| *journal),
                        });
                    }
                }
                // Its creation has just begun, or was cut off and is about to be taken back.
                LoadedInstance::Unborn { .. } => without_record.push(id),
                // A directory that was claimed and not yet written into.
                LoadedInstance::Unreadable(StoreError::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound =>
                {
                    without_record.push(id);
                }
                LoadedInstance::Unreadable(error) => unreadable.push((id, error)),
            }
        }
        Ok(Stored {
            found,
            unreadable,
            without_record,
        })
    }

    /// Titles and ids of all instances that are not killed, for completion.
    pub(crate) fn names(&self, fits: impl Fn(RestingState) -> bool) -> Vec<(InstanceId, Title)> {
        self.all(Scope::WithKilled)
            .map(|(found, _)| {
                found
                    .into_iter()
                    .filter(|found| fits(found.record.state))
                    .map(|found| (found.record.id, found.record.title))
                    .collect()
            })
            .unwrap_or_default()
    }

    /// The agents that can be named, and what each is called.
    pub(crate) fn agent_names(&self) -> Vec<(String, String)> {
        self.catalog
            .iter()
            .map(|provider| (provider.name().to_owned(), provider.display().to_owned()))
            .collect()
    }

    /// The branches of the repository around a directory; none where there is none.
    pub(crate) fn branches(&self, directory: &std::path::Path) -> Vec<String> {
        crate::git::Repo::discover(directory)
            .and_then(|repository| repository.branches())
            .unwrap_or_default()
    }
}

/// The name of the repository of an instance.
pub(in crate::engine) fn repository_name(record: &InstanceRecord) -> String {
    crate::model::directory_name(&record.repository.root)
}

/// `repository/title`.
fn full_name(record: &InstanceRecord) -> String {
    format!("{}/{}", repository_name(record), record.title.as_str())
}

/// The state of an instance, from its journal and its record.
pub(in crate::engine) fn state_of(
    record: &InstanceRecord,
    journal: Option<&Journal>,
) -> crate::model::State {
    match journal {
        Some(journal) => journal.plan.operation.state(),
        None => record.state.into(),
    }
}

/// Refuses an instance that another machine has.
pub(in crate::engine) fn require_here(record: &InstanceRecord) -> Result<(), Error> {
    match &record.lease {
        Some(lease) if record.state == RestingState::Away => Err(Error::Away {
            title: record.title.clone(),
            id: record.id.clone(),
            holder: lease.holder.clone(),
        }),
        _ => Ok(()),
    }
}
