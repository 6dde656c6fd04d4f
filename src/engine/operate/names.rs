//! Titles, branches and directories for new instances.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::base::{Core, Error};
use crate::engine::operate::steps::fact;
use crate::git::{GitError, Repo};
use crate::model::{InstanceId, InstanceRecord, RestingState, Title, slug};
use crate::seal::OWN_BRANCH;
use crate::store::LoadedInstance;

/// Names are chosen one after another, and each choice asks git: dozens that are made at once on a busy
/// machine wait for each other.
pub(in crate::engine) const NAMES_WAIT: Duration = Duration::from_secs(60);

impl Core {
    /// The wanted title, if it is free. No two living instances of a repository share a title.
    pub(in crate::engine) fn choose_title(
        &self,
        wanted: &str,
        common_dir: &Path,
    ) -> Result<Title, Error> {
        let title = Title::new(wanted)?;
        if self.taken_titles(Some(common_dir))?.contains(&title) {
            return Err(Error::TitleTaken { title });
        }
        Ok(title)
    }

    /// A title after the prompt or the branch; where there is neither, after the directory, or a random one if that
    /// title is taken.
    pub(in crate::engine) fn suggest_title(
        &self,
        prompt: Option<&str>,
        branch: Option<&str>,
        directory: &Path,
        common_dir: &Path,
    ) -> Result<Title, Error> {
        let branch = branch.and_then(|name| name.rsplit('/').next());
        let mut told = [prompt, branch].into_iter().flatten();
        if let Some(title) = told.find_map(Title::from_beginning) {
            return self.free_title(&title, common_dir);
        }
        let taken = self.taken_titles(None)?;
        let directory = directory.file_name();
        let title = directory.and_then(|name| Title::from_beginning(&name.to_string_lossy()));
        match title.filter(|title| !taken.contains(title)) {
            Some(title) => Ok(title),
            None => self.invent_title(&taken),
        }
    }

    /// The titles of all instances that are not killed, also of those that are just being made; of one
    /// repository where it is given.
    fn taken_titles(&self, common_dir: Option<&Path>) -> Result<Vec<Title>, Error> {
        let counts = |record: &InstanceRecord| {
            common_dir.is_none_or(|wanted| record.repository.common_dir == wanted)
        };
        let mut taken = Vec::new();
        for id in self.store.ids()? {
            match self.store.instance(&id).load() {
                LoadedInstance::Known { record, .. }
                    if record.state != RestingState::Killed && !record.is_trace() =>
                {
                    taken.extend(counts(&record).then_some(record.title));
                }
                LoadedInstance::Unborn { journal } => {
                    let record = journal.facts.read(fact::RECORD)?;
                    taken.extend(record.filter(counts).map(|record| record.title));
                }
                // It may be of this repository.
                LoadedInstance::Unreadable(_) => {
                    let title = self.store.instance(&id).readable_title();
                    taken.extend(title.and_then(|title| Title::new(&title).ok()));
                }
                LoadedInstance::Known { .. } => {}
            }
        }
        Ok(taken)
    }

    /// The wanted title, or else the first free one of `title-2`, `title-3` and so on.
    pub(in crate::engine) fn free_title(
        &self,
        wanted: &Title,
        common_dir: &Path,
    ) -> Result<Title, Error> {
        let taken = self.taken_titles(Some(common_dir))?;
        if !taken.contains(wanted) {
            return Ok(wanted.clone());
        }
        for number in 2..=taken.len() + 2 {
            let title = Title::new(&format!("{wanted}-{number}"))?;
            if !taken.contains(&title) {
                return Ok(title);
            }
        }
        Err(Error::TitleTaken {
            title: wanted.clone(),
        })
    }

    /// The instance that uses this branch of a repository, also a paused one: while it is paused the user
    /// may check its branch out, but no other instance gets it.
    pub(in crate::engine) fn holder_of_branch(
        &self,
        common_dir: &Path,
        name: &str,
    ) -> Result<Option<InstanceRecord>, Error> {
        let stands = |record: &InstanceRecord| {
            record.repository.common_dir == common_dir
                && record
                    .branch
                    .as_ref()
                    .is_some_and(|branch| branch.name == name)
        };
        for id in self.store.ids()? {
            let record = match self.store.instance(&id).load() {
                LoadedInstance::Known { record, .. } if record.state != RestingState::Killed => {
                    Some(*record)
                }
                LoadedInstance::Unborn { journal } => journal.facts.read(fact::RECORD)?,
                LoadedInstance::Known { .. } | LoadedInstance::Unreadable(_) => None,
            };
            if let Some(record) = record.filter(stands) {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Refuses a branch that another instance uses.
    pub(in crate::engine) fn require_branch_free(
        &self,
        common_dir: &Path,
        name: &str,
    ) -> Result<(), Error> {
        match self.holder_of_branch(common_dir, name)? {
            None => Ok(()),
            Some(holder) => Err(Error::BranchHeld {
                branch: name.to_owned(),
                title: holder.title,
                id: holder.id,
            }),
        }
    }

    fn invent_title(&self, taken: &[Title]) -> Result<Title, Error> {
        // If all readable names are taken, the id makes the name unique.
        let invented = (0..100)
            .filter_map(|_| petname::petname(2, "-"))
            .chain([InstanceId::random().as_str().to_owned()]);
        for name in invented {
            let title = Title::new(&name)?;
            if !taken.contains(&title) {
                return Ok(title);
            }
        }
        Ok(Title::new(InstanceId::random().as_str())?)
    }

    /// A branch after the title; with a piece of the id where that one is taken.
    pub(in crate::engine) fn choose_branch(
        &self,
        repository: &Repo,
        title: &Title,
        id: &InstanceId,
        sealed: bool,
    ) -> Result<String, Error> {
        let prefix = &self.settings().new.branch_prefix;
        let plain = slug(title.as_str());
        // A sealed agent may write the refs in one directory, which must hold no other branch.
        let own = match sealed {
            true => format!("/{OWN_BRANCH}"),
            false => String::new(),
        };
        let long = format!("{prefix}{}{own}", with_id(&plain, id));
        if plain.is_empty() {
            return free_branch(repository, long);
        }
        let short = format!("{prefix}{plain}{own}");
        match repository.validate_branch_name(&short) {
            Ok(())
                if self
                    .holder_of_branch(repository.common_dir(), &short)?
                    .is_none() =>
            {
                Ok(short)
            }
            // It was deleted under an instance that is paused, and will be made again for that one.
            Ok(()) => free_branch(repository, long),
            Err(GitError::BranchExists { .. } | GitError::BranchPrefix { .. }) => {
                free_branch(repository, long)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A directory that is free: `<worktrees>/<repository>/<title>-<piece of the id>`.
    pub(in crate::engine) fn choose_directory(
        &self,
        repository: &Repo,
        title: &Title,
        id: &InstanceId,
    ) -> PathBuf {
        let repository = repository
            .root()
            .file_name()
            .map(|name| slug(name.to_string_lossy().trim_end_matches(".git")))
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "repository".to_owned());
        self.home
            .worktrees
            .join(repository)
            .join(with_id(&slug(title.as_str()), id))
    }
}

fn free_branch(repository: &Repo, name: String) -> Result<String, Error> {
    repository.validate_branch_name(&name)?;
    Ok(name)
}

fn with_id(slug: &str, id: &InstanceId) -> String {
    let id = id.as_str();
    if slug.is_empty() {
        id.to_owned()
    } else {
        format!("{slug}-{}", id.get(..5).unwrap_or(id))
    }
}
