//! Landing as the user's git would do it: hooks with consent, filters, templates, what a push may do.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::land::{commit, main_of, with_commit};
use crate::land_cases::read;
use crate::support::{Camp, Repository};

fn configure(camp: &Camp, text: &str) {
    std::fs::create_dir_all(camp.home().join("config")).unwrap();
    std::fs::write(camp.home().join("config/config.toml"), text).unwrap();
}

fn write_hook(directory: &Path, name: &str, script: &str) {
    std::fs::create_dir_all(directory).unwrap();
    let hook = directory.join(name);
    std::fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
}

/// A commit on `main`, so that a landing cannot fast-forward.
fn move_on(repository: &Repository) -> String {
    repository.write("other.txt", "other\n");
    repository.commit("other")
}

#[test]
fn hooks_run_on_the_result_with_consent_and_may_change_or_refuse_it() {
    let camp = Camp::new();
    configure(&camp, "[land]\nhooks = true\n");
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "new.txt");
    let tip = repository.git(&["rev-parse", "biv/feature"]);
    let before = move_on(&repository);
    let hooks = repository.path.join(".git/hooks");
    write_hook(&hooks, "commit-msg", "echo no such message; exit 1");
    let land = |more: &[&str]| {
        let arguments = [&["land", "--json", "--keep", "--squash", "feature"], more].concat();
        camp.biv(arguments).run()
    };
    let error = land(&[]).fails(1).error();
    assert_eq!(error["code"], "hook_failed");
    assert_eq!(error["details"]["hook"], "commit-msg");
    assert_eq!(main_of(&repository), before);
    // A trial runs none.
    drop(land(&["--dry-run"]).ok());

    let order = "test -e other.txt && git diff --cached --name-only | grep -qx new.txt";
    write_hook(
        &hooks,
        "pre-commit",
        &format!("{order} && echo formatted > new.txt && git add new.txt"),
    );
    write_hook(&hooks, "commit-msg", "echo 'Reviewed-by: a hook' >> \"$1\"");
    drop(land(&["-m", "All of it"]).ok());
    assert_eq!(repository.git(&["show", "main:new.txt"]), "formatted");
    let message = repository.git(&["log", "-1", "--format=%B", "main"]);
    assert!(message.contains("All of it"), "{message}");
    assert!(message.contains("Reviewed-by: a hook"), "{message}");
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    // Branch and worktree of the instance are as they were, and the checkout of the hooks is gone.
    assert_eq!(repository.git(&["rev-parse", "biv/feature"]), tip);
    assert_eq!(read(&instance.worktree.join("new.txt")), "feature\n");
    assert_eq!(
        repository.worktrees(),
        std::slice::from_ref(&instance.worktree)
    );

    // A merge has a hook of its own; without hooks, that is said.
    std::fs::remove_file(hooks.join("pre-commit")).unwrap();
    let _second = with_commit(&camp, &repository, "second", "two.txt");
    repository.write("third.txt", "3\n");
    repository.commit("third");
    write_hook(&hooks, "pre-merge-commit", "exit 1");
    let answer = camp.biv(["land", "second"]).run().fails(1);
    assert!(
        answer.said().contains("the hook pre-merge-commit"),
        "{}",
        answer.said()
    );
    let answer = camp.biv(["land", "--no-hooks", "second"]).run().ok();
    assert!(
        answer.said().contains("hooks do not run"),
        "{}",
        answer.said()
    );
    assert!(repository.path.join("two.txt").exists());
}

/// What an agent has written must not become a hook by landing.
#[test]
fn hooks_are_those_of_the_main_checkout() {
    let camp = Camp::new();
    configure(&camp, "[land]\nhooks = true\n");
    let repository = camp.repository("app");
    let (theirs, ours) = (camp.root().join("theirs"), camp.root().join("ours"));
    write_hook(
        &repository.path.join(".husky"),
        "pre-commit",
        &format!("touch '{}'", ours.display()),
    );
    repository.commit("hooks");
    repository.git(&["config", "core.hooksPath", ".husky"]);
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    for name in ["pre-commit", "commit-msg"] {
        write_hook(
            &instance.worktree.join(".husky"),
            name,
            &format!("touch '{}'", theirs.display()),
        );
    }
    let checkout = repository.seen_from(&instance.worktree);
    checkout.git(&["-c", "core.hooksPath=/dev/null", "add", "-A"]);
    checkout.git(&["-c", "core.hooksPath=/dev/null", "commit", "-qm", "hooks"]);
    repository.git(&["config", "core.hooksPath", "/dev/null"]);
    move_on(&repository);
    repository.git(&["config", "core.hooksPath", ".husky"]);
    drop(camp.biv(["land", "--squash", "feature"]).run().ok());
    assert!(ours.exists());
    assert!(!theirs.exists());
}

#[test]
fn filters_templates_and_the_rules_for_pushes_are_as_in_the_users_git() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    // A filter, as LFS is one: what is stored differs from what is on the disk.
    repository.write(".gitattributes", "*.up filter=up\n");
    repository.commit("attributes");
    repository.git(&["config", "filter.up.clean", "tr A-Z a-z"]);
    repository.git(&["config", "filter.up.smudge", "tr a-z A-Z"]);
    repository.git(&["config", "filter.up.required", "true"]);
    repository.git(&["config", "receive.denyCurrentBranch", "refuse"]);
    let template = camp.root().join("template");
    std::fs::write(&template, "Why: \n").unwrap();
    repository.git(&["config", "commit.template", template.to_str().unwrap()]);
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    commit(&repository, &instance, "text.up", "LOUD\n");
    move_on(&repository);
    drop(camp.biv(["land", "--squash", "feature"]).run().ok());
    assert_eq!(repository.git(&["show", "main:text.up"]), "loud");
    assert_eq!(read(&repository.path.join("text.up")), "LOUD\n");
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    // A template is for an editor; a message that is given does not have it, as with `git commit -m`.
    let message = repository.git(&["log", "-1", "--format=%B", "main"]);
    assert_eq!(message.trim(), "add text.up");
}
