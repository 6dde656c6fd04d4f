//! `biv import FILE`: an instance of another home arrives, paused.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, Progress, now};
use crate::engine::operate::carry::arrival::Arrival;
use crate::engine::operate::carry::encryption::opened;
use crate::engine::operate::carry::reading::ReadExport;
use crate::engine::operate::names::NAMES_WAIT;
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Prepared;
use crate::git::{AddWorktree, BranchPlan, GitError, Repo};
use crate::lifecycle::{Facts, Plan};
use crate::model::{Branch, InstanceId, InstanceRecord, Lease, RestingState, Title, Worktree};
use crate::store::{InstanceDir, Lock};
use crate::vault::{self, Incoming};

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportOptions {
    /// Any directory of the repository that it arrives in.
    pub repository: PathBuf,
    /// Where its worktree will be; a place of this home if None.
    pub at: Option<PathBuf>,
    pub title: Option<String>,
    /// The name of its branch here.
    pub branch: Option<String>,
    /// Repositories inside of the worktree come along.
    pub nested: bool,
    /// The private key for an encrypted export; the user's own ssh key if None.
    pub key: Option<PathBuf>,
    /// The only instance that it may be.
    pub id: Option<InstanceId>,
}

/// An instance that has arrived.
#[derive(Debug, Serialize)]
pub(crate) struct Arrived {
    pub instance: InstanceView,
    /// The SHA-256 of the manifest, after everything was compared with it.
    pub manifest: String,
    pub bytes: u64,
    pub notes: Vec<String>,
}

/// An instance that was read and planned, before anything of it is written.
#[derive(Debug)]
pub(super) struct Arriving {
    pub repository: Repo,
    pub read: ReadExport,
    /// As it will be here.
    pub record: InstanceRecord,
    pub branch: BranchPlan,
}

/// What it is called here, and where it will be.
#[derive(Debug)]
pub(super) struct NamesHere {
    pub id: InstanceId,
    pub title: Title,
    pub branch: Option<Branch>,
    pub worktree: Worktree,
}

/// Which branch is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Another name than the one that it had.
    pub branch: Option<&'a str>,
    /// The record that it comes back into.
    pub own: Option<&'a InstanceRecord>,
}

/// The branch of an instance that arrives.
#[derive(Debug)]
pub(super) struct PlannedBranch {
    pub plan: BranchPlan,
    pub branch: Option<Branch>,
    /// Where it will be.
    pub commit: Option<String>,
    /// Its name, where it is, and where it goes.
    pub moved: Option<(String, String, String)>,
}

impl Core {
    /// From a file; `-` is standard input.
    pub(crate) fn import_file(
        &self,
        path: &Path,
        options: &ImportOptions,
        progress: &mut dyn Progress,
    ) -> Result<Arrived, Error> {
        self.prepare()?;
        let input: Box<dyn Read + Send> = if path.as_os_str() == "-" {
            Box::new(std::io::stdin())
        } else {
            Box::new(File::open(path).map_err(Error::files("read", path))?)
        };
        self.import_export(input, options, progress)
    }

    /// Decrypts an export where that is needed, checks it, and unpacks it under the journal.
    pub(in crate::engine) fn import_export(
        &self,
        input: Box<dyn Read + Send>,
        options: &ImportOptions,
        progress: &mut dyn Progress,
    ) -> Result<Arrived, Error> {
        let mut input = opened(input, options.key.as_deref(), &self.home.state)?;
        self.import_leased(&mut input, options, None, progress)
    }

