//! Taking over the sessions of Claude Squad.

use serde_json::{Value, json};

use crate::support::{Camp, Repository};

/// A session as Claude Squad writes it down.
fn session(repository: &Repository, title: &str, worktree: &str, status: i64) -> Value {
    json!({
        "title": title,
        "path": repository.path,
        "branch": format!("me/{title}"),
        "status": status,
        "height": 40,
        "width": 120,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "auto_yes": false,
        "program": "cat",
        "worktree": {
            "repo_path": repository.path,
            "worktree_path": worktree,
            "session_name": title,
            "branch_name": format!("me/{title}"),
            "base_commit_sha": repository.git(&["rev-parse", "main"]),
            "is_existing_branch": false,
        },
        "diff_stats": { "added": 1, "removed": 0, "content": "+x" },
    })
}

#[test]
fn sessions_of_claude_squad_are_taken_over_and_its_files_stay() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let standing = camp.root().join("squad/fix_17a");
    let standing = standing.to_str().unwrap();
    repository.git(&["worktree", "add", "-q", "-b", "me/fix", standing]);
    repository
        .seen_from(standing.as_ref())
        .write("half-done.txt", "half\n");
    // Paused there: its worktree was removed, its work is on its branch.
    repository.git(&["branch", "me/paused"]);
    let state = camp.root().join("state.json");
    let text = serde_json::to_string_pretty(&json!({
        "help_screens_seen": 3,
        "instances": [
            session(&repository, "fix", standing, 1),
            session(&repository, "paused", "/nowhere/paused_17b", 3),
            session(&repository, "gone", "/nowhere/gone_17c", 3),
            { "title": "broken" },
        ],
    }))
    .unwrap();
    std::fs::write(&state, &text).unwrap();
    let import = |more: &[&str]| {
        camp.biv(["import", "claude-squad", "--json", "--file"])
            .arg(&state)
            .args(more)
            .run()
            .ok()
            .json()
    };
    let rehearsed = import(&["--dry-run"]);
    assert_eq!(rehearsed["could"], json!(["fix", "paused"]));
    assert_eq!(rehearsed["instances"], json!([]));
    assert_eq!(
        camp.biv(["list", "--json"]).run().ok().json()["instances"],
        json!([])
    );

    let taken = import(&[]);
    let titles = |value: &Value| -> Vec<String> {
        let list = value.as_array().unwrap().iter();
        list.map(|entry| entry["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(titles(&taken["instances"]), ["fix", "paused"]);
    assert_eq!(titles(&taken["left"]), ["broken", "gone"]);
    assert_eq!(titles(&taken["notes"]), ["fix"]);
    let note = taken["notes"][0]["note"].as_str().unwrap();
    assert!(note.contains("claudesquad_fix"), "{note}");
    for instance in taken["instances"].as_array().unwrap() {
        assert_eq!(instance["state"], "paused");
        assert_eq!(instance["worktree_present"], true);
        assert_eq!(instance["agent"], "shell");
    }
    assert_eq!(taken["instances"][0]["worktree"], standing);
    assert_eq!(taken["instances"][0]["diff"]["files"], 1);
    assert_eq!(std::fs::read_to_string(&state).unwrap(), text);

    // A second time there is nothing left to take.
    let again = import(&[]);
    assert_eq!(again["instances"], json!([]));

    for title in ["fix", "paused"] {
        drop(camp.biv(["resume", title]).run().ok());
        let shown = camp.biv(["show", title, "--json"]).run().ok().json();
        assert_eq!(shown["state"], "running");
        assert_eq!(shown["branch"], format!("me/{title}"));
        drop(camp.biv(["kill", "-y", title]).run().ok());
    }
    assert!(
        std::path::Path::new(standing)
            .join("half-done.txt")
            .exists(),
        "not ours to remove"
    );
    assert!(repository.branches().contains(&"me/paused".to_owned()));
}

#[test]
fn a_state_file_that_makes_no_sense_changes_nothing() {
    let camp = Camp::new();
    let state = camp.root().join("state.json");
    for text in [
        "",
        "[]",
        "{\"instances\": 7}",
        "{\"instances\":[{\"title\":",
    ] {
        std::fs::write(&state, text).unwrap();
        let answer = camp
            .biv(["import", "claude-squad", "--file"])
            .arg(&state)
            .run();
        assert_eq!(answer.status, Some(1), "{text:?}");
        assert!(answer.stderr.contains("hint:"), "{}", answer.stderr);
    }
    let missing = camp.root().join("nowhere.json");
    let answer = camp
        .biv(["import", "claude-squad", "--file"])
        .arg(&missing)
        .run();
    assert_eq!(answer.status, Some(1));
    assert!(answer.stderr.contains("nowhere.json"), "{}", answer.stderr);
}
