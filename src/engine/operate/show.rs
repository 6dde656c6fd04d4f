//! Views of instances; each instance is settled first.

use std::cell::Cell;
use std::path::Path;

use crate::engine::base::resolve::Unread;
use crate::engine::base::view::{InstanceView, Listing, RunHistory, Unreadable};
use crate::engine::base::{Core, Error, Found, Scope};
use crate::engine::watch::on_disk::{ChangeSigns, OnDisk};
use crate::engine::watch::standing::SharedTimes;
use crate::git::Repo;
use crate::model::{InstanceRecord, RestingState, State};
use crate::tmux::{EarlyClient, Pane, Screenshot, TmuxError};

/// Whether a list counts what was changed, which asks git where something may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counting {
    Changes,
    Nothing,
}

/// What was read of the files of an instance, with the signs of changes where they are counted.
type Read = (OnDisk, Option<ChangeSigns>);

impl Core {
    /// All instances that are not killed, or only the killed ones; newest activity first.
    pub(crate) fn list(
        &self,
        state: Option<State>,
        repository: Option<&Path>,
    ) -> Result<Listing, Error> {
        self.list_by(state, repository, Counting::Changes)
    }

    /// The same for who only wants to know what each is doing: changes are not counted, and of what lies beside
    /// the records only the usage is read.
    pub(crate) fn list_briefly(&self) -> Result<Listing, Error> {
        self.list_by(None, None, Counting::Nothing)
    }

    fn list_by(
        &self,
        state: Option<State>,
        repository: Option<&Path>,
        counting: Counting,
    ) -> Result<Listing, Error> {
        // The client of tmux starts while the records are read, and files are read while it answers.
        let early = match state {
            Some(State::Killed) => None,
            _ => self.early_client(),
        };
        let (found, unreadable) = self.wanted(state, repository)?;
        let running: Vec<&InstanceRecord> = found
            .iter()
            .map(|found| &found.record)
            .filter(|record| record.state == RestingState::Running)
            .collect();
        let places = running.iter().filter_map(|record| record.place.as_ref());
        let places: Vec<&str> = places.map(|place| place.pane.as_str()).collect();
        let server = self.server();
        let asked = (!running.is_empty()).then(|| server.ask_for_screens(&places, early));
        let shared = SharedTimes::default();
        let reading = found
            .iter()
            .map(|found| self.read(found, counting, &shared));
        let read: Vec<Read> = reading.collect();
        let (panes, shots) = match asked {
            Some(asked) => seen(server.panes_and_shots(asked))?,
            None => (Vec::new(), Vec::new()),
        };
        let mut instances = Vec::new();
        for (found, read) in found.into_iter().zip(read) {
            let pane = panes
                .iter()
                .find(|pane| pane.instance.as_ref() == Some(&found.record.id));
            let shot = pane.and_then(|pane| shots.iter().find(|shot| shot.pane == pane.id));
            let before = found.record.state;
            let found = self.settle(found, pane)?;
            let (on_disk, signs) = match found.record.state == before {
                true => read,
                // The end of its agent was recorded just now.
                false => self.read(&found, counting, &shared),
            };
            let mut view = self.view_from(&found, on_disk, pane, shot);
            if let Some(signs) = signs {
                view = self.with_counts(&found, signs, pane, view);
            }
            if state.is_none_or(|wanted| wanted == view.state) {
                instances.push(view);
            }
        }
        instances.sort_by(|a, b| {
            b.last_active_at
                .cmp(&a.last_active_at)
                .then_with(|| a.title.cmp(&b.title))
        });
        let unreadable = unreadable
            .into_iter()
            .map(|(id, error)| Unreadable {
                title: self.store.instance(&id).readable_title(),
                id,
                reason: error.to_string(),
            })
            .collect();
        Ok(Listing {
            instances,
            unreadable,
            camp: self.camp().ok(),
        })
    }

