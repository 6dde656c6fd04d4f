//! Runs a program in a sandbox of the kernel's: what it may read, write and connect to.
//!
//! `plan` says what is allowed, as data. `supervisor` runs outside, `inside` builds the seal around itself by
//! namespaces (`namespaces`, `mounts`, `loopback`) and Landlock (`landlock`) and starts the program; the two
//! talk over a socket (`messages`, `frame`). `proxy` runs in the supervisor.

mod git;
mod paths;
mod plan;
mod proxy;
mod sealed;
mod system;

#[cfg(target_os = "linux")]
mod environment;
#[cfg(target_os = "linux")]
mod frame;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod loopback;
#[cfg(target_os = "linux")]
mod messages;
#[cfg(target_os = "linux")]
mod mirror;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod supervisor;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{Mirror, build, layers_of_machine, run_inside};

#[cfg(target_os = "linux")]
pub(crate) use self::{
    inside::run_inside,
    mirror::Mirror,
    supervisor::{build, layers_of_machine},
};
pub(crate) use git::{
    KEEPER, OWN_BRANCH, SealedWorktree, TAKEN, own_directory, private_config, rules as git_rules,
};
pub(crate) use paths::{NamedPath, expand};
pub(crate) use plan::{Grant, REPORT_SOCKET, Replacement, SealPlan, Where};
pub(crate) use proxy::{AllowedHost, Denied, OnDenied};
pub(crate) use sealed::{Environment, Sealed, VARIABLE};
pub(crate) use system::grants as system_grants;

/// How the directories of trials begin, below the directory of sockets.
pub(crate) const TRIAL: &str = "seal-try-";

/// Why a program cannot be sealed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SealError {
    #[error("{0}")]
    Failed(String),
    #[error("the kernel does not allow namespaces ({0})")]
    NoNamespaces(String),
    #[error(
        "the network cannot be restricted: the kernel's Landlock has no rules for TCP (Linux 6.7), and {0}"
    )]
    NoNetwork(String),
    #[error("this system has no seal: it needs Linux with Landlock")]
    #[cfg_attr(target_os = "linux", expect(dead_code, reason = "for other systems"))]
    Unsupported,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
