//! `new --host`: the commits travel, and the agent starts there.

use serde_json::Value;

use crate::pair::{Pair, Words};
use crate::support::Instance;

fn created(json: &Value) -> Instance {
    Instance::from_json(json)
}

#[test]
fn the_needed_commits_travel_once_and_the_agent_starts_there() {
    let pair = Pair::new(Words::Joined);
    let repository = pair.here.repository("my project");
    let large: String = (0..40_000_u64)
        .map(|n| format!("{}\n", n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    repository.write("large.txt", &large);
    let first = repository.commit("large");
    repository.write("uncommitted.txt", "stays here\n");
    let new = |more: &[&str]| {
        pair.biv(&["new", "--host", "far", "-a", "demo"])
            .args(more)
            .within(&repository.path)
    };
    let prompt = pair.here.root().join("prompt.txt");
    std::fs::write(&prompt, "it's a \"prompt\"\nof two lines\n").unwrap();
    let one = new(&["one", "--json", "--prompt-file", prompt.to_str().unwrap()])
        .run()
        .ok()
        .json();
    let one = (created(&one), one);
    assert_eq!(one.1["base_commit"], first.as_str());
    assert_eq!(one.1["base"], "home/main");
    assert!(
        one.0.worktree.starts_with(pair.there.root()),
        "{:?}",
        one.0.worktree
    );
    assert_eq!(
        std::fs::read_to_string(one.0.worktree.join("large.txt")).unwrap(),
        large
    );
    assert!(!one.0.worktree.join("uncommitted.txt").exists());
    crate::support::until("it got its prompt", || {
        one.0.prompts(&pair.there) == ["it's a \"prompt\"\nof two lines"]
    });

    // The same again sends nothing, one commit more sends that.
    let sent = |answer: &crate::support::Answer| -> u64 {
        let line = answer
            .stderr
            .lines()
            .find(|line| line.starts_with("sent "))
            .unwrap();
        line.split(' ').nth(1).unwrap().parse().unwrap()
    };
    let again = new(&["two", "-v"]).run().ok();
    assert_eq!(sent(&again), 0);
    repository.write("small.txt", "small\n");
    repository.git(&["checkout", "-q", "-b", "topic/x"]);
    let second = repository.commit("small");
    let third = new(&["three", "-v", "--base", "HEAD"]).run().ok();
    assert!((1..5_000).contains(&sent(&third)), "{third:?}");
    let three = pair.biv(&["show", "far:three", "--json"]).run().ok().json();
    assert_eq!(
        (&three["base_commit"], &three["base"]),
        (&second.as_str().into(), &"home/topic/x".into())
    );
    assert_eq!(pair.count_here(), 0);

    // What the agent does there is kept there, and can be looked at from here.
    let three = created(&three);
    std::fs::write(three.worktree.join("small.txt"), "changed there\n").unwrap();
    let diff = pair.biv(&["diff", "far:three"]).run().ok().stdout;
    assert!(diff.contains("+changed there"), "{diff}");
    drop(pair.biv(&["pause", "far:three"]).run().ok());
    drop(pair.biv(&["resume", "far:three"]).run().ok());
    let text = std::fs::read_to_string(three.worktree.join("small.txt")).unwrap();
    assert_eq!(text, "changed there\n");
}

#[test]
fn what_cannot_be_sent_is_said_before_anything_starts() {
    let pair = Pair::new(Words::Exact);
    let empty = pair.here.empty_repository("empty");
    let new = |directory: &std::path::Path| {
        pair.biv(&["new", "x", "--host", "far", "-a", "demo"])
            .within(directory)
    };
    let refused = new(&empty.path).run().fails(1);
    assert!(refused.stderr.contains("has no commit yet"), "{refused:?}");
    let repository = pair.here.repository("r");
    let wrong = new(&repository.path)
        .args(["--base", "nothing"])
        .run()
        .fails(1);
    assert!(wrong.stderr.contains("names no commit"), "{wrong:?}");
    repository.write("b", "b");
    repository.commit("second");
    let shallow = pair.here.root().join("shallow");
    let from = format!("file://{}", repository.path.display());
    repository.git(&[
        "clone",
        "-q",
        "--depth",
        "1",
        &from,
        shallow.to_str().unwrap(),
    ]);
    let refused = new(&shallow).run().fails(1);
    assert!(refused.stderr.contains("is a shallow clone"), "{refused:?}");
    let outside = new(&pair.here.root()).run().fails(1);
    assert!(outside.stderr.contains("repository"), "{outside:?}");
    let unknown = pair
        .biv(&["new", "--host", "nowhere", "-a", "demo"])
        .within(&repository.path);
    drop(unknown.run().fails(3));
    assert!(pair.there.list().is_empty());
    // A disk there that cannot be written is the host's trouble, and is said as that.
    let state = pair.there.home().join("state/repositories");
    std::fs::create_dir_all(state.parent().unwrap()).unwrap();
    std::fs::write(&state, "in the way").unwrap();
    let refused = new(&repository.path).run().fails(1);
    assert!(
        refused.stderr.contains("the host `far` refused"),
        "{refused:?}"
    );
}
