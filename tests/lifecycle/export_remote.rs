//! An export lies on a git remote or in a directory, and arrives from there.

use std::path::{Path, PathBuf};

use crate::export::key;
use crate::support::{Answer, Camp, Repository};

/// The remote of both sides, with nothing in it.
fn bare(camp: &Camp) -> Repository {
    let remote = camp.empty_repository("remote");
    remote.git(&["config", "core.bare", "true"]);
    remote
}

fn refs(remote: &Repository) -> Vec<String> {
    let listing = remote.git(&["for-each-ref", "--format=%(refname)"]);
    listing.lines().map(str::to_owned).collect()
}

/// A camp with a paused instance `api` that has work of all kinds, and a key.
fn paused_camp() -> (Camp, Repository, String) {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start_shell(&repository, "api", "echo here; exec cat");
    let seen = repository.seen_from(&instance.worktree);
    seen.write("committed.txt", "committed\n");
    seen.commit("own");
    seen.write("new.txt", "a secret plan\n");
    drop(camp.biv(["pause", "api"]).run().ok());
    drop(key(&camp, "id_ed25519"));
    (camp, repository, instance.id)
}

fn private_key(camp: &Camp) -> PathBuf {
    camp.root().join("user/.ssh/id_ed25519")
}

fn import(there: &Camp, here: &Camp, target: &Repository, words: &[&str]) -> Answer {
    let call = there.biv(["import", "--json", "--repo"]).arg(&target.path);
    let call = call.arg("--key").arg(private_key(here));
    call.args(words).run()
}

fn work_of(there: &Camp, arrived: &serde_json::Value) -> (String, String) {
    drop(there.biv(["resume", "api"]).run().ok());
    let work = arrived["instance"]["worktree"].as_str().unwrap();
    let text = |name: &str| std::fs::read_to_string(Path::new(work).join(name)).unwrap();
    (text("committed.txt"), text("new.txt"))
}

