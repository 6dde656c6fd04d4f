//! Landing: what an instance has made comes onto its base branch, or nothing changes.

use crate::support::{Camp, Instance, Repository};

/// An instance with one commit that adds a file.
pub(crate) fn with_commit(
    camp: &Camp,
    repository: &Repository,
    title: &str,
    file: &str,
) -> Instance {
    let instance = camp.start(repository, title, &[]);
    instance.wait_idle(camp);
    commit(repository, &instance, file, &format!("{title}\n"));
    instance
}

pub(crate) fn commit(
    repository: &Repository,
    instance: &Instance,
    file: &str,
    text: &str,
) -> String {
    let checkout = repository.seen_from(&instance.worktree);
    checkout.write(file, text);
    checkout.commit(&format!("add {file}"))
}

pub(crate) fn main_of(repository: &Repository) -> String {
    repository.git(&["rev-parse", "main"])
}

#[test]
fn a_fast_forward_lands_and_ends_the_instance() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "new.txt");
    let tip = repository.git(&["rev-parse", "biv/feature"]);
    let answer = camp.biv(["land", "--json", "feature"]).run().ok().json();
    let landed = &answer["landed"][0];
    assert_eq!(landed["commit"], tip.as_str());
    assert_eq!(landed["by"], "fast-forward");
    assert_eq!(landed["target"], "main");
    assert_eq!(landed["commits"], 1);
    assert_eq!(landed["branch_deleted"], true);
    assert_eq!(main_of(&repository), tip);
    // The user's own checkout of `main` has followed.
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    assert!(repository.path.join("new.txt").exists());
    assert!(!instance.worktree.exists());
    assert_eq!(camp.show(&instance)["state"], "killed");
    assert_eq!(repository.branches(), ["main"]);
    let events = camp.biv(["events", "--json"]).run().ok().stdout;
    let event = events.lines().find(|line| line.contains("instance:landed"));
    let event: serde_json::Value = serde_json::from_str(event.unwrap_or_default()).unwrap();
    assert_eq!(event["data"]["commit"], tip.as_str());
    assert_eq!(event["data"]["target"], "main");
}

#[test]
fn a_landing_is_taken_back_with_its_instance() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "new.txt");
    let before = main_of(&repository);
    drop(camp.biv(["land", "feature"]).run().ok());
    drop(camp.biv(["undo-land", "feature"]).run().ok());
    assert_eq!(main_of(&repository), before);
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    assert!(!repository.path.join("new.txt").exists());
    assert_eq!(camp.show(&instance)["state"], "paused");
    // Its branch was deleted by the landing, and is there again at once.
    let branch = instance.branch.clone().unwrap();
    assert!(repository.branches().contains(&branch));
    let said = camp.biv(["resume", "feature"]).run().ok().said();
    assert!(!said.contains("made again"), "{said}");
    assert!(instance.worktree.join("new.txt").exists());
    assert!(
        camp.biv(["undo-land", "feature"])
            .run()
            .fails(4)
            .said()
            .contains("was not landed")
    );
}

#[test]
fn a_landing_with_a_commit_on_top_is_not_taken_back() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let _instance = with_commit(&camp, &repository, "feature", "new.txt");
    drop(camp.biv(["land", "feature"]).run().ok());
    let later = repository.commit("later");
    let said = camp.biv(["undo-land", "feature"]).run().fails(4).said();
    assert!(said.contains("moved on"), "{said}");
    assert_eq!(main_of(&repository), later);
}

#[test]
fn a_kept_instance_goes_on_and_can_land_again() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "one.txt");
    let kept = camp.biv(["land", "--keep", "feature"]).run().ok();
    assert!(!kept.stderr.contains("is ended"), "{}", kept.stderr);
    assert_eq!(camp.show(&instance)["state"], "running");
    assert_eq!(instance.processes().len(), 1);
    commit(&repository, &instance, "two.txt", "2\n");
    drop(camp.biv(["land", "--keep", "feature"]).run().ok());
    assert!(repository.path.join("two.txt").exists());
    // Nothing is left to land; to end it is still possible.
    drop(camp.biv(["land", "--keep", "feature"]).run().fails(4));
    let ended = camp.biv(["land", "feature"]).run().ok();
    let told = "The instance is ended, and its branch deleted.";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert_eq!(camp.show(&instance)["state"], "killed");
}

