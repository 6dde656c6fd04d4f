//! A takeover that is cut off.

use serde_json::json;

use crate::support::Camp;
use crate::world::{MOMENTS, next_command};

#[test]
fn a_takeover_that_is_cut_off_leaves_all_of_it_or_nothing_and_never_takes_the_branch() {
    let mut number = 0;
    for (step, expected) in [("claim-names", 0), ("add-worktree", 0), ("record", 1)] {
        for moment in MOMENTS {
            let place = format!("import:{step}:{moment}");
            let camp = Camp::new();
            let repository = camp.repository("app");
            repository.git(&["branch", "me/paused"]);
            let state = camp.root().join("state.json");
            let text = json!({ "instances": [{
                "title": "paused",
                "path": repository.path,
                "branch": "me/paused",
                "status": 3,
                "program": "cat",
                "worktree": { "repo_path": repository.path, "worktree_path": "/nowhere/paused" },
            }] });
            std::fs::write(&state, text.to_string()).unwrap();
            let call = camp
                .biv(["import", "claude-squad", "--file"])
                .arg(&state)
                .crash_at(&place);
            drop(call.run().crashed());
            next_command(&camp, number);
            assert_eq!(camp.list().len(), expected, "{place}");
            assert_eq!(repository.worktrees().len(), expected, "{place}");
            let doctor = camp.biv(["doctor", "--json"]).run().json();
            for finding in doctor["findings"].as_array().into_iter().flatten() {
                let fine = finding["check"] == "agents" || finding["health"] == "good";
                assert!(fine, "{place}: {finding}");
            }
            assert_eq!(repository.branches(), ["main", "me/paused"], "{place}");
            number += 1;
        }
    }
}
