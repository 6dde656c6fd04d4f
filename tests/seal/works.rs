//! Work that goes on inside a seal.

use crate::support::Camp;
use crate::{Kind, inside, left_out, start_sealed};

#[test]
fn git_works_in_the_linked_worktree() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start_sealed(&camp, &repository, "fix");
    assert_eq!(instance.branch.as_deref(), Some("biv/fix/work"));
    let script = "set -ex
        git status --short
        echo one > one; git add one; git commit -qm one
        git commit -q --amend -m one-b
        git switch -q -c biv/fix/second HEAD~1
        echo two > two; git add two; git commit -qm two
        git switch -q biv/fix/work
        git rebase -q biv/fix/second
        git cherry-pick --no-commit HEAD~1 || true
        git reset -q --hard
        git branch -q -D biv/fix/second || true
        test -z \"$(git status --porcelain)\"
        git log --format=%s";
    let answer = inside(&camp, &instance, script).ok();
    assert_eq!(answer.stdout, "one-b\ntwo\nfirst\n");
    assert!(!answer.stderr.contains("packed-refs"), "{}", answer.stderr);
    let log = repository.git(&["log", "--format=%s", "biv/fix/work"]);
    assert_eq!(log.trim(), "one-b\ntwo\nfirst");
}

#[test]
fn a_commit_is_possible_with_landlock_alone() {
    if left_out(Kind::LandlockAlone) {
        return;
    }
    let camp = Kind::LandlockAlone.camp();
    let repository = camp.repository("app");
    let instance = start_sealed(&camp, &repository, "fix");
    let script = "set -e; echo one > one; git add one; git commit -qm one; git log --format=%s -1";
    let answer = inside(&camp, &instance, script).ok();
    assert_eq!(answer.stdout, "one\n");
}

/// A gc inside would not see what other worktrees need, and would take the branch for packed.
#[test]
fn nothing_is_pruned_or_packed_from_inside() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start_sealed(&camp, &repository, "fix");
    let before = repository.git(&["for-each-ref"]);
    let script = "for how in gc 'pack-refs --all' prune 'repack -ad'; do
            git $how 2>/dev/null && echo \"git $how was done\"
        done; true";
    assert_eq!(inside(&camp, &instance, script).ok().stdout, "");
    assert_eq!(repository.git(&["for-each-ref"]), before);
}

/// Packing refs outside replaces a file that git inside reads.
#[test]
fn refs_that_are_packed_outside_meanwhile_are_seen() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start_sealed(&camp, &repository, "fix");
    let wait = "git branch outside-marker 2>/dev/null
        i=0; until git rev-parse -q --verify refs/heads/packed >/dev/null; do
            i=$((i + 1)); [ $i -lt 200 ] || exit 9; sleep 0.05
        done
        git log --format=%s -1 && echo more > more && git add more && git commit -qm more";
    std::thread::scope(|scope| {
        let running = scope.spawn(|| inside(&camp, &instance, wait));
        repository.git(&["branch", "packed"]);
        repository.git(&["pack-refs", "--all"]);
        assert_eq!(running.join().unwrap().ok().stdout, "first\n");
    });
    let branch = instance.branch.as_deref().unwrap();
    let log = repository.git(&["log", "--format=%s", "-1", branch]);
    assert_eq!(log.trim(), "more");
}

#[test]
fn tests_of_rust_and_python_run() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let sysroot = std::process::Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .expect("rustc is installed, these tests were built with it");
    let sysroot = String::from_utf8(sysroot.stdout).unwrap().trim().to_owned();
    let path = format!("{sysroot}/bin:/usr/bin:/bin");
    let camp = Camp::new().with("PATH", &path);
    crate::configure(&camp, &format!("[seal]\nread = [{sysroot:?}]\n"));
    let repository = camp.repository("app");
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    repository.write("Cargo.toml", manifest);
    repository.write(
        "test_app.py",
        "import tempfile, unittest\nclass T(unittest.TestCase):\n    def test(self):\n        tempfile.TemporaryFile().write(b'x')\n",
    );
    repository.commit("tests");
    let instance = start_sealed(&camp, &repository, "fix");
    let script = "set -e; cargo test --offline -q 2>&1; python3 -m unittest 2>&1";
    let answer = inside(&camp, &instance, script).ok();
    assert!(
        answer.stdout.contains("test result: ok"),
        "{}",
        answer.stdout
    );
    assert!(answer.stdout.contains("\nOK"), "{}", answer.stdout);
}

/// As root the tests would not see what only root may do.
#[test]
fn a_user_without_privileges_can_be_sealed() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let camp = camp.of_a_plain_user();
    let instance = start_sealed(&camp, &repository, "fix");
    let script =
        "id -u; grep -c '^CapEff:\t0*$' /proc/self/status; echo x > x; git add x; git commit -qm x";
    let answer = inside(&camp, &instance, script).ok();
    let uid = if rustix::process::geteuid().is_root() {
        65_534
    } else {
        rustix::process::geteuid().as_raw()
    };
    assert_eq!(answer.stdout, format!("{uid}\n1\n"));
}
