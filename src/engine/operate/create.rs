//! A new instance: branch, worktree, session, agent, first prompt.

use std::path::{Path, PathBuf};

use crate::agents::Provider;
use crate::engine::base::progress::Progress;
use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, Scope, now};
use crate::engine::operate::first_sign::Sign;
use crate::engine::operate::names::NAMES_WAIT;
use crate::engine::operate::setup;
use crate::engine::operate::setup::Consent;
use crate::engine::operate::steps::fact;
use crate::engine::operate::submodules::name_missing;
use crate::git::{self, AddWorktree, BranchPlan, Repo, WorktreeKind};
use crate::lifecycle::{Facts, Plan};
use crate::model::{
    Base, Branch, InstanceId, InstanceRecord, Repository, RestingState, RunId, Seal, Title,
    Worktree,
};
use crate::store::InstanceDir;
use crate::tmux::Server;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewInstance {
    pub title: Option<String>,
    pub prompt: Option<String>,
    pub agent: Option<String>,
    pub base: Option<String>,
    pub branch: Option<String>,
    /// Any directory of the repository. The agent is started in the same directory of its worktree.
    pub directory: PathBuf,
    pub autoyes: bool,
    /// Seal it, even if no setting asks for that.
    pub seal: bool,
    pub idle_timeout_s: Option<u64>,
    pub agent_args: Vec<String>,
    pub consent: Consent,
}

/// An existing worktree, to be adopted as it is.
#[derive(Debug, Clone)]
pub(crate) struct Adoption {
    pub directory: PathBuf,
    pub instance: NewInstance,
}

/// The names and places that were decided on.
pub(in crate::engine) struct Decided {
    pub repository: Repository,
    pub branch: Option<Branch>,
    pub base: Base,
    pub worktree: Worktree,
    pub subdirectory: Option<PathBuf>,
    /// The agent's reference of an earlier conversation.
    pub session_ref: Option<String>,
    pub seal: Option<Seal>,
    pub facts: Facts,
}

impl Core {
    pub(crate) fn create(
        &self,
        asked: NewInstance,
        progress: &mut dyn Progress,
    ) -> Result<InstanceView, Error> {
        self.prepare()?;
        // Two calls of other programs run side by side.
        let (tmux, repository) = std::thread::scope(|scope| {
            let tmux = scope.spawn(|| self.require_tmux());
            let repository = Repo::discover_from(&asked.directory);
            (tmux.join(), repository)
        });
        if let Ok(tmux) = tmux {
            tmux?;
        }
        let (repository, below) = repository?;
        let provider = self.choose_agent(&asked)?;
        if let Some(why) = asked
            .prompt
            .as_deref()
            .and_then(|prompt| provider.refuses(prompt))
        {
            return Err(Error::CannotArrive { why });
        }
        let wanted = self.wanted_setup(&repository, asked.consent)?;
        let seal = self.wanted_seal(asked.seal, repository.root())?;
        let common = repository.common_dir();
        let setup = wanted.as_ref();
        self.begin(&asked, provider, common, setup, progress, |id, title| {
            let mut decided = self.decide(&asked, seal.clone(), &repository, id, title)?;
            decided.subdirectory.clone_from(&below);
            if let Some(wanted) = &wanted {
                decided.facts = decided.facts.with(fact::SETUP, wanted);
            }
            Ok(decided)
        })
    }

    pub(crate) fn adopt(
        &self,
        asked: Adoption,
        progress: &mut dyn Progress,
    ) -> Result<InstanceView, Error> {
        self.prepare()?;
        self.require_tmux()?;
        let found = git::worktree_of(&asked.directory)?;
        if found.kind == WorktreeKind::Main {
            return Err(Error::MainCheckout { path: found.path });
        }
        if let Some(other) = self
            .all(Scope::Living)?
            .0
            .into_iter()
            .find(|other| other.record.worktree.path == found.path)
        {
            return Err(Error::AlreadyManaged {
                path: found.path,
                title: other.record.title,
            });
        }
        let provider = self.choose_agent(&asked.instance)?;
        let base = asked
            .instance
            .base
            .clone()
            .unwrap_or_else(|| self.settings().new.base.clone());
        let base_commit = found.repo.resolve(&base)?;
        let seal = self.wanted_seal(asked.instance.seal, found.repo.root())?;
        let common = found.repo.common_dir();
        // It may be named after these.
        let instance = NewInstance {
            branch: found.branch.clone(),
            directory: found.path.clone(),
            ..asked.instance
        };
        self.begin(&instance, provider, common, None, progress, |_, _| {
            let branch = found.branch.clone().map(|name| Branch {
                name,
                made_by_us: false,
            });
            if seal.is_some() {
                self.require_own_branch(&found.repo, branch.as_ref())?;
            }
            Ok(Decided {
                repository: self.remember(&found.repo)?,
                branch,
                base: Base {
                    name: found.repo.name_in(found.repo.root(), &base),
                    commit: base_commit,
                },
                worktree: Worktree {
                    path: found.path.clone(),
                    adopted: true,
                },
                subdirectory: None,
                session_ref: None,
                seal: seal.clone(),
                facts: Facts::none(),
            })
        })
    }

