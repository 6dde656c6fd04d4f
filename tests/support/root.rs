//! What only root may do, for the tests that need a file system of their own.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// How a test becomes root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// It is.
    Already,
    /// By a sudo that has no question.
    Sudo,
    Never,
}

impl Root {
    pub(crate) fn way() -> Self {
        static WAY: OnceLock<Root> = OnceLock::new();
        *WAY.get_or_init(|| {
            if rustix::process::geteuid().is_root() {
                return Self::Already;
            }
            let sudo = Command::new("sudo")
                .args(["-n", "true"])
                .stderr(Stdio::null())
                .status();
            match sudo {
                Ok(status) if status.success() => Self::Sudo,
                _ => Self::Never,
            }
        })
    }

    /// A program with the rights of root; sudo keeps next to nothing of the environment.
    pub(crate) fn command(program: &str) -> Command {
        match Self::way() {
            Self::Already | Self::Never => Command::new(program),
            Self::Sudo => {
                let mut command = Command::new("sudo");
                command.args(["-n", "--", program]);
                command
            }
        }
    }
}

/// Whether the tests that mount file systems were left out by the caller, and says so.
pub(crate) fn mounts_left_out() -> bool {
    let left_out = std::env::var_os("BIV_TEST_NO_MOUNTS").is_some();
    if left_out {
        eprintln!("left out: it mounts a file system of its own, which wants root or sudo");
    }
    left_out
}

/// Whether the tests that make network namespaces are left out, and says so: by the caller, or because that
/// cannot be done here.
pub(crate) fn namespaces_left_out() -> bool {
    if std::env::var_os("BIV_TEST_NO_NAMESPACES").is_some() {
        eprintln!("left out: it makes network namespaces, which wants root");
        return true;
    }
    let name = format!("biv-try-{}", std::process::id());
    let ip = |arguments: &[&str]| {
        let done = Command::new("ip")
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        done.is_ok_and(|status| status.success())
    };
    let possible = ip(&["netns", "add", &name])
        && ip(&[
            "-n", &name, "link", "add", "one", "type", "veth", "peer", "name", "two",
        ]);
    ip(&["netns", "del", &name]);
    if !possible {
        eprintln!("left out: network namespaces cannot be made here");
    }
    !possible
}
