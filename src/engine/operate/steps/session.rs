//! Opens the tmux session with a launcher in it, and closes it.

use std::path::{Path, PathBuf};

use crate::agents::{LaunchContext, LaunchKind, LaunchPlan, Provider};
use crate::engine::base::Error;
use crate::engine::operate::environment;
use crate::engine::operate::launch::{LaunchOrders, LaunchSocket};
use crate::engine::operate::options::Launch;
use crate::engine::operate::seal::{self, Site};
use crate::engine::operate::sealed_launch::SealOrders;
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Work;
use crate::lifecycle::{Facts, Operation};
use crate::model::{AgentPlace, RestingState, printable_line};
use crate::process::Identity;
use crate::seal::Environment;
use crate::store::{ensure_private, replace_file};
use crate::tmux::SessionOptions;

impl Work<'_> {
    /// The reference of the conversation is chosen before the agent exists, where it can be.
    pub(super) fn intend_open_session(&self, facts: &Facts) -> Result<Facts, Error> {
        let provider = self.core.provider_of(&self.record)?;
        let launch = facts.read(fact::LAUNCH)?.unwrap_or(Launch::Fresh);
        let chosen = facts.has(fact::SESSION_REF);
        if !provider.assigns_session_id() || launch != Launch::Fresh || chosen {
            return Ok(Facts::none());
        }
        Ok(Facts::none().with(fact::SESSION_REF, &uuid::Uuid::new_v4().to_string()))
    }

    pub(super) fn open_session(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let server = self.core.server();
        // A session that an earlier attempt has left is replaced. A pause has closed its session and waited
        // for the agent's last process, so nothing of it is left.
        let put_to_rest =
            self.record.state == RestingState::Paused || self.operation == Operation::Create;
        if self.recovering || !put_to_rest {
            server.close_session(&self.record.id)?;
            self.stop_survivors()?;
        }
        let launch = facts.read(fact::LAUNCH)?.unwrap_or(Launch::Fresh);
        let reference = match launch {
            Launch::Fresh => facts.read(fact::SESSION_REF)?,
            Launch::SameReference | Launch::Native => self.record.session_ref.clone(),
        };
        self.open(launch, reference.as_deref())
    }

    /// Opens a session with a launcher in it that waits for "go".
    pub(super) fn open(&mut self, launch: Launch, reference: Option<&str>) -> Result<Facts, Error> {
        let server = self.core.server();
        let kind = match (launch, reference) {
            (Launch::Native, Some(session)) => LaunchKind::Resume { session },
            (_, session) => LaunchKind::Fresh { session },
        };
        self.core.require_version(self.provider()?);
        let subdirectory = self.starting_below(launch);
        let directory = self.record.worktree.join_below(subdirectory.as_deref());
        let directories = match launch {
            Launch::Native => self.existing_directories(),
            Launch::Fresh | Launch::SameReference => Vec::new(),
        };
        let plan = self.provider()?.launch(&LaunchContext {
            host: &self.core.host,
            cwd: &directory,
            kind,
            directories: &directories,
            extra_args: &self.record.agent_args,
        })?;
        for (path, text) in &plan.files {
            provide(path, text)?;
        }
        if let LaunchKind::Resume { session } = kind {
            self.release_session(session)?;
        }
        let stage = self.stage()?;
        self.dir.forget_hook_report();
        self.dir.forget_limit();
        self.without_session = false;
        let gate = LaunchSocket::open(&self.core.home.run, &self.record.id)?;
        let branch = self.record.branch.as_ref();
        let session = server.open_session(&SessionOptions {
            instance: &self.record.id,
            columns: stage.columns,
            rows: stage.rows,
            title: &printable_line(self.record.title.as_str()),
            branch: &branch.map_or_else(String::new, |branch| printable_line(&branch.name)),
            argv: &gate.launcher(&self.core.host.biv),
        })?;
        let environment = environment::of_agent(&self.record.id, &directory, &plan.env);
        self.compare_environment(&environment);
        let seal = self.seal_orders(&plan, &directory, &environment)?;
        let orders = LaunchOrders {
            environment,
            directory,
            argv: plan.argv.clone(),
            replay: stage.replay,
            banner: stage.banner,
            seal,
        };
        let agent = Identity::of_pid(session.pane_pid);
        let waiting = gate.admit(session.pane_pid, &orders)?;
        let seal = waiting.seal.clone();
        self.waiting = Some(waiting);
        let (_, program) = self
            .provider()?
            .program(&self.record.agent_args, &self.core.host);
        let place = agent.map(|agent| AgentPlace {
            socket: server.socket().to_owned(),
            server: session.server,
            session: self.record.session_name().as_str().to_owned(),
            pane: session.pane,
            agent,
            program,
            subdirectory,
            guarded: plan.guarded,
            seal,
        });
        Ok(Facts::none()
            .with_option(fact::PLACE, &place)
            .with(fact::COMMAND, &plan.shown))
    }

    /// An agent that was killed has left its session marked as in use, and would ask about that.
    fn release_session(&self, session: &str) -> Result<(), Error> {
        for mark in self.provider()?.stale_marks(session) {
            if let Err(error) = std::fs::remove_file(&mark) {
                tracing::warn!(%error, mark = %mark.display(), "a stale mark stays");
            }
        }
        Ok(())
    }

    /// The directory below the worktree in which the agent is started. A conversation goes on where it was:
    /// some agents look it up by their directory.
    fn starting_below(&mut self, launch: Launch) -> Option<PathBuf> {
        let wanted = match launch {
            Launch::Fresh => self.record.subdirectory.as_deref(),
            Launch::SameReference | Launch::Native => self.record.below(),
        }?;
        let worktree = &self.record.worktree;
        let directory = worktree.join_below(Some(wanted));
        // It may have been replaced by a link that leads out of the worktree.
        let inside = match (directory.canonicalize(), worktree.path.canonicalize()) {
            (Ok(real), Ok(top)) => real.is_dir() && real.starts_with(top),
            _ => false,
        };
        if inside {
            return Some(wanted.to_owned());
        }
        self.progress.note(&format!(
            "`{}` is not in its worktree: the agent starts at the top",
            printable_line(&wanted.display().to_string())
        ));
        None
    }

    /// The seal of this instance, where it has one.
    fn seal_orders(
        &self,
        plan: &LaunchPlan,
        start: &Path,
        environment: &Environment,
    ) -> Result<Option<SealOrders>, Error> {
        let Some(seal) = &self.record.seal else {
            return Ok(None);
        };
        self.dir.forget_denied();
        let files: Vec<PathBuf> = plan.files.iter().map(|(path, _)| path.clone()).collect();
        let branch = self.record.branch.as_ref();
        let (plan, hosts) = self.core.seal_plan(Site {
            directory: &self.record.worktree.path,
            start,
            branch: branch.map(|branch| branch.name.as_str()),
            own: &self.dir.seal(),
            network: seal.network,
            provider: Some(self.provider()?),
            files: &files,
            argv: &plan.argv,
            environment,
        })?;
        Ok(Some(SealOrders {
            plan,
            hosts,
            home: self.core.home.clone(),
            instance: self.record.id.clone(),
            biv: self.core.host.biv.clone(),
        }))
    }

    /// Says which variables an agent had that this process cannot give it, and remembers the names.
    fn compare_environment(&mut self, environment: &[(Vec<u8>, Vec<u8>)]) {
        let mut names = environment::names(environment);
        let before = self.dir.environment_names();
        // A new run starts with what there is.
        let again = !matches!(self.operation, Operation::Create | Operation::Restart);
        if again {
            let missed = environment::missed(&before, &names);
            if !missed.is_empty() {
                self.progress.note(&format!(
                    "warning: the agent was started with {} before, and gets none of it now: set it and resume again if the agent needs it",
                    missed.join(", ")
                ));
            }
            // Still missed by the next resume.
            names.extend(missed);
        }
        if names != before {
            // Only for the hint above at the next resume.
            if let Err(error) = self.dir.save_environment_names(&names) {
                tracing::debug!(%error, "save the names of the environment");
            }
        }
    }

    pub(super) fn undo_open_session(&mut self) -> Result<(), Error> {
        // The launcher ends when its socket is gone, and the session with it.
        self.waiting = None;
        LaunchSocket::remove(&self.core.home.run, &self.record.id);
        seal::release(&self.dir, &self.record);
        Ok(self.core.server().close_session(&self.record.id)?)
    }

    pub(super) fn close_session(&mut self) -> Result<Facts, Error> {
        if !self.without_session {
            let server = self.core.server_of(&self.record);
            server.close_session(&self.record.id)?;
        }
        seal::release(&self.dir, &self.record);
        Ok(Facts::none())
    }

    pub(super) fn provider(&self) -> Result<&Provider, Error> {
        self.core.provider_of(&self.record)
    }
}

/// Many instances share such a file: it is written only if it is missing or differs.
fn provide(path: &Path, text: &str) -> Result<(), Error> {
    if std::fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    if let Some(directory) = path.parent() {
        ensure_private(directory)?;
    }
    Ok(replace_file(path, text.as_bytes())?)
}
