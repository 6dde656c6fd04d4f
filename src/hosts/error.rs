//! What can go wrong with a host.

use std::path::PathBuf;

use super::name::{HostName, HostNameError};
use crate::process::Failure;
use crate::store::StoreError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum HostError {
    #[error(transparent)]
    Name(#[from] HostNameError),
    #[error("there is no host `{name}`")]
    NoSuchHost { name: HostName, known: Vec<String> },
    #[error("the host `{name}` has instances of this machine: {}", titles.join(", "))]
    HasInstances { name: HostName, titles: Vec<String> },
    #[error("there is a host `{name}` already")]
    NameTaken { name: HostName },
    #[error("`{given}` is an instance here, and could be `{instance}` on the host `{host}`")]
    TwoMeanings {
        given: String,
        host: HostName,
        instance: String,
    },
    #[error("{} cannot be read: {message}", file.display())]
    File { file: PathBuf, message: String },
    #[error("the host `{host}` has no command that gives a terminal")]
    NoTerminalCommand { host: HostName },
    #[error("the command line is too long for the host `{host}`: {bytes} bytes")]
    TooLong { host: HostName, bytes: usize },
    #[error("{}", trouble.sentence(host))]
    Trouble {
        host: HostName,
        trouble: Trouble,
        /// What the connection or the other side said.
        said: Vec<String>,
    },
    #[error("this program does not run on the host `{host}`: it is {there}, here is {here}")]
    Platform {
        host: HostName,
        there: String,
        here: String,
    },
    #[error("the program did not arrive whole on the host `{host}`")]
    NotWhole { host: HostName },
    #[error("{} is a shallow clone: it does not have all the commits that a host needs", path.display())]
    Shallow { path: PathBuf },
    #[error("the host `{host}` refused: {message}")]
    Refused {
        host: HostName,
        message: String,
        causes: Vec<String>,
    },
    #[error("what the host `{host}` has stored is not what was sent")]
    Differs { host: HostName },
    #[error("the host `{host}` has no {agent}, the agent of `{title}`")]
    NoAgent {
        host: HostName,
        agent: String,
        title: crate::model::Title,
    },
    #[error("`{title}` is not on the host `{host}` any more")]
    Elsewhere {
        host: HostName,
        title: crate::model::Title,
    },
    #[error("`{title}` has changed on the host `{host}` while it was fetched")]
    ChangedThere {
        host: HostName,
        title: crate::model::Title,
    },
    #[error("`{instance}` on the host `{host}` did not come from here")]
    NotFromHere { host: HostName, instance: String },
    #[error("the host `{host}` sent more than the {limit} bytes that may be fetched")]
    TooLarge { host: HostName, limit: u64 },
    #[error("more was sent than the {limit} bytes that this machine may receive")]
    SentTooMuch { limit: u64 },
    #[error("what a host sent cannot be kept")]
    NotKept(#[source] std::io::Error),
    #[error("a request of another machine was not understood")]
    Malformed,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Process(#[from] Failure),
}

impl HostError {
    /// What a command on the host named as its causes.
    pub(crate) fn causes(&self) -> &[String] {
        match self {
            Self::Refused { causes, .. } => causes,
            _ => &[],
        }
    }
}

/// How a request to a host ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// No connection, or the connecting program failed.
    Unreachable,
    /// Nothing was heard in time.
    Slow { seconds: u64 },
    /// It can be reached, and has no biv.
    NoProgram,
    /// The two versions do not understand each other.
    Version { there: Option<String> },
    /// It had begun to answer.
    Cut,
    /// It had begun, and was not heard of any more.
    Stalled { seconds: u64 },
    /// It answered what nobody understands.
    Nonsense,
    /// Its answer is longer than any answer is.
    TooMuch { limit: u64 },
}

impl Trouble {
    fn sentence(&self, host: &HostName) -> String {
        match self {
            Self::Unreachable => format!("the host `{host}` cannot be reached"),
            Self::Slow { seconds: 1 } => {
                format!("the host `{host}` did not answer within a second")
            }
            Self::Slow { seconds } => {
                format!("the host `{host}` did not answer within {seconds} seconds")
            }
            Self::NoProgram => format!("the host `{host}` has no biv"),
            Self::Version { there: Some(there) } => format!(
                "the host `{host}` has biv {there}, which this one ({}) does not understand",
                env!("CARGO_PKG_VERSION")
            ),
            Self::Version { there: None } => format!(
                "the host `{host}` has a biv that does not know hosts; here is {}",
                env!("CARGO_PKG_VERSION")
            ),
            Self::Cut => format!(
                "the connection to the host `{host}` was lost; it is not known whether the command was carried out"
            ),
            Self::Stalled { seconds } => format!(
                "the host `{host}` stopped in the middle: nothing came from it for {seconds} seconds"
            ),
            Self::Nonsense => format!("the host `{host}` gave an answer that is not understood"),
            Self::TooMuch { limit } => format!(
                "the host `{host}` gave an answer of more than {} MiB, which was not read",
                limit >> 20
            ),
        }
    }
}