    /// The same for an instance that another machine has until it hands it over. The lease is made of the
    /// hash of the parts and of where the branch is.
    pub(super) fn import_leased(
        &self,
        input: &mut (dyn Read + Send),
        options: &ImportOptions,
        lease: Option<&dyn Fn(String, Option<String>) -> Lease>,
        progress: &mut dyn Progress,
    ) -> Result<Arrived, Error> {
        self.prepare()?;
        let repository = Repo::discover(&options.repository)?;
        let mut read = self.read_arriving(&repository, input, options.nested, None)?;
        let brought = &read.brought;
        if options.id.as_ref().is_some_and(|id| *id != brought.id) {
            let problem = "it is of another instance than its name says".to_owned();
            return Err(GitError::ExportRefused { problem }.into());
        }
        let names = self.store.lock("names", NAMES_WAIT, "import")?;
        let title = match &options.title {
            Some(title) => self.choose_title(title, repository.common_dir())?,
            None => self.free_title(&brought.title, repository.common_dir())?,
        };
        let id = self.choose_id(&repository, &brought.id);
        let wanted = Wanted {
            branch: options.branch.as_deref(),
            own: None,
        };
        let planned = self.plan_branch(&repository, &mut read.incoming, wanted, brought)?;
        let path = self.choose_place(&repository, options, &title, &id)?;
        let worktree = Worktree {
            path,
            adopted: false,
        };
        if title != brought.title {
            let note = format!("its title `{}` is taken here", brought.title);
            read.notes.push(note);
        }
        let names_here = NamesHere {
            id,
            title,
            branch: planned.branch,
            worktree,
        };
        let mut record = self.arriving(&repository, read.brought.clone(), names_here)?;
        record.lease = lease.map(|lease| lease(read.parts.clone(), planned.commit));
        read.incoming.give_objects(&repository)?;
        let dir = self.store.claim(&record.id)?;
        let lock = dir.lock_operation("import")?;
        let arriving = Arriving {
            repository,
            read,
            record,
            branch: planned.plan,
        };
        let begun = (Plan::arrive(), Facts::none());
        self.unpack(arriving, &dir, (names, lock), begun, progress)
    }

    /// Unpacks what was read and planned, under the journal. The names are locked until that has them.
    pub(super) fn unpack(
        &self,
        arriving: Arriving,
        dir: &InstanceDir,
        (names, lock): (Lock, Lock),
        (plan, facts): (Plan, Facts),
        progress: &mut dyn Progress,
    ) -> Result<Arrived, Error> {
        let Arriving {
            repository,
            read,
            record,
            branch,
        } = arriving;
        let (manifest, bytes) = (read.incoming.hash.clone(), read.incoming.bytes);
        let worktree = AddWorktree {
            path: record.worktree.path.clone(),
            branch,
            resume_partial: false,
            without_files: true,
        };
        let facts = facts
            .with(fact::WORKTREE_PLAN, &worktree)
            .with(fact::REPOSITORY, &repository)
            .with(fact::RECORD, &record);
        let journal = self.begin_journal(dir, plan, facts)?;
        drop(names);
        let prepared = Prepared {
            repository,
            ahead: None,
            arrival: Some(Arrival {
                incoming: read.incoming,
                luggage: read.luggage,
            }),
            changes: None,
        };
        let record = self.carry_out_prepared(&lock, dir, journal, record, prepared, progress)?;
        drop(lock);
        Ok(Arrived {
            instance: self.show(record.id.as_str())?,
            manifest,
            bytes,
            notes: read.notes,
        })
    }

    /// Its own id, if nothing here has it.
    fn choose_id(&self, repository: &Repo, wanted: &InstanceId) -> InstanceId {
        let taken = self.store.instance(wanted).path.exists()
            || vault::has_work_of(repository, wanted).unwrap_or(true);
        if taken {
            InstanceId::random()
        } else {
            wanted.clone()
        }
    }

