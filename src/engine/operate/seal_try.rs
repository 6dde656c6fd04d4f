//! `biv seal try`: runs a command in the seal of a directory.

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use serde::Serialize;

use crate::engine::base::error::LaunchError;
use crate::engine::base::{Core, Error, Scope};
use crate::engine::operate::environment;
use crate::engine::operate::seal::{Site, release_branch};
use crate::git::{self, WorktreeKind};
use crate::model::{Branch, InstanceId, RestingState, SealLayer, SealNetwork, missing_layers};
use crate::seal::{self, Denied, OWN_BRANCH, Sealed};
use crate::store::ensure_private;

/// What was asked to be tried.
#[derive(Debug)]
pub(crate) struct SealTrial<'a> {
    pub directory: &'a Path,
    pub command: &'a [String],
    /// The agent whose files and hosts are granted too.
    pub agent: Option<&'a str>,
}

/// How it went.
#[derive(Debug, Serialize)]
pub(crate) struct SealTried {
    pub network: SealNetwork,
    pub layers: Vec<SealLayer>,
    pub missing: Vec<SealLayer>,
    /// Connections that were refused, as `host:port`.
    pub denied: Vec<String>,
    /// Why the branch cannot be written.
    pub branch: Option<String>,
    #[serde(skip)]
    pub status: ExitCode,
}

impl Core {
    /// Runs the command on this process's own terminal until it ends.
    pub(crate) fn try_seal(&self, asked: &SealTrial<'_>) -> Result<SealTried, Error> {
        self.prepare()?;
        let found = git::worktree_of(asked.directory).ok();
        let linked = found
            .as_ref()
            .filter(|found| found.kind != WorktreeKind::Main);
        let directory = match &found {
            Some(found) => found.path.clone(),
            None => asked.directory.to_owned(),
        };
        let instance = self.all(Scope::Living)?.0.into_iter();
        let instance = instance
            .map(|found| found.record)
            .find(|record| record.worktree.path == directory);
        let network = instance
            .as_ref()
            .and_then(|record| record.seal.as_ref())
            .map_or(self.settings().seal.network, |seal| seal.network);
        let agent = asked
            .agent
            .or(instance.as_ref().map(|record| record.agent.as_str()));
        let provider = match agent {
            Some(agent) => Some(self.catalog.require(agent)?),
            None => None,
        };
        let branch = linked
            .and_then(|found| found.branch.clone())
            .map(|name| Branch {
                name,
                made_by_us: false,
            });
        let unwritable = linked.and_then(|found| {
            let checked = self.require_own_branch(&found.repo, branch.as_ref());
            checked.err().map(|error| error.to_string())
        });
        let own = branch.filter(|_| unwritable.is_none());
        let id = InstanceId::random();
        let variables = environment::of_agent(&id, asked.directory, &[]);
        let place = self.home.run.join(format!("{}{id}", seal::TRIAL));
        ensure_private(&place)?;
        let tried = self.seal_plan(Site {
            directory: &directory,
            start: &directory,
            branch: own.as_ref().map(|branch| branch.name.as_str()),
            own: &place,
            network,
            provider,
            files: &[],
            argv: asked.command,
            environment: &variables,
        });
        let denied: Arc<Mutex<Vec<String>>> = Arc::default();
        let outcome = tried.and_then(|(plan, hosts)| {
            let told = Arc::clone(&denied);
            let built = seal::build(&Sealed {
                plan,
                argv: asked.command.to_vec(),
                environment: variables,
                directory: asked.directory.to_owned(),
                hosts,
                biv: self.host.biv.clone(),
                on_denied: Arc::new(move |denied: &Denied| {
                    let name = format!("{}:{}", denied.host, denied.port);
                    if let Ok(mut told) = told.lock()
                        && !told.contains(&name)
                    {
                        told.push(name);
                    }
                }),
            });
            let failed =
                |error: seal::SealError| Error::from(LaunchError::NoSeal(error.to_string()));
            let built = built.map_err(failed)?;
            let layers = built.layers.clone();
            Ok((built.start().map_err(failed)?.wait(), layers))
        });
        let runs = instance.is_some_and(|record| record.state == RestingState::Running);
        if let (Some(found), Some(branch), false) = (linked, &own, runs) {
            release_branch(found.repo.common_dir(), &branch.name);
        }
        // A directory that stays is private and small.
        drop(std::fs::remove_dir_all(&place));
        let (status, layers) = outcome?;
        let denied = denied.lock().map(|told| told.clone()).unwrap_or_default();
        Ok(SealTried {
            network,
            missing: missing_layers(&layers, network),
            layers,
            denied,
            branch: unwritable.map(|why| {
                format!("{why}; `biv new --seal` makes one that ends with `/{OWN_BRANCH}`")
            }),
            status,
        })
    }
}
