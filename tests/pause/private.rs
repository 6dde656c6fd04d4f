//! What was never committed stays private: nothing that git publishes or shows of a repository has it.

use std::path::Path;

use crate::fingerprint::fingerprint;
use crate::support::{Camp, Instance, Repository};

/// Each stands in exactly one kind of file.
const SECRETS: [&str; 5] = [
    "secret-of-an-ignored-file",
    "secret-of-an-untracked-file",
    "secret-of-a-staged-file",
    "secret-of-a-changed-file",
    "secret-of-an-autostash",
];

/// An instance with secrets in every place where git does not look by itself, in the middle of a rebase.
fn with_secrets(camp: &Camp) -> (Repository, Instance) {
    let repository = camp.repository("app");
    repository.write(".gitignore", ".env\n");
    repository.write("conflict", "base\n");
    repository.commit("base");
    let instance = camp.start(&repository, "secretive", &[]);
    instance.wait_idle(camp);
    let inside = repository.seen_from(&instance.worktree);
    inside.write("conflict", "theirs\n");
    inside.commit("theirs");
    repository.write("conflict", "ours\n");
    repository.commit("ours");
    inside.write("README.md", SECRETS[4]);
    let stopped = inside.try_git(&["rebase", "--autostash", "main"]);
    assert!(!stopped.status.success(), "the rebase stops at a conflict");
    inside.write(".env", SECRETS[0]);
    inside.write("untracked", SECRETS[1]);
    inside.write("staged", SECRETS[2]);
    inside.git(&["add", "staged"]);
    inside.write("staged", "not any more\n");
    inside.write(".gitignore", &format!(".env\n# {}\n", SECRETS[3]));
    (repository, instance)
}

/// Every byte of every object that a repository has, and all that git shows of its history.
fn everything(repository: &Repository) -> String {
    let objects = repository.try_git(&["cat-file", "--batch-all-objects", "--batch"]);
    let log = repository.try_git(&["log", "--all", "-p", "-m", "--format=fuller"]);
    assert!(objects.status.success() && log.status.success());
    let mut text = String::from_utf8_lossy(&objects.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&log.stdout));
    text
}

#[track_caller]
fn assert_nothing_published(camp: &Camp, repository: &Repository, what: &str) {
    let elsewhere = |name: &str| {
        let path = camp.root().join(format!("{name}-{what}"));
        (path.to_str().unwrap().to_owned(), path)
    };
    let url = format!("file://{}", repository.path.display());
    let (pushed, pushed_path) = elsewhere("pushed");
    repository.git(&["init", "-q", "--bare", &pushed]);
    repository.git(&["push", "-q", "--mirror", &pushed]);
    let (cloned, cloned_path) = elsewhere("cloned");
    repository.git(&["clone", "-q", "--mirror", &url, &cloned]);
    let (fetched, fetched_path) = elsewhere("fetched");
    repository.git(&["init", "-q", "--bare", &fetched]);
    let at = |path: &Path| repository.seen_from(path);
    at(&fetched_path).git(&["fetch", "-q", &url, "+refs/*:refs/*"]);
    for path in [&pushed_path, &cloned_path, &fetched_path] {
        let published = everything(&at(path));
        for secret in SECRETS {
            assert!(
                !published.contains(secret),
                "{what}: {secret} in {}",
                path.display()
            );
        }
    }
    let shown = repository.git(&["log", "--all", "-p", "-m"]);
    for secret in SECRETS {
        assert!(!shown.contains(secret), "{what}: {secret} is in the log");
    }
    // One ref of ours, which says what it is and has no files.
    let refs = repository.git(&["for-each-ref", "--format=%(refname)"]);
    let ours: Vec<&str> = refs
        .lines()
        .filter(|name| name.contains("bivouac"))
        .collect();
    assert!(
        matches!(ours[..], [one] if one.starts_with("refs/bivouac-keep/")),
        "{what}: {ours:?}"
    );
    assert_eq!(repository.git(&["ls-tree", ours[0]]), "", "{what}");
    let message = repository.git(&["log", "-1", "--format=%B", ours[0]]);
    assert!(
        message.contains("git gc") && message.contains("biv"),
        "{what}: {message}"
    );
}

