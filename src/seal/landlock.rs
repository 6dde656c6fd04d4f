//! Restricts this thread, and every process that it starts, by Landlock.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use super::plan::{Access, Grant};
use crate::model::SealLayer;

/// The newest version whose rights are asked for; older kernels get what they know.
const NEWEST: ABI = ABI::V9;
/// Before this version a file that cannot be written can be truncated.
const OLDEST: ABI = ABI::V3;

/// Which TCP ports can be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ports {
    /// A network namespace restricts connections, or nothing does.
    Any,
    Only(Vec<u16>),
}

/// The layers that this kernel's Landlock has.
pub(super) fn layers() -> Vec<SealLayer> {
    let hard = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let mut layers = Vec::new();
    if hard().handle_access(AccessFs::from_all(OLDEST)).is_ok() {
        layers.push(SealLayer::Files);
    }
    if hard().handle_access(AccessNet::ConnectTcp).is_ok() {
        layers.push(SealLayer::Tcp);
    }
    if hard().scope(Scope::from_all(ABI::V6)).is_ok() {
        layers.push(SealLayer::Scope);
    }
    layers
}

/// Restricts this thread for ever. Returns the layers that are in force.
///
/// `open` are descriptors that are passed on: a program may open its own terminal again by
/// `/dev/stderr`.
pub(super) fn restrict<'a>(
    grants: impl Iterator<Item = &'a Grant>,
    open: &[BorrowedFd<'_>],
    ports: &Ports,
) -> Result<Vec<SealLayer>, RulesetError> {
    let present = layers();
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(NEWEST))?;
    if let Ports::Only(_) = ports {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp)?;
    }
    let mut ruleset = ruleset.scope(Scope::from_all(ABI::V6))?.create()?;
    for grant in grants {
        ruleset = allow(ruleset, &grant.path, rights(grant.access))?;
    }
    for descriptor in open {
        let rule = PathBeneath::new(
            descriptor,
            rights(Access::Write) & AccessFs::from_file(NEWEST),
        );
        // A pipe or a socket has no path, and needs no rule.
        if let Ok(more) = ruleset.try_clone() {
            ruleset = more.add_rule(rule).unwrap_or(ruleset);
        }
    }
    if let Ports::Only(ports) = ports {
        for port in ports {
            ruleset = ruleset.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
        }
    }
    ruleset.restrict_self()?;
    Ok(present
        .into_iter()
        .filter(|layer| *layer != SealLayer::Tcp || *ports != Ports::Any)
        .collect())
}

fn rights(access: Access) -> BitFlags<AccessFs> {
    match access {
        Access::List => AccessFs::ReadDir.into(),
        Access::Read => AccessFs::from_read(NEWEST),
        Access::Write => AccessFs::from_all(NEWEST),
    }
}

/// What does not exist is left out.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else {
        return Ok(ruleset);
    };
    let is_directory = rustix::fs::fstat(opened.as_fd()).is_ok_and(|stat| {
        rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory
    });
    let rights = if is_directory {
        rights
    } else {
        rights & AccessFs::from_file(NEWEST)
    };
    ruleset.add_rule(PathBeneath::new(opened, rights))
}
