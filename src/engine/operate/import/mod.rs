//! Imports the sessions of another tool. Its files are read and never written. Imported instances stay
//! paused until the user resumes them, so that no second agent runs beside one that still runs.

mod claude_squad;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::agents::Provider;
use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::operate::create::{Decided, NewInstance};
use crate::engine::operate::setup::Consent;
use crate::engine::operate::steps::fact;
use crate::git::{self, AddWorktree, BranchPlan, GitError, Repo, WorktreeKind};
use crate::lifecycle::{Facts, Plan};
use crate::model::{Base, Branch, Worktree};

/// A session of another tool, as its state tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Session {
    title: String,
    repository: PathBuf,
    worktree: PathBuf,
    branch: String,
    base: Option<String>,
    /// The command line of its agent.
    program: String,
    /// Where its agent may still run.
    terminal: Option<String>,
}

/// The result for each session.
#[derive(Debug, Serialize)]
pub(crate) struct ImportReport {
    pub instances: Vec<InstanceView>,
    /// The titles of those that a dry run would have taken.
    pub could: Vec<String>,
    /// A note for the user about an imported session.
    pub notes: Vec<Note>,
    pub left: Vec<Left>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Note {
    pub title: String,
    pub note: String,
}

/// A session that was not imported, and why.
#[derive(Debug, Serialize)]
pub(crate) struct Left {
    pub title: String,
    pub reason: String,
}

impl Core {
    /// Imports the sessions of Claude Squad, from its usual state file or from this one.
    pub(crate) fn import_claude_squad(
        &self,
        file: Option<&Path>,
        dry_run: bool,
        progress: &mut dyn Progress,
    ) -> Result<ImportReport, Error> {
        let file = match file {
            Some(file) => file.to_owned(),
            None => claude_squad::usual_file(),
        };
        let text = std::fs::read(&file).map_err(Error::files("read", &file))?;
        let (sessions, mut left) =
            claude_squad::sessions(&text).map_err(|message| Error::ForeignState {
                path: file,
                message,
            })?;
        let mut report = ImportReport {
            instances: Vec::new(),
            could: Vec::new(),
            notes: Vec::new(),
            left: Vec::new(),
        };
        report.left.append(&mut left);
        for session in sessions {
            match self.import_session(&session, dry_run, progress) {
                Ok(view) => {
                    match view {
                        Some(view) => report.instances.push(view),
                        None => report.could.push(session.title.clone()),
                    }
                    report
                        .notes
                        .extend(session.notes().into_iter().map(|note| Note {
                            title: session.title.clone(),
                            note,
                        }));
                }
                Err(error) => report.left.push(Left {
                    title: session.title.clone(),
                    reason: error.told(),
                }),
            }
        }
        Ok(report)
    }

    fn import_session(
        &self,
        session: &Session,
        dry_run: bool,
        progress: &mut dyn Progress,
    ) -> Result<Option<InstanceView>, Error> {
        let (provider, agent_args) = self.agent_of(&session.program)?;
        let place = self.place_of(session)?;
        let common_dir = match &place {
            Place::InstanceStatus(path) => git::worktree_of(path)?.repo.common_dir().to_owned(),
            Place::Missing(repository) => repository.common_dir().to_owned(),
        };
        if dry_run {
            self.choose_title(&session.title, &common_dir)?;
            return Ok(None);
        }
        self.prepare()?;
        let asked = NewInstance {
            title: Some(session.title.clone()),
            prompt: None,
            agent: Some(provider.name().to_owned()),
            base: session.base.clone(),
            branch: Some(session.branch.clone()),
            directory: session.repository.clone(),
            autoyes: false,
            seal: false,
            idle_timeout_s: None,
            agent_args,
            consent: Consent::Refused,
        };
        let (_, made) = self.create_recorded(
            &asked,
            provider,
            &common_dir,
            Plan::import(),
            progress,
            |id, title| {
                let path = match &place {
                    Place::InstanceStatus(worktree) => worktree.clone(),
                    Place::Missing(repository) => self.choose_directory(repository, title, id),
                };
                let repository = place.repository(&path)?;
                let facts = match &place {
                    Place::InstanceStatus(_) => Facts::none(),
                    Place::Missing(_) => Facts::none().with(
                        fact::WORKTREE_PLAN,
                        &AddWorktree {
                            path: path.clone(),
                            branch: BranchPlan::Existing {
                                name: session.branch.clone(),
                            },
                            resume_partial: false,
                            without_files: false,
                        },
                    ),
                };
                Ok(Decided {
                    seal: None,
                    session_ref: provider.only_conversation_in(&session.worktree, &self.host),
                    branch: Some(Branch {
                        name: session.branch.clone(),
                        made_by_us: false,
                    }),
                    base: self.base_of(session, &repository)?,
                    worktree: Worktree {
                        path,
                        adopted: matches!(place, Place::InstanceStatus(_)),
                    },
                    subdirectory: None,
                    repository: self.remember(&repository)?,
                    facts,
                })
            },
        )?;
        Ok(Some(self.show(made?.id.as_str())?))
    }

