//! Disks that are full, homes that cannot be written, homes of another user.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::root::{Root, mounts_left_out};
use crate::support::{Camp, Repository};

/// A user who may not mount can do so in a user namespace, where that is allowed.
#[cfg(target_os = "linux")]
fn can_have_a_disk() -> bool {
    let alone = || {
        let tried = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "true"])
            .output();
        tried.is_ok_and(|tried| tried.status.success())
    };
    Root::way() != Root::Never || alone() || !mounts_left_out()
}

/// Runs a shell script that sees a small disk of its own at `$DISK`; it is gone with the script.
/// `biv` is the program under test.
#[cfg(target_os = "linux")]
fn on_a_small_disk(camp: &Camp, size: &str, script: &str) -> std::process::Output {
    let disk = camp.root().join("disk");
    std::fs::create_dir_all(&disk).unwrap();
    let program = env!("CARGO_BIN_EXE_biv");
    let script = format!("biv() {{ '{program}' \"$@\"; }}\n{script}");
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let alone = Root::way() == Root::Never;
    let owner = if alone { (0, 0) } else { (user, group) };
    let mount = format!(
        "mount -t tmpfs -o size={size},mode=0755,uid={},gid={} tmpfs \"$1\" || exit 99\n\
         shift && exec \"$@\"",
        owner.0, owner.1
    );
    let mut command = Root::command("unshare");
    command.arg("--mount");
    if alone {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--", "sh", "-c", &mount, "sh"]).arg(&disk);
    if Root::way() == Root::Sudo {
        let ids = [format!("--reuid={user}"), format!("--regid={group}")];
        command
            .arg("setpriv")
            .args(ids)
            .args(["--init-groups", "--"]);
    }
    // sudo passes on nothing of the environment.
    let output = command
        .args(["env", "-i"])
        .args(
            camp.environment()
                .iter()
                .map(|(name, value)| format!("{name}={value}")),
        )
        .arg(format!("DISK={}", disk.display()))
        .args(["sh", "-c", &script])
        .output()
        .expect("unshare is needed for the tests: run scripts/setup");
    let said = text(&output.stderr);
    assert!(
        output.status.code() != Some(99) && !said.starts_with("unshare: "),
        "the tests need a small disk of their own: allow user namespaces, or run them as root: {said}"
    );
    output
}

#[cfg(target_os = "linux")]
fn assert_untouched(repository: &Repository) {
    assert_eq!(repository.branches(), ["main"]);
    assert_eq!(repository.worktrees(), Vec::<PathBuf>::new());
    assert_eq!(repository.snapshots(), Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_the_home_stops_before_anything_is_made() {
    if !can_have_a_disk() {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let script = format!(
        "cd '{}'\n\
         export BIV_HOME=\"$DISK/home\"\n\
         biv list >/dev/null || exit 98\n\
         dd if=/dev/zero of=\"$DISK/fill\" bs=4k 2>/dev/null\n\
         biv new x -a demo; echo \"status $?\"",
        repository.path.display()
    );
    let output = on_a_small_disk(&camp, "1m", &script);
    let (said, printed) = (text(&output.stderr), text(&output.stdout));
    assert!(printed.contains("status 1"), "{printed}\n{said}");
    assert!(said.contains("No space left on device"), "{said}");
    assert!(said.contains("hint: free some space"), "{said}");
    assert_untouched(&repository);
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_under_the_worktree_takes_the_creation_back() {
    if !can_have_a_disk() {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.write("large.bin", &"0123456789abcdef".repeat(500_000));
    repository.commit("a large file");
    let script = format!(
        "cd '{}'\n\
         export BIV_HOME=\"$DISK/home\"\n\
         biv new x -a demo; echo \"status $?\"\n\
         ls \"$DISK/home/state/instances\" \"$DISK/home/worktrees/app\"; echo \"listed\"\n\
         biv list --json\n\
         rm -rf large.bin && git -c gc.auto=0 rm -q --cached large.bin && git commit -qm small\n\
         biv new x -a shell -- sh -c 'exit 0' >/dev/null; echo \"then $?\"\n\
         tmux -S \"$DISK/home/run/tmux.sock\" kill-server",
        repository.path.display()
    );
    let output = on_a_small_disk(&camp, "4m", &script);
    let (said, printed) = (text(&output.stderr), text(&output.stdout));
    assert!(printed.contains("status 1"), "{printed}\n{said}");
    assert!(said.contains("hint: free some space"), "{said}");
    let made: Vec<&str> = printed
        .split("status 1")
        .nth(1)
        .and_then(|rest| rest.split("listed").next())
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.is_empty() && !line.ends_with(':'))
        .collect();
    assert!(made.is_empty(), "left behind: {made:?}");
    // With room again, the same creation goes through.
    assert!(printed.contains("then 0"), "{printed}\n{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_kill_on_a_full_disk_loses_nothing() {
    if !can_have_a_disk() {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    // Repository and home on the small disk: the snapshot has no room either.
    let script = format!(
        "cp -r '{}' \"$DISK/app\" && cd \"$DISK/app\"\n\
         export BIV_HOME=\"$DISK/home\"\n\
         biv new x -a shell -- cat >/dev/null || exit 98\n\
         tree=$(echo \"$DISK\"/home/worktrees/app/x-*)\n\
         head -c 200000 /dev/urandom > \"$tree/work.bin\"\n\
         before=$(cksum < \"$tree/work.bin\")\n\
         dd if=/dev/zero of=\"$DISK/fill\" bs=4k 2>/dev/null\n\
         biv kill -y x; echo \"status $?\"\n\
         [ \"$before\" = \"$(cksum < \"$tree/work.bin\")\" ] && echo \"still there\"\n\
         rm \"$DISK/fill\"\n\
         biv kill -y x; echo \"then $?\"\n\
         biv undo-kill x >/dev/null 2>&1; echo \"back $?\"\n\
         biv resume x >/dev/null; echo \"resumed $?\"\n\
         [ \"$before\" = \"$(cksum < \"$tree/work.bin\")\" ] && echo \"to the byte\"\n\
         biv kill -y x >/dev/null 2>&1\n\
         tmux -S \"$DISK/home/run/tmux.sock\" kill-server 2>/dev/null",
        repository.path.display()
    );
    let output = on_a_small_disk(&camp, "4m", &script);
    let (said, printed) = (text(&output.stderr), text(&output.stdout));
    for expected in [
        "status 1",
        "still there",
        "then 0",
        "back 0",
        "resumed 0",
        "to the byte",
    ] {
        assert!(
            printed.contains(expected),
            "no {expected:?} in {printed}\n{said}"
        );
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Calls the program as a user who may not do everything. A test that runs as root becomes nobody;
/// one that does not stays who it is.
fn as_ordinary_user(camp: &Camp, directory: &Path, arguments: &[&str]) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_biv");
    let mut command = if rustix::process::geteuid().is_root() {
        // The build directory need not be readable for everyone; a copy in the camp is.
        let copy = camp.root().join("biv");
        if !copy.exists() {
            std::fs::copy(program, &copy).unwrap();
        }
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
            .arg(copy);
        command
    } else {
        Command::new(program)
    };
    command
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .envs(camp.environment())
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "safe.directory")
        .env("GIT_CONFIG_VALUE_0", "*")
        .output()
        .unwrap()
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_home_that_cannot_be_written_is_named() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    set_mode(&camp.root(), 0o755);
    std::fs::create_dir(camp.home()).unwrap();
    set_mode(camp.home(), 0o555);
    let output = as_ordinary_user(&camp, &repository.path, &["new", "x", "-a", "demo"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("error: cannot make "), "{said}");
    assert!(said.contains("cause: Permission denied"), "{said}");
    assert!(
        said.contains("hint: make it writable for you, or set BIV_HOME"),
        "{said}"
    );
    set_mode(camp.home(), 0o755);
    assert_eq!(repository.branches(), ["main"]);
    assert_eq!(repository.worktrees(), Vec::<PathBuf>::new());
}

/// Only root can give a directory to another user; for other users `/` is such a directory.
#[test]
fn state_of_another_owner_is_refused() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    set_mode(&camp.root(), 0o755);
    let state = camp.home().join("state");
    std::fs::create_dir_all(camp.home()).unwrap();
    if rustix::process::geteuid().is_root() {
        std::fs::create_dir(&state).unwrap();
        set_mode(&state, 0o777);
        set_mode(camp.home(), 0o777);
    } else {
        std::os::unix::fs::symlink("/", &state).unwrap();
    }
    let output = as_ordinary_user(&camp, &repository.path, &["new", "x", "-a", "demo"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("belongs to another user (uid 0)"), "{said}");
    assert!(
        said.contains("hint: set BIV_HOME to a directory of your own"),
        "{said}"
    );
    assert_eq!(repository.branches(), ["main"]);
}
