//! What an instance has to land: its commits, and with `--commit` what is in no commit yet.

use std::time::{Duration, Instant};

use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Core, Error, LandError};
use crate::engine::operate::land::hooks::LandHooks;
use crate::engine::operate::land::order::SourceSeen;
use crate::engine::watch::look::look;
use crate::git::landing::{Author, MadeCommit, Uncommitted, tree_of_everything, uncommitted};
use crate::git::{Checkout, Repo};
use crate::model::{Activity, InstanceRecord, RestingState};
use crate::vault::{self, OnDisk, ParkState};

/// A screen that is not understood may be half drawn: it is looked at again for this long.
const HALF_DRAWN: Duration = Duration::from_secs(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// What lands.
pub(super) struct Source {
    pub seen: SourceSeen,
    /// The commit that lands: the branch's last one, or one of what was uncommitted on top of it.
    pub commit: String,
}

impl Core {
    /// An agent that works would change what lands while it lands.
    pub(super) fn require_at_rest(&self, record: &InstanceRecord) -> Result<(), Error> {
        let place = match (record.state, &record.place) {
            (RestingState::Running, Some(place)) => place,
            (RestingState::Killed, _) => {
                return Err(Error::WrongState {
                    verb: "land",
                    title: record.title.clone(),
                    state: record.state.into(),
                });
            }
            _ => return Ok(()),
        };
        let server = self.server_of(record);
        let since = Instant::now();
        loop {
            let pane = server.pane_of(&record.id)?;
            let shot = look(&server, &place.pane)?;
            match self.verdict(record, shot.as_ref(), pane.as_ref()).activity {
                Activity::Idle | Activity::Exited => return Ok(()),
                Activity::Unknown if since.elapsed() < HALF_DRAWN => {
                    std::thread::sleep(BETWEEN_LOOKS);
                }
                activity => {
                    return Err(LandError::NotAtRest {
                        title: record.title.clone(),
                        activity,
                    }
                    .into());
                }
            }
        }
    }

    /// What the instance has to land. Nothing in its worktree is touched: with `commit`, what is
    /// uncommitted becomes a commit that no branch of the instance has.
    pub(super) fn land_source(
        &self,
        record: &InstanceRecord,
        repository: &Repo,
        commit: bool,
        message: Option<&str>,
        hooks: &LandHooks<'_>,
    ) -> Result<Source, Error> {
        let saved = SavedWork::of(record)?;
        let put_away = match &saved.parking {
            Some(place) => vault::park_state(place)? != ParkState::InPlace,
            None => !record.worktree.path.is_dir(),
        };
        let (checkout, seen, dirty) = if put_away {
            saved_source(record, repository, &saved)?
        } else {
            live_source(record, repository)?
        };
        if dirty.is_empty() {
            let commit = seen.head.clone();
            return Ok(Source { seen, commit });
        }
        let title = || record.title.clone();
        let shown = |files: &[std::path::PathBuf]| -> Vec<String> {
            files
                .iter()
                .map(|file| file.display().to_string())
                .collect()
        };
        if !dirty.unmerged.is_empty() {
            let files = shown(&dirty.unmerged);
            return Err(LandError::Unmerged {
                title: title(),
                files,
            }
            .into());
        }
        if !commit {
            let files = shown(&[dirty.files, dirty.nested].concat());
            return Err(LandError::Uncommitted {
                title: title(),
                files,
            }
            .into());
        }
        if !dirty.nested.is_empty() {
            let files = shown(&dirty.nested);
            return Err(LandError::Nested {
                title: title(),
                files,
            }
            .into());
        }
        let tree = tree_of_everything(repository, &checkout)?;
        let message = message.map_or_else(|| subject_of_work(record), str::to_owned);
        let (made, message) = hooks.settle(MadeCommit::Plain, &seen.head, tree.clone(), message)?;
        let commit =
            repository.commit_tree(&made, &[&seen.head], message.as_bytes(), &Author::User)?;
        let seen = SourceSeen {
            tree: Some(tree),
            ..seen
        };
        Ok(Source { seen, commit })
    }
}

type Found = (Checkout, SourceSeen, Uncommitted);

fn live_source(record: &InstanceRecord, repository: &Repo) -> Result<Found, Error> {
    let checkout = Checkout::live(repository, &record.worktree.path)?;
    if let Some(operation) = checkout.operation_in_progress() {
        return Err(LandError::InProgress {
            title: record.title.clone(),
            operation: operation.to_owned(),
        }
        .into());
    }
    let Some(head) = checkout.head_commit()? else {
        return Err(Error::NoCommits {
            repository: repository.root().to_owned(),
        });
    };
    let dirty = uncommitted(&checkout)?;
    let seen = SourceSeen {
        branch: checkout.head_branch()?,
        head,
        tree: None,
    };
    Ok((checkout, seen, dirty))
}

/// The work of an instance whose worktree is put away. Its branch is the repository's, and may have been
/// moved meanwhile: then what lands is where it is now.
fn saved_source(
    record: &InstanceRecord,
    repository: &Repo,
    saved: &SavedWork,
) -> Result<Found, Error> {
    let title = || record.title.clone();
    let named = record.branch.as_ref().map(|branch| branch.name.clone());
    let snapshot = saved.snapshot.as_ref();
    let branch = snapshot.map_or(named, |snapshot| snapshot.branch.clone());
    let tip = match &branch {
        Some(branch) => repository.branch_commit(branch)?,
        None => None,
    };
    let saved_head = snapshot.and_then(|snapshot| snapshot.head.clone());
    let Some(head) = tip.or_else(|| saved_head.clone()) else {
        return Err(Error::NoBranch { title: title() });
    };
    if let Some(operation) = snapshot.and_then(|snapshot| snapshot.operation.clone()) {
        return Err(LandError::InProgress {
            title: title(),
            operation,
        }
        .into());
    }
    let place = saved.parking.as_ref();
    let checkout = place.map(vault::ParkingPlace::checkout);
    let mut dirty = Uncommitted::default();
    if snapshot.is_some_and(|snapshot| snapshot.changed + snapshot.untracked > 0) {
        let refused = |reason| {
            Error::from(LandError::PutAway {
                title: title(),
                reason,
            })
        };
        let (Some(place), Some(checkout)) = (place, &checkout) else {
            return Err(refused("its worktree is gone"));
        };
        if vault::on_disk(place)? != OnDisk::Whole {
            return Err(refused("its files were deleted to free the disk"));
        }
        if saved_head.as_ref() != Some(&head) {
            return Err(refused("its branch was moved"));
        }
        dirty = uncommitted(checkout)?;
    }
    let checkout = checkout.unwrap_or_else(|| Checkout {
        dir: record.worktree.path.clone(),
        git_dir: repository.common_dir().to_owned(),
        common_dir: repository.common_dir().to_owned(),
    });
    let seen = SourceSeen {
        branch,
        head,
        tree: None,
    };
    Ok((checkout, seen, dirty))
}

/// The first line of the prompt, else the title.
pub(super) fn subject_of_work(record: &InstanceRecord) -> String {
    let prompt = record.prompt.as_deref().unwrap_or_default();
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or_else(|| record.title.to_string(), str::to_owned)
}
