//! Which version of each agent is installed: asked once for each program file, then remembered.
//!
//! Screen rules may hold for some versions only, and an agent can take seconds to say which it is.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::agents::{Provider, version};
use crate::detect::AgentVersion;
use crate::engine::base::core::{Learned, Versions};
use crate::engine::base::{Core, Error};
use crate::model::InstanceRecord;
use crate::store::replace_file;

impl Core {
    /// The agent of this name, with the rules for the installed version.
    pub(in crate::engine) fn provider(&self, name: &str) -> Result<&Provider, Error> {
        let provider = self.catalog.require(name)?;
        if let Some(version) = self.known_version(provider) {
            provider.assume_version(version);
        }
        Ok(provider)
    }

    pub(in crate::engine) fn provider_of(
        &self,
        record: &InstanceRecord,
    ) -> Result<&Provider, Error> {
        self.provider(&record.agent)
    }

    /// The version, from memory where the program is still the same file.
    fn known_version(&self, provider: &Provider) -> Option<AgentVersion> {
        let learned = self.versions().get(provider.name())?;
        let current = stamp(&learned.program).is_some_and(|stamp| stamp == learned.stamp);
        current
            .then(|| AgentVersion::find(&learned.version))
            .flatten()
    }

    /// The version, asked of the program unless it is cached. Returns the version and the entry for the
    /// cache.
    pub(in crate::engine) fn learn_version(
        &self,
        provider: &Provider,
    ) -> Option<(AgentVersion, Option<Learned>)> {
        if let Some(version) = self.known_version(provider) {
            return Some((version, None));
        }
        let program = provider.installed(&self.host)?;
        let version = version(provider, &self.host)?;
        let learned = Learned {
            stamp: stamp(&program)?,
            version: version.to_string(),
            program,
        };
        Some((version, Some(learned)))
    }

    /// Some hooks and guards need a certain version. If the installed version is not known, the program
    /// is asked now, once for each version.
    pub(in crate::engine) fn require_version(&self, provider: &Provider) {
        if !provider.needs_version() {
            return;
        }
        if let Some((version, learned)) = self.learn_version(provider) {
            provider.assume_version(version);
            self.remember_versions(learned.map(|learned| (provider.name().to_owned(), learned)));
        }
    }

    /// Writes the cache of versions. If that fails, the programs are asked again.
    pub(in crate::engine) fn remember_versions(
        &self,
        learned: impl IntoIterator<Item = (String, Learned)>,
    ) {
        let mut versions = self.versions().clone();
        let before = versions.clone();
        versions.extend(learned);
        if versions != before
            && let Ok(text) = serde_json::to_vec_pretty(&versions)
        {
            let path = self.versions_file();
            if let Err(error) = replace_file(&path, &text) {
                tracing::debug!(%error, path = %path.display(), "write the cache of versions");
            }
        }
    }

    fn versions(&self) -> &Versions {
        self.versions.get_or_init(|| {
            std::fs::read(self.versions_file())
                .ok()
                .and_then(|text| serde_json::from_slice(&text).ok())
                .unwrap_or_default()
        })
    }

    /// The programs of which a version is known.
    pub(in crate::engine) fn versioned_programs(&self) -> impl Iterator<Item = PathBuf> {
        self.versions()
            .values()
            .map(|learned| learned.program.clone())
    }

    pub(in crate::engine) fn versions_file(&self) -> PathBuf {
        self.store.root().join("versions.json")
    }
}

/// Equal stamps mean the same program file: its modification time and size.
fn stamp(program: &Path) -> Option<(i64, u64)> {
    let metadata = std::fs::metadata(program).ok()?;
    Some((metadata.mtime(), metadata.len()))
}
