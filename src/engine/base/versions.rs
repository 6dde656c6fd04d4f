//! Which version of each agent is installed: asked once for each program file, then remembered.
//!
//! Screen rules may hold for some versions only, and an agent can take seconds to say which it is.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agents::{Provider, version};
use crate::detect::AgentVersion;
use crate::engine::base::core::{Learned, Versions};
use crate::engine::base::{Core, Error};
use crate::model::InstanceRecord;
use crate::store::replace_file;

/// Most programs print their version at once. Gemini takes two seconds to start, and much longer on a busy
/// machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same where the start depends on the answer: without it Gemini starts without its guard, and autoyes leaves
/// everything to the user.
const LONG_PATIENCE: Duration = Duration::from_secs(90);

impl Core {
    /// The agent of this name, with the rules for the installed version.
    pub(in crate::engine) fn provider(&self, name: &str) -> Result<&Provider, Error> {
        let provider = self.catalog.require(name)?;
        // Asked several times for each instance of a list.
        if !provider.knows_its_version()
            && let Some(version) = self.known_version(provider)
        {
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

    /// The version, from memory where the program that would be started is still the same file.
    pub(in crate::engine) fn known_version(&self, provider: &Provider) -> Option<AgentVersion> {
        let learned = self.versions().get(provider.name())?;
        match provider.installed(&self.host) {
            Some(program) => current(learned, &program),
            // It is on the search path of others.
            None => current(learned, &learned.program),
        }
    }

    /// The version, asked of the program unless it is cached. Returns the version and the entry for the
    /// cache.
    pub(in crate::engine) fn learn_version(
        &self,
        provider: &Provider,
    ) -> Option<(AgentVersion, Option<Learned>)> {
        self.learn_version_within(provider, PATIENCE)
    }

    fn learn_version_within(
        &self,
        provider: &Provider,
        patience: Duration,
    ) -> Option<(AgentVersion, Option<Learned>)> {
        if let Some(version) = self.known_version(provider) {
            return Some((version, None));
        }
        let program = provider.installed(&self.host)?;
        let (version, learned) = self.ask(provider, program, patience)?;
        Some((version, Some(learned)))
    }

    /// Asks a program for its version.
    fn ask(
        &self,
        provider: &Provider,
        program: PathBuf,
        patience: Duration,
    ) -> Option<(AgentVersion, Learned)> {
        let version = version(provider, &program, &self.host, patience)?;
        let learned = Learned {
            stamp: stamp(&program)?,
            version: version.to_string(),
            program,
        };
        Some((version, learned))
    }

    /// Some hooks and guards need a certain version. If the installed version is not known, the program
    /// is asked now, once for each version.
    pub(in crate::engine) fn require_version(&self, provider: &Provider) {
        if !provider.needs_version() {
            return;
        }
        if let Some((version, learned)) = self.learn_version_within(provider, LONG_PATIENCE) {
            provider.assume_version(version);
            self.remember_versions(learned.map(|learned| (provider.name().to_owned(), learned)));
        }
    }

    /// Why the dialogs of an instance are left to the user, by the program that it was started with, as that is now:
    /// it may have been replaced since, others may find another one first, and a version that is not known may be
    /// any.
    pub(in crate::engine) fn unmeasured_now(
        &self,
        provider: &Provider,
        record: &InstanceRecord,
    ) -> Option<String> {
        if !provider.is_measured() {
            return None;
        }
        let started = record
            .place
            .as_ref()
            .and_then(|place| place.program.clone());
        let program = started.or_else(|| provider.installed(&self.host));
        let version = program.and_then(|program| {
            let read = read_versions(&self.versions_file());
            let known = read.get(provider.name());
            known
                .and_then(|learned| current(learned, &program))
                .or_else(|| {
                    let (version, learned) = self.ask(provider, program, PATIENCE)?;
                    self.remember_versions([(provider.name().to_owned(), learned)]);
                    Some(version)
                })
        });
        provider.unmeasured_as(version.as_ref())
    }

    /// Writes the cache of versions. If that fails, the programs are asked again.
    pub(in crate::engine) fn remember_versions(
        &self,
        learned: impl IntoIterator<Item = (String, Learned)>,
    ) {
        // Another process may have written it since.
        let before = read_versions(&self.versions_file());
        let mut versions = before.clone();
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
        self.versions
            .get_or_init(|| read_versions(&self.versions_file()))
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

fn read_versions(file: &Path) -> Versions {
    std::fs::read(file)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default()
}

/// The version of this program, where it is the one that was asked and still the same file.
fn current(learned: &Learned, program: &Path) -> Option<AgentVersion> {
    (learned.program == program && stamp(program)? == learned.stamp)
        .then(|| AgentVersion::find(&learned.version))
        .flatten()
}

/// Equal stamps mean the same program file: its modification time and size.
fn stamp(program: &Path) -> Option<(i64, u64)> {
    let metadata = std::fs::metadata(program).ok()?;
    Some((metadata.mtime(), metadata.len()))
}
