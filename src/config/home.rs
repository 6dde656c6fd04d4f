//! The directories of a home: all below one directory, or where XDG puts them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

/// The directories of one home. Two homes share nothing: not the state, not the tmux server.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Home {
    pub config: PathBuf,
    pub state: PathBuf,
    pub worktrees: PathBuf,
    /// Sockets. Not in `$XDG_RUNTIME_DIR`: that differs between a cron job and a login, and is emptied
    /// at log-out while agents still run.
    pub run: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HomeError {
    #[error("the path `{}` is not valid UTF-8", .0.display())]
    NotUtf8(PathBuf),
    #[error("there is no home directory: neither BIV_HOME nor HOME is set")]
    NoHome,
}

impl Home {
    pub(crate) fn from_environment(
        biv_home: Option<OsString>,
        current_dir: &Path,
    ) -> Result<Self, HomeError> {
        let home = match biv_home.filter(|value| !value.is_empty()) {
            // Everything below one directory. `join` keeps an absolute path as it is.
            Some(directory) => Self::below(&current_dir.join(directory)),
            None => {
                let xdg = etcetera::base_strategy::Xdg::new().map_err(|_| HomeError::NoHome)?;
                let state = xdg
                    .state_dir()
                    .unwrap_or_else(|| xdg.data_dir())
                    .join("bivouac");
                Self {
                    config: xdg.config_dir().join("bivouac"),
                    worktrees: xdg.data_dir().join("bivouac").join("worktrees"),
                    run: state.join("run"),
                    state,
                }
            }
        };
        for directory in [&home.config, &home.state, &home.worktrees] {
            // Paths go into JSON, tmux and messages, so paths that are not UTF-8 are refused here.
            if directory.to_str().is_none() {
                return Err(HomeError::NotUtf8(directory.clone()));
            }
        }
        Ok(home)
    }

    pub(crate) fn below(directory: &Path) -> Self {
        Self {
            config: directory.join("config"),
            state: directory.join("state"),
            worktrees: directory.join("worktrees"),
            run: directory.join("run"),
        }
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    pub(crate) fn agents_dir(&self) -> PathBuf {
        self.config.join("agents")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_home_is_taken_from_the_current_directory() {
        let home = Home::from_environment(Some("my home".into()), Path::new("/tmp/x")).unwrap();
        assert_eq!(home.state, Path::new("/tmp/x/my home/state"));
        assert_eq!(home.run, Path::new("/tmp/x/my home/run"));
    }
}
