//! Who has an instance: the hand-over of a machine that gives it, and the claim of the one that gets it.
//!
//! Each is one write of the record under the instance's lock, and compares the number of the lease first. The
//! machine that gets it has all of it before the other one hands over: it is *offered*.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::engine::base::{Core, Error, Scope, now};
use crate::engine::operate::carry::export::PreparedExport;
use crate::git::Repo;
use crate::model::{
    AutoyesSwitch, EventKind, Holder, HostInstance, InstanceId, InstanceRecord, Lease,
    RestingState, State, Title,
};
use crate::process::crash;
use crate::store::{InstanceDir, Lock};
use crate::vault;

/// What another machine is told of an instance here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LeaseView {
    pub id: InstanceId,
    pub title: Title,
    pub state: State,
    pub lease: Lease,
}

/// The answer to a machine that wants an instance from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Release {
    /// From now on that machine has it.
    Released,
    /// It was offered here and never handed over; that is over now.
    Withdrawn,
    /// It has changed since it was fetched.
    Changed,
    /// This machine has claimed it: it must be fetched.
    Claimed,
    /// This machine does not have it.
    NotHere,
}

/// An instance whose record says who has it, under its lock.
#[derive(Debug)]
pub(crate) struct HeldLease {
    pub record: InstanceRecord,
    pub(in crate::engine) dir: InstanceDir,
    _lock: Lock,
}

impl HeldLease {
    pub(crate) fn lease(&self) -> Lease {
        self.record.lease.clone().unwrap_or_else(Lease::first)
    }

    fn write(&mut self, state: RestingState, lease: Lease) -> Result<(), Error> {
        self.record.state = state;
        self.record.lease = Some(lease);
        self.record.updated_at = now();
        Ok(self.dir.save(&mut self.record)?)
    }
}

impl Core {
    /// The instance of this name, whoever has it.
    pub(crate) fn hold_lease(&self, given: &str, purpose: &str) -> Result<HeldLease, Error> {
        self.prepare()?;
        let found = self.settled(given, Scope::Living)?;
        let lock = self.lock(&found.dir, &found.record, purpose)?;
        Ok(HeldLease {
            record: found.dir.record()?,
            dir: found.dir,
            _lock: lock,
        })
    }

    pub(crate) fn lease_of(&self, given: &str) -> Result<LeaseView, Error> {
        let record = self.settled(given, Scope::Living)?.record;
        Ok(LeaseView {
            id: record.id,
            title: record.title,
            state: record.state.into(),
            lease: record.lease.unwrap_or_else(Lease::first),
        })
    }

    /// From here on a host has it. It must have all of it, and not have claimed it.
    pub(crate) fn hand_over(
        &self,
        prepared: PreparedExport,
        there: HostInstance,
    ) -> Result<HeldLease, Error> {
        let mut held = HeldLease {
            record: prepared.record,
            dir: prepared.dir,
            _lock: prepared.lock,
        };
        let gathered = prepared.parts;
        let before = held.lease();
        let lease = Lease {
            number: before.number + 1,
            holder: Holder::Host {
                host: there.host.clone(),
                id: there.id,
                confirmed: false,
            },
            resume: before.resume,
            branch_at: branch_at(&held.record)?,
        };
        let number = lease.number;
        let unchanged = self.leave(&mut held, lease, &gathered, "hand-over")?;
        if !unchanged {
            return Err(Error::ChangedMeanwhile {
                title: held.record.title,
            });
        }
        let data = json!({ "host": there.host, "lease": number });
        self.emit(EventKind::Moved, &held.record, data);
        Ok(held)
    }

    /// The host has said that it has it.
    pub(crate) fn confirm_move(&self, held: &mut HeldLease) -> Result<(), Error> {
        let mut lease = held.lease();
        if let Holder::Host { confirmed, .. } = &mut lease.holder {
            *confirmed = true;
        }
        lease.resume = false;
        held.write(RestingState::Away, lease)
    }

    /// What was offered with this number is this machine's from now on. Doing it twice is fine.
    pub(crate) fn claim(&self, given: &str, number: u64) -> Result<LeaseView, Error> {
        let mut held = self.hold_lease(given, "move")?;
        self.claim_held(&mut held, number)?;
        Ok(LeaseView {
            id: held.record.id.clone(),
            title: held.record.title.clone(),
            state: held.record.state.into(),
            lease: held.lease(),
        })
    }

