//! What the branch adds meanwhile where the instance has something of its own.

use std::path::{Path, PathBuf};

use super::super::states::{Base, Lab};
use super::*;

/// What an instance may have at a path that the branch adds to meanwhile, and what the branch adds.
type InTheWay = (&'static str, fn(&Lab), fn(&Path), &'static str);

const IN_THE_WAY: &[InTheWay] = &[
    (
        "an untracked file, other content",
        |lab| lab.write("new", "mine\n"),
        |dir| put(dir, "new", "theirs\n"),
        "new",
    ),
    (
        "an ignored file, other content",
        |lab| lab.write("x.log", "mine\n"),
        |dir| put(dir, "x.log", "theirs\n"),
        "x.log",
    ),
    (
        "an ignored directory, a file comes",
        |lab| lab.write("build/x", "mine\n"),
        |dir| put(dir, "build", "theirs\n"),
        "build",
    ),
    (
        "an ignored file, a directory comes",
        |lab| lab.write("keep.log", "mine\n"),
        |dir| put(dir, "keep.log/x", "theirs\n"),
        "keep.log",
    ),
    (
        "an untracked file above",
        |lab| lab.write("new", "mine\n"),
        |dir| put(dir, "new/a/b", "theirs\n"),
        "new",
    ),
    (
        "a link above that leads elsewhere",
        |lab| {
            std::fs::create_dir(lab.home.join("outside")).unwrap();
            std::os::unix::fs::symlink("../outside", lab.at("new")).unwrap();
        },
        |dir| put(dir, "new/a", "theirs\n"),
        "new",
    ),
    (
        "a link above that leads inside",
        |lab| std::os::unix::fs::symlink("dir", lab.at("new")).unwrap(),
        |dir| put(dir, "new/sub/a", "theirs\n"),
        "new",
    ),
    (
        "a link, a file comes",
        |lab| std::os::unix::fs::symlink("a.txt", lab.at("new")).unwrap(),
        |dir| put(dir, "new", "theirs\n"),
        "new",
    ),
    (
        "a file, a link comes",
        |lab| lab.write("new", "mine\n"),
        |dir| std::os::unix::fs::symlink("a.txt", dir.join("new")).unwrap(),
        "new",
    ),
    (
        "an empty directory, a file comes",
        |lab| std::fs::create_dir(lab.at("new")).unwrap(),
        |dir| put(dir, "new", "theirs\n"),
        "new",
    ),
    (
        "a nested repository, a file comes",
        |lab| drop(lab.nest("new")),
        |dir| put(dir, "new", "theirs\n"),
        "new",
    ),
    (
        "a nested repository, a file comes into it",
        |lab| drop(lab.nest("new")),
        |dir| put(dir, "new/a", "theirs\n"),
        "new",
    ),
    (
        "a nested repository that has a file of that name",
        |lab| drop(lab.nest("new")),
        |dir| put(dir, "new/inner.txt", "theirs\n"),
        "new",
    ),
    (
        "a tracked directory with something ignored, a file comes",
        |lab| lab.write("dir/x.log", "mine\n"),
        |dir| {
            std::fs::remove_dir_all(dir.join("dir")).unwrap();
            put(dir, "dir", "theirs\n");
        },
        "dir",
    ),
    (
        "a tracked directory with an empty one in it, a file comes",
        |lab| std::fs::create_dir(lab.at("dir/own")).unwrap(),
        |dir| {
            std::fs::remove_dir_all(dir.join("dir")).unwrap();
            put(dir, "dir", "theirs\n");
        },
        "dir",
    ),
];

