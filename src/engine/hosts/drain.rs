//! `biv drain`: everything goes elsewhere, one after another.

use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::hosts::moving::{MoveOptions, Moved};
use crate::engine::operate::bulk::{Bulk, Failure};
use crate::hosts::HostName;
use crate::model::{Holder, InstanceId, Lease, RestingState, Title};

/// Where everything goes.
#[derive(Debug, Clone)]
pub(crate) enum DrainTo {
    Here,
    /// In turn.
    Hosts(Vec<HostName>),
}

impl Core {
    /// Moves all instances of this machine, or brings back all that were moved to a host; a failure does not
    /// stop the others. What is done already is not done again.
    pub(crate) fn drain(
        &self,
        from: Option<&HostName>,
        to: &DrainTo,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Bulk<Moved>, Error> {
        self.settle_all()?;
        let meant = self.to_be_drained(from, to)?;
        let mut bulk = Bulk {
            done: Vec::new(),
            failures: Vec::new(),
        };
        let count = meant.len();
        for (at, (id, title, under_way)) in meant.into_iter().enumerate() {
            let result = match (progress.is_interrupted(), to, under_way) {
                (true, ..) => Err(Error::Interrupted),
                // A move that was cut off ends where it was to end.
                (_, DrainTo::Hosts(_), Some(host)) if from.is_none() => {
                    self.move_to(id.as_str(), &host, options, progress)
                }
                (_, DrainTo::Here, _) => self.take_back(id.as_str(), options, progress),
                (_, DrainTo::Hosts(hosts), _) => match hosts.get(at % hosts.len().max(1)) {
                    Some(host) => self.drain_one(&id, from, host, options, progress),
                    None => Err(Error::Interrupted),
                },
            };
            match result {
                Ok(moved) => bulk.done.push(moved),
                Err(error) => bulk.failures.push(Failure {
                    id: Some(id),
                    title,
                    error,
                }),
            }
            progress.count(at + 1, count);
        }
        Ok(bulk)
    }

    fn drain_one(
        &self,
        id: &InstanceId,
        from: Option<&HostName>,
        host: &HostName,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Moved, Error> {
        if from.is_some() {
            // It rests here in between, and the lease remembers that it ran.
            let resting = MoveOptions {
                resume: false,
                ..options
            };
            self.take_back(id.as_str(), resting, progress)?;
        }
        self.move_to(id.as_str(), host, options, progress)
    }

    /// The instances that are meant, and the host of a move that was cut off.
    fn to_be_drained(
        &self,
        from: Option<&HostName>,
        to: &DrainTo,
    ) -> Result<Vec<(InstanceId, Title, Option<HostName>)>, Error> {
        let mut meant = Vec::new();
        for found in self.all(Scope::Living)?.0 {
            let record = found.record;
            let lease = record.lease.clone().unwrap_or_else(Lease::first);
            let away = record.state == RestingState::Away;
            let there = lease
                .host()
                .and_then(|there| HostName::parse(&there.host).ok());
            let chosen = match (from, to) {
                (Some(from), _) => away && there.as_ref() == Some(from),
                (None, DrainTo::Here) => false,
                (None, DrainTo::Hosts(_)) => {
                    !away
                        || matches!(
                            lease.holder,
                            Holder::Host {
                                confirmed: false,
                                ..
                            }
                        )
                }
            };
            if chosen {
                meant.push((record.id, record.title, there.filter(|_| away)));
            }
        }
        meant.sort_by(|a, b| a.1.cmp(&b.1));
        Ok(meant)
    }
}
