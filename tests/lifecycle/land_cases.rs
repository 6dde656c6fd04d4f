//! Landing where something is in the way: each case has one outcome, and nothing is lost in any.

use std::path::Path;

use crate::land::{commit, main_of, with_commit};
use crate::support::{Camp, Instance, Repository};

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// What the user has in the checkout of `main`, and whether that keeps a landing of `new.txt` and of
/// `README.md` from following.
#[test]
fn a_dirty_checkout_of_the_target_follows_only_where_it_is_clean() {
    type Change = fn(&Repository);
    let cases: [(&str, Change, &[&str]); 8] = [
        ("elsewhere", |r| r.write("src/lib.rs", "mine\n"), &[]),
        (
            "untracked elsewhere",
            |r| r.write("mine.txt", "mine\n"),
            &[],
        ),
        (
            "changed",
            |r| r.write("README.md", "mine\n"),
            &["README.md"],
        ),
        (
            "staged",
            |r| {
                r.write("README.md", "mine\n");
                r.git(&["add", "README.md"]);
            },
            &["README.md"],
        ),
        ("untracked", |r| r.write("new.txt", "mine\n"), &["new.txt"]),
        (
            "ignored",
            |r| {
                std::fs::write(r.path.join(".git/info/exclude"), "new.txt\n").unwrap();
                r.write("new.txt", "mine\n");
            },
            &["new.txt"],
        ),
        (
            "hidden from git",
            |r| {
                r.git(&["update-index", "--assume-unchanged", "README.md"]);
                r.write("README.md", "mine\n");
            },
            &["README.md"],
        ),
        (
            "a directory in the way",
            |r| r.write("new.txt/inside", "mine\n"),
            &["new.txt/inside"],
        ),
    ];
    for (name, change, expected) in cases {
        let camp = Camp::new();
        let repository = camp.repository("app");
        let instance = with_commit(&camp, &repository, "feature", "new.txt");
        commit(&repository, &instance, "README.md", "# Changed\n");
        change(&repository);
        let before = main_of(&repository);
        let status = repository.git(&["status", "--porcelain", "--ignored"]);
        let answer = camp.biv(["land", "--json", "feature"]).run();
        if expected.is_empty() {
            drop(answer.ok());
            assert_ne!(main_of(&repository), before, "{name}");
            assert_eq!(
                repository.git(&["status", "--porcelain", "--ignored"]),
                status
            );
            assert_eq!(read(&repository.path.join("README.md")), "# Changed\n");
        } else {
            let error = answer.fails(4).error();
            assert_eq!(error["code"], "checkout_dirty", "{name}");
            assert_eq!(
                error["details"]["files"],
                serde_json::json!(expected),
                "{name}"
            );
            assert_eq!(main_of(&repository), before, "{name}");
            let now = repository.git(&["status", "--porcelain", "--ignored"]);
            assert_eq!(now, status, "{name}");
            assert_eq!(camp.show(&instance)["state"], "running", "{name}");
            let mine = repository.path.join(expected[0]);
            assert_eq!(read(&mine), "mine\n", "{name}");
        }
    }
}

#[test]
fn a_target_in_another_worktree_follows_there() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.git(&["branch", "develop"]);
    let other = camp.root().join("elsewhere");
    repository.git(&["worktree", "add", "-q", other.to_str().unwrap(), "develop"]);
    let instance = with_commit(&camp, &repository, "feature", "new.txt");
    let before = main_of(&repository);
    drop(
        camp.biv(["land", "--into", "develop", "feature"])
            .run()
            .ok(),
    );
    assert!(other.join("new.txt").exists());
    assert_eq!(
        repository.seen_from(&other).git(&["status", "--porcelain"]),
        ""
    );
    assert_eq!(main_of(&repository), before);
    assert!(!instance.worktree.exists());
}

#[test]
fn a_target_that_is_checked_out_nowhere_just_moves() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.git(&["branch", "develop"]);
    let _instance = with_commit(&camp, &repository, "feature", "new.txt");
    drop(
        camp.biv(["land", "--into", "develop", "feature"])
            .run()
            .ok(),
    );
    assert_eq!(repository.git(&["show", "develop:new.txt"]), "feature");
}

