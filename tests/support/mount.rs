//! File systems of a test's own: one that is small, one whose power can be cut.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::root::Root;
use crate::support::until;

pub(crate) struct Mount {
    directory: TempDir,
    /// The disk itself, where it is a file.
    image: Option<PathBuf>,
}

impl Mount {
    /// A file system in memory of this size.
    pub(crate) fn small(megabytes: u64) -> Self {
        let mount = Self {
            directory: directory(),
            image: None,
        };
        std::fs::create_dir(mount.path()).unwrap();
        let (user, group) = ids();
        let options = format!("size={megabytes}m,mode=0700,uid={user},gid={group}");
        run(
            "mount",
            &["-t", "tmpfs", "-o", &options, "tmpfs", mount.text()],
        );
        mount
    }

    /// ext4 on a disk that is a file in memory.
    pub(crate) fn disk(megabytes: u64) -> Self {
        let directory = directory();
        let image = directory.path().join("disk");
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(megabytes << 20).unwrap();
        let mount = Self {
            directory,
            image: Some(image),
        };
        std::fs::create_dir(mount.path()).unwrap();
        let (user, group) = ids();
        let owner = format!("root_owner={user}:{group}");
        run("mkfs.ext4", &["-q", "-F", "-E", &owner, mount.disk_text()]);
        mount.attach();
        mount
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("fs")
    }

    fn text(&self) -> &'static str {
        leak(&self.path())
    }

    fn disk_text(&self) -> &'static str {
        leak(self.image.as_deref().expect("it is a disk"))
    }

    fn attach(&self) {
        run("mount", &["-o", "loop", self.disk_text(), self.text()]);
    }

    fn detach(&self) {
        until("the file system can be unmounted", || {
            let unmounted = Root::command("umount").arg(self.path()).output().unwrap();
            unmounted.status.success()
        });
    }

    /// What is on the disk at this moment. Nothing is synced for it.
    pub(crate) fn moment(&self) -> PathBuf {
        let copy = self.directory.path().join("moment");
        let image = self.image.as_deref().expect("it is a disk");
        let copied = Command::new("cp")
            .arg("--sparse=always")
            .args([image, &copy])
            .status();
        assert!(copied.unwrap().success());
        copy
    }

    /// Puts the disk of that moment in the place of this one, as after a power cut.
    pub(crate) fn return_to(&self, moment: &Path) {
        self.detach();
        std::fs::rename(moment, self.image.as_deref().expect("it is a disk")).unwrap();
        self.attach();
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        let found = rustix::fs::statvfs(self.path()).unwrap();
        found.f_bavail * found.f_frsize
    }

    /// Takes all space but this.
    pub(crate) fn fill(&self, but: u64) {
        let file = std::fs::File::create(self.path().join("ballast")).unwrap();
        let wanted = self.free_bytes().saturating_sub(but);
        if wanted > 0 {
            let how = rustix::fs::FallocateFlags::empty();
            // All of it, or as much as there is: another process may be writing.
            rustix::fs::fallocate(&file, how, 0, wanted).ok();
        }
    }

    pub(crate) fn relieve(&self) {
        drop(std::fs::remove_file(self.path().join("ballast")));
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily where a failed test has left something open.
        drop(Root::command("umount").arg("-l").arg(self.path()).output());
    }
}

fn directory() -> TempDir {
    assert_ne!(
        Root::way(),
        Root::Never,
        "this test mounts a file system of its own: run it as root, or with a sudo that asks nothing"
    );
    tempfile::tempdir_in(scratch()).unwrap()
}

/// In memory where that is possible: syncing a busy disk thousands of times tests its patience only.
pub(crate) fn scratch() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() && std::env::var_os("STATES_ON_DISK").is_none() {
        memory
    } else {
        std::env::temp_dir()
    }
}

/// Whom the file system is for.
fn ids() -> (u32, u32) {
    (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    )
}

/// Arguments of a test live as long as it does.
fn leak(path: &Path) -> &'static str {
    Box::leak(path.to_str().unwrap().to_owned().into_boxed_str())
}

fn run(program: &str, arguments: &[&str]) {
    let output = Root::command(program).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
