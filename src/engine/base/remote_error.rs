//! Why an export was not put on a remote, or not found there.

use crate::model::{ExportName, Title};

#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    #[error("`{given}` is no git remote of this repository, no host and no directory")]
    NoSuchRemote { given: String },
    #[error("`{given}` is a git remote of this repository and a host")]
    TwoMeanings { given: String },
    #[error("there is an export of `{title}` on `{remote}` already")]
    Taken { title: Title, remote: String },
    #[error("there is no export on `{remote}`")]
    Empty { remote: String },
    #[error("there is no export of `{given}` on `{remote}`")]
    NoSuchExport {
        given: String,
        remote: String,
        found: Vec<ExportName>,
    },
    #[error("there are several exports on `{remote}`")]
    Several {
        remote: String,
        found: Vec<ExportName>,
    },
    /// Exports on a remote are always encrypted.
    #[error("`{name}` on `{remote}` is not encrypted, so biv did not put it there")]
    NotEncrypted { name: ExportName, remote: String },
    #[error("not all of the export has arrived")]
    NotWhole,
}