#[test]
fn a_target_in_the_middle_of_a_merge_or_rebase_is_left_alone() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let _instance = with_commit(&camp, &repository, "feature", "new.txt");
    repository.git(&["switch", "-qc", "side"]);
    repository.write("README.md", "side\n");
    repository.commit("side");
    repository.git(&["switch", "-q", "main"]);
    repository.write("README.md", "main\n");
    repository.commit("main");
    for arguments in [["merge", "side"], ["rebase", "side"]] {
        assert!(!repository.try_git(&arguments).status.success());
        let before = main_of(&repository);
        let error = camp
            .biv(["land", "--json", "feature"])
            .run()
            .fails(4)
            .error();
        assert_eq!(error["code"], "checkout_busy", "{arguments:?}");
        assert_eq!(main_of(&repository), before);
        repository.git(&[arguments[0], "--abort"]);
    }
}

#[test]
fn unrelated_histories_do_not_land() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.git(&["switch", "-q", "--orphan", "alien"]);
    repository.write("alien.txt", "alien\n");
    repository.commit("alien");
    repository.git(&["switch", "-q", "main"]);
    let _instance = with_commit(&camp, &repository, "feature", "new.txt");
    let error = camp
        .biv(["land", "--json", "--into", "alien", "feature"])
        .run()
        .fails(6)
        .error();
    assert_eq!(error["code"], "unrelated");
}

#[test]
fn a_case_only_rename_lands() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    let checkout = repository.seen_from(&instance.worktree);
    checkout.git(&["mv", "README.md", "readme.md"]);
    checkout.commit("rename");
    drop(camp.biv(["land", "feature"]).run().ok());
    assert!(repository.path.join("readme.md").exists());
    assert!(!repository.path.join("README.md").exists());
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_moved_submodule_lands_and_keeps_its_instance() {
    let camp = Camp::new();
    let library = camp.repository("library");
    let repository = camp.repository("app");
    let url = library.path.to_str().unwrap();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        url,
        "lib",
    ];
    repository.git(&add);
    repository.commit("a library");
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    let checkout = repository.seen_from(&instance.worktree);
    checkout.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "update",
        "-q",
        "--init",
    ]);
    let inside = repository.seen_from(&instance.worktree.join("lib"));
    inside.write("more.txt", "only here\n");
    let moved = inside.commit("only here");
    checkout.commit("use it");
    let answer = camp.biv(["land", "feature"]).run().ok();
    assert!(answer.said().contains("submodule"), "{}", answer.said());
    assert!(repository.git(&["ls-tree", "main", "lib"]).contains(&moved));
    // The commit of the library is in this worktree only.
    assert_eq!(inside.git(&["rev-parse", "HEAD"]), moved);
    assert_eq!(camp.show(&instance)["state"], "running");
}

#[test]
fn a_squash_is_signed_where_git_would_sign() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let signer = camp.root().join("signer");
    std::fs::write(
        &signer,
        "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\n\
         echo '-----BEGIN PGP SIGNATURE-----'\necho 'test'\necho '-----END PGP SIGNATURE-----'\n",
    )
    .unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&signer, executable).unwrap();
    let _instance = with_commit(&camp, &repository, "feature", "new.txt");
    repository.git(&["config", "commit.gpgSign", "true"]);
    repository.git(&["config", "gpg.program", signer.to_str().unwrap()]);
    drop(camp.biv(["land", "--squash", "feature"]).run().ok());
    let commit = repository.git(&["cat-file", "commit", "main"]);
    assert!(
        commit.contains("gpgsig -----BEGIN PGP SIGNATURE-----"),
        "{commit}"
    );
    // A key that cannot be used changes nothing.
    repository.git(&["config", "gpg.program", "false"]);
    repository.git(&["config", "commit.gpgSign", "false"]);
    let _next = with_commit(&camp, &repository, "next", "next.txt");
    repository.git(&["config", "commit.gpgSign", "true"]);
    let before = main_of(&repository);
    drop(camp.biv(["land", "--squash", "next"]).run().fails(1));
    assert_eq!(main_of(&repository), before);
}