    /// Makes an instance and watches its agent's first steps.
    fn begin(
        &self,
        asked: &NewInstance,
        provider: &Provider,
        common_dir: &Path,
        setup: Option<&setup::Wanted>,
        progress: &mut dyn Progress,
        decide: impl FnOnce(&InstanceId, &Title) -> Result<Decided, Error>,
    ) -> Result<InstanceView, Error> {
        let plan = Plan::create();
        let (dir, made) =
            self.create_recorded(asked, provider, common_dir, plan, progress, decide)?;
        let record = match made {
            Ok(record) => record,
            Err(Error::PromptNotSent { source, .. })
                if matches!(*source, Error::AgentDied { .. }) =>
            {
                self.undo_failed_start(&dir.record()?, setup)?;
                return Err(*source);
            }
            Err(error) => return Err(error),
        };
        name_missing(&record.worktree.path, progress);
        self.end_camp_pause(&record.id, progress);
        // Asked while the agent starts, and only once for each version of it.
        let (learned, sign) = std::thread::scope(|scope| {
            let asked = scope.spawn(|| self.learn_version(provider));
            let sign = self.watch_first_moments(&record, setup)?;
            Ok::<_, Error>((asked.join().unwrap_or(None), sign))
        })?;
        let new = learned.and_then(|(_, learned)| learned);
        self.remember_versions(new.map(|new| (record.agent.clone(), new)));
        match sign {
            Sign::Life => Ok(self.view_at_rest(&record)),
            // It has ended already, and the look at it has recorded that.
            Sign::Death => self.show(record.id.as_str()),
        }
    }

    /// A server that runs is of a version that was looked at when it was started.
    fn require_tmux(&self) -> Result<(), Error> {
        if self.server().identity().is_none() {
            Server::installed_version()?;
        }
        Ok(())
    }

    /// Claims id and title, then makes everything else under the journal.
    pub(in crate::engine) fn create_recorded(
        &self,
        asked: &NewInstance,
        provider: &Provider,
        common_dir: &Path,
        plan: Plan,
        progress: &mut dyn Progress,
        decide: impl FnOnce(&InstanceId, &Title) -> Result<Decided, Error>,
    ) -> Result<(InstanceDir, Result<InstanceRecord, Error>), Error> {
        let id = InstanceId::random();
        let names = self.store.lock("names", NAMES_WAIT, "new")?;
        let title = match &asked.title {
            Some(wanted) => self.choose_title(wanted, common_dir)?,
            None => {
                let (prompt, branch) = (asked.prompt.as_deref(), asked.branch.as_deref());
                self.suggest_title(prompt, branch, &asked.directory, common_dir)?
            }
        };
        let decided = decide(&id, &title)?;
        if let Some(branch) = &decided.branch {
            self.require_branch_free(&decided.repository.common_dir, &branch.name)?;
        }
        if asked.autoyes {
            for warning in self.autoyes_warnings(None, decided.seal.is_some()) {
                progress.note(&warning);
            }
        }
        let at = now();
        let record = InstanceRecord {
            format: InstanceRecord::FORMAT,
            rev: 0,
            id: id.clone(),
            title,
            repository: decided.repository,
            branch: decided.branch,
            base: decided.base,
            worktree: decided.worktree,
            subdirectory: decided.subdirectory,
            agent: provider.name().to_owned(),
            command: Vec::new(),
            agent_args: asked.agent_args.clone(),
            directories: Vec::new(),
            prompt: asked.prompt.clone(),
            state: RestingState::Running,
            autoyes: asked.autoyes,
            autoyes_until: asked.autoyes.then(|| self.autoyes_ends()).flatten(),
            idle_timeout_s: asked.idle_timeout_s,
            seal: decided.seal,
            session_ref: decided.session_ref,
            run: RunId::random(),
            place: None,
            pause: None,
            draft: None,
            draft_waits: false,
            vault: None,
            snapshots: 0,
            created_at: at,
            updated_at: at,
            last_active_at: at,
            paused_at: None,
            resumed_at: None,
            killed_at: None,
            interrupted_at: None,
            landed: None,
            lease: None,
        };
        let dir = self.store.claim(&id)?;
        let lock = dir.lock_operation("create")?;
        let facts = decided
            .facts
            .with(fact::RECORD, &record)
            .with_option(fact::PROMPT, &record.prompt);
        let journal = self.begin_journal(&dir, plan, facts)?;
        // The title is on disk now, so other processes can see it.
        drop(names);
        let made = self.carry_out(&lock, &dir, journal, record, progress);
        drop(lock);
        Ok((dir, made))
    }

