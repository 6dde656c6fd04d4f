//! Which version of each agent is installed: asked once for each program file, then remembered.
//!
//! Screen rules may hold for some versions only, and an agent can take seconds to say which it is.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Engine, Error};
use crate::agents::{Provider, version};
use crate::detect::AgentVersion;
use crate::store::replace_file;

/// What was learned, by agent.
pub(super) type Versions = BTreeMap<String, Learned>;

/// A version, and the program file that it was asked of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Learned {
    program: PathBuf,
    stamp: (i64, u64),
    version: String,
}

impl Engine {
    /// The agent of this name, judged by the rules for the version that is installed.
    pub(super) fn provider(&self, name: &str) -> Result<&Provider, Error> {
        let provider = self.catalog.require(name)?;
        if let Some(version) = self.known_version(provider) {
            provider.assume_version(version);
        }
        Ok(provider)
    }

    /// The version, from memory where the program is still the same file.
    fn known_version(&self, provider: &Provider) -> Option<AgentVersion> {
        let learned = self.versions().get(provider.name())?;
        let current = stamp(&learned.program).is_some_and(|stamp| stamp == learned.stamp);
        current
            .then(|| AgentVersion::find(&learned.version))
            .flatten()
    }

    /// The version, asked of the program unless it is remembered. Gives the version and what to
    /// remember.
    pub(super) fn learn_version(
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

    /// Some hooks and guards go along only with versions that understand them; where it is not known
    /// which one is installed, it is asked now, once for each version.
    pub(super) fn require_version(&self, provider: &Provider) {
        if !provider.needs_version() {
            return;
        }
        if let Some((version, learned)) = self.learn_version(provider) {
            provider.assume_version(version);
            self.remember_versions(learned.map(|learned| (provider.name().to_owned(), learned)));
        }
    }

    /// Writes down what was learned. Only a cache: a home that cannot be written asks again.
    pub(super) fn remember_versions(&self, learned: impl IntoIterator<Item = (String, Learned)>) {
        let mut versions = self.versions().clone();
        let before = versions.clone();
        versions.extend(learned);
        if versions != before
            && let Ok(text) = serde_json::to_vec_pretty(&versions)
        {
            drop(replace_file(&self.versions_file(), &text));
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
    pub(super) fn versioned_programs(&self) -> impl Iterator<Item = PathBuf> {
        self.versions()
            .values()
            .map(|learned| learned.program.clone())
    }

    pub(super) fn versions_file(&self) -> PathBuf {
        self.store.root().join("versions.json")
    }
}

/// By what a program file is known to be the same: when it was changed, and its size.
fn stamp(program: &Path) -> Option<(i64, u64)> {
    let metadata = std::fs::metadata(program).ok()?;
    Some((metadata.mtime(), metadata.len()))
}
