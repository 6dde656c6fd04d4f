//! The guard of an agent: a policy file that makes the agent itself refuse requests that its screen would
//! not show correctly.

use std::path::{Path, PathBuf};

use super::launch::Host;
use super::provider::Provider;

impl Provider {
    fn has_a_guard(&self) -> bool {
        !self.file.guard.args.is_empty()
    }

    /// Whether this version supports the guard.
    pub(super) fn supports_guard(&self) -> bool {
        let range = self.file.guard.version.as_ref();
        self.has_a_guard() && range.is_none_or(|range| self.is_within(range))
    }

    pub(super) fn guard_needs_version(&self) -> bool {
        self.has_a_guard() && self.file.guard.version.is_some()
    }

    pub(super) fn guard_file(&self, host: &Host) -> PathBuf {
        host.state
            .join("guards")
            .join(format!("{}.toml", self.name()))
    }

    /// Why the screens of an agent that needs a guard cannot be trusted. `handed` says whether it was
    /// started with it, which the version that is installed now does not tell.
    pub(crate) fn missing_guard(&self, handed: bool) -> Option<String> {
        if !self.has_a_guard() {
            return None;
        }
        if !handed {
            let name = self.display();
            return Some(format!("this {name} was started without its guard"));
        }
        let mut stronger = self.file.guard.overruled_by.iter();
        let stronger = stronger.find(|path| has_any(path))?;
        Some(format!(
            "with rules in {} it may show less than it runs",
            stronger.display()
        ))
    }
}

fn has_any(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::super::launch::{LaunchContext, LaunchKind};
    use super::super::{Catalog, LaunchPlan};
    use super::*;
    use crate::detect::AgentVersion;

    fn plan(version: &str, state: &str) -> LaunchPlan {
        let catalog = Catalog::built_in();
        let gemini = catalog.require("gemini").unwrap();
        gemini.assume_version(AgentVersion::find(version).unwrap());
        let host = Host {
            biv: "/bin/biv".into(),
            state: state.into(),
            shell: "/bin/sh".into(),
            path: None,
        };
        let context = LaunchContext {
            host: &host,
            cwd: Path::new("/w"),
            kind: LaunchKind::Fresh { session: None },
            directories: &[],
            extra_args: &[],
        };
        gemini.launch(&context).unwrap()
    }

    #[test]
    fn a_guard_goes_along_with_versions_that_know_it() {
        let guarded = plan("0.61.0", "/state dir");
        assert!(guarded.guarded);
        let path = "/state dir/guards/gemini.toml";
        let own = ["gemini", "--admin-policy", path].map(str::to_owned);
        assert!(guarded.argv.ends_with(&own), "{:?}", guarded.argv);
        assert_eq!(guarded.shown, ["gemini"]);
        let (file, text) = &guarded.files[0];
        assert_eq!(file, Path::new(path));
        let rules: toml::Table = text.parse().unwrap();
        assert_eq!(rules["rule"][0]["decision"].as_str(), Some("deny"));
        for bare in [plan("0.60.1", "/state"), plan("0.61.0", "/state,dir")] {
            assert!(!bare.guarded);
            assert_eq!(bare.argv.last().map(String::as_str), Some("gemini"));
            assert!(bare.files.is_empty());
        }
    }

    #[test]
    fn one_without_its_guard_is_not_believed() {
        let catalog = Catalog::built_in();
        let gemini = catalog.require("gemini").unwrap();
        assert_eq!(gemini.missing_guard(true), None);
        assert!(gemini.missing_guard(false).is_some());
        assert_eq!(catalog.require("codex").unwrap().missing_guard(false), None);
    }
}
