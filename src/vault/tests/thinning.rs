//! What a refill may write, and what a power cut has taken from it.

use std::path::Path;

use super::fingerprint::fingerprint;
use super::states::{Base, Lab, all};
use super::{now, saved, scratch};
use crate::git::*;
use crate::model::InstanceId;
use crate::vault::*;

struct Thinned {
    lab: Lab,
    repo: Repo,
    place: ParkingPlace,
    before: Vec<String>,
    _home: tempfile::TempDir,
}

impl Thinned {
    fn new(name: &str) -> Self {
        let state = all().into_iter().find(|state| state.name == name).unwrap();
        let home = tempfile::tempdir_in(scratch()).unwrap();
        let lab = state.make(&home.path().canonicalize().unwrap());
        let before = fingerprint(&lab.main, &lab.worktree);
        let repo = Repo::discover(&lab.worktree).unwrap();
        let id = InstanceId::random();
        let checkout = Checkout::live(&repo, &lab.worktree).unwrap();
        let fact = saved(&repo, &checkout, &id, 1).unwrap();
        let place = choose_parking(&repo, &lab.worktree, &id, 1).unwrap();
        park(&place).unwrap();
        let preview = preview_thin(&repo, &place, &fact, &ThinPolicy::default()).unwrap();
        let report = thin(&repo, &place, &fact, &ThinPolicy::default(), now()).unwrap();
        assert_eq!(preview, report, "a preview says what is done");
        assert_eq!(on_disk(&place).unwrap(), OnDisk::Least);
        Self {
            lab,
            repo,
            place,
            before,
            _home: home,
        }
    }

    fn refilled(name: &str) -> Self {
        let thinned = Self::new(name);
        refill(&thinned.repo, &thinned.place).unwrap();
        unpark(&thinned.place).unwrap();
        thinned
    }

    fn settle(&self) {
        settle_refill(&self.repo, &self.place.live_checkout()).unwrap();
    }

    /// As after a boot of the machine.
    fn boot(&self) {
        let path = self.place.admin.join("bivouac-thinned");
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2], "refilled", "{text}");
        lines[3] = "an earlier boot";
        std::fs::write(&path, lines.join("\n")).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.lab.worktree.join(name)).unwrap()
    }
}