fn collect_garbage(repository: &Repository) {
    repository.git(&[
        "reflog",
        "expire",
        "--expire=now",
        "--expire-unreachable=now",
        "--all",
    ]);
    repository.git(&["gc", "-q", "--prune=now"]);
    repository.git(&["prune", "--expire=now"]);
}

#[test]
fn nothing_that_was_never_committed_is_published() {
    for (what, arguments) in [
        ("parked", &["pause", "secretive"][..]),
        ("thinned", &["pause", "secretive", "--remove-worktree"]),
    ] {
        let camp = Camp::new();
        let (repository, instance) = with_secrets(&camp);
        let before = fingerprint(&repository.path, &instance.worktree);
        drop(camp.biv(arguments).run().ok());
        assert_nothing_published(&camp, &repository, what);

        // The user's own objects may go: what was staged, what the rebase has stashed.
        collect_garbage(&repository);
        let left = everything(&repository);
        for secret in SECRETS {
            assert!(
                !left.contains(secret),
                "{what}: {secret} is left in the repository"
            );
        }
        let vault = repository.seen_from(&repository.vault());
        vault.git(&["fsck", "--full", "--strict"]);
        let diff = camp.biv(["diff", "secretive"]).run().ok().stdout;
        assert!(
            diff.contains(SECRETS[1]) && diff.contains(SECRETS[3]),
            "{diff}"
        );

        drop(camp.biv(["resume", "secretive"]).run().ok());
        let after = fingerprint(&repository.path, &instance.worktree);
        let lost: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
        assert!(lost.is_empty(), "{what}: {lost:#?}");
        // And while the copy is kept for a while.
        assert_nothing_published(&camp, &repository, &format!("{what}-and-resumed"));
        vault.git(&["fsck", "--full", "--strict"]);
    }
}

/// The vault is for its owner alone, and git run in it by mistake takes nothing out of it.
#[test]
fn the_vault_is_private_and_cannot_be_collected_by_mistake() {
    use std::os::unix::fs::PermissionsExt;
    let camp = Camp::new();
    let (repository, instance) = with_secrets(&camp);
    let before = fingerprint(&repository.path, &instance.worktree);
    drop(
        camp.biv(["pause", "secretive", "--remove-worktree"])
            .run()
            .ok(),
    );
    let vault = repository.vault();
    let mode = std::fs::metadata(&vault).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let inside = repository.seen_from(&vault);
    inside.git(&["gc", "-q", "--prune=now", "--aggressive"]);
    inside.git(&["repack", "-a", "-d", "-l", "-q"]);
    collect_garbage(&repository);
    inside.git(&["fsck", "--full"]);
    drop(camp.biv(["resume", "secretive"]).run().ok());
    let after = fingerprint(&repository.path, &instance.worktree);
    let lost: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}

/// By git alone, also where the repository's directory was moved.
#[test]
fn saved_work_can_be_had_without_biv() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "mine", &[]);
    instance.wait_idle(&camp);
    let inside = repository.seen_from(&instance.worktree);
    inside.write("README.md", "changed\n");
    inside.write("untracked", "new\n");
    drop(camp.biv(["pause", "mine"]).run().ok());
    collect_garbage(&repository);

    let moved = repository.path.with_file_name("moved");
    std::fs::rename(&repository.path, &moved).unwrap();
    let repository = repository.seen_from(&moved);
    let reference = repository.seen_from(&repository.vault()).git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/bivouac/",
    ]);
    repository.git(&["checkout", "-q", "biv/mine"]);
    repository.git(&["fetch", "-q", ".git/bivouac/vault", &reference]);
    repository.git(&["stash", "apply", "-q", "FETCH_HEAD"]);
    let read = |name: &str| std::fs::read_to_string(moved.join(name)).unwrap();
    assert_eq!(
        (read("README.md"), read("untracked")),
        ("changed\n".into(), "new\n".into())
    );
}
