//! Views of instances; each instance is settled first.

use std::path::Path;

use crate::engine::base::view::{InstanceView, Listing, RunHistory, Unreadable};
use crate::engine::base::{Core, Error, Found, Scope};
use crate::git::Repo;
use crate::model::{RestingState, State};
use crate::tmux::{Pane, Screenshot, TmuxError};

impl Core {
    /// All instances that are not killed, or only the killed ones; newest activity first.
    pub(crate) fn list(
        &self,
        state: Option<State>,
        repository: Option<&Path>,
    ) -> Result<Listing, Error> {
        self.list_by(state, repository, |found, pane, shot| {
            self.view(found, pane, shot)
        })
    }

    /// The same without counting changes, which takes most of the time.
    pub(crate) fn list_briefly(&self) -> Result<Listing, Error> {
        self.list_by(None, None, |found, pane, shot| {
            self.view_without_changes(found, pane, shot)
        })
    }

    fn list_by(
        &self,
        state: Option<State>,
        repository: Option<&Path>,
        view: impl Fn(&Found, Option<&Pane>, Option<&Screenshot>) -> InstanceView,
    ) -> Result<Listing, Error> {
        let (found, unreadable) = match state {
            Some(State::Killed) => self.all(Scope::Killed)?,
            _ => self.list_settled()?,
        };
        let running = || {
            found
                .iter()
                .filter(|found| found.record.state == RestingState::Running)
        };
        let places: Vec<&str> = running()
            .filter_map(|found| Some(found.record.place.as_ref()?.pane.as_str()))
            .collect();
        let (panes, shots) = match running().next() {
            Some(_) => seen(self.server().panes_and_shots(&places))?,
            None => (Vec::new(), Vec::new()),
        };
        let repository = repository
            .map(|directory| Repo::discover(directory).map(|repo| repo.common_dir().to_owned()))
            .transpose()?;
        let mut instances = Vec::new();
        for found in found {
            // What another machine has fetched from here is no instance of this one any more.
            if found.record.is_trace() && state != Some(State::Away) {
                continue;
            }
            if repository
                .as_ref()
                .is_some_and(|wanted| *wanted != found.record.repository.common_dir)
            {
                continue;
            }
            let pane = panes
                .iter()
                .find(|pane| pane.instance.as_ref() == Some(&found.record.id));
            let shot = pane.and_then(|pane| shots.iter().find(|shot| shot.pane == pane.id));
            let found = self.settle(found, pane)?;
            self.follow_usage(&found);
            let view = view(&found, pane, shot);
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

    /// One instance, killed ones too.
    pub(crate) fn show(&self, given: &str) -> Result<InstanceView, Error> {
        let settled = |scope| self.settled_by(given, scope, |found| self.look_at(found));
        let (found, pane, shot, stuck) = match settled(Scope::Living) {
            Ok((found, pane, shot)) => (found, pane, shot, None),
            Err(Error::NoSuchInstance { .. }) => {
                let (found, pane, shot) = settled(Scope::WithKilled)?;
                (found, pane, shot, None)
            }
            // An instance that cannot be settled must still be shown.
            Err(error @ (Error::Stuck { .. } | Error::TakenBack { .. })) => {
                let found = self.find(given, Scope::Living)?;
                let (pane, shot) = self.look_at(&found)?;
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
    fn look_at(&self, found: &Found) -> Result<(Option<Pane>, Option<Screenshot>), Error> {
        let record = &found.record;
        let closed = matches!(record.state, RestingState::Paused | RestingState::Killed);
        if closed && found.journal.is_none() {
            return Ok((None, None));
        }
        let expected = record.place.as_ref().map(|place| place.pane.as_str());
        seen(self.server_of(record).pane_and_shot(&record.id, expected))
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