/// What a power cut leaves of a file whose bytes were not on the disk: its names, its mode, its time.
fn cut(path: &Path) {
    let time = std::fs::metadata(path).unwrap().modified().unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(0).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn what_a_power_cut_took_is_written_again_and_nothing_else() {
    let thinned = Thinned::refilled("hard-links");
    let at = |name: &str| thinned.lab.worktree.join(name);
    for path in ["b.txt", "run.sh"] {
        cut(&at(path));
    }
    // The agent's own: written, truncated, deleted.
    std::fs::write(at("a.txt"), "the agent\n").unwrap();
    std::fs::write(at("bin.dat"), "").unwrap();
    std::fs::remove_file(at("own.txt")).unwrap();
    thinned.boot();
    thinned.settle();
    assert_eq!(thinned.read("b.txt"), "b\nmain\n");
    assert_eq!(thinned.read("run.sh"), "#!/bin/sh\n");
    assert_eq!(thinned.read("a.txt"), "the agent\n");
    assert_eq!(thinned.read("bin.dat"), "");
    assert!(!at("own.txt").exists());
    // Settled once: from now on nothing is known of it.
    cut(&at("b.txt"));
    thinned.settle();
    assert_eq!(thinned.read("b.txt"), "");
}

#[test]
fn without_a_boot_in_between_nothing_is_written() {
    let thinned = Thinned::refilled("mixed");
    let path = thinned.lab.worktree.join("b.txt");
    cut(&path);
    thinned.settle();
    assert_eq!(thinned.read("b.txt"), "");
}

#[test]
fn every_file_that_a_power_cut_has_emptied_comes_back() {
    for name in ["hard-links", "modes", "mixed"] {
        let thinned = Thinned::refilled(name);
        let mut emptied = 0;
        for line in &thinned.before {
            let path = line
                .strip_prefix("path ")
                .and_then(|l| l.split(": ").next());
            let Some(path) = path.map(|path| thinned.lab.worktree.join(path)) else {
                continue;
            };
            if std::fs::symlink_metadata(&path)
                .is_ok_and(|found| found.is_file() && found.len() > 0)
                // Never deleted: git's own, and one with a name outside of the worktree.
                && !path.ends_with(".git")
                && !path.ends_with("shared")
            {
                cut(&path);
                emptied += 1;
            }
        }
        assert!(emptied > 3, "{emptied} files of {name}");
        thinned.boot();
        thinned.settle();
        let after = fingerprint(&thinned.lab.main, &thinned.lab.worktree);
        assert_eq!(thinned.before, after, "{name}");
    }
}

/// ext4 gives the inode number of a deleted file to the next one: here each file that a crash has left
/// empty has the number of the file that it is to become.
#[test]
fn an_unfinished_file_is_finished_whatever_its_inode() {
    let thinned = Thinned::new("mixed");
    let vault = thinned.repo.common_dir().join("bivouac/vault");
    let marker = thinned.place.parked_admin.join("bivouac-thinned");
    let text = std::fs::read_to_string(&marker).unwrap();
    let commit = text.lines().next().unwrap();
    let git = |arguments: &[&str], input: &[u8]| -> String {
        let mut child = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .current_dir(&vault)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let manifest = git(&["cat-file", "blob", &format!("{commit}:manifest")], b"");
    let records: Vec<String> = manifest
        .split_terminator('\0')
        .map(|record| {
            let mut words: Vec<String> = record.splitn(7, ' ').map(str::to_owned).collect();
            if words.len() == 7 && ["f", "c"].contains(&words[0].as_str()) {
                let path = thinned.place.parked_worktree.join(&words[6]);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, "").unwrap();
                let found = std::fs::metadata(&path).unwrap();
                words[4] = std::os::unix::fs::MetadataExt::ino(&found).to_string();
            }
            words.join(" ")
        })
        .collect();
    let blob = git(
        &["hash-object", "-w", "--stdin"],
        (records.join("\0") + "\0").as_bytes(),
    );
    let tree = git(&["ls-tree", commit], b"");
    let before = git(&["rev-parse", &format!("{commit}:manifest")], b"");
    let tree = git(
        &["mktree"],
        (tree.replace(&before, &blob) + "\n").as_bytes(),
    );
    let forged = git(&["commit-tree", "-m", "content", &tree], b"");
    std::fs::write(&marker, text.replace(commit, &forged)).unwrap();
    refill(&thinned.repo, &thinned.place).unwrap();
    unpark(&thinned.place).unwrap();
    thinned.settle();
    let after = fingerprint(&thinned.lab.main, &thinned.lab.worktree);
    assert_eq!(thinned.before, after);
}

/// A marker of a version that did not say how far it was: nothing of the user's is written over.
#[test]
fn a_marker_that_does_not_say_its_phase_harms_nothing() {
    let thinned = Thinned::refilled("mixed");
    std::fs::write(thinned.lab.worktree.join("a.txt"), "edited\n").unwrap();
    let marker = thinned.place.admin.join("bivouac-thinned");
    let text = std::fs::read_to_string(&marker).unwrap();
    let old: Vec<&str> = text.lines().take(2).collect();
    std::fs::write(&marker, format!("{}\n", old.join("\n"))).unwrap();
    park(&thinned.place).unwrap();
    let report = refill(&thinned.repo, &thinned.place).unwrap();
    assert_eq!(report.changed, [Path::new("a.txt")]);
    unpark(&thinned.place).unwrap();
    thinned.settle();
    assert_eq!(thinned.read("a.txt"), "edited\n");
}

/// Larger than what is read at once: as a stream, compared and written to the byte, whole or cut off.
#[test]
fn large_files_are_streamed_and_come_back() {
    let home = tempfile::tempdir_in(super::scratch()).unwrap();
    let lab = Lab::new(&home.path().canonicalize().unwrap(), Base::Plain);
    let content = |seed: u32, size: u32| -> Vec<u8> {
        (0..size)
            .map(|n| (n.wrapping_mul(seed) >> 7) as u8)
            .collect()
    };
    let size = 9 << 20;
    std::fs::write(lab.worktree.join("committed"), content(3, size)).unwrap();
    std::fs::write(lab.worktree.join("emptied"), content(5, size)).unwrap();
    lab.git(&["add", "-A"]);
    lab.git(&["commit", "-qm", "large"]);
    std::fs::write(lab.worktree.join("emptied"), "").unwrap();
    std::fs::write(lab.worktree.join("untracked"), content(7, size)).unwrap();
    std::fs::write(lab.worktree.join("staged"), content(9, size)).unwrap();
    lab.git(&["add", "staged"]);
    let before = fingerprint(&lab.main, &lab.worktree);

    let repo = Repo::discover(&lab.worktree).unwrap();
    let id = InstanceId::random();
    let checkout = Checkout::live(&repo, &lab.worktree).unwrap();
    let fact = saved(&repo, &checkout, &id, 1).unwrap();
    let place = choose_parking(&repo, &lab.worktree, &id, 1).unwrap();
    park(&place).unwrap();
    let report = thin(&repo, &place, &fact, &ThinPolicy::default(), now()).unwrap();
    assert_eq!((report.left.len(), report.kept.len()), (0, 0), "{report:?}");
    assert!(report.freed_bytes > 3 * u64::from(size));
    for args in [&["gc", "-q", "--prune=now"][..], &["prune", "--expire=now"]] {
        assert!(
            super::states::raw_git(repo.common_dir(), args)
                .status
                .success()
        );
    }
    // Our own unfinished attempt.
    std::fs::write(
        place.parked_worktree.join("untracked"),
        &content(7, size)[..5000],
    )
    .unwrap();
    refill(&repo, &place).unwrap();
    unpark(&place).unwrap();
    bring_objects_back(&repo, &fact).unwrap();
    settle_refill(&repo, &place.live_checkout()).unwrap();
    let after = fingerprint(&lab.main, &lab.worktree);
    let lost: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}