    pub(crate) fn claim_held(&self, held: &mut HeldLease, number: u64) -> Result<(), Error> {
        let lease = held.lease();
        match &lease.holder {
            Holder::Here if lease.number == number => return Ok(()),
            Holder::Offered { .. } if lease.number == number => {}
            _ => {
                return Err(Error::OtherLease {
                    title: held.record.title.clone(),
                    given: number,
                    found: lease.number,
                });
            }
        }
        self.take_over(held, number, lease.resume)
    }

    /// This machine has what is kept here, although the other one could not be asked.
    pub(crate) fn seize(&self, id: &InstanceId) -> Result<Lease, Error> {
        let mut held = self.hold_lease(id.as_str(), "move")?;
        let lease = held.lease();
        if held.record.state == RestingState::Away {
            self.take_over(&mut held, lease.number + 1, lease.resume)?;
        }
        Ok(held.lease())
    }

    /// This machine has it, with this number.
    pub(crate) fn take_over(
        &self,
        held: &mut HeldLease,
        number: u64,
        resume: bool,
    ) -> Result<(), Error> {
        crash::at("move:claim:before");
        let lease = Lease {
            number,
            holder: Holder::Here,
            resume,
            branch_at: None,
        };
        held.write(RestingState::Paused, lease)?;
        crash::at("move:claim:after");
        self.emit(
            EventKind::Arrived,
            &held.record,
            json!({ "lease": number, "reason": held.record.pause.as_ref().map(|pause| pause.reason) }),
        );
        Ok(())
    }

    /// Another machine has fetched this instance and wants it, as the next number. It gets it only if it is
    /// as it was fetched. Without a hash it takes back what it has offered, and only that.
    pub(crate) fn release(
        &self,
        given: &str,
        number: u64,
        fetched: Option<&str>,
    ) -> Result<Release, Error> {
        let mut held = self.hold_lease(given, "move")?;
        let lease = held.lease();
        let given_up = |parts: &str| Lease {
            number,
            holder: Holder::Elsewhere {
                parts: parts.to_owned(),
            },
            resume: false,
            branch_at: lease.branch_at.clone(),
        };
        let answer = match (&lease.holder, fetched) {
            // It was said before, and the answer was lost.
            (Holder::Elsewhere { parts }, wanted) if lease.number == number => {
                return Ok(match wanted {
                    Some(wanted) if wanted == parts => Release::Released,
                    None if parts.is_empty() => Release::Withdrawn,
                    _ => Release::NotHere,
                });
            }
            _ if lease.number + 1 != number => return Ok(Release::NotHere),
            (Holder::Offered { from: None, .. }, None) => Release::Withdrawn,
            (Holder::Here, None) => return Ok(Release::Claimed),
            (Holder::Here, Some(wanted)) => {
                let mut lease = given_up(wanted);
                lease.branch_at = branch_at(&held.record)?;
                let unchanged = held.record.state == RestingState::Paused
                    && self.leave(&mut held, lease, wanted, "release")?;
                if !unchanged {
                    return Ok(Release::Changed);
                }
                self.emit(EventKind::Moved, &held.record, json!({ "lease": number }));
                return Ok(Release::Released);
            }
            _ => return Ok(Release::NotHere),
        };
        crash::at("move:release:before");
        held.write(RestingState::Away, given_up(""))?;
        crash::at("move:release:after");
        Ok(answer)
    }

    /// From here on another machine has it, if it is as it was gathered: a prompt may have been queued since
    /// then. Nothing is queued while this looks.
    fn leave(
        &self,
        held: &mut HeldLease,
        lease: Lease,
        gathered: &str,
        what: &str,
    ) -> Result<bool, Error> {
        crash::at(&format!("move:{what}:before"));
        let dir = held.dir.clone();
        let left = dir.change_queue(|_| {
            if vault::hash_of_parts(&self.all_parts(&dir, &held.record)?) != gathered {
                return Ok(false);
            }
            // It comes back with autoyes off, as from every other machine.
            dir.turn_autoyes(&AutoyesSwitch::turned(false, None, now()))?;
            held.write(RestingState::Away, lease).map(|()| true)
        })?;
        crash::at(&format!("move:{what}:after"));
        left
    }
}

/// Where the branch of an instance is.
pub(super) fn branch_at(record: &InstanceRecord) -> Result<Option<String>, Error> {
    let Some(branch) = &record.branch else {
        return Ok(None);
    };
    let repository = Repo::discover(&record.repository.root)?;
    Ok(repository.branch_commit(&branch.name)?)
}
