//! Moves this process into namespaces of its own, where a user without privileges may do that.

use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
};

use crate::model::SealNetwork;

/// Creates a user namespace and, owned by it, all others. The pid namespace begins with the next child.
///
/// The capabilities are those of the new user namespace. They are passed on through the next `exec`,
/// because the child has to mount; [`drop_capabilities`] ends them before the agent starts.
pub(super) fn enter(network: SealNetwork) -> std::io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut flags =
        UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
    if network != SealNetwork::All {
        flags |= UnshareFlags::NEWNET;
    }
    unshare(flags)?;
    // Without this a group that denies access could be dropped; the kernel asks for it.
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    let sets = capabilities(None)?;
    set_capabilities(
        None,
        CapabilitySets {
            inheritable: sets.permitted,
            ..sets
        },
    )?;
    for capability in sets.permitted.iter() {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// The safe name is deprecated because of a flag for file descriptors, which is not used here.
#[expect(
    deprecated,
    reason = "the other name is unsafe, which this crate forbids"
)]
fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    rustix::thread::unshare(flags)
}

/// Gives up every capability, for this process and all that it starts.
pub(super) fn drop_capabilities() -> std::io::Result<()> {
    clear_ambient_capability_set()?;
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // An older kernel does not know it; a user without privileges has none to lose.
            Ok(()) | Err(Errno::INVAL | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    set_capabilities(
        None,
        CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        },
    )?;
    Ok(())
}

/// The next process that is started gets this pid, where it is free. An agent that names files after its
/// pid then has one that no other agent has, sealed or not.
pub(super) fn choose_next_pid(pid: i32) {
    // Without it the agent is process 2, which works as well for one agent at a time.
    if let Err(error) = std::fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()) {
        tracing::debug!(%error, "the pid inside a seal could not be chosen");
    }
}
