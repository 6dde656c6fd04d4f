//! A landing wakes an agent whose work conflicts, and the agent resolves it.

use crate::stage::Stage;
use crate::support::Instance;

/// What the agent remembers to do when it hears of a conflict: it merges, keeps the lines of both, commits.
const STEPS: &str = "the list is mine\n\
     model:when conflicts run git merge main || true\n\
     model:when conflicts run sed -i '/^[<=>]/d' list.txt\n\
     model:when conflicts run git commit -a -m 'keep both'";

/// Merging is left to the user, who allows it here: the landing is to run while nobody looks.
const RULE: &str = r#"schema = 1
[[accept]]
id = "merge-main"
why = "agents resolve conflicts with what has landed"
program = ["git"]
sub = ["merge"]
only_arg = ['^main$']
match = ["git merge main"]
"#;

/// An instance of the demo agent with one commit.
fn demo(stage: &Stage, title: &str, file: &str) -> Instance {
    let instance = stage.camp.start(&stage.repository, title, &[]);
    change(stage, &instance, title, file);
    instance.wait_idle(&stage.camp);
    instance
}

fn change(stage: &Stage, instance: &Instance, title: &str, file: &str) {
    let checkout = stage.repository.seen_from(&instance.worktree);
    checkout.write(file, &format!("{title}\n"));
    checkout.commit(&format!("{file} of {title}"));
}

fn resolves_its_conflict(agent: &'static str) {
    let stage = Stage::of(agent);
    std::fs::write(stage.camp.home().join("config/policy.toml"), RULE).unwrap();
    demo(&stage, "first", "list.txt");
    let woken = Instance::from_json(&stage.new("woken", &[]).ok().json());
    stage.wait(&woken, "idle");
    let on = ["autoyes", &woken.id, "on", "--for", "1h"];
    drop(stage.camp.biv(on).run().ok());
    stage.turn(&woken, STEPS);
    change(&stage, &woken, "woken", "list.txt");
    demo(&stage, "last", "last.txt");
    stage.pause(&woken, &[]);

    let check = "! grep -q '^[<=>]' list.txt";
    let titles = ["first", "woken", "last"];
    let land = stage.camp.biv(["land", "--fix", "1", "--check", check]);
    let said = land.args(titles).run().ok().said();
    assert_eq!(said.matches("the agent is told").count(), 1, "{said}");

    let main = |file: &str| stage.repository.git(&["show", &format!("main:{file}")]);
    let list = main("list.txt");
    let lines: Vec<&str> = list.lines().collect();
    assert!(
        lines.contains(&"first") && lines.contains(&"woken"),
        "{list}"
    );
    assert_eq!(main("last.txt"), "last");
    assert_eq!(stage.repository.git(&["status", "--porcelain"]), "");
    assert_eq!(stage.repository.branches(), ["main"]);
    assert_eq!(stage.camp.list().len(), 0);
    // The conversation from before the pause was there when the conflict was told.
    let asked = stage
        .model
        .request_with("Your work conflicts with the branch `main` in: list.txt.");
    asked.remembers("user", "the list is mine");
    let subjects = stage.repository.git(&["log", "--format=%s", "main"]);
    assert!(subjects.contains("keep both"), "{subjects}");
}

#[test]
fn claude_resolves_its_conflict_and_lands() {
    resolves_its_conflict("claude");
}

#[test]
fn codex_resolves_its_conflict_and_lands() {
    resolves_its_conflict("codex");
}