#[test]
fn uncommitted_work_is_named_or_committed() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    let checkout = repository.seen_from(&instance.worktree);
    checkout.write("src/lib.rs", "changed\n");
    checkout.write("fresh.txt", "fresh\n");
    let before = main_of(&repository);
    let error = camp
        .biv(["land", "--json", "feature"])
        .run()
        .fails(4)
        .error();
    assert_eq!(error["code"], "uncommitted");
    assert_eq!(
        error["details"]["files"],
        serde_json::json!(["src/lib.rs", "fresh.txt"])
    );
    assert_eq!(main_of(&repository), before);
    drop(
        camp.biv(["land", "--commit", "-m", "all of it", "feature"])
            .run()
            .ok(),
    );
    assert_eq!(
        repository.git(&["log", "-1", "--format=%s %an", "main"]),
        "all of it Ada"
    );
    assert_eq!(repository.git(&["show", "main:fresh.txt"]), "fresh");
    assert_eq!(repository.git(&["show", "main:src/lib.rs"]), "changed");
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn uncommitted_work_of_a_paused_instance_is_committed_too() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    repository
        .seen_from(&instance.worktree)
        .write("fresh.txt", "fresh\n");
    drop(camp.biv(["pause", "feature"]).run().ok());
    let error = camp
        .biv(["land", "--json", "feature"])
        .run()
        .fails(4)
        .error();
    assert_eq!(error["details"]["files"], serde_json::json!(["fresh.txt"]));
    drop(camp.biv(["land", "--commit", "feature"]).run().ok());
    assert_eq!(repository.git(&["show", "main:fresh.txt"]), "fresh");
    // Taken back, its uncommitted file is uncommitted again.
    drop(camp.biv(["undo-land", "feature"]).run().ok());
    drop(camp.biv(["resume", "feature"]).run().ok());
    let checkout = repository.seen_from(&instance.worktree);
    assert_eq!(checkout.git(&["status", "--porcelain"]), "?? fresh.txt");
}

#[test]
fn a_conflict_changes_nothing() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    commit(&repository, &instance, "README.md", "theirs\n");
    repository.write("README.md", "ours\n");
    let before = repository.commit("ours");
    for how in ["--merge", "--squash", "--rebase"] {
        let error = camp
            .biv(["land", "--json", how, "feature"])
            .run()
            .fails(6)
            .error();
        assert_eq!(error["code"], "conflict", "{how}");
        assert_eq!(
            error["details"]["files"],
            serde_json::json!(["README.md"]),
            "{how}"
        );
        assert_eq!(main_of(&repository), before);
        assert_eq!(repository.git(&["status", "--porcelain"]), "");
        assert_eq!(camp.show(&instance)["state"], "running");
    }
}

#[test]
fn each_way_gives_the_history_that_it_names() {
    for (how, parents, subjects) in [
        ("--merge", 2, "Merge branch 'biv/feature' into main"),
        ("--squash", 1, "feature"),
        ("--rebase", 1, "add two.txt"),
    ] {
        let camp = Camp::new();
        let repository = camp.repository("app");
        let instance = with_commit(&camp, &repository, "feature", "one.txt");
        commit(&repository, &instance, "two.txt", "2\n");
        repository.write("other.txt", "other\n");
        repository.commit("other");
        drop(camp.biv(["land", how, "feature"]).run().ok());
        let line = repository.git(&["log", "-1", "--format=%P", "main"]);
        assert_eq!(line.split(' ').count(), parents, "{how}");
        let subject = repository.git(&["log", "-1", "--format=%s", "main"]);
        assert_eq!(subject, subjects, "{how}");
        for file in ["one.txt", "two.txt", "other.txt"] {
            assert!(repository.path.join(file).exists(), "{how} {file}");
        }
        assert_eq!(repository.git(&["status", "--porcelain"]), "", "{how}");
        // Only after a squash single commits are nowhere else.
        let kept = repository.branches().contains(&"biv/feature".to_owned());
        assert_eq!(kept, how == "--squash", "{how}");
    }
}