    /// The agent that a command line starts; any other command is a plain command.
    fn agent_of(&self, program: &str) -> Result<(&Provider, Vec<String>), Error> {
        let mut words: Vec<String> = shlex::split(program).unwrap_or_default();
        let name = words.first().map(|word| {
            let name = Path::new(word).file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        });
        match name.as_deref().and_then(|name| self.catalog.find(name)) {
            Some(provider) if !provider.runs_any_command() => {
                words.remove(0);
                Ok((provider, words))
            }
            _ => Ok((self.catalog.plain()?, words)),
        }
    }

    fn place_of(&self, session: &Session) -> Result<Place, Error> {
        if session.worktree.is_dir() {
            let found = git::worktree_of(&session.worktree)?;
            if found.kind == WorktreeKind::Main {
                return Err(Error::MainCheckout { path: found.path });
            }
            let living = self.all(Scope::Living)?.0;
            let managed = living
                .into_iter()
                .find(|other| other.record.worktree.path == found.path);
            return match managed {
                None => Ok(Place::InstanceStatus(found.path)),
                Some(other) => Err(Error::AlreadyManaged {
                    path: found.path,
                    title: other.record.title,
                }),
            };
        }
        let repository = Repo::discover(&session.repository)?;
        let name = &session.branch;
        if repository.branch_commit(name)?.is_none() {
            return Err(Error::NoSuchBase {
                base: name.clone(),
                repository: repository.root().to_owned(),
            });
        }
        if let Some(path) = repository.branch_in_use(name)? {
            let name = name.clone();
            return Err(GitError::BranchInUse { name, path }.into());
        }
        Ok(Place::Missing(repository))
    }

    fn base_of(&self, session: &Session, repository: &Repo) -> Result<Base, Error> {
        let known = match &session.base {
            Some(commit) => repository.resolve(commit)?,
            None => None,
        };
        let name = match &known {
            Some(commit) => commit.clone(),
            None => self.settings().new.base.clone(),
        };
        let commit = match known {
            Some(commit) => Some(commit),
            None => repository.resolve(&name)?,
        };
        Ok(Base { name, commit })
    }
}

/// Where the work of a session is.
enum Place {
    /// In a worktree that is adopted as it is.
    InstanceStatus(PathBuf),
    /// Only on its branch: its worktree was removed when it was paused.
    Missing(Repo),
}

impl Place {
    fn repository(&self, worktree: &Path) -> Result<Repo, Error> {
        match self {
            Self::InstanceStatus(_) => Ok(git::worktree_of(worktree)?.repo),
            Self::Missing(repository) => Ok(repository.clone()),
        }
    }
}

impl Session {
    fn notes(&self) -> Option<String> {
        let terminal = self.terminal.as_ref()?;
        Some(format!(
            "its agent may still run in your own tmux session {terminal}: end it there before you resume"
        ))
    }
}
