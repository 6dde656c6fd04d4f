//! The checkout in which results are checked is kept: at the same path, with ignored files, and with nothing
//! else that the check before has done.

use std::path::{Path, PathBuf};

use crate::land::{commit, main_of, with_commit};
use crate::land_cases::read;
use crate::support::{Camp, Repository, until};

/// A repository that ignores its build output.
fn app(camp: &Camp) -> Repository {
    let repository = camp.repository("app");
    repository.write(".gitignore", "build/\n*.log\n");
    repository.commit("what is built");
    repository
}

/// Lands instances of their own, one command each, and says what the checks wrote into `seen`.
fn land(camp: &Camp, title: &str, check: &str) -> String {
    let seen = camp.root().join(format!("seen-{title}"));
    let check = format!("seen='{}'; {check}", seen.display());
    drop(camp.biv(["land", "--check", &check, title]).run().ok());
    std::fs::read_to_string(seen).unwrap_or_default()
}

/// The checkouts of checks, by git's list.
fn checkouts(camp: &Camp, repository: &Repository) -> Vec<PathBuf> {
    let below = camp.home().join("state/checks");
    let mut found = repository.worktrees();
    found.retain(|path| path.starts_with(&below));
    found
}

fn configure(camp: &Camp, text: &str) {
    std::fs::create_dir_all(camp.home().join("config")).unwrap();
    std::fs::write(camp.home().join("config/config.toml"), text).unwrap();
}