#[test]
fn several_land_one_after_another_and_one_conflict_stops_no_other() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let _one = with_commit(&camp, &repository, "one", "same.txt");
    let two = with_commit(&camp, &repository, "two", "same.txt");
    let _three = with_commit(&camp, &repository, "three", "three.txt");
    let dry = camp
        .biv(["land", "--json", "--dry-run", "one", "three"])
        .run()
        .ok()
        .json();
    assert_eq!(dry["landed"][1]["by"], "merge");
    assert_eq!(repository.git(&["rev-list", "--count", "main"]), "1");
    let error = camp
        .biv(["land", "--json", "one", "two", "three"])
        .run()
        .fails(6)
        .error();
    assert_eq!(error["details"]["landed"].as_array().map(Vec::len), Some(2));
    assert_eq!(error["details"]["failures"][0]["title"], "two");
    assert_eq!(repository.git(&["show", "main:same.txt"]), "one");
    assert_eq!(repository.git(&["show", "main:three.txt"]), "three");
    assert_eq!(camp.show(&two)["state"], "running");
}

#[test]
fn a_busy_agent_is_left_alone() {
    let camp = Camp::new().with("BIV_DEMO_THINK_MS", "60000");
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "feature", &["-p", "think"]);
    commit(&repository, &instance, "new.txt", "new\n");
    instance.wait_for(&camp, "activity", "busy");
    let error = camp
        .biv(["land", "--json", "feature"])
        .run()
        .fails(4)
        .error();
    assert_eq!(error["code"], "not_at_rest");
    assert_eq!(repository.git(&["rev-list", "--count", "main"]), "1");
}

#[test]
fn list_and_show_say_what_is_left_to_land() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    let standing = |ahead: u64, behind: u64, merged: bool| serde_json::json!({ "base": "main", "ahead": ahead, "behind": behind, "merged": merged });
    let shown = camp.show(&instance);
    assert_eq!(shown["standing"], standing(0, 0, false));
    assert_eq!(shown["dirty"], false);
    let checkout = repository.seen_from(&instance.worktree);
    checkout.write("new.txt", "new\n");
    assert_eq!(camp.show(&instance)["dirty"], true);
    checkout.commit("new");
    repository.write("other.txt", "other\n");
    repository.commit("other");
    checkout.write("README.md", "changed\n");
    let shown = camp.show(&instance);
    assert_eq!(shown["standing"], standing(1, 1, false));
    assert_eq!(shown["dirty"], true);
    let text = camp.biv(["show", "feature"]).run().ok().stdout;
    let line = "1 commit ahead of main, 1 commit behind main, uncommitted work";
    assert!(text.contains(line), "{text}");
    let listed = camp.biv(["list"]).run().ok().stdout;
    assert!(listed.contains("↑1 ↓1 *"), "{listed}");
    // A paused one is known by its snapshot.
    drop(camp.biv(["pause", "feature"]).run().ok());
    let shown = camp.show(&instance);
    assert_eq!(shown["standing"], standing(1, 1, false));
    assert_eq!(shown["dirty"], true);
    // Merged by hand, and with refs in one file.
    repository.git(&["merge", "-q", "--no-edit", "biv/feature"]);
    assert_eq!(camp.show(&instance)["standing"], standing(0, 2, true));
    repository.git(&["pack-refs", "--all"]);
    assert_eq!(camp.show(&instance)["standing"], standing(0, 2, true));
}
