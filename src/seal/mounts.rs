//! Builds a root directory in which only what is granted exists, and moves into it.
//!
//! What may only be read is mounted read-only, although Landlock has a rule for it too: a rule on the private
//! home or on `/tmp` holds for everything below it, and so for what is mounted there.

use std::collections::VecDeque;
use std::ffi::{CStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive,
    mount_change, mount_remount, unmount,
};

use super::plan::{Access, SealPlan};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
];

/// One mount of the new root.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mount {
    /// This directory is found at that path.
    Replace { source: PathBuf, target: PathBuf },
    /// The same path as outside.
    Bind(PathBuf, Access),
    /// Nothing is in this directory.
    Mask(PathBuf),
    /// This file or directory cannot be changed, renamed or removed.
    Shield(PathBuf),
}

impl Mount {
    fn target(&self) -> &Path {
        match self {
            Self::Replace { target, .. } => target,
            Self::Bind(path, _) | Self::Mask(path) | Self::Shield(path) => path,
        }
    }
}

/// Builds the root of the plan and makes it the root of this process.
pub(super) fn move_into(plan: &SealPlan) -> Result<(), String> {
    let root = &plan.root;
    let failed = |what: &str, path: &Path| {
        let place = path.display().to_string();
        let what = what.to_owned();
        move |error: io::Error| format!("{what} {place}: {error}")
    };
    // Nothing that is mounted here is seen outside, nor the other way round.
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )
    .map_err(|error| failed("make private", Path::new("/"))(error.into()))?;
    new_tmpfs(root, c"mode=755").map_err(failed("mount", root))?;
    let outside = mount_points();
    for step in in_order(plan) {
        perform(root, &step, &outside).map_err(failed("mount", step.target()))?;
    }
    let (dev, proc) = (root.join("dev"), root.join("proc"));
    devices(&dev).map_err(failed("mount", &dev))?;
    directory(&proc)
        .and_then(|()| Ok(mount("proc", &proc, "proc", quiet(), None)?))
        .map_err(failed("mount", &proc))?;
    std::env::set_current_dir(root).map_err(failed("enter", root))?;
    rustix::process::pivot_root(".", ".")
        .map_err(|error| failed("move the root to", root)(error.into()))?;
    unmount(".", UnmountFlags::DETACH)
        .map_err(|error| failed("leave the root of", root)(error.into()))?;
    std::env::set_current_dir("/").map_err(failed("enter", Path::new("/")))
}

/// Whether this process may mount what a seal needs. Some containers hide parts of `/proc`, and the kernel
/// then gives no other one.
pub(super) fn can_mount() -> io::Result<()> {
    let at = Path::new("/tmp");
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;
    new_tmpfs(at, c"mode=755")?;
    let proc = at.join("proc");
    directory(&proc)?;
    mount("proc", &proc, "proc", quiet(), None)?;
    devices(&at.join("dev"))
}

/// Directories before what is mounted inside them.
fn in_order(plan: &SealPlan) -> Vec<Mount> {
    let replacements = plan.replacements.iter().map(|replaced| Mount::Replace {
        source: replaced.source.clone(),
        target: replaced.target.clone(),
    });
    let binds = plan
        .grants_for(true)
        .map(|grant| Mount::Bind(grant.path.clone(), grant.access));
    let mut all: Vec<Mount> = replacements
        .chain(binds)
        .chain(plan.masks.iter().cloned().map(Mount::Mask))
        .chain(plan.shields.iter().cloned().map(Mount::Shield))
        .collect();
    all.sort_by_key(|step| step.target().components().count());
    all
}

fn perform(root: &Path, step: &Mount, outside: &[PathBuf]) -> io::Result<()> {
    match step {
        Mount::Replace { source, target } => {
            let at = place(root, target, true)?;
            Ok(mount_bind_recursive(source, &at)?)
        }
        Mount::Bind(path, access) => {
            let Ok(found) = std::fs::metadata(path) else {
                return Ok(());
            };
            let at = place(root, path, found.is_dir())?;
            let source = path.canonicalize()?;
            mount_bind_recursive(&source, &at)?;
            if *access == Access::Read {
                make_read_only(&at)?;
                for point in outside {
                    if let Ok(deeper) = point.strip_prefix(&source)
                        && deeper != Path::new("")
                    {
                        make_read_only(&at.join(deeper))?;
                    }
                }
            }
            Ok(())
        }
        Mount::Mask(path) => {
            let at = below(root, path);
            if at.is_dir() {
                new_tmpfs(&at, c"mode=700")?;
            }
            Ok(())
        }
        Mount::Shield(path) => {
            let at = below(root, path);
            if at.exists() {
                mount_bind(&at, &at)?;
                make_read_only(&at)?;
            }
            Ok(())
        }
    }
}

/// Where something is mounted outside.
fn mount_points() -> Vec<PathBuf> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = table.lines().filter_map(|line| line.split(' ').nth(4));
    points
        .map(|point| PathBuf::from(unescaped(point)))
        .collect()
}

