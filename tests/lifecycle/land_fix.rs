//! Landing with corrections: the agent is told what is wrong, works, and landing is tried again.

use std::path::Path;
use std::process::Child;

use crate::support::{Camp, Instance, Repository, until};

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

/// With `--commit` the conflict is found although the work is in no commit, and git merges only into a clean tree.
#[test]
fn an_agent_with_uncommitted_work_is_told_to_commit_before_it_merges() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let _one = start(&camp, &repository, "one");
    let two = start(&camp, &repository, "two");
    let checkout = repository.seen_from(&two.worktree);
    checkout.write("list.txt", "two\nand more\n");
    drop(camp.biv(["land", "one"]).run().ok());
    drop(
        camp.biv(["land", "--fix", "1", "--commit", "two"])
            .run()
            .ok(),
    );
    let prompt = two.prompts(&camp).pop().unwrap();
    assert!(
        prompt.starts_with("First commit all of your work"),
        "{prompt}"
    );
    assert!(prompt.contains("git merge main"), "{prompt}");
    let list = repository.git(&["show", "main:list.txt"]);
    for line in ["one", "two", "and more"] {
        assert!(list.lines().any(|one| one == line), "{list}");
    }
}

#[test]
fn a_check_that_keeps_failing_is_tried_no_more_often_than_asked() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start(&camp, &repository, "one");
    let before = repository.git(&["rev-parse", "main"]);
    let tries = camp.root().join("tries");
    let check = format!("echo try >> '{}'; false", tries.display());
    let said = camp
        .biv(["land", "--fix", "2", "--check", &check, "one"])
        .run()
        .fails(1)
        .said();
    let hint = said.lines().find(|line| line.contains("hint:")).unwrap();
    assert!(hint.contains("its agent was told 2 times"), "{said}");
    assert!(hint.contains("all of the output is in"), "{said}");
    assert!(!hint.contains("--fix"), "{said}");
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

fn said(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

fn interrupt(child: &mut Child) -> Option<i32> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    child.wait().unwrap().code()
}

#[test]
fn only_questions_that_nobody_else_answers_are_told_as_yours() {
    for autoyes in [true, false] {
        let camp = Camp::new();
        let repository = camp.repository("app");
        // Without `/allow` it asks before it runs anything.
        let instance = camp.start(&repository, "one", &[]);
        instance.wait_idle(&camp);
        if autoyes {
            drop(camp.biv(["autoyes", "one", "on", "--for", "1h"]).run().ok());
        }
        repository
            .seen_from(&instance.worktree)
            .write("more.txt", "more\n");
        let told = camp.root().join("told");
        let land = camp.biv(["land", "--fix", "1", "one"]);
        let mut child = land.in_background_into(&told);
        if !autoyes {
            until("the user is told", || said(&told).contains("waits for you"));
            drop(camp.biv(["answer", "one", "yes"]).run().ok());
        }
        assert!(child.wait().unwrap().success(), "{}", said(&told));
        let told = said(&told);
        let yours = told.matches("`one` waits for you").count();
        assert_eq!(yours, usize::from(!autoyes), "{told}");
        assert_eq!(repository.git(&["show", "main:more.txt"]), "more");
    }
}

