//! Brings the work of an instance onto another branch, and ends the instance.
//!
//! The result is computed from commits ([`result`]) and checked ([`check`]) in a checkout of our own ([`place`]);
//! until then nothing of the user's has changed. Then one journalled operation ends the instance and
//! moves the target (`engine/operate/steps/landing.rs`).

mod check;
mod hooks;
pub(in crate::engine) mod options;
pub(in crate::engine) mod order;
mod place;
mod result;
mod source;
mod target;
mod undo;

use std::collections::HashMap;

use crate::engine::base::{Core, Error, LandError, Progress, Scope};
use crate::engine::operate::land::hooks::LandHooks;
use crate::engine::operate::land::options::{LandHow, LandOptions, Landed, LandedBy};
use crate::engine::operate::land::order::LandOrder;
use crate::engine::operate::land::place::Checked;
use crate::engine::operate::land::result::{Computed, Request, compute};
use crate::engine::operate::land::source::Source;
use crate::engine::operate::land::target::LandTarget;
use crate::engine::operate::options::KillOrder;
use crate::engine::operate::recover::LockedInstance;
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Prepared as KnownRepository;
use crate::git::Repo;
use crate::git::landing::Change;
use crate::lifecycle::{Facts, Plan};
use crate::model::{InstanceRecord, RestingState};

pub(crate) use place::FreedCheckout;
pub(crate) use undo::Unlanded;

/// How often the result is computed again because the target was moved meanwhile.
const ATTEMPTS: usize = 5;

/// Where targets would be after the instances before, for a landing that is only tried.
#[derive(Debug, Default)]
pub(crate) struct DryRun(HashMap<String, String>);

/// What a landing is computed on.
enum Onto {
    /// Where the target is.
    Now,
    /// Where it would be after the instances before; no hook runs for that.
    Assumed(Option<String>),
}

/// A result that may land.
struct Prepared {
    target: String,
    before: String,
    source: Source,
    computed: Computed,
    changes: Vec<Change>,
    check: Option<String>,
    keep: bool,
    delete_branch: bool,
}

impl Core {
    /// Lands one instance. If the target is moved meanwhile, the result is computed and checked again.
    pub(crate) fn land(
        &self,
        given: &str,
        options: &LandOptions,
        progress: &mut dyn Progress,
    ) -> Result<Landed, Error> {
        self.prepare()?;
        self.sweep_scratch();
        let LockedInstance {
            dir,
            mut record,
            lock,
        } = self.lock_instance(given, Scope::Living, "land")?;
        // Held until the target has moved: a landing beside this one is checked on top of it.
        let mut place = None;
        let mut attempts = 1;
        while attempts < ATTEMPTS {
            let repository = self.require_repository(&dir, &mut record, progress)?;
            let prepared =
                self.prepare_landing(&record, &repository, options, Onto::Now, progress)?;
            if let Some(command) = &prepared.check {
                let held = match &place {
                    Some(held) => held,
                    None => {
                        let (held, waited) =
                            self.hold_check_place(&repository, &prepared.target, progress)?;
                        let held = place.insert(held);
                        if waited {
                            // The one that was waited for has moved the target, or this work has changed.
                            continue;
                        }
                        held
                    }
                };
                let checked = Checked {
                    dir: &dir,
                    record: &record,
                    repository: &repository,
                    target: &prepared.target,
                    commit: &prepared.computed.commit,
                };
                self.run_check(held, &checked, command, options.setup_consent, progress)?;
            }
            if progress.is_interrupted() {
                return Err(Error::Interrupted);
            }
            let plan = if prepared.keep {
                Plan::land_and_keep()
            } else {
                Plan::land()
            };
            let facts = facts_of(&prepared);
            let journal = self.begin_journal(&dir, plan, facts)?;
            // So that the steps do not ask git for the repository again.
            let known = KnownRepository {
                repository: repository.clone(),
                ahead: None,
                arrival: None,
                changes: Some(prepared.changes.clone()),
            };
            match self.carry_out_prepared(&lock, &dir, journal, record, known, progress) {
                Ok(record) => return Ok(self.landed(&record, prepared, &repository, false)),
                Err(error) if was_moved(&error) => {
                    progress.note(&format!("{error}; trying again"));
                    attempts += 1;
                    record = dir.record()?;
                }
                Err(error) => return Err(error),
            }
        }
        let target =
            self.land_target(&record, &Repo::discover(&record.repository.root)?, options)?;
        Err(LandError::TargetMoved {
            target: target.name,
        }
        .into())
    }

    /// Says what a landing would do. `assumed` holds where the targets would be by then.
    pub(crate) fn try_land(
        &self,
        given: &str,
        options: &LandOptions,
        assumed: &mut DryRun,
        progress: &mut dyn Progress,
    ) -> Result<Landed, Error> {
        let LockedInstance {
            dir,
            mut record,
            lock: _lock,
        } = self.lock_instance(given, Scope::Living, "land")?;
        let repository = self.require_repository(&dir, &mut record, progress)?;
        let target = self.land_target(&record, &repository, options)?.name;
        let key = format!("{}\0{target}", repository.common_dir().display());
        let onto = Onto::Assumed(assumed.0.get(&key).cloned());
        let prepared = self.prepare_landing(&record, &repository, options, onto, progress)?;
        if prepared.computed.commit != prepared.before {
            self.require_can_follow(&repository, &target, &prepared.changes)?;
        }
        assumed.0.insert(key, prepared.computed.commit.clone());
        Ok(self.landed(&record, prepared, &repository, true))
    }

