//! Landing with corrections: the agent is told what is wrong, works, and landing is tried again.

use crate::support::{Camp, Instance, Repository};

/// An instance whose agent runs commands without asking, and which has written a line into `list.txt`.
fn start(camp: &Camp, repository: &Repository, title: &str) -> Instance {
    let instance = camp.start(repository, title, &["-p", "/allow"]);
    instance.wait_idle(camp);
    let checkout = repository.seen_from(&instance.worktree);
    checkout.write("list.txt", &format!("{title}\n"));
    checkout.commit(&format!("list {title}"));
    instance
}

#[test]
fn agents_resolve_their_conflicts_and_all_land() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let _one = start(&camp, &repository, "one");
    let two = start(&camp, &repository, "two");
    let three = start(&camp, &repository, "three");
    // One of them sleeps, and is woken.
    drop(camp.biv(["pause", "three"]).run().ok());
    let check = "test \"$(grep -c '<<<' list.txt)\" = 0";
    let answer = camp
        .biv([
            "land", "--fix", "1", "--check", check, "one", "two", "three",
        ])
        .run()
        .ok();
    assert!(
        answer.said().contains("the agent is told"),
        "{}",
        answer.said()
    );
    let list = repository.git(&["show", "main:list.txt"]);
    for title in ["one", "two", "three"] {
        assert!(list.lines().any(|line| line == title), "{title}: {list}");
    }
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    assert_eq!(camp.list().len(), 0);
    for told in [&two, &three] {
        let prompts = told.prompts(&camp);
        let told = prompts
            .iter()
            .filter(|prompt| prompt.contains("conflicts"))
            .count();
        assert_eq!(told, 1, "{prompts:?}");
    }
}

#[test]
fn uncommitted_work_is_committed_by_its_agent() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start(&camp, &repository, "one");
    repository
        .seen_from(&instance.worktree)
        .write("more.txt", "more\n");
    drop(camp.biv(["land", "--fix", "1", "one"]).run().ok());
    assert_eq!(repository.git(&["show", "main:more.txt"]), "more");
}

#[test]
fn a_check_that_keeps_failing_is_tried_no_more_often_than_asked() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start(&camp, &repository, "one");
    let before = repository.git(&["rev-parse", "main"]);
    let tries = camp.root().join("tries");
    let check = format!("echo try >> '{}'; false", tries.display());
    drop(
        camp.biv(["land", "--fix", "2", "--check", &check, "one"])
            .run()
            .fails(1),
    );
    assert_eq!(std::fs::read_to_string(&tries).unwrap().lines().count(), 3);
    let prompts = instance.prompts(&camp);
    let told = prompts
        .iter()
        .filter(|prompt| prompt.contains("failed there"))
        .count();
    assert_eq!(told, 2, "{prompts:?}");
    assert_eq!(repository.git(&["rev-parse", "main"]), before);
    assert_eq!(camp.show(&instance)["state"], "running");
}
