//! The agents that are known, and what is installed of them.

use crate::agents::Provider;
use crate::detect::AgentVersion;
use crate::engine::base::core::Learned;
use crate::engine::base::view::AgentView;
use crate::engine::base::{Core, Error};

impl Core {
    /// Each program is asked for its version, which takes some of them seconds.
    pub(crate) fn agents(&self) -> Result<Vec<AgentView>, Error> {
        let providers: Vec<_> = self.catalog.iter().collect();
        let answers: Vec<Option<(AgentVersion, Option<Learned>)>> = std::thread::scope(|scope| {
            let asked: Vec<_> = providers
                .iter()
                .map(|provider| scope.spawn(|| self.learn_version(provider)))
                .collect();
            asked
                .into_iter()
                .map(|thread| thread.join().unwrap_or(None))
                .collect()
        });
        let mut versions = Vec::new();
        let mut learned = Vec::new();
        for (provider, answer) in providers.iter().zip(answers) {
            let (version, new) = answer.unzip();
            learned.extend(new.flatten().map(|new| (provider.name().to_owned(), new)));
            versions.push(version);
        }
        self.remember_versions(learned);
        self.views(providers.into_iter().zip(versions))
    }

    /// The same without asking a program: only versions that are remembered.
    pub(crate) fn agents_at_once(&self) -> Result<Vec<AgentView>, Error> {
        let providers = self.catalog.iter();
        self.views(providers.map(|provider| (provider, self.known_version(provider))))
    }

    fn views<'a>(
        &self,
        agents: impl Iterator<Item = (&'a Provider, Option<AgentVersion>)>,
    ) -> Result<Vec<AgentView>, Error> {
        let configured = Some(self.settings().new.agent.as_str()).filter(|name| !name.is_empty());
        let default = self
            .catalog
            .default_agent(configured, &self.host)?
            .map(|provider| provider.name().to_owned());
        Ok(agents
            .map(|(provider, version)| {
                let path = provider.installed(&self.host);
                let capabilities = provider.capabilities();
                AgentView {
                    name: provider.name().to_owned(),
                    display: provider.display().to_owned(),
                    about: provider.about().map(str::to_owned),
                    installed: path.is_some(),
                    path,
                    version: version.map(|version| version.to_string()),
                    native_resume: capabilities.native_resume,
                    hooks: capabilities.hooks,
                    transcript: capabilities.transcript,
                    limits: provider.limits().to_vec(),
                    default: default.as_deref() == Some(provider.name()),
                }
            })
            .collect())
    }
}
