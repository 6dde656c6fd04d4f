//! What a repository wants done in each fresh worktree.

use crate::support::{Answer, Camp, Repository};

fn repository_with(camp: &Camp, setup: &str) -> Repository {
    let repository = camp.repository("app");
    repository.write(".gitignore", ".env\ncache/\nsecrets/\nnode_modules\n");
    repository.write(".bivouac.toml", setup);
    repository.commit("set-up");
    repository.write(".env", "TOKEN=abc\n");
    repository.write("cache/big.bin", "cached\n");
    repository.write("secrets/a/b.txt", "deep\n");
    repository
}

fn new_in(camp: &Camp, repository: &Repository, more: &[&str]) -> Answer {
    let arguments = [&["new", "x", "-a", "demo"], more].concat();
    camp.biv(arguments).within(&repository.path).run()
}

#[test]
fn files_are_copied_and_linked_from_the_main_checkout() {
    let camp = Camp::new();
    let setup = "[setup]\ncopy = [\".env\", \"secrets\", \"README.md\", \"not-there\"]\nlink = [\"cache\"]\n";
    let repository = repository_with(&camp, setup);
    repository.write("README.md", "# Changed in the main checkout\n");
    drop(new_in(&camp, &repository, &[]).ok());
    let worktree = camp.list().remove(0).worktree;
    let read = |name: &str| std::fs::read_to_string(worktree.join(name)).unwrap();
    assert_eq!(read(".env"), "TOKEN=abc\n");
    assert_eq!(read("secrets/a/b.txt"), "deep\n");
    assert_eq!(
        read("README.md"),
        "# A repository\n",
        "nothing is overwritten"
    );
    assert_eq!(
        std::fs::read_link(worktree.join("cache")).unwrap(),
        repository.path.join("cache")
    );
    std::fs::write(worktree.join(".env"), "changed").unwrap();
    let original = std::fs::read_to_string(repository.path.join(".env")).unwrap();
    assert_eq!(original, "TOKEN=abc\n", "a copy is a copy");
}

#[test]
fn a_command_needs_consent_once_and_again_when_it_changes() {
    let camp = Camp::new();
    let run = |script: &str| format!("[setup]\nrun = \"{script}\"\n");
    let repository = repository_with(&camp, &run("pwd > where; echo $BIV_MAIN_CHECKOUT >> where"));
    let answer = new_in(&camp, &repository, &[]).fails(1);
    insta::assert_snapshot!(answer.said(), @r"
    error: the repository's set-up command needs your consent: pwd > where; echo $BIV_MAIN_CHECKOUT >> where
      hint: read it, then `biv new --trust-setup` runs it from now on; `--no-setup` goes without
    ");
    assert_eq!(camp.list().len(), 0);
    assert_eq!(repository.branches(), ["main"]);

    drop(new_in(&camp, &repository, &["--no-setup"]).ok());
    let without = camp.list().remove(0);
    assert!(!without.worktree.join("where").exists());
    camp.kill(&without);

    drop(new_in(&camp, &repository, &["--trust-setup"]).ok());
    let trusted = camp.list().remove(0);
    let text = std::fs::read_to_string(trusted.worktree.join("where")).unwrap();
    let expected = format!(
        "{}\n{}\n",
        trusted.worktree.display(),
        repository.path.display()
    );
    assert_eq!(text, expected);
    camp.kill(&trusted);

    // Consent holds for this text, and for this text alone.
    drop(new_in(&camp, &repository, &[]).ok());
    repository.write(".bivouac.toml", &run("echo something else"));
    let changed = camp
        .biv(["new", "y", "-a", "demo", "--json"])
        .within(&repository.path);
    assert_eq!(changed.run().fails(1).error()["code"], "consent_needed");
    // And for this repository alone.
    let other = camp.repository("other");
    other.write(
        ".bivouac.toml",
        &run("pwd > where; echo $BIV_MAIN_CHECKOUT >> where"),
    );
    drop(new_in(&camp, &other, &[]).fails(1));
}

#[test]
fn a_failing_command_is_shown_and_nothing_is_left() {
    let camp = Camp::new();
    let script = "echo making; echo 'no rule to make target' >&2; exit 2";
    let repository = repository_with(&camp, &format!("[setup]\nrun = \"{script}\"\n"));
    let answer = new_in(&camp, &repository, &["--trust-setup"]).fails(1);
    insta::assert_snapshot!(answer.said(), @r"
    running the repository's set-up: echo making; echo 'no rule to make target' >&2; exit 2
    error: cannot create `x`
      cause: the repository's set-up command failed with exit status: 2: echo making; echo 'no rule to make target' >&2; exit 2
      | making
      | no rule to make target
      hint: mend it in .bivouac.toml, or go without by `--no-setup`
    ");
    assert_eq!(camp.list().len(), 0);
    assert_eq!(repository.branches(), ["main"]);
    assert_eq!(repository.worktrees(), Vec::<std::path::PathBuf>::new());
    assert_eq!(camp.sessions(), Vec::<String>::new());
}

#[test]
fn a_file_that_leads_out_of_the_repository_or_is_wrong_is_refused() {
    let camp = Camp::new();
    for (setup, expected) in [
        (
            "[setup]\ncopy = [\"../x\"]\n",
            "leads out of the repository",
        ),
        (
            "[setup]\nlink = [\"/etc/passwd\"]\n",
            "leads out of the repository",
        ),
        ("[setup]\ncopi = [\"x\"]\n", "copi"),
        ("[setup\n", ".bivouac.toml is wrong"),
    ] {
        let repository = camp.repository("app");
        repository.write(".bivouac.toml", setup);
        let answer = new_in(&camp, &repository, &[]).fails(1);
        assert!(answer.stderr.contains(expected), "{}", answer.stderr);
        assert!(answer.stderr.contains("hint: "), "{}", answer.stderr);
    }
    assert_eq!(camp.list().len(), 0);
}
