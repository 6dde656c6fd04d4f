//! What a repository asks for in its `.bivouac.toml`: how a fresh worktree is set up, and how work is
//! landed.
//!
//! A cloned repository brings a file that the user has not written. So it can set little, and the
//! commands in it, `setup.run` and `land.check`, need the user's consent to their exact text.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::checkout_file::{Owner, Unreadable, read_in_checkout};

pub(crate) const FILE_NAME: &str = ".bivouac.toml";

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RepositoryConfig {
    #[serde(default)]
    pub setup: Setup,
    #[serde(default)]
    pub land: Land,
    #[serde(default)]
    pub seal: AskedSeal,
}

/// How finished work is landed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Land {
    /// The branch that work is landed on.
    #[serde(default)]
    pub into: Option<String>,
    /// A shell command that the result must pass.
    #[serde(default)]
    pub check: Option<String>,
}

/// A repository may ask for a seal. It cannot switch one off, nor say what is allowed in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskedSeal {
    #[serde(default)]
    pub default: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setup {
    /// Files or directories to copy from the main checkout, where they exist there.
    #[serde(default)]
    pub copy: Vec<PathBuf>,
    /// The same, as symbolic links: for shared caches.
    #[serde(default)]
    pub link: Vec<PathBuf>,
    /// A shell command to run once in each fresh worktree.
    #[serde(default)]
    pub run: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum RepositoryConfigError {
    #[error("{} cannot be read", file.display())]
    Unreadable {
        file: PathBuf,
        #[source]
        source: Unreadable,
    },
    #[error("{} is wrong: {message}", file.display())]
    Wrong { file: PathBuf, message: String },
    #[error("{} names `{}`, which leads out of the repository", file.display(), path.display())]
    Outside { file: PathBuf, path: PathBuf },
}

impl RepositoryConfig {
    /// Reads the file in this checkout. Without a file, nothing is asked for.
    pub(crate) fn load(checkout: &Path) -> Result<Self, RepositoryConfigError> {
        let file = checkout.join(FILE_NAME);
        let text = match read_in_checkout(checkout, Path::new(FILE_NAME), Owner::Anyone) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Self::default()),
            Err(source) => return Err(RepositoryConfigError::Unreadable { file, source }),
        };
        let config: Self = toml::from_str(&text).map_err(|error| RepositoryConfigError::Wrong {
            message: error.to_string().trim().replace('\n', " "),
            file: file.clone(),
        })?;
        let outside = config
            .setup
            .copy
            .iter()
            .chain(&config.setup.link)
            .find(|path| !stays_inside(path));
        match outside {
            Some(path) => Err(RepositoryConfigError::Outside {
                path: path.clone(),
                file,
            }),
            None => Ok(config),
        }
    }
}

fn stays_inside(path: &Path) -> bool {
    let mut parts = path.components();
    parts.all(|part| matches!(part, Component::Normal(name) if name != ".git"))
        && path.components().next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<RepositoryConfig, RepositoryConfigError> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), text).unwrap();
        RepositoryConfig::load(dir.path())
    }

    #[test]
    fn a_path_that_leads_out_is_refused() {
        for path in ["/etc/passwd", "../x", "a/../../x", ".git/hooks", ""] {
            let text = format!("[setup]\ncopy = [{path:?}]\n");
            assert!(
                matches!(load(&text), Err(RepositoryConfigError::Outside { .. })),
                "{path}"
            );
        }
        let config = load("[setup]\ncopy = [\".env\", \"a/b\"]\nrun = \"make\"\n").unwrap();
        assert_eq!(config.setup.copy.len(), 2);
        assert_eq!(config.setup.run.as_deref(), Some("make"));
        assert!(load("[setup]\nfoo = 1\n").is_err());
    }

    #[test]
    fn a_seal_can_be_asked_for_and_not_loosened() {
        assert!(load("[seal]\ndefault = true\n").unwrap().seal.default);
        assert!(!load("").unwrap().seal.default);
        for looser in ["network = \"all\"", "hosts = [\"x\"]", "write = [\"/\"]"] {
            assert!(load(&format!("[seal]\n{looser}\n")).is_err(), "{looser}");
        }
    }
}