    /// Everything that can be known, and refused, before anything is changed.
    fn prepare_landing(
        &self,
        record: &InstanceRecord,
        repository: &Repo,
        options: &LandOptions,
        onto: Onto,
        progress: &mut dyn Progress,
    ) -> Result<Prepared, Error> {
        self.require_at_rest(record)?;
        let LandTarget {
            name: target,
            commit: now_at,
        } = self.land_target(record, repository, options)?;
        let message = options.message.as_deref();
        let consent = self.settings().land.hooks && !options.no_hooks;
        let in_earnest = matches!(onto, Onto::Now);
        let hooks = LandHooks::new(self, record, repository, consent && in_earnest);
        let source = self.land_source(record, repository, options.commit, message, &hooks)?;
        if source.seen.branch.as_deref() == Some(target.as_str()) {
            let title = record.title.clone();
            return Err(LandError::OwnBranch { title, target }.into());
        }
        let before = match (onto, now_at) {
            (Onto::Assumed(Some(onto)), _) => onto,
            (_, Some(commit)) => commit,
            (_, None) => return Err(crate::git::GitError::NoSuchBranch { name: target }.into()),
        };
        let request = Request {
            record,
            source: &source,
            target: &target,
            onto: &before,
            how: options.how,
            message,
        };
        // Independent calls run side by side. Most landings are fast-forwards.
        let (computed, straight) = std::thread::scope(|scope| {
            let likely = (options.how != LandHow::Squash)
                .then(|| scope.spawn(|| repository.changes(&before, &source.commit)));
            let computed = compute(repository, &request, &hooks);
            (computed, likely.and_then(|likely| likely.join().ok()))
        });
        let computed = computed?;
        if in_earnest || !consent {
            hooks.tell(progress);
        }
        let untouched = record.base.commit.as_ref() == Some(&source.commit);
        if computed.by == LandedBy::AlreadyThere && (untouched || options.keep) {
            let title = record.title.clone();
            return Err(LandError::Nothing { title, target }.into());
        }
        let changes = match straight {
            Some(changes) if computed.commit == source.commit => changes?,
            _ => repository.changes(&before, &computed.commit)?,
        };
        if computed.dropped > 0 {
            progress.note(&format!(
                "{} commits became empty and were left out",
                computed.dropped
            ));
        }
        let check = match computed.by {
            LandedBy::AlreadyThere => None,
            _ => self.land_check(repository, options)?,
        };
        // The step that moves the target looks too. It is worth refusing before a check has run, and before
        // an agent is stopped.
        let early = check.is_some() || record.state == RestingState::Running;
        if early && computed.commit != before {
            self.require_can_follow(repository, &target, &changes)?;
        }
        let submodules = changes.iter().any(|change| change.submodule);
        if submodules && !options.keep {
            progress.note(
                "a submodule is at another commit, which may be in this worktree only: the instance is kept",
            );
        }
        Ok(Prepared {
            // Commits that only the branch has are not deleted unless that is asked for.
            delete_branch: options.delete_branch || is_contained(options.how, &computed),
            keep: options.keep || submodules,
            target,
            before,
            source,
            computed,
            changes,
            check,
        })
    }

    fn landed(
        &self,
        record: &InstanceRecord,
        prepared: Prepared,
        repository: &Repo,
        dry_run: bool,
    ) -> Landed {
        let made_by_us = record.branch.as_ref().filter(|branch| branch.made_by_us);
        let deleted = |name: &str| {
            let gone = repository.branch_commit(name);
            gone.is_ok_and(|commit| commit.is_none())
        };
        Landed {
            instance: self.view_at_rest(record),
            branch_deleted: !dry_run && made_by_us.is_some_and(|branch| deleted(&branch.name)),
            target: prepared.target,
            before: prepared.before,
            commit: prepared.computed.commit,
            by: prepared.computed.by,
            commits: prepared.computed.commits,
            files: prepared.changes.len(),
            check: prepared.check,
            kept: prepared.keep,
            dry_run,
        }
    }
}

/// Whether every change of the branch is in the target by itself: a squash of several commits keeps only
/// their sum.
fn is_contained(how: LandHow, computed: &Computed) -> bool {
    how != LandHow::Squash || computed.commits <= 1
}

fn facts_of(prepared: &Prepared) -> Facts {
    let order = LandOrder {
        target: prepared.target.clone(),
        before: prepared.before.clone(),
        commit: prepared.computed.commit.clone(),
        source: Some(prepared.source.seen.clone()),
        keep: prepared.keep,
    };
    let facts = Facts::none().with(fact::LAND, &order);
    if prepared.keep {
        return facts;
    }
    let kill = KillOrder {
        delete_branch: prepared.delete_branch,
        leave_worktree: false,
        busy: false,
    };
    facts.with(fact::KILL, &kill)
}

fn was_moved(error: &Error) -> bool {
    matches!(
        error.innermost(),
        Error::Land(LandError::TargetMoved { .. })
    )
}