#[test]
fn a_check_finds_the_build_output_of_the_last_one_and_nothing_else_of_it() {
    let camp = Camp::new();
    let repository = app(&camp);
    let _one = with_commit(&camp, &repository, "one", "one.txt");
    let _two = with_commit(&camp, &repository, "two", "two.txt");
    let look = "test -z \"$(git status --porcelain)\" || exit 7; \
         { pwd; stat -c '%y %i' src/lib.rs; cat README.md; ls build 2>/dev/null; } > \"$seen\"; ";
    let spoil = "mkdir -p build nested && touch build/output stray.txt && git init -q nested && \
         touch nested/file && echo broken > README.md && git update-index --assume-unchanged README.md && \
         git rm -q --cached src/lib.rs && mkdir one.dir && rm one.txt && mkdir one.txt && touch one.txt/x";
    let first = land(&camp, "one", &format!("{look}{spoil}"));
    let second = land(
        &camp,
        "two",
        &format!("test -f one.txt && test -f two.txt && test ! -e one.dir || exit 8; {look}"),
    );
    let expected = format!("{first}output\n");
    assert_eq!(
        second, expected,
        "the same path, the same times, the output"
    );
    assert_eq!(checkouts(&camp, &repository).len(), 1);
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_a_check_does_with_git_moves_no_branch_and_reaches_no_worktree() {
    let camp = Camp::new();
    let repository = app(&camp);
    repository.git(&["branch", "side"]);
    let side = repository.git(&["rev-parse", "side"]);
    let other = with_commit(&camp, &repository, "other", "other.txt");
    let checkout = repository.seen_from(&other.worktree);
    checkout.write("staged.txt", "staged\n");
    checkout.git(&["add", "staged.txt"]);
    let state = || {
        let status = checkout.git(&["status", "--porcelain"]);
        (status, checkout.git(&["rev-parse", "HEAD"]))
    };
    let before = state();
    let spoils = [
        "git switch -q side".to_owned(),
        "echo 1 > c && git add c && git -c user.name=A -c user.email=a@b commit -qm c && \
         git rev-parse HEAD~1 > \"$(git rev-parse --git-dir)/MERGE_HEAD\""
            .to_owned(),
        format!("cp '{}/.git' .git", other.worktree.display()),
        "rm .git && git init -q".to_owned(),
        "touch \"$(git rev-parse --git-dir)/index.lock\"".to_owned(),
        "rm -rf .git ./*".to_owned(),
    ];
    for (n, spoil) in spoils.iter().enumerate() {
        let title = format!("work{n}");
        let file = format!("{title}.txt");
        let _instance = with_commit(&camp, &repository, &title, &file);
        let check = format!(
            "test -z \"$(git status --porcelain)\" && test -e {file} && \
             test \"$(git rev-parse HEAD)\" = \"$BIV_LAND_COMMIT\" || exit 7; {spoil}"
        );
        land(&camp, &title, &check);
        assert_eq!(repository.git(&["rev-parse", "side"]), side, "{spoil}");
        assert_eq!(state(), before, "{spoil}");
        // The user can check it out.
        assert!(!repository.git(&["worktree", "list"]).contains("[side]"));
    }
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn nothing_is_written_or_deleted_through_a_link() {
    let camp = Camp::new();
    let repository = app(&camp);
    let outside = camp.root().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("lib.rs"), "precious\n").unwrap();
    std::fs::write(outside.join("more"), "precious\n").unwrap();
    let _one = with_commit(&camp, &repository, "one", "one.txt");
    let two = with_commit(&camp, &repository, "two", "two.txt");
    commit(&repository, &two, "src/lib.rs", "// changed\n");
    let link = format!("rm -r src && ln -s '{}' src", outside.display());
    land(&camp, "one", &link);
    land(
        &camp,
        "two",
        "test -d src && test ! -L src && grep -q changed src/lib.rs",
    );
    assert_eq!(read(&outside.join("lib.rs")), "precious\n");
    assert_eq!(read(&outside.join("more")), "precious\n");
}

#[test]
fn what_the_set_up_brings_is_what_there_is_now() {
    let camp = Camp::new();
    let repository = app(&camp);
    repository.write(
        ".bivouac.toml",
        "[setup]\ncopy = [\"a.log\", \"data/inside.log\"]\nlink = [\"data\", \"b.log\"]\n",
    );
    repository.commit("set-up");
    repository.write("a.log", "1\n");
    repository.write("b.log", "b\n");
    repository.write("data/inside.log", "mine\n");
    let _one = with_commit(&camp, &repository, "one", "one.txt");
    let _two = with_commit(&camp, &repository, "two", "two.txt");
    let look = "cat a.log b.log data/inside.log > \"$seen\"";
    assert_eq!(
        land(&camp, "one", &format!("{look}; echo old > a.log")),
        "1\nb\nmine\n"
    );
    repository.write("a.log", "2\n");
    assert_eq!(land(&camp, "two", look), "2\nb\nmine\n");
    // Of the main checkout nothing was taken away.
    assert_eq!(read(&repository.path.join("b.log")), "b\n");
    assert_eq!(read(&repository.path.join("data/inside.log")), "mine\n");
}

#[test]
fn a_kept_checkout_is_as_a_fresh_one_would_be() {
    let camp = Camp::new();
    let library = camp.repository("library");
    let repository = app(&camp);
    let allow = ["-c", "protocol.file.allow=always", "submodule"];
    let url = library.path.to_str().unwrap();
    repository.git(&[&allow[..], &["add", "-q", url, "lib"]].concat());
    repository.write("list.txt", "a\n");
    repository.write("kept.log", "tracked although ignored\n");
    repository.git(&["add", "-f", "kept.log"]);
    repository.commit("a library");
    let one = with_commit(&camp, &repository, "one", "one.txt");
    assert!(!one.worktree.join("lib/README.md").exists());
    let check = "test -z \"$(ls lib)\" && test -e kept.log || exit 7; \
         git -c protocol.file.allow=always submodule update -q --init && test -e lib/README.md";
    land(&camp, "one", check);
    let two = with_commit(&camp, &repository, "two", "two.txt");
    // The same content is another file by its attributes; what was tracked is gone, although it is ignored.
    let checkout = repository.seen_from(&two.worktree);
    checkout.git(&["rm", "-q", "kept.log"]);
    checkout.write(".gitattributes", "list.txt eol=crlf\n");
    checkout.commit("ends of lines");
    let check =
        "test -z \"$(ls lib)\" && test ! -e kept.log && grep -q \"$(printf '\\r')\" list.txt";
    land(&camp, "two", check);
    assert_eq!(
        read(&repository.path.join("lib/README.md")),
        "# A repository\n"
    );
}

#[test]
fn the_check_of_a_killed_landing_is_ended_before_the_next_one_runs() {
    let camp = Camp::new();
    let repository = app(&camp);
    let _instance = with_commit(&camp, &repository, "feature", "new.txt");
    let mark = camp.root().join("begun");
    let check = format!(
        "touch stray.txt; echo $$ > '{0}.new' && mv '{0}.new' '{0}'; exec sleep 4714",
        mark.display()
    );
    let mut child = camp
        .biv(["land", "--check", &check, "feature"])
        .in_background();
    until("the check runs", || mark.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let pid = read(&mark).trim().to_owned();
    assert!(Path::new("/proc").join(&pid).exists(), "the check goes on");
    // What is left of a process that nobody has waited for has no command line.
    let check = format!("test ! -e stray.txt && ! grep -qs sleep /proc/{pid}/cmdline");
    land(&camp, "feature", &check);
    assert_eq!(checkouts(&camp, &repository).len(), 1);
}

/// Killed while the checkout is made or changed: what is there then is not relied upon.
#[test]
fn a_checkout_that_was_left_unfinished_is_made_anew() {
    let camp = Camp::new();
    let repository = app(&camp);
    let _one = with_commit(&camp, &repository, "one", "one.txt");
    let _two = with_commit(&camp, &repository, "two", "two.txt");
    land(
        &camp,
        "one",
        "mkdir build && touch build/output unfinished.log",
    );
    let checkout = checkouts(&camp, &repository).remove(0);
    let about = checkout.with_extension("json");
    let mut known: serde_json::Value = serde_json::from_str(&read(&about)).unwrap();
    assert_eq!(known["commit"], main_of(&repository).as_str());
    known["commit"] = serde_json::Value::Null;
    std::fs::write(&about, known.to_string()).unwrap();
    land(&camp, "two", "test ! -e unfinished.log && test ! -e build");
    assert_eq!(checkouts(&camp, &repository), [checkout]);
}

#[test]
fn two_landings_at_once_are_checked_one_after_the_other_each_once() {
    let camp = Camp::new();
    let repository = app(&camp);
    let _one = with_commit(&camp, &repository, "one", "one.txt");
    let _two = with_commit(&camp, &repository, "two", "two.txt");
    let (alone, runs) = (camp.root().join("alone"), camp.root().join("runs"));
    let check = format!(
        "mkdir '{0}' || exit 7; ls | tr '\\n' ' ' >> '{1}'; echo >> '{1}'; sleep 2; rmdir '{0}'",
        alone.display(),
        runs.display()
    );
    let mut first = camp.biv(["land", "--check", &check, "one"]).in_background();
    until("the first check runs", || alone.exists());
    let said = camp
        .biv(["land", "--check", &check, "two"])
        .run()
        .ok()
        .said();
    assert!(said.contains("this one waits"), "{said}");
    assert!(first.wait().unwrap().success());
    let runs = read(&runs);
    assert_eq!(runs.lines().count(), 2, "{runs}");
    assert!(
        runs.lines().last().unwrap().contains("one.txt src two.txt"),
        "{runs}"
    );
}

#[test]
fn gc_frees_a_checkout_that_is_not_used_any_more_and_no_other() {
    let camp = Camp::new();
    let repository = app(&camp);
    let _one = with_commit(&camp, &repository, "one", "one.txt");
    let two = with_commit(&camp, &repository, "two", "two.txt");
    land(
        &camp,
        "one",
        "mkdir build && head -c 100000 /dev/zero > build/output",
    );
    let checkout = checkouts(&camp, &repository).remove(0);
    let gc = |arguments: &[&str]| {
        camp.biv([&["gc", "--json"], arguments].concat())
            .run()
            .ok()
            .json()
    };
    let kept = gc(&["--dry-run"]);
    assert_eq!(kept["kept_checkouts"]["worktrees"], 1);
    assert!(kept["kept_checkouts"]["bytes"].as_u64().unwrap() > 100_000);
    assert_eq!(gc(&[])["checkouts"], serde_json::json!([]));
    assert!(checkout.exists());

    // While it is in use it stays, whatever its age.
    configure(&camp, "[land]\nkeep_checkout = \"1s\"\n");
    let mark = camp.root().join("begun");
    let check = format!("touch '{}'; sleep 3", mark.display());
    let mut child = camp
        .biv(["land", "--keep", "--check", &check, "two"])
        .in_background();
    until("the check runs", || mark.exists());
    std::thread::sleep(std::time::Duration::from_millis(1200));
    assert_eq!(gc(&[])["checkouts"], serde_json::json!([]));
    assert!(child.wait().unwrap().success());

    let would = gc(&["--dry-run"]);
    assert_eq!(would["checkouts"][0]["path"], checkout.to_str().unwrap());
    assert!(checkout.exists());
    let freed = gc(&[]);
    assert_eq!(freed["checkouts"][0]["target"], "main");
    assert_eq!(freed["checkouts"][0]["left"], serde_json::json!([]));
    assert!(!checkout.exists());
    assert_eq!(repository.worktrees(), [two.worktree]);
    let left = std::fs::read_dir(camp.home().join("state/checks")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn nothing_is_kept_where_that_is_not_wanted() {
    let camp = Camp::new();
    configure(&camp, "[land]\nkeep_checkout = \"0s\"\n");
    let repository = app(&camp);
    let instance = with_commit(&camp, &repository, "one", "one.txt");
    let failing = "mkdir build; false";
    drop(camp.biv(["land", "--check", failing, "one"]).run().fails(1));
    assert_eq!(repository.worktrees(), [instance.worktree]);
    land(&camp, "one", "test ! -e build");
    assert_eq!(repository.worktrees(), [] as [PathBuf; 0]);
}