#[test]
fn a_rebase_leaves_out_what_became_empty() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "one.txt");
    let checkout = repository.seen_from(&instance.worktree);
    checkout.write("two.txt", "2\n");
    checkout.write("three.txt", "3\n");
    checkout.commit("two and three");
    checkout.write("four.txt", "4\n");
    checkout.commit("four");
    // The same as one commit, and the parts of another, are there already.
    repository.write("one.txt", "feature\n");
    repository.commit("one by hand");
    repository.write("two.txt", "2\n");
    repository.commit("two by hand");
    repository.write("three.txt", "3\n");
    repository.commit("three by hand");
    let answer = camp.biv(["land", "--rebase", "feature"]).run().ok();
    assert!(
        answer.said().contains("1 commits became empty"),
        "{}",
        answer.said()
    );
    let subjects = repository.git(&["log", "--format=%s", "main"]);
    assert_eq!(
        subjects,
        "four\nthree by hand\ntwo by hand\none by hand\nfirst"
    );
    assert_eq!(
        repository.git(&["log", "-1", "--format=%an", "main"]),
        "Ada"
    );
}

#[test]
fn two_landings_at_once_both_land() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let _one = with_commit(&camp, &repository, "one", "one.txt");
    let _two = with_commit(&camp, &repository, "two", "two.txt");
    let mut children: Vec<_> = ["one", "two"]
        .iter()
        .map(|title| {
            camp.biv(["land", "--check", "sleep 1", title])
                .in_background()
        })
        .collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    for file in ["one.txt", "two.txt"] {
        assert!(repository.path.join(file).exists(), "{file}");
    }
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    assert_eq!(camp.list().len(), 0);
}

#[test]
fn an_adopted_instance_leaves_its_worktree_and_its_branch() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let own = camp.root().join("own");
    repository.git(&["worktree", "add", "-q", "-b", "mine", own.to_str().unwrap()]);
    let adopt = [
        "adopt",
        "--json",
        "-a",
        "demo",
        own.to_str().unwrap(),
        "feature",
    ];
    let instance = Instance::from_json(&camp.biv(adopt).run().ok().json());
    instance.wait_idle(&camp);
    let tip = commit(&repository, &instance, "new.txt", "new\n");
    drop(camp.biv(["land", "--into", "main", "feature"]).run().ok());
    assert_eq!(main_of(&repository), tip);
    assert!(own.join("new.txt").exists());
    assert!(repository.branches().contains(&"mine".to_owned()));
    assert_eq!(camp.show(&instance)["state"], "killed");
}

#[test]
fn a_branch_of_the_user_stays() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.git(&["branch", "mine"]);
    let instance = camp.start(&repository, "feature", &["--branch", "mine"]);
    instance.wait_idle(&camp);
    let tip = commit(&repository, &instance, "new.txt", "new\n");
    drop(camp.biv(["land", "--into", "main", "feature"]).run().ok());
    assert_eq!(main_of(&repository), tip);
    assert_eq!(repository.git(&["rev-parse", "mine"]), tip);
}

#[test]
fn the_users_merge_driver_decides() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.write(".gitattributes", "list.txt merge=both\n");
    repository.write("list.txt", "first\n");
    repository.commit("a list");
    repository.git(&["config", "merge.both.driver", "sort -u %A %B -o %A"]);
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    commit(&repository, &instance, "list.txt", "first\nb\n");
    repository.write("list.txt", "first\na\n");
    repository.commit("more");
    drop(camp.biv(["land", "feature"]).run().ok());
    assert_eq!(repository.git(&["show", "main:list.txt"]), "a\nb\nfirst");
    assert_eq!(read(&repository.path.join("list.txt")), "a\nb\nfirst\n");
}

#[test]
fn hooks_do_not_run_and_that_is_said() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let _instance = with_commit(&camp, &repository, "feature", "new.txt");
    repository.write("other.txt", "other\n");
    repository.commit("other");
    let ran = camp.root().join("ran");
    let hook = repository.path.join(".git/hooks/commit-msg");
    std::fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, executable).unwrap();
    let answer = camp.biv(["land", "--squash", "feature"]).run().ok();
    assert!(
        answer.said().contains("hooks do not run"),
        "{}",
        answer.said()
    );
    assert!(!ran.exists());
}
