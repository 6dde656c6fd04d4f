//! What every program may read: the system.

use super::plan::{Access, Grant, Where};

const READABLE: [&str; 19] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/wrappers",
    "/var/lib/ca-certificates",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

/// With namespaces there are a `/dev` and a `/proc` of their own.
const ONLY_WITHOUT_NAMESPACES: [(&str, Access); 10] = [
    ("/proc", Access::Read),
    ("/dev/null", Access::Write),
    ("/dev/zero", Access::Write),
    ("/dev/full", Access::Write),
    ("/dev/random", Access::Read),
    ("/dev/urandom", Access::Read),
    ("/dev/tty", Access::Write),
    ("/dev/ptmx", Access::Write),
    ("/dev/pts", Access::Write),
    ("/dev/fd", Access::Read),
];

pub(crate) fn grants() -> Vec<Grant> {
    let both = READABLE.iter().map(Grant::read);
    let alone = ONLY_WITHOUT_NAMESPACES.iter().map(|(path, access)| Grant {
        path: path.into(),
        access: *access,
        within: Where::LandlockAlone,
    });
    both.chain(alone).collect()
}