    fn choose_agent(&self, asked: &NewInstance) -> Result<&Provider, Error> {
        let configured = Some(self.settings().new.agent.as_str()).filter(|name| !name.is_empty());
        let provider = self
            .catalog
            .default_agent(asked.agent.as_deref().or(configured), &self.host)?
            .ok_or_else(|| Error::NoAgent {
                looked_for: self
                    .catalog
                    .agents_to_look_for()
                    .map(|provider| provider.name().to_owned())
                    .collect(),
            })?;
        let (program, path) = provider.program(&asked.agent_args, &self.host);
        if path.is_none() {
            return Err(Error::AgentMissing {
                agent: provider.display().to_owned(),
                program,
            });
        }
        Ok(provider)
    }

    fn decide(
        &self,
        asked: &NewInstance,
        seal: Option<Seal>,
        repository: &Repo,
        id: &InstanceId,
        title: &Title,
    ) -> Result<Decided, Error> {
        let base = asked
            .base
            .clone()
            .unwrap_or_else(|| self.settings().new.base.clone());
        // Two independent calls run side by side.
        let (invented, resolved, name) = std::thread::scope(|scope| {
            let invented = asked
                .branch
                .is_none()
                .then(|| scope.spawn(|| self.choose_branch(repository, title, id, seal.is_some())));
            // `HEAD` means that of the checkout in which the command runs.
            let name = scope.spawn(|| repository.name_in(&asked.directory, &base));
            let resolved = repository.resolve_in(&asked.directory, &base);
            let invented = invented.and_then(|asked| asked.join().ok());
            (invented, resolved, name.join().ok())
        });
        let commit = match resolved? {
            Some(commit) => commit,
            None if !repository.has_commits()? => {
                return Err(Error::NoCommits {
                    repository: repository.root().to_owned(),
                });
            }
            None => {
                return Err(Error::NoSuchBase {
                    base,
                    repository: repository.root().to_owned(),
                });
            }
        };
        let existing = match &asked.branch {
            Some(name) => repository.branch_commit(name)?,
            None => None,
        };
        let (plan, branch) = match (&asked.branch, existing) {
            (Some(name), Some(_)) => {
                if let Some(path) = repository.branch_in_use(name)? {
                    return Err(git::GitError::BranchInUse {
                        name: name.clone(),
                        path,
                    }
                    .into());
                }
                (
                    BranchPlan::Existing { name: name.clone() },
                    made(name, false),
                )
            }
            (wanted, _) => {
                let name = match wanted {
                    Some(name) => {
                        repository.validate_branch_name(name)?;
                        name.clone()
                    }
                    None => match invented {
                        Some(invented) => invented?,
                        None => self.choose_branch(repository, title, id, seal.is_some())?,
                    },
                };
                let branch = made(&name, true);
                let start_commit = commit.clone();
                (BranchPlan::New { name, start_commit }, branch)
            }
        };
        if seal.is_some() {
            self.require_own_branch(repository, Some(&branch))?;
        }
        let path = self.choose_directory(repository, title, id);
        let plan = AddWorktree {
            path: path.clone(),
            branch: plan,
            resume_partial: false,
            without_files: false,
        };
        Ok(Decided {
            repository: self.remember(repository)?,
            branch: Some(branch),
            base: Base {
                name: name.unwrap_or(base),
                commit: Some(commit),
            },
            worktree: Worktree {
                path,
                adopted: false,
            },
            subdirectory: None,
            session_ref: None,
            seal,
            facts: Facts::none()
                .with(fact::WORKTREE_PLAN, &plan)
                .with(fact::REPOSITORY, repository),
        })
    }
}

fn made(name: &str, made_by_us: bool) -> Branch {
    Branch {
        name: name.to_owned(),
        made_by_us,
    }
}