    /// The branch that the worktree gets: a new one, or one that is at the same commit already, or its own.
    pub(super) fn plan_branch(
        &self,
        repository: &Repo,
        incoming: &mut Incoming,
        wanted: Wanted<'_>,
        brought: &InstanceRecord,
    ) -> Result<PlannedBranch, Error> {
        // HEAD's branch is the one that the worktree is on, whatever the instance began with.
        let on_head = incoming
            .head_branch()
            .map(|name| (name.to_owned(), incoming.head().map(str::to_owned)));
        let own = incoming
            .branch()
            .map(|(name, commit)| (name.to_owned(), commit.map(str::to_owned)));
        let Some((name, commit)) = on_head.or(own) else {
            let commit = incoming.head().unwrap_or_default().to_owned();
            return Ok(PlannedBranch {
                plan: BranchPlan::Detached { commit },
                branch: None,
                commit: None,
                moved: None,
            });
        };
        let name = match wanted.branch {
            Some(other) => {
                incoming.rename_branch(other);
                other.to_owned()
            }
            None => name,
        };
        let holds_it = wanted.own.and_then(|old| old.branch.as_ref());
        let holds_it = holds_it.filter(|branch| branch.name == name);
        if holds_it.is_none() {
            self.require_branch_free(repository.common_dir(), &name)?;
        }
        let made_by_us = brought
            .branch
            .as_ref()
            .is_some_and(|branch| branch.made_by_us);
        let planned = |plan, made_by_us| PlannedBranch {
            plan,
            branch: Some(Branch {
                name: name.clone(),
                made_by_us,
            }),
            commit: commit.clone(),
            moved: None,
        };
        let existing = BranchPlan::Existing { name: name.clone() };
        Ok(match (repository.branch_commit(&name)?, &commit) {
            (None, Some(start_commit)) => {
                repository.validate_branch_name(&name)?;
                let plan = BranchPlan::New {
                    name: name.clone(),
                    start_commit: start_commit.clone(),
                };
                planned(plan, made_by_us)
            }
            (None, None) => {
                repository.validate_branch_name(&name)?;
                planned(BranchPlan::Unborn { name: name.clone() }, made_by_us)
            }
            (Some(here), Some(there)) => {
                let moves = here != *there;
                if moves
                    && !wanted
                        .own
                        .filter(|_| holds_it.is_some())
                        .map_or(Ok(false), |old| may_move(repository, old, &here, there))?
                {
                    return Err(GitError::BranchMoved {
                        name,
                        expected: there.clone(),
                        found: here,
                    }
                    .into());
                }
                if let Some(path) = repository.branch_in_use(&name)? {
                    return Err(GitError::BranchInUse { name, path }.into());
                }
                PlannedBranch {
                    moved: moves.then(|| (name.clone(), here, there.clone())),
                    ..planned(existing, holds_it.is_some_and(|branch| branch.made_by_us))
                }
            }
            (Some(found), None) => {
                return Err(GitError::BranchMoved {
                    name,
                    expected: String::new(),
                    found,
                }
                .into());
            }
        })
    }

    fn choose_place(
        &self,
        repository: &Repo,
        options: &ImportOptions,
        title: &Title,
        id: &InstanceId,
    ) -> Result<PathBuf, Error> {
        let Some(at) = &options.at else {
            return Ok(self.choose_directory(repository, title, id));
        };
        let path = std::path::absolute(at).map_err(Error::files("find", at))?;
        if path.symlink_metadata().is_ok() {
            return Err(GitError::PathTaken { path }.into());
        }
        Ok(path)
    }

    /// The record as it is here. What decides over other things than the instance itself stays off.
    pub(super) fn arriving(
        &self,
        repository: &Repo,
        brought: InstanceRecord,
        names: NamesHere,
    ) -> Result<InstanceRecord, Error> {
        Ok(InstanceRecord {
            format: InstanceRecord::FORMAT,
            rev: 0,
            id: names.id,
            title: names.title,
            repository: self.remember(repository)?,
            branch: names.branch,
            worktree: names.worktree,
            // Its conversation goes on where it was.
            subdirectory: brought.below().map(Path::to_owned),
            state: RestingState::Running,
            autoyes: false,
            autoyes_until: None,
            directories: Vec::new(),
            place: None,
            vault: None,
            command: Vec::new(),
            snapshots: 0,
            updated_at: now(),
            killed_at: None,
            interrupted_at: None,
            landed: None,
            lease: None,
            ..brought
        })
    }
}

/// Whether a branch may go to another commit: nothing was added to it here meanwhile.
fn may_move(
    repository: &Repo,
    old: &InstanceRecord,
    here: &str,
    commit: &str,
) -> Result<bool, Error> {
    let left_at = old
        .lease
        .as_ref()
        .and_then(|lease| lease.branch_at.as_deref());
    Ok(left_at == Some(here) || repository.is_ancestor(here, commit)?)
}