    /// The instances of a list, before their panes are known, and what cannot be read.
    fn wanted(
        &self,
        state: Option<State>,
        repository: Option<&Path>,
    ) -> Result<(Vec<Found>, Vec<Unread>), Error> {
        let (found, unreadable) = match state {
            Some(State::Killed) => self.all(Scope::Killed)?,
            _ => self.list_settled()?,
        };
        let repository = repository
            .map(|directory| Repo::discover(directory).map(|repo| repo.common_dir().to_owned()))
            .transpose()?;
        let wanted = |found: &Found| {
            // What another machine has fetched from here is no instance of this one any more.
            (!found.record.is_trace() || state == Some(State::Away))
                && repository
                    .as_ref()
                    .is_none_or(|wanted| *wanted == found.record.repository.common_dir)
        };
        Ok((found.into_iter().filter(wanted).collect(), unreadable))
    }

    /// What a view needs of the files of an instance.
    fn read(&self, found: &Found, counting: Counting, shared: &SharedTimes) -> Read {
        let usage = self.follow_usage(found);
        match counting {
            Counting::Changes => {
                let signs = ChangeSigns::read(found, shared);
                (self.on_disk(found, &usage), Some(signs))
            }
            Counting::Nothing => (OnDisk::brief(&usage), None),
        }
    }

    /// One instance, killed ones too.
    pub(crate) fn show(&self, given: &str) -> Result<InstanceView, Error> {
        self.show_by(given, &Cell::new(self.early_client()))
    }

    fn show_by(
        &self,
        given: &str,
        early: &Cell<Option<EarlyClient>>,
    ) -> Result<InstanceView, Error> {
        let look = |found: &Found| self.look_at(found, early.take());
        let settled = |scope| self.settled_by(given, scope, look);
        let (found, pane, shot, stuck) = match settled(Scope::Living) {
            Ok((found, pane, shot)) => (found, pane, shot, None),
            Err(Error::NoSuchInstance { .. } | Error::Ended { .. }) => {
                let (found, pane, shot) = settled(Scope::WithKilled)?;
                (found, pane, shot, None)
            }
            // An instance that cannot be settled must still be shown.
            Err(error @ (Error::Stuck { .. } | Error::TakenBack { .. })) => {
                let found = self.find(given, Scope::Living)?;
                let (pane, shot) = look(&found)?;
                (found, pane, shot, Some(error.told()))
            }
            Err(error) => return Err(error),
        };
        self.count_usage(&found.dir, &found.record);
        Ok(InstanceView {
            stuck,
            ..self.view(&found, pane.as_ref(), shot.as_ref())
        })
    }

    /// The pane of an instance and what it shows. One that rests without an operation under way has none.
    fn look_at(
        &self,
        found: &Found,
        early: Option<EarlyClient>,
    ) -> Result<(Option<Pane>, Option<Screenshot>), Error> {
        let record = &found.record;
        let closed = matches!(record.state, RestingState::Paused | RestingState::Killed);
        if closed && found.journal.is_none() {
            return Ok((None, None));
        }
        let expected = record.place.as_ref().map(|place| place.pane.as_str());
        let server = self.server_of(record);
        seen(server.pane_and_shot(&record.id, expected, early))
    }

    /// The history of an instance, oldest run first.
    pub(crate) fn runs(&self, given: &str) -> Result<RunHistory, Error> {
        let found = self.settled(given, Scope::WithKilled)?;
        let (runs, unreadable) = found.dir.runs()?;
        Ok(RunHistory {
            runs,
            unreadable: unreadable.iter().map(ToString::to_string).collect(),
        })
    }
}

/// Without tmux there are no panes; `doctor` reports that.
fn seen<T: Default>(answer: Result<T, TmuxError>) -> Result<T, Error> {
    match answer {
        Err(TmuxError::Missing | TmuxError::NoServer) => Ok(T::default()),
        other => Ok(other?),
    }
}
