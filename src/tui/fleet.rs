//! The hosts in the state of the UI.

use super::state::{State, StatusKind, kind};
use crate::engine::{HostListing, HostName, InstanceView};
use crate::model::{InstanceId, State as InstanceState};

impl State {
    /// The host that an instance is on; None: here.
    pub(super) fn host_of(&self, id: &InstanceId) -> Option<HostName> {
        host_of(self.by_id(id)?)
    }

    /// Whether this is only the last known state of an instance, because its host does not answer.
    pub(super) fn is_old(&self, view: &InstanceView) -> bool {
        let host = view.host.as_deref();
        host.and_then(|host| self.host(host))
            .is_some_and(|host| !host.reachable)
    }

    pub(super) fn host(&self, name: &str) -> Option<&HostListing> {
        self.hosts.iter().find(|host| host.name.as_str() == name)
    }

    /// Those here, and those on hosts.
    pub(super) fn by_place(&self, ids: Vec<InstanceId>) -> (Vec<InstanceId>, Vec<InstanceId>) {
        ids.into_iter().partition(|id| self.host_of(id).is_none())
    }

    /// The hosts that there are now. Answers that came meanwhile are newer than what was known.
    pub(super) fn replace_hosts(&mut self, known: Vec<HostListing>) {
        let names: Vec<HostName> = known.iter().map(|host| host.name.clone()).collect();
        for listing in known {
            if self.host(listing.name.as_str()).is_none() {
                self.take_host(listing);
            }
        }
        self.hosts.retain(|host| names.contains(&host.name));
        let names: Vec<&str> = names.iter().map(HostName::as_str).collect();
        self.instances.retain(|view| {
            view.host
                .as_deref()
                .is_none_or(|host| names.contains(&host))
        });
    }

    /// What a host has answered.
    pub(super) fn take_host(&mut self, mut listing: HostListing) {
        let name = listing.name.to_string();
        self.instances
            .retain(|view| view.host.as_deref() != Some(&name));
        for view in std::mem::take(&mut listing.instances) {
            self.add_of_host(view);
        }
        self.hosts.retain(|host| host.name != listing.name);
        self.hosts.push(listing);
        self.hosts.sort_by(|a, b| a.name.cmp(&b.name));
        self.sort();
    }

    /// One that is here too is shown once: as the one here, unless that is away.
    pub(super) fn add_of_host(&mut self, view: InstanceView) {
        match self.by_id(&view.id).map(|known| known.state) {
            Some(InstanceState::Away) => self.instances.retain(|known| known.id != view.id),
            Some(_) => return,
            None => {}
        }
        self.instances.push(view);
    }

    /// Those that need the user come first, whatever their repository; those of hosts last.
    pub(super) fn sort(&mut self) {
        let mut instances = std::mem::take(&mut self.instances);
        instances.sort_by_cached_key(|view| {
            let name = view.repo.file_name().map(ToOwned::to_owned);
            let place = (view.host.clone(), name, view.repo.clone());
            let needs = self.stands_first(view);
            (!needs, place, view.created_at, view.id.clone())
        });
        self.instances = instances;
    }

    /// Whether it needs the user, as far as that is known now.
    pub(super) fn stands_first(&self, view: &InstanceView) -> bool {
        kind((view.state, view.activity)) == StatusKind::NeedsYou && !self.is_old(view)
    }
}

pub(super) fn host_of(view: &InstanceView) -> Option<HostName> {
    HostName::parse(view.host.as_deref()?).ok()
}
