//! Pushes the branch of an instance to its remote.

use crate::engine::base::{Core, Error, Scope};
use crate::git::Repo;
use crate::model::Title;

/// What was pushed, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pushed {
    pub title: Title,
    pub branch: String,
    pub remote: String,
}

impl Core {
    /// Pushes what is committed on the branch of an instance; what is not, stays here. The branch is
    /// the repository's, so a paused instance has it too.
    pub(crate) fn push(&self, given: &str) -> Result<Pushed, Error> {
        let record = self.find(given, Scope::Here)?.record;
        let Some(branch) = record.branch else {
            return Err(Error::NoBranch {
                title: record.title,
            });
        };
        let repository = Repo::discover(&record.repository.root)?;
        let Some(remote) = repository.push_remote(&branch.name)? else {
            return Err(Error::NoRemote {
                repository: repository.root().to_owned(),
            });
        };
        repository.push(&remote, &branch.name)?;
        Ok(Pushed {
            title: record.title,
            branch: branch.name,
            remote,
        })
    }
}