#[test]
fn after_an_interrupt_no_agent_is_told_anything_and_the_state_is_said() {
    let camp = Camp::new().with("BIV_DEMO_THINK_MS", "60000");
    let repository = camp.repository("app");
    let _one = start(&camp, &repository, "one");
    let two = start(&camp, &repository, "two");
    let three = start(&camp, &repository, "three");
    let before = |instance: &Instance| instance.prompts(&camp).len();
    let (of_two, of_three) = (before(&two), before(&three));
    // The agent of the second was told, and thinks; the third would have to be told too.
    let told = camp.root().join("told");
    let mut child = camp
        .biv(["land", "--fix", "1", "one", "two", "three"])
        .in_background_into(&told);
    two.wait_for(&camp, "activity", "busy");
    assert_eq!(interrupt(&mut child), Some(130), "{}", said(&told));
    let text = said(&told);
    assert!(text.contains("landed 1 of 3"), "{text}");
    assert!(
        text.contains("the agent of `two` was told, and goes on"),
        "{text}"
    );
    assert!(text.contains("land what is left: two three"), "{text}");
    assert!(text.contains("nothing has to be corrected"), "{text}");
    assert_eq!(before(&two), of_two + 1);
    assert_eq!(before(&three), of_three);
    assert_eq!(camp.show(&two)["activity"], "busy", "it goes on");

    // During a check that fails because it is ended: nobody is told of the failure.
    let begun = camp.root().join("begun");
    let check = format!("touch '{}'; sleep 4716", begun.display());
    let four = camp.start(&repository, "four", &["-p", "/allow"]);
    four.wait_idle(&camp);
    let checkout = repository.seen_from(&four.worktree);
    checkout.write("four.txt", "4\n");
    checkout.commit("four");
    let prompts = before(&four);
    let land = ["land", "--fix", "2", "--check", &check, "four", "three"];
    let mut child = camp.biv(land).in_background_into(&told);
    until("the check runs", || begun.exists());
    assert_eq!(interrupt(&mut child), Some(130), "{}", said(&told));
    let text = said(&told);
    assert!(text.contains("land what is left: four three"), "{text}");
    assert!(!text.contains("was told"), "{text}");
    assert_eq!(before(&four), prompts);
    assert_eq!(before(&three), of_three);
}

/// A day's end: ten instances, two of them in conflict with those before, and a check that runs what landed.
#[test]
fn ten_land_in_a_row_while_two_resolve_their_conflicts() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let lines: Vec<String> = (0..10).map(|n| format!("part_{n} old")).collect();
    repository.write("parts.txt", &lines.join("\n\n\n\n"));
    repository.write(
        "check.sh",
        "! grep -q '<<<' *.txt && test \"$(sort parts.txt | uniq -d | grep -c part)\" = 0\n",
    );
    repository.commit("parts");
    let titles: Vec<String> = (0..10).map(|n| format!("work{n}")).collect();
    let mut instances = Vec::new();
    for (n, title) in titles.iter().enumerate() {
        let instance = camp.start(&repository, title, &["-p", "/allow"]);
        let checkout = repository.seen_from(&instance.worktree);
        // All change the same file, each in its own place.
        let text = lines.join("\n\n\n\n");
        let own = text.replace(&lines[n], &format!("part_{n} by {title}"));
        checkout.write("parts.txt", &own);
        if matches!(n, 0 | 4 | 8) {
            checkout.write("list.txt", &format!("{title}\n"));
        }
        checkout.commit(&format!("change {title}"));
        instances.push(instance);
    }
    for instance in &instances {
        instance.wait_idle(&camp);
    }
    // Some sleep: one of those that have a conflict, and one that has none.
    drop(camp.biv(["pause", "work8", "work9"]).run().ok());
    let arguments = ["land", "--fix", "1", "--check", "sh check.sh"];
    let call = camp.biv(
        arguments
            .into_iter()
            .chain(titles.iter().map(String::as_str)),
    );
    let said = call.run().ok().said();
    assert_eq!(said.matches("the agent is told").count(), 2, "{said}");
    // Each landing is told before the next one begins, which may take long.
    let told: Vec<Option<usize>> = titles
        .iter()
        .flat_map(|title| [format!("checking `{title}`"), format!("Landed `{title}`")])
        .map(|part| said.rfind(&part))
        .collect();
    assert!(
        told.iter().all(Option::is_some) && told.is_sorted(),
        "{said}"
    );
    assert_eq!(camp.list().len(), 0);
    let parts = repository.git(&["show", "main:parts.txt"]);
    for (n, title) in titles.iter().enumerate() {
        assert!(parts.contains(&format!("part_{n} by {title}")), "{parts}");
    }
    let list = repository.git(&["show", "main:list.txt"]);
    for title in ["work0", "work4", "work8"] {
        assert!(list.lines().any(|line| line == title), "{title}: {list}");
    }
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    assert_eq!(repository.branches(), ["main"]);
}
