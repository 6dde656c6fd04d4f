//! The target of a landing moves, with every checkout of it.

use crate::engine::base::{Error, LandError};
use crate::engine::operate::land::order::{LandOrder, SourceSeen};
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Work;
use crate::git::landing::{tree_of_everything, uncommitted};
use crate::git::{Checkout, GitError, Repo};
use crate::lifecycle::Facts;
use crate::process::crash;

impl Work<'_> {
    /// Proves that target and work are as they were when the result was computed. This is no part of the
    /// step itself, because undoing the step would take back a move that another process has made.
    pub(super) fn intend_move_target(&self, facts: &Facts) -> Result<Facts, Error> {
        let Some(order) = facts.read(fact::LAND)? else {
            return Ok(Facts::none());
        };
        let repository = self.repository()?;
        let changed = || LandError::ChangedMeanwhile {
            title: self.record.title.clone(),
        };
        if let Some(source) = &order.source
            && !self.is_unchanged(&repository, source, facts)?
        {
            return Err(changed().into());
        }
        require_at(&repository, &order)?;
        Ok(Facts::none())
    }

    fn is_unchanged(
        &self,
        repository: &Repo,
        source: &SourceSeen,
        facts: &Facts,
    ) -> Result<bool, Error> {
        if self.is_put_away()? {
            return Ok(match &source.branch {
                Some(branch) => {
                    let tip = repository.branch_commit(branch)?;
                    tip.is_none_or(|tip| tip == source.head)
                }
                None => true,
            });
        }
        let checkout = Checkout::live(repository, &self.record.worktree.path)?;
        if checkout.head_commit()?.as_ref() != Some(&source.head) {
            return Ok(false);
        }
        if let Some(tree) = &source.tree {
            return Ok(tree_of_everything(repository, &checkout)? == *tree);
        }
        // A snapshot that was just taken has counted already.
        Ok(match facts.read(fact::SNAPSHOT)? {
            Some(snapshot) => snapshot.changed + snapshot.untracked == 0,
            None => uncommitted(&checkout)?.is_empty(),
        })
    }

    /// The checkouts follow first, as with `git merge`: between the two effects they show the landing as
    /// staged. The other way round a commit there would take the landing back.
    pub(super) fn move_target(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(order) = facts.read(fact::LAND)? else {
            return Ok(Facts::none());
        };
        if order.before == order.commit {
            return Ok(Facts::none());
        }
        let repository = self.repository()?;
        let _lock = self.lock_repository()?;
        require_at(&repository, &order)?;
        let changes = match self.changes.take() {
            Some(changes) => changes,
            None => repository.changes(&order.before, &order.commit)?,
        };
        let checkouts = self
            .core
            .require_can_follow(&repository, &order.target, &changes)?;
        let why = format!("biv {}: {}", self.operation.name(), self.record.title);
        move_with(&repository, &checkouts, &order, &why).map_err(|error| match error {
            GitError::BranchMoved { name, .. } => {
                Error::from(LandError::TargetMoved { target: name })
            }
            other => other.into(),
        })?;
        crash::effect();
        Ok(Facts::none())
    }

    /// Moves the target back if it is where this operation has moved it. A commit on top of it stays, and
    /// the landing with it; so do changes in a checkout that were made since.
    pub(super) fn undo_move_target(&mut self, facts: &Facts) -> Result<(), Error> {
        let Some(order) = facts.read(fact::LAND)? else {
            return Ok(());
        };
        let repository = self.repository()?;
        let _lock = self.lock_repository()?;
        let target = &order.target;
        match repository.branch_commit(target)? {
            Some(found) if found == order.commit => {
                let why = format!("biv {}: taken back", self.operation.name());
                repository.move_branch(target, &order.commit, &order.before, &why)?;
                crash::effect();
            }
            Some(found) if found == order.before => {}
            _ => {
                self.progress.note(&format!("{target} was moved and stays"));
                return Ok(());
            }
        }
        let changes = repository.changes(&order.before, &order.commit)?;
        for checkout in repository.checkouts_of(target)? {
            if !checkout.index_is_at(&order.commit, &changes)? {
                continue;
            }
            if let Err(error) = checkout.follow(&order.commit, &order.before) {
                self.progress.note(&format!(
                    "{} has changes since, and keeps the landing as staged: {error}",
                    checkout.dir.display()
                ));
            }
            crash::effect();
        }
        Ok(())
    }
}

/// Moves the target and the checkouts that have it.
fn move_with(
    repository: &Repo,
    checkouts: &[Checkout],
    order: &LandOrder,
    why: &str,
) -> Result<(), GitError> {
    let (from, to) = (order.before.as_str(), order.commit.as_str());
    if let [checkout] = checkouts
        && checkout.fast_forward(repository, &order.target, (from, to), why)?
    {
        return Ok(());
    }
    for checkout in checkouts {
        checkout.follow(from, to)?;
        crash::effect();
    }
    repository.move_branch(&order.target, from, to, why)
}

fn require_at(repository: &Repo, order: &LandOrder) -> Result<(), Error> {
    if repository.branch_commit(&order.target)?.as_ref() == Some(&order.before) {
        return Ok(());
    }
    Err(LandError::TargetMoved {
        target: order.target.clone(),
    }
    .into())
}
