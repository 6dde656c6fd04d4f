//! An instance arrives from another machine that still has it: it rests as `away` until it is handed over.

use std::io::Read;
use std::path::PathBuf;

use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::operate::carry::departure::has_left_something;
use crate::engine::operate::carry::import::{Arrived, Arriving, ImportOptions, NamesHere, Wanted};
use crate::engine::operate::names::NAMES_WAIT;
use crate::engine::operate::steps::fact;
use crate::git::GitError;
use crate::lifecycle::{Facts, Plan};
use crate::model::{
    Holder, HostInstance, InstanceId, InstanceRecord, Lease, RestingState, Worktree,
};
use crate::store::InstanceDir;

/// What is offered, and under which conditions.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    /// Its id. If it was here before, it comes back into its own record.
    pub id: InstanceId,
    /// The number of the hand-over that may follow.
    pub number: u64,
    pub from: Option<HostInstance>,
    pub resume: bool,
    /// For one that was never here.
    pub repository: Option<PathBuf>,
    /// Repositories inside of the worktree come along.
    pub nested: bool,
}

impl Offer {
    fn lease(&self, parts: String, branch_at: Option<String>) -> Lease {
        Lease {
            number: self.number,
            holder: Holder::Offered {
                from: self.from.clone(),
                parts,
            },
            resume: self.resume,
            branch_at,
        }
    }
}

impl Core {
    /// Reads it, checks it, and unpacks it under the journal. It cannot be used before it is claimed.
    pub(crate) fn arrive_offered(
        &self,
        input: &mut (dyn Read + Send),
        offer: &Offer,
        progress: &mut dyn Progress,
    ) -> Result<Arrived, Error> {
        self.prepare()?;
        if let Ok(found) = self.settled(offer.id.as_str(), Scope::Living)
            && found.record.id == offer.id
            && found.record.state == RestingState::Away
        {
            return self.come_back(input, offer, &found.dir, progress);
        }
        let repository = offer.repository.clone();
        let options = ImportOptions {
            repository: repository.ok_or_else(|| Error::NoSuchInstance {
                given: offer.id.to_string(),
            })?,
            at: None,
            title: None,
            branch: None,
            nested: offer.nested,
            key: None,
            id: None,
        };
        let lease = |parts, branch| offer.lease(parts, branch);
        self.import_leased(input, &options, Some(&lease), progress)
    }

    fn come_back(
        &self,
        input: &mut (dyn Read + Send),
        offer: &Offer,
        dir: &InstanceDir,
        progress: &mut dyn Progress,
    ) -> Result<Arrived, Error> {
        let lock = self.lock(dir, &dir.record()?, "move")?;
        let mut old = dir.record()?;
        let lease = old.lease.clone().unwrap_or_else(Lease::first);
        // What was offered and never handed over is replaced.
        let again = matches!(lease.holder, Holder::Offered { .. }) && lease.number == offer.number;
        if old.state != RestingState::Away || !(again || lease.number < offer.number) {
            return Err(Error::OtherLease {
                title: old.title,
                given: offer.number,
                found: lease.number,
            });
        }
        let repository = self.require_repository(dir, &mut old, progress)?;
        let mut read = self.read_arriving(&repository, input, offer.nested, Some(&old))?;
        read.incoming.give_objects(&repository)?;

        let names = self.store.lock("names", NAMES_WAIT, "move")?;
        let wanted = Wanted {
            branch: None,
            own: Some(&old),
        };
        let planned = self.plan_branch(&repository, &mut read.incoming, wanted, &read.brought)?;
        let path = free_place(&old)?;
        let title = match read.brought.title == old.title {
            true => old.title.clone(),
            false => self.free_title(&read.brought.title, repository.common_dir())?,
        };
        let worktree = Worktree {
            path,
            adopted: old.worktree.adopted,
        };
        let names_here = NamesHere {
            id: old.id.clone(),
            title,
            branch: planned.branch,
            worktree,
        };
        let arriving = self.arriving(&repository, read.brought.clone(), names_here)?;
        let record = InstanceRecord {
            rev: old.rev,
            snapshots: old.snapshots,
            lease: Some(offer.lease(read.parts.clone(), planned.commit)),
            ..arriving
        };
        let facts = Facts::none()
            .with_option(fact::BRANCH_MOVE, &planned.moved)
            .with(fact::RETIRED, &SavedWork::of(&old)?)
            .with(fact::LEFT_SOMETHING, &has_left_something(dir));
        let arriving = Arriving {
            repository,
            read,
            record,
            branch: planned.plan,
        };
        let begun = (Plan::come_back(), facts);
        self.unpack(arriving, dir, (names, lock), begun, progress)
    }
}

/// Its old place, so that its agent finds everything by the same path.
fn free_place(old: &InstanceRecord) -> Result<PathBuf, Error> {
    let path = old.worktree.path.clone();
    if path.symlink_metadata().is_ok() {
        return Err(GitError::PathTaken { path }.into());
    }
    Ok(path)
}
