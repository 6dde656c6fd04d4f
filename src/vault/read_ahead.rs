//! Reading ahead: what a snapshot will hold is read while the agent is still being brought to rest,
//! which takes longer than the reading.
//!
//! What was read before the agent was at rest is checked again. The verification that follows every
//! snapshot compares what is stored, stamp by stamp. What stamps cannot show is looked at again here:
//! HEAD, git's own files, names that came or went. If something changed so recently that a second
//! change would have the same time, nothing is read ahead.

use std::thread::JoinHandle;

use super::draft::Draft;
use super::fact::Label;
use super::guard::admin_files;
use super::stamp::join;
use super::survey::Survey;
use super::write::{Taken, Written, write};
use crate::git::{Checkout, GitError, Repo, untracked};

/// A snapshot that is being read.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    draft: JoinHandle<Result<Draft, GitError>>,
}

/// Begins to read what a survey of the files has found.
pub(super) fn read_ahead(repo: &Repo, checkout: &Checkout, mut found: Survey) -> Option<ReadAhead> {
    let (repo, checkout) = (repo.clone(), checkout.clone());
    found.is_settled().then(|| ReadAhead {
        draft: std::thread::spawn(move || {
            found.complete(&checkout)?;
            Draft::of(&repo, &checkout, found)
        }),
    })
}

impl ReadAhead {
    /// The snapshot, if what was read still holds.
    pub(super) fn written(
        self,
        repo: &Repo,
        checkout: &Checkout,
        label: Label<'_>,
    ) -> Result<Option<Taken>, GitError> {
        std::thread::scope(|scope| {
            let names = scope.spawn(|| untracked(checkout));
            // An error of the early read is ignored: the snapshot is then read at its proper time.
            let Some(draft) = self.draft.join().ok().and_then(Result::ok) else {
                return Ok(None);
            };
            if !still_holds(&draft, checkout)? {
                return Ok(None);
            }
            let nested = draft.survey.nested.clone();
            let Written::Whole(taken) = write(repo, checkout, draft, label)? else {
                return Ok(None);
            };
            let (now, nested_now) = join(names)?;
            let same = taken.seen.has_untracked(&now) && nested == nested_now;
            Ok(same.then_some(*taken))
        })
    }
}

fn still_holds(draft: &Draft, checkout: &Checkout) -> Result<bool, GitError> {
    Ok(checkout.head_commit()? == draft.survey.head
        && checkout.head_branch()? == draft.survey.branch
        && admin_files(checkout)? == draft.admin)
}
