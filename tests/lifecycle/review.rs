//! A review: comments on lines reach the agent as one prompt.

use crate::land::commit;
use crate::support::Camp;

#[test]
fn a_review_from_a_file_is_one_prompt_with_file_line_and_hunk() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    commit(&repository, &instance, "login.rs", "one\ntwo\nthree\n");
    let checkout = repository.seen_from(&instance.worktree);
    checkout.write("README.md", "# Changed\n");
    let review = camp.root().join("review.txt");
    let text = "Nearly there.\nlogin.rs:2: Why two?\n  Say why.\nREADME.md:1: A better title.\n\
                elsewhere.rs:7: And this?\n";
    std::fs::write(&review, text).unwrap();
    let answer = camp
        .biv(["review", "feature", "--from", review.to_str().unwrap()])
        .run()
        .ok();
    assert!(
        answer
            .said()
            .contains("elsewhere.rs:7 is not among the changes"),
        "{}",
        answer.said()
    );
    let prompts = instance.prompts(&camp);
    assert_eq!(prompts.len(), 1, "{prompts:?}");
    for part in [
        "Nearly there.",
        "login.rs:2\n```diff\n@@ -0,0 +1,3 @@\n+one\n+two\n+three\n```\nWhy two?\n  Say why.",
        "README.md:1\n```diff\n@@ -1 +1 @@\n-# A repository\n+# Changed\n```\nA better title.",
        "elsewhere.rs:7\nAnd this?",
    ] {
        assert!(prompts[0].contains(part), "{part}: {}", prompts[0]);
    }

    // What cannot be placed is refused as a whole, and nothing is sent.
    let error = camp
        .biv(["review", "--json", "feature", "--from", "-"])
        .stdin("login.rs:3: fine\nlogin.rs:0: what?\n")
        .run()
        .fails(2)
        .error();
    assert_eq!(error["code"], "usage");
    assert_eq!(instance.prompts(&camp).len(), 1);
}