#[test]
fn nothing_that_is_not_saved_is_written_over_or_through() {
    for thinned in [false, true] {
        for (name, build, theirs, path) in IN_THE_WAY {
            let p = parked(Base::Plain, build);
            let before = look(&p);
            let outside = fingerprint_files(&p.lab.home.join("outside"));
            work_elsewhere(&p.lab, theirs);
            if thinned {
                let policy = ThinPolicy::default();
                thin(&p.repo, &p.place, &p.fact, &policy, super::super::now()).unwrap();
            }
            let merge = clean_plan(&p);
            let checkout = p.place.checkout();
            let thin_look = look(&p);
            let found = find_obstacles(&p.repo, &checkout, &p.fact, &merge).unwrap();
            assert_eq!(found, [PathBuf::from(path)], "{name}, thinned {thinned}");
            assert_eq!(look(&p), thin_look, "{name}: looking changes nothing");
            refill(&p.repo, &p.place).unwrap();
            let refused = carry_over(&p.repo, &p.place, &p.fact, &merge);
            assert!(
                matches!(&refused, Err(GitError::Conflict { files }) if files == &found),
                "{name}: {refused:?}"
            );
            assert_eq!(take_back_carry(&p.repo, &p.place).unwrap(), []);
            assert_eq!(look(&p), before, "{name}, thinned {thinned}");

            // Moved aside, both are there.
            let mine = fingerprint_files(&checkout.dir.join(path));
            let merge = clear_obstacles(&p.repo, &checkout, &p.fact, merge, &[]).unwrap();
            carry_over(&p.repo, &p.place, &p.fact, &merge).unwrap();
            unpark(&p.place).unwrap();
            let live = p.place.live_checkout();
            let proof = verify_carried(&p.repo, &live, &p.fact, &merge).unwrap();
            assert_eq!(proof, Carried::default(), "{name}");
            let aside = p.lab.at(&format!("{path}.saved"));
            if !name.starts_with("a tracked") {
                assert_eq!(fingerprint_files(&aside), mine, "{name}");
            }
            let status = p
                .lab
                .git(&["status", "--porcelain", "--untracked-files=no"]);
            assert_eq!(status, "", "{name}");
            park(&p.place).unwrap();
            assert_eq!(take_back_carry(&p.repo, &p.place).unwrap(), []);
            assert_eq!(look(&p), before, "{name}, thinned {thinned}");
            let now = fingerprint_files(&p.lab.home.join("outside"));
            assert_eq!(now, outside, "{name}: nothing outside was touched");
        }
    }
}

#[test]
fn what_is_equal_is_no_obstacle() {
    for thinned in [false, true] {
        let p = parked(Base::Plain, |lab| {
            lab.write("new", "the same\n");
            lab.write("nothing", "");
            lab.write("x.log", "the same\n");
            std::os::unix::fs::symlink("a.txt", lab.at("ln")).unwrap();
        });
        work_elsewhere(&p.lab, |dir| {
            put(dir, "new", "the same\n");
            put(dir, "nothing", "");
            put(dir, "x.log", "the same\n");
            std::os::unix::fs::symlink("a.txt", dir.join("ln")).unwrap();
        });
        if thinned {
            let policy = ThinPolicy::default();
            thin(&p.repo, &p.place, &p.fact, &policy, super::super::now()).unwrap();
        }
        let merge = clean_plan(&p);
        let found = find_obstacles(&p.repo, &p.place.checkout(), &p.fact, &merge).unwrap();
        assert_eq!(found, Vec::<PathBuf>::new(), "thinned: {thinned}");
        refill(&p.repo, &p.place).unwrap();
        carry_over(&p.repo, &p.place, &p.fact, &merge).unwrap();
        unpark(&p.place).unwrap();
        assert_eq!(p.lab.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn a_line_ending_that_only_a_filter_hides_is_in_the_way() {
    let build = |lab: &Lab| {
        lab.write(".gitattributes", "*.txt text=auto\n");
        lab.git(&["add", ".gitattributes"]);
        lab.git(&["commit", "-qm", "attributes"]);
        // For git unchanged; the bytes are the user's own all the same.
        lab.write("own.txt", "own work\r\n");
        // Old enough for git to take it for unchanged without reading it: then no snapshot has it.
        let file = std::fs::File::options()
            .append(true)
            .open(lab.at("own.txt"));
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        file.unwrap().set_modified(old).unwrap();
        lab.git(&["add", "own.txt"]);
    };
    let p = parked(Base::Plain, build);
    commit_elsewhere(&p.lab, "own.txt", "theirs\n");
    let merge = clean_plan(&p);
    let found = find_obstacles(&p.repo, &p.place.checkout(), &p.fact, &merge).unwrap();
    let status = std::fs::read(p.place.parked_worktree.join("own.txt")).unwrap();
    assert_eq!(status, b"own work\r\n");
    assert_eq!(found, [PathBuf::from("own.txt")]);
}