#[test]
fn an_export_travels_by_a_git_remote_and_nothing_else_is_pushed() {
    let (here, repository, id) = paused_camp();
    let remote = bare(&here);
    let address = remote.path.to_str().unwrap();
    repository.git(&["remote", "add", "origin", address]);
    // Settings that would push more.
    repository.git(&["config", "push.followTags", "true"]);
    repository.git(&["config", "remote.origin.push", "refs/heads/*:refs/heads/*"]);
    repository.git(&["config", "remote.origin.mirror", "true"]);
    repository.git(&["tag", "-a", "-m", "tag", "v1"]);
    let hook = repository.path.join(".git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    executable(&hook);
    let export = |words: &[&str]| {
        let call = here.biv(["export", "api", "--json", "--with-history"]);
        call.args(words).run()
    };

    // Never in plain text.
    drop(export(&["--to", "origin", "--plain"]).fails(2));
    drop(export(&["--to", "origin"]).ok());
    let name = format!("refs/bivouac-exports/{id}-api");
    assert_eq!(refs(&remote), std::slice::from_ref(&name));
    // One commit with encrypted pieces, and no object of the user's repository.
    let objects = remote.git(&["cat-file", "--batch-all-objects", "--batch-check"]);
    assert_eq!(objects.lines().count(), 3, "{objects}");
    let piece = remote.git(&["cat-file", "blob", &format!("{name}:000000")]);
    assert!(piece.starts_with("age-encryption.org/v1"), "{piece}");
    let before = remote.git(&["rev-parse", &name]);

    // An older one is replaced only on demand.
    let taken = export(&["--to", "origin"]).fails(1);
    assert_eq!(taken.error()["code"], "export_taken", "{}", taken.error());
    assert_eq!(remote.git(&["rev-parse", &name]), before);
    drop(export(&["--to", "origin", "--replace"]).ok());
    assert_ne!(remote.git(&["rev-parse", &name]), before);
    // One that has another title by now leaves nothing behind.
    drop(here.biv(["rename", "api", "the api"]).run().ok());
    drop(
        here.biv([
            "export",
            "the api",
            "--to",
            "origin",
            "--with-history",
            "--replace",
        ])
        .run()
        .ok(),
    );
    assert_eq!(refs(&remote), [name.replace("-api", "-the-api")]);
    drop(here.biv(["rename", "the api", "api"]).run().ok());
    let exported = export(&["--to", "origin", "--replace"]).ok().json();
    assert_eq!(refs(&remote), [name]);

    let there = Camp::new();
    let target = there.empty_repository("app");
    target.git(&["remote", "add", "team", address]);
    let missing = import(&there, &here, &target, &["--from", "team", "nothing"]).fails(3);
    assert_eq!(missing.error()["code"], "no_such_export");
    let hint = missing.error()["hint"].to_string();
    assert!(hint.contains("-api"), "{hint}");
    let arrived = import(&there, &here, &target, &["--from", "team", "api"])
        .ok()
        .json();
    assert_eq!(arrived["manifest"], exported["manifest"]);
    assert_eq!(arrived["instance"]["id"], id.as_str());
    let expected = ("committed\n".to_owned(), "a secret plan\n".to_owned());
    assert_eq!(work_of(&there, &arrived), expected);
    // Nothing of the exchange stays in either repository.
    for repository in [&repository, &target] {
        let left = repository.path.join(".git/bivouac/tmp");
        assert_eq!(std::fs::read_dir(left).unwrap().count(), 0);
        assert!(!refs(repository).iter().any(|name| name.contains("exports")));
    }
    drop(there.biv(["kill", "-y", "api"]).run().ok());
}

#[test]
fn a_push_that_is_cut_off_or_refused_leaves_nothing_there() {
    let (here, repository, _) = paused_camp();
    let remote = bare(&here);
    let address = format!("box:{}", remote.path.display());
    repository.git(&["remote", "add", "origin", &address]);
    let export = |ssh: &str| {
        let script = here.root().join("ssh");
        std::fs::write(&script, format!("#!/bin/sh\nshift\n{ssh}\n")).unwrap();
        executable(&script);
        here.biv([
            "export",
            "api",
            "--json",
            "--with-history",
            "--to",
            "origin",
        ])
        .env("GIT_SSH_COMMAND", &script)
        .env("GIT_SSH_VARIANT", "simple")
    };
    let whole = "exec sh -c \"$*\"";
    // The list of refs gets through, and a part of what is pushed.
    let cut = "case \"$*\" in *receive-pack*) head -c 700 | sh -c \"$*\"; exit 255;; esac\n\
               exec sh -c \"$*\"";
    drop(export(cut).run().fails(1));
    assert_eq!(refs(&remote), [""; 0]);
    drop(export(whole).crash_at("export:push:before").run().crashed());
    assert_eq!(refs(&remote), [""; 0]);
    // The other side does not want it.
    let hook = remote.path.join(".git/hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho 'not here' >&2; exit 1\n").unwrap();
    executable(&hook);
    let refused = export(whole).run().fails(1);
    let told = refused.error().to_string();
    assert!(told.contains("not here"), "{told}");
    assert_eq!(refs(&remote), [""; 0]);
    std::fs::remove_file(&hook).unwrap();
    let there = Camp::new();
    let target = there.empty_repository("app");
    let path = remote.path.to_str().unwrap();
    let empty = import(&there, &here, &target, &["--from", path]).fails(3);
    assert_eq!(empty.error()["code"], "no_such_export", "{}", empty.error());

    // All of it is there once it has been pushed, even if nobody is told.
    drop(export(whole).crash_at("export:push:after").run().crashed());
    let arrived = import(&there, &here, &target, &["--from", path])
        .ok()
        .json();
    let expected = ("committed\n".to_owned(), "a secret plan\n".to_owned());
    assert_eq!(work_of(&there, &arrived), expected);
    drop(there.biv(["kill", "-y", "api"]).run().ok());
}

#[test]
fn what_lies_on_a_remote_is_not_trusted() {
    let (here, _, id) = paused_camp();
    let there = Camp::new();
    let target = there.empty_repository("app");
    let remote = bare(&here);
    let path = remote.path.to_str().unwrap().to_owned();
    let plain = here.root().join("plain.biv");
    let call = here.biv(["export", "api", "--plain", "--with-history", "-o"]);
    drop(call.arg(&plain).run().ok());
    let whole = here.root().join("whole.biv");
    let call = here.biv(["export", "api", "--with-history", "-o"]);
    drop(call.arg(&whole).run().ok());
    let bytes = std::fs::read(&whole).unwrap();
    let half = here.root().join("half.biv");
    std::fs::write(&half, &bytes[..bytes.len() / 2]).unwrap();

    let blob = |file: &Path| remote.git(&["hash-object", "-w", file.to_str().unwrap()]);
    let put = |name: &str, lines: &str| {
        let file = here.root().join("tree");
        std::fs::write(&file, lines).unwrap();
        let command = format!("git mktree --missing < '{}'", file.display());
        let tree = remote.git(&["-c", &format!("alias.tree=!{command}"), "tree"]);
        let commit = remote.git(&["commit-tree", &tree, "-m", "x"]);
        remote.git(&[
            "update-ref",
            &format!("refs/bivouac-exports/{name}"),
            &commit,
        ]);
    };
    let only =
        |name: &str, file: &Path| put(name, &format!("100644 blob {}\t000000\n", blob(file)));
    let api = format!("{id}-api");
    let refused = |code: &str, says: &str| {
        let answer = import(&there, &here, &target, &["--from", &path]).fails(1);
        let told = answer.error();
        assert_eq!(told["code"], code, "{told}");
        assert!(told.to_string().contains(says), "{told}");
        assert!(there.list().is_empty());
    };
    only(&api, &plain);
    refused("encryption", "not encrypted");
    only(&api, &half);
    refused("encryption", "cannot be decrypted");
    let id_of_blob = blob(&whole);
    put(&api, &format!("120000 blob {id_of_blob}\t000000\n"));
    refused("git", "refused: it is no export");
    put(&api, &format!("100644 blob {id_of_blob}\t000001\n"));
    refused("git", "refused: it is no export");
    // Another instance under a name that is not its own.
    remote.git(&["update-ref", "-d", &format!("refs/bivouac-exports/{api}")]);
    only("bcdfghjkmn-api", &whole);
    refused("git", "another instance");
    remote.git(&["update-ref", "-d", "refs/bivouac-exports/bcdfghjkmn-api"]);
    // What has no name of ours is none.
    only("something", &whole);
    let none = import(&there, &here, &target, &["--from", &path]).fails(3);
    assert_eq!(none.error()["code"], "no_such_export", "{}", none.error());
    only(&api, &whole);
    drop(import(&there, &here, &target, &["--from", &path, &id]).ok());
}

#[test]
fn an_export_lies_in_a_directory() {
    let (here, _, id) = paused_camp();
    let directory = here.root().join("stick");
    let to = directory.to_str().unwrap();
    let export = |more: &[&str]| {
        let call = here.biv(["export", "api", "--json", "--with-history", "--to", to]);
        call.args(more).run()
    };
    let missing = export(&[]).fails(3);
    assert_eq!(
        missing.error()["code"],
        "no_such_remote",
        "{}",
        missing.error()
    );
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("another.biv"), "not ours").unwrap();
    let exported = export(&[]).ok().json();
    let file = directory.join(format!("{id}-api.biv"));
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1"));
    assert_eq!(exported["bytes"], bytes.len());
    drop(export(&[]).fails(1));
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    drop(export(&["--replace"]).ok());
    assert_ne!(std::fs::read(&file).unwrap(), bytes);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 2);

    let there = Camp::new();
    let target = there.empty_repository("app");
    let arrived = import(&there, &here, &target, &["--from", to]).ok().json();
    assert_eq!(arrived["manifest"], exported["manifest"]);
    let expected = ("committed\n".to_owned(), "a secret plan\n".to_owned());
    assert_eq!(work_of(&there, &arrived), expected);
    drop(there.biv(["kill", "-y", "api"]).run().ok());
}

fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
