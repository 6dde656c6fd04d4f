//! Errors of tmux.

use crate::process::Failure;

#[derive(Debug, thiserror::Error)]
pub(crate) enum TmuxError {
    #[error("tmux is not installed, or not on PATH")]
    Missing,
    #[error(
        "tmux {found} is too old: at least {} is needed",
        super::TmuxVersion::OLDEST
    )]
    TooOld { found: String },
    #[error("the tmux server is not running")]
    NoServer,
    #[error("the pane {0} is gone")]
    NoPane(String),
    #[error("tmux gave an answer that was not understood: {0}")]
    Answer(String),
    #[error(transparent)]
    Failed(#[from] Failure),
    #[error("cannot write {}", path.display())]
    Write {
        path: std::path::PathBuf,
        #[source]
        source: std::io::Error,
    },
}