/// The kernel writes spaces and line breaks of a path as `\040`.
fn unescaped(text: &str) -> OsString {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after
            .get(..3)
            .and_then(|code| std::str::from_utf8(code).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 8).ok());
        match code.filter(|_| *first == b'\\') {
            Some(code) => {
                bytes.push(code);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes)
}

/// A user namespace may not take off the flags that a mount has outside.
fn make_read_only(path: &Path) -> io::Result<()> {
    let has = statvfs(path)?.f_flag;
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    for (outside, inside) in [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ] {
        if has.contains(outside) {
            flags |= inside;
        }
    }
    Ok(mount_remount(path, flags, c"")?)
}

/// The devices that every program may need, and terminals of its own.
fn devices(dev: &Path) -> io::Result<()> {
    directory(dev)?;
    new_tmpfs(dev, c"mode=755")?;
    for name in DEVICES {
        let at = dev.join(name);
        std::fs::File::create(&at)?;
        mount_bind(Path::new("/dev").join(name), &at)?;
    }
    let (terminals, shared) = (dev.join("pts"), dev.join("shm"));
    directory(&terminals)?;
    mount(
        "devpts",
        &terminals,
        "devpts",
        MountFlags::NOSUID | MountFlags::NOEXEC,
        Some(c"newinstance,ptmxmode=0666,mode=620"),
    )?;
    directory(&shared)?;
    new_tmpfs(&shared, c"mode=1777")?;
    for (target, name) in DEVICE_LINKS {
        symlink(target, dev.join(name))?;
    }
    Ok(())
}

fn new_tmpfs(at: &Path, options: &CStr) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount("tmpfs", at, "tmpfs", flags, Some(options))?)
}

fn quiet() -> MountFlags {
    MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC
}

fn directory(path: &Path) -> io::Result<()> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The mount point of an outside path in the new root. Symbolic links on the way are copied, so that the
/// path leads to the same place inside.
fn place(root: &Path, path: &Path, is_directory: bool) -> io::Result<PathBuf> {
    let mut rest: VecDeque<OsString> = names(path);
    let mut outside = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            outside.pop();
            continue;
        }
        outside.push(&name);
        let at = below(root, &outside);
        if let Ok(target) = std::fs::read_link(&outside) {
            links += 1;
            if links > MOST_LINKS {
                return Err(io::Error::other("too many symbolic links"));
            }
            copy_link(&at, &target)?;
            outside.pop();
            if target.is_absolute() {
                outside = PathBuf::from("/");
            }
            for name in names(&target).into_iter().rev() {
                rest.push_front(name);
            }
            continue;
        }
        let last = rest.is_empty();
        // A link that a program has left in its private home would lead outside: we are not in the root
        // yet.
        if std::fs::read_link(&at).is_ok() {
            std::fs::remove_file(&at)?;
        }
        if last && !is_directory {
            if !at.exists() {
                std::fs::File::create(&at)?;
            }
        } else {
            directory(&at)?;
        }
    }
    Ok(below(root, &outside))
}

fn copy_link(at: &Path, target: &Path) -> io::Result<()> {
    match std::fs::read_link(at) {
        Ok(there) if there == target => return Ok(()),
        Ok(_) => std::fs::remove_file(at)?,
        Err(_) => {}
    }
    symlink(target, at)
}

fn names(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_mount_points_are_read() {
        assert_eq!(unescaped("/a\\040b\\134c"), "/a b\\c");
        assert_eq!(unescaped("/plain\\x"), "/plain\\x");
    }

    #[test]
    fn a_path_through_a_link_leads_to_the_same_place_inside() {
        let outside = tempfile::tempdir().unwrap();
        let outside = outside.path().canonicalize().unwrap();
        std::fs::create_dir_all(outside.join("real/deep")).unwrap();
        symlink("real", outside.join("link")).unwrap();
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(below(root.path(), &outside)).unwrap();
        let at = place(root.path(), &outside.join("link/deep"), true).unwrap();
        assert_eq!(at, below(root.path(), &outside.join("real/deep")));
        let link = below(root.path(), &outside.join("link"));
        assert_eq!(std::fs::read_link(link).unwrap(), Path::new("real"));
    }

    #[test]
    fn a_link_that_was_left_in_the_private_home_is_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        let victim = outside.path().canonicalize().unwrap().join("victim");
        let granted = outside.path().canonicalize().unwrap().join("granted");
        std::fs::create_dir_all(granted.join("x")).unwrap();
        std::fs::create_dir(&victim).unwrap();
        let root = tempfile::tempdir().unwrap();
        let inside = below(root.path(), &granted);
        std::fs::create_dir_all(inside.parent().unwrap()).unwrap();
        symlink(&victim, &inside).unwrap();
        place(root.path(), &granted.join("x"), true).unwrap();
        assert_eq!(std::fs::read_dir(&victim).unwrap().count(), 0);
        assert!(inside.join("x").is_dir());
    }
}
