//! `biv move --take-back`: an instance comes back from the host that has it.
//!
//! All of it is fetched and compared before the host is asked to let it go; the host does so only if it still is
//! as it was fetched.

use std::ffi::OsString;
use std::io::{Seek, SeekFrom};

use serde::Deserialize;

use crate::engine::base::resolve::require_here;
use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::hosts::carry::ASKING;
use crate::engine::hosts::moving::{MoveOptions, Moved, RESUMING, Sent};
use crate::engine::operate::carry::lease::{LeaseView, Release};
use crate::engine::operate::carry::offered::Offer;
use crate::engine::operate::options::ResumeOptions;
use crate::hosts::{HostError, HostName, Question, Trouble};
use crate::model::{Holder, HostInstance, InstanceId, Lease, RestingState, State};
use crate::process::crash;
use crate::store::ensure_private;

#[derive(Debug, Deserialize)]
struct Released {
    release: Release,
}

impl Core {
    /// The same, and if the host cannot say anything, what is kept here is taken: as it was when it left, or
    /// as it was fetched last.
    pub(crate) fn take_back_by_force(
        &self,
        given: &str,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Moved, Error> {
        let seen = self.lease_of(given)?;
        let mut sent = Sent::default();
        match self.take_back(seen.id.as_str(), options, progress) {
            Err(Error::Host(HostError::ChangedThere { host, title })) => {
                return Err(HostError::ChangedThere { host, title }.into());
            }
            Err(Error::Host(error)) => sent.notes.push(Error::from(error).told()),
            // Nobody is known who could be asked.
            Err(Error::Away { .. }) if seen.lease.host().is_none() => {}
            other => return other,
        }
        let whose = match seen.lease.host() {
            Some(there) => format!("the host `{}`", there.host),
            None => "the other machine".to_owned(),
        };
        sent.notes.push(format!(
            "what was done on {whose} since it left is not here; a copy that still runs there goes on by itself"
        ));
        let lease = self.seize(&seen.id)?;
        self.back_here(seen.id, &lease, false, sent, options, progress)
    }

    /// Brings an instance back from the host that has it, whatever a move has left half done.
    pub(crate) fn take_back(
        &self,
        given: &str,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Moved, Error> {
        let seen = self.lease_of(given)?;
        if seen.state != State::Away {
            return self.back_here(
                seen.id,
                &seen.lease,
                true,
                Sent::default(),
                options,
                progress,
            );
        }
        if let Holder::Host {
            host,
            id,
            confirmed: false,
        } = &seen.lease.holder
        {
            let host = parsed(host)?;
            if self.withdraw(&seen, &host, id)? {
                let lease = self.lease_of(seen.id.as_str())?.lease;
                return self.back_here(seen.id, &lease, false, Sent::default(), options, progress);
            }
        }
        let Some(there) = seen.lease.host() else {
            let found = self.find(seen.id.as_str(), Scope::Living)?;
            return Err(require_here(&found.record)
                .err()
                .unwrap_or(Error::Interrupted));
        };
        let host = parsed(&there.host)?;
        // What has arrived before is enough, if it is still as it is there.
        let mut sent = Sent::default();
        let offered = matches!(seen.lease.holder, Holder::Offered { .. });
        if !(offered && self.obtain(&seen.id, &host)?) {
            sent = self.fetch_instance(&seen, &host, &there.id, options, progress)?;
            if !self.obtain(&seen.id, &host)? {
                return Err(HostError::ChangedThere {
                    host,
                    title: seen.title,
                }
                .into());
            }
        }
        let lease = self.lease_of(seen.id.as_str())?.lease;
        self.back_here(seen.id, &lease, false, sent, options, progress)
    }

    /// Takes back what the host has not claimed. False: it has.
    fn withdraw(
        &self,
        seen: &LeaseView,
        host: &HostName,
        there: &InstanceId,
    ) -> Result<bool, Error> {
        let mut held = self.hold_lease(seen.id.as_str(), "move")?;
        let lease = held.lease();
        if lease != seen.lease {
            return Err(Error::OtherLease {
                title: seen.title.clone(),
                given: seen.lease.number,
                found: lease.number,
            });
        }
        let number = lease.number + 1;
        match self.ask_release(host, there, number, None)? {
            Release::Withdrawn => {
                self.take_over(&mut held, number, lease.resume)?;
                Ok(true)
            }
            Release::Claimed => {
                self.confirm_move(&mut held)?;
                Ok(false)
            }
            _ => Err(HostError::Elsewhere {
                host: host.clone(),
                title: seen.title.clone(),
            }
            .into()),
        }
    }

    fn ask_release(
        &self,
        host: &HostName,
        there: &InstanceId,
        number: u64,
        parts: Option<&str>,
    ) -> Result<Release, Error> {
        let number = number.to_string();
        let mut words = vec!["__lease", "--json", "release", there.as_str(), &number];
        words.extend(parts);
        crash::at("move:ask-release:before");
        let released: Released = self.ask_for(host, Question::new(words, ASKING))?;
        crash::at("move:ask-release:after");
        Ok(released.release)
    }

    /// Fetches all of it from the host, which still has it, and unpacks it here.
    fn fetch_instance(
        &self,
        seen: &LeaseView,
        host: &HostName,
        there: &InstanceId,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Sent, Error> {
        let words = ["__lease", "--json", "look", there.as_str()];
        let found: LeaseView = self.ask_for(host, Question::new(words, ASKING))?;
        if found.state == State::Away {
            return Err(HostError::Elsewhere {
                host: host.clone(),
                title: seen.title.clone(),
            }
            .into());
        }
        let fetched = self.fetch_found(seen, &found, host, options, progress);
        if fetched.is_err() && found.state == State::Running {
            // It was stopped for nothing. Where the link is cut it rests there until it is asked for again.
            let patience = match &fetched {
                // A host that says nothing more is not waited for again.
                Err(Error::Host(HostError::Trouble {
                    trouble: Trouble::Stalled { .. },
                    ..
                })) => ASKING,
                _ => RESUMING,
            };
            match self.resume_there(host, there, patience) {
                Ok(()) => progress.note("it stays there, and goes on"),
                Err(_) => progress.note("it stays there, and may be paused"),
            }
        }
        fetched
    }

    fn fetch_found(
        &self,
        seen: &LeaseView,
        found: &LeaseView,
        host: &HostName,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Sent, Error> {
        let there = &found.id;
        let mut words: Vec<OsString> = vec!["__depart".into(), there.as_str().into()];
        if !options.with_ignored {
            words.push("--without-ignored".into());
        }
        ensure_private(&self.home.run)?;
        let unreadable = || Error::files("read in", &self.home.run);
        let mut file = tempfile::tempfile_in(&self.home.run).map_err(unreadable())?;
        let bounds = self.fetch_bounds()?;
        for line in self.connector(host)?.fetch(words, &file, bounds)? {
            progress.note(&line);
        }
        crash::at("move:fetch:after");
        file.seek(SeekFrom::Start(0)).map_err(unreadable())?;
        let offer = Offer {
            id: seen.id.clone(),
            number: found.lease.number + 1,
            from: Some(HostInstance {
                host: host.to_string(),
                id: there.clone(),
            }),
            resume: found.state == State::Running || found.lease.resume,
            repository: None,
            nested: options.nested,
        };
        let arrived = self.arrive_offered(&mut file, &offer, progress)?;
        Ok(Sent {
            bytes: arrived.bytes,
            left: Vec::new(),
            notes: arrived.notes,
        })
    }

    /// Asks the host to hand over what has arrived here, and claims it. False: it has changed there.
    fn obtain(&self, id: &InstanceId, host: &HostName) -> Result<bool, Error> {
        let mut held = self.hold_lease(id.as_str(), "move")?;
        let lease = held.lease();
        let Holder::Offered {
            from: Some(from),
            parts,
        } = &lease.holder
        else {
            return Err(Error::OtherLease {
                title: held.record.title.clone(),
                given: lease.number,
                found: lease.number,
            });
        };
        match self.ask_release(host, &from.id, lease.number, Some(parts))? {
            Release::Released => self.claim_held(&mut held, lease.number).map(|()| true),
            Release::Changed => Ok(false),
            Release::Claimed | Release::Withdrawn | Release::NotHere => Err(HostError::Elsewhere {
                host: host.clone(),
                title: held.record.title.clone(),
            }
            .into()),
        }
    }

    /// It is here. Its agent goes on, if it ran there.
    fn back_here(
        &self,
        id: InstanceId,
        lease: &Lease,
        already: bool,
        sent: Sent,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Moved, Error> {
        let mut trouble = None;
        let mut resumed = false;
        let rests = self.lease_of(id.as_str())?.state == State::Paused;
        if options.resume && lease.resume && rests {
            match self.resume(id.as_str(), &ResumeOptions::quiet(), progress) {
                Ok(_) => resumed = true,
                Err(error) => trouble = Some(error.told()),
            }
        }
        Ok(Moved {
            instance: self.show(id.as_str())?,
            host: None,
            lease: lease.number,
            already,
            resumed,
            trouble,
            bytes: sent.bytes,
            left: sent.left,
            notes: sent.notes,
        })
    }

    /// The instance here that is this one on a host.
    pub(crate) fn known_as(&self, host: &HostName, given: &str) -> Result<InstanceId, Error> {
        let words = ["__lease", "--json", "look", given];
        let there: LeaseView = self.ask_for(host, Question::new(words, ASKING))?;
        let all = self.all(Scope::Living)?.0;
        let found = all.into_iter().find(|found| {
            let lease = found.record.lease.as_ref();
            found.record.state == RestingState::Away
                && lease
                    .and_then(Lease::host)
                    .is_some_and(|known| known.host == host.as_str() && known.id == there.id)
        });
        match found {
            Some(found) => Ok(found.record.id),
            None => Err(HostError::NotFromHere {
                host: host.clone(),
                instance: given.to_owned(),
            }
            .into()),
        }
    }
}

fn parsed(host: &str) -> Result<HostName, Error> {
    Ok(HostName::parse(host).map_err(HostError::from)?)
}
