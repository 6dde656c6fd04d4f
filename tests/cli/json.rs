//! The names in the JSON are a contract with every script that was ever written for it.

use serde_json::Value;

use crate::support::Camp;

const INSTANCE: &[&str] = &[
    "id",
    "title",
    "repo",
    "branch",
    "base",
    "base_commit",
    "worktree",
    "worktree_present",
    // Where the agent starts, below the worktree; null: at the top.
    "subdirectory",
    "agent",
    "asks",
    "command",
    "tmux_session",
    "state",
    "activity",
    // What goes on behind the prompt, and what is open in place of it.
    "background",
    "says",
    // When a usage limit resets.
    "blocked_until",
    "autoyes",
    // Why autoyes was switched off other than by the user.
    "autoyes_stopped",
    "idle_timeout_s",
    "session_ref",
    "resumable",
    "created_at",
    "updated_at",
    "last_active_at",
    "paused_at",
    "resumed_at",
    "interrupted_at",
    "pause",
    "diff",
    "dirty",
    "standing",
    "pull_request",
    "queue",
    // When a turn was cut off, until the user has looked.
    "turn_cut_at",
    // Why its last turn has failed, in the words of the agent.
    "turn_failed",
    "run_id",
    "last_line",
    // How an agent that has ended did so, and which rule spoke about one that runs.
    "exit_code",
    "activity_source",
    "unmeasured",
    "stuck",
    "seal",
    // The name of another machine; null: here.
    "host",
    "usage",
    // Null unless `show --size` counts it.
    "size",
    // Which host has it while it is `away`.
    "away",
    // The number of its last hand-over to another machine; null: it has never moved.
    "lease",
];

const PAUSE: &[&str] = &[
    "at",
    "reason",
    "snapshot",
    "scrollback_lines",
    "last_action",
    "pending_tasks",
    "forced",
    "stopped",
    "draft",
    "left_on_disk",
];

const STANDING: &[&str] = &["base", "ahead", "behind", "merged"];

const DIFF: &[&str] = &["files", "added", "removed"];

const RUN: &[&str] = &[
    "run_id",
    "instance_id",
    "state",
    "provider",
    "provider_session_ref",
    "resumable",
    "repo_root",
    "created_at",
    "updated_at",
    "paused_at",
    "pause_reason",
    "resumed_from_run_id",
    "restart_of_run_id",
    "superseded_by_run_id",
    "exit_code",
];

#[track_caller]
fn check(object: &Value, names: &[&str]) {
    let mut found: Vec<&str> = object
        .as_object()
        .unwrap_or_else(|| panic!("not an object: {object}"))
        .keys()
        .map(String::as_str)
        .collect();
    found.sort_unstable();
    let mut expected = names.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn the_names_of_instance_and_run_are_pinned() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "pinned", &[]);

    let shown = camp.show(&instance);
    check(&shown, INSTANCE);
    check(&shown["diff"], DIFF);
    check(&shown["standing"], STANDING);
    assert_eq!(shown["dirty"], false);
    assert_eq!(shown["state"], "running");
    assert_eq!(shown["agent"], "demo");
    assert_eq!(shown["base"], "main");
    assert_eq!(shown["base_commit"], repository.git(&["rev-parse", "main"]));
    assert_eq!(shown["branch"], "biv/pinned");
    assert_eq!(shown["pause"], Value::Null, "absent values are null");
    assert_eq!(shown["repo"], repository.path.to_str().unwrap());
    assert!(is_time(&shown["created_at"]), "{}", shown["created_at"]);

    let listed = camp.biv(["list", "--json"]).run().ok().json();
    check(&listed, &["instances", "unreadable", "camp", "hosts"]);
    check(&listed["instances"][0], INSTANCE);

    let runs = camp.biv(["runs", "--json", "pinned"]).run().ok().json();
    check(&runs, &["runs", "unreadable"]);
    check(&runs["runs"][0], RUN);
    assert_eq!(runs["runs"][0]["run_id"], shown["run_id"]);
    assert_eq!(runs["runs"][0]["state"], "running");

    let killed = camp.biv(["kill", "--json", "-y", "pinned"]).run().ok();
    check(&killed.json()["instances"][0], INSTANCE);
    let back = camp.biv(["undo-kill", "--json", "pinned"]).run().ok();
    check(&back.json(), INSTANCE);
    check(&back.json()["pause"], PAUSE);
    assert_eq!(back.json()["state"], "paused");
}

/// RFC 3339 in UTC.
fn is_time(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        text.len() >= 20 && text.ends_with('Z') && text.as_bytes().get(10) == Some(&b'T')
    })
}

/// Commands that have no row here, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    ("new", "`Camp::start` reads it in every test"),
    ("run", "prints a stream"),
    (
        "attach",
        "takes the terminal; without one it prints the instance",
    ),
    ("answer", "tests/lifecycle/answer.rs"),
    ("exec", "has an exit status of its own: below"),
    ("shell", "takes the terminal"),
    ("log", "prints a stream"),
    ("events", "prints a stream"),
    ("land", "tests/lifecycle/land.rs"),
    ("move", "tests/hosts/moving.rs"),
    ("drain", "tests/hosts/drain.rs"),
    ("undo-land", "tests/lifecycle/land.rs"),
    ("push", "needs a remote: tests/lifecycle/push.rs"),
    ("pr", "needs a forge: tests/lifecycle/pull_request.rs"),
    ("seal", "needs a kernel that can: tests/seal"),
    ("repo", "needs a moved repository: tests/pause/identity.rs"),
    ("demo", "takes a minute"),
];

#[test]
fn every_command_answers_with_one_json_document() {
    let mut tried = std::collections::BTreeSet::new();
    let camp = Camp::new().with("VISUAL", "test -d");
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "speaks", &[]);
    let linked = camp.root().join("by-hand");
    repository.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let export = camp.root().join("speaks.biv");
    let (export, root) = (export.to_str().unwrap(), repository.path.to_str().unwrap());
    instance.wait_idle(&camp);
    let review = camp.root().join("review.txt");
    std::fs::write(&review, "All of it: well done.\n").unwrap();
    for (arguments, names) in [
        (
            vec!["list"],
            vec!["camp", "hosts", "instances", "unreadable"],
        ),
        (vec!["ls"], vec!["camp", "hosts", "instances", "unreadable"]),
        (vec!["peek", "speaks"], vec!["lines"]),
        (vec!["diff", "speaks"], vec!["diff", "stat"]),
        (vec!["diff", "--stat", "speaks"], vec!["diff", "stat"]),
        (
            vec!["send", "speaks", "hi there"],
            vec!["bytes", "queued", "sent"],
        ),
        (
            vec!["review", "speaks", "--from", review.to_str().unwrap()],
            vec!["bytes", "comments", "queued", "sent", "without_hunk"],
        ),
        (
            vec!["status"],
            vec![
                "blocked",
                "blocked_until",
                "busy",
                "changing",
                "completed",
                "cost_today_usd",
                "failed",
                "interrupted",
                "needs_you",
                "paused",
                "ready",
                "running",
                "tokens_today",
                "total",
            ],
        ),
        (vec!["usage"], vec!["days", "instances", "silent", "total"]),
        (vec!["path", "speaks"], vec!["path"]),
        (vec!["open", "speaks"], vec!["command", "exit_code"]),
        (
            vec!["search", "hi"],
            vec!["left_out", "matches", "unreadable"],
        ),
        (
            vec!["rename", "speaks", "speaks"],
            vec!["formerly", "id", "title"],
        ),
        (vec!["runs", "speaks"], vec!["runs", "unreadable"]),
        (vec!["snapshots", "speaks"], vec!["snapshots", "title"]),
        (vec!["doctor"], vec!["findings", "healthy"]),
        (vec!["agents"], vec!["agents"]),
        (vec!["config", "path"], vec!["path"]),
        (vec!["config", "init"], vec!["path"]),
        (
            vec!["config", "show"],
            vec!["path", "set_by_you", "settings"],
        ),
        (vec!["completions", "bash"], vec!["script"]),
        (vec!["man"], vec!["page"]),
        (
            vec!["detect", "-a", "demo"],
            vec!["activity", "dialog", "rule"],
        ),
        (
            vec!["compact", "speaks"],
            vec![
                "archive",
                "by",
                "compacted",
                "keep",
                "note",
                "summarised",
                "summary",
            ],
        ),
        (
            vec!["queue", "speaks"],
            vec!["camp", "counts", "entries", "instance", "stopped", "title"],
        ),
        (
            vec!["timeout", "speaks", "off"],
            vec!["id", "idle_timeout_s", "title"],
        ),
        (vec!["wait", "speaks", "--for", "idle"], INSTANCE.to_vec()),
        (
            vec!["daemon", "start"],
            vec!["pid", "running", "started_at", "version", "watching"],
        ),
        (
            vec!["daemon", "status"],
            vec![
                "camp",
                "pid",
                "running",
                "started_at",
                "version",
                "watching",
            ],
        ),
        (vec!["daemon", "stop"], vec!["already", "stopped"]),
        (vec!["daemon", "unit", "systemd"], vec!["path", "text"]),
        (vec!["pause", "speaks"], vec!["instances"]),
        (vec!["pause", "speaks"], vec!["instances"]),
        (vec!["resume", "speaks"], vec!["instances"]),
        (vec!["resume", "speaks"], vec!["instances"]),
        (vec!["restart", "-y", "speaks"], INSTANCE.to_vec()),
        (
            vec!["autoyes", "speaks"],
            vec!["autoyes", "id", "stopped", "title", "until", "warnings"],
        ),
        (
            vec!["policy", "check", "-a", "demo", "-"],
            vec!["decision", "dialog", "keys", "reason", "rule"],
        ),
        (
            vec!["policy", "explain", "ls"],
            vec!["decision", "origins", "parts", "reason", "rule"],
        ),
        (
            vec!["policy", "test"],
            vec!["examples", "failures", "mistake", "rules"],
        ),
        (vec!["audit"], vec!["broken_at", "entries", "intact"]),
        (
            vec!["host", "add", "near", "--connect", "env"],
            vec!["connect", "file", "name"],
        ),
        (vec!["host", "list"], vec!["hosts"]),
        (vec!["host", "remove", "near"], vec!["removed"]),
        (
            vec!["gc", "--dry-run"],
            vec![
                "checkouts",
                "collected",
                "dry_run",
                "failed",
                "kept_checkouts",
                "put_away",
            ],
        ),
        (vec!["kill", "-y", "speaks"], vec!["instances"]),
        (vec!["show", "speaks"], INSTANCE.to_vec()),
        (vec!["undo-kill", "speaks"], INSTANCE.to_vec()),
        (
            vec!["export", "speaks", "--plain", "-o", export],
            vec!["bytes", "id", "left", "manifest", "title"],
        ),
        (
            vec!["import", export, "--branch", "another", "--repo", root],
            vec!["bytes", "instance", "manifest", "notes"],
        ),
        (
            vec!["adopt", linked.to_str().unwrap(), "-a", "demo"],
            INSTANCE.to_vec(),
        ),
    ] {
        tried.insert(arguments[0]);
        let answer = camp.biv(arguments).stdin("").with_json().run().ok();
        check(&answer.json(), &names);
        assert_eq!(answer.stderr, "", "{}", answer.call);
    }
    // A command that nobody has thought of here.
    let help = camp.biv(["help"]).run().ok().stdout;
    let listed = help.lines().take_while(|line| *line != "Global options:");
    let commands: Vec<&str> = listed
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .collect();
    assert!(commands.len() > 50, "{help}");
    for command in &commands {
        let elsewhere = ELSEWHERE.iter().any(|(name, _)| name == command);
        assert_ne!(
            tried.contains(command),
            elsewhere,
            "`{command}` has a row above, or its reason in ELSEWHERE"
        );
    }
    assert!(ELSEWHERE.iter().all(|(name, _)| commands.contains(name)));
}

/// What `exec` runs keeps its exit status, and standard output is for the document.
#[test]
fn the_output_of_a_command_is_not_mixed_with_the_document() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "runs-it", &[]);
    let words = ["sh", "-c", "echo printed; exit 3"];
    let call = camp.biv(["exec", "--json", &instance.id, "--"]);
    let done = words.iter().fold(call, |call, word| call.arg(word)).run();
    let done = done.fails(3);
    let document = serde_json::json!({ "command": words, "exit_code": 3 });
    assert_eq!(done.json(), document);
    assert_eq!(done.stderr, "printed\n");
}

#[test]
fn every_error_is_a_json_document_with_the_same_exit_status() {
    let camp = Camp::new();
    for (arguments, status, code) in [
        (vec!["show", "nobody"], 3, "no_such_instance"),
        (vec!["kill", "-y", "nobody"], 3, "no_such_instance"),
        (vec!["kill", "nobody"], 3, "no_such_instance"),
        (vec!["peek", "nobody"], 3, "no_such_instance"),
        (vec!["diff", "nobody"], 3, "no_such_instance"),
        (vec!["send", "nobody", "hi"], 3, "no_such_instance"),
        (vec!["runs", "nobody"], 3, "no_such_instance"),
        (vec!["undo-kill", "nobody"], 3, "no_such_instance"),
        (vec!["pause", "nobody"], 3, "no_such_instance"),
        (vec!["resume", "nobody"], 3, "no_such_instance"),
        (vec!["restart", "-y", "nobody"], 3, "no_such_instance"),
        (vec!["pause", "--wait", "soon", "nobody"], 2, "usage"),
        (vec!["attach", "nobody"], 1, "no_terminal"),
        (vec!["send", "nobody", ""], 2, "usage"),
        (vec!["frobnicate"], 2, "usage"),
        (vec!["list", "--state", "asleep"], 2, "usage"),
        (vec!["new", "--idle-timeout", "3h"], 2, "usage"),
        (vec!["new", "-a", "klaude"], 1, "git"),
        (vec!["detect", "-a", "klaude"], 2, "unknown_agent"),
        (vec!["completions", "tcsh"], 2, "usage"),
    ] {
        let answer = camp.biv(arguments).with_json().run().fails(status);
        let error = answer.error();
        assert_eq!(error["code"], code, "{}: {error}", answer.call);
        assert!(error["message"].is_string(), "{error}");
        assert!(error["hint"].is_string(), "{error}");
    }
}

#[test]
fn what_cannot_be_done_in_this_state_is_refused_and_what_holds_already_is_said() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "calm", &[]);
    instance.wait_idle(&camp);
    let events = camp.home().join("state/events.jsonl");
    let count = || std::fs::read_to_string(&events).unwrap().lines().count();

    drop(camp.biv(["pause", "calm"]).run().ok());
    let before = count();
    let again = camp.biv(["pause", "calm"]).run().ok();
    assert_eq!(again.stderr, "`calm` is paused already.\n");
    drop(camp.biv(["resume", "calm"]).run().ok());
    let resumed = count();
    assert!(resumed > before);
    let again = camp.biv(["resume", "calm"]).run().ok();
    assert_eq!(again.stderr, "`calm` is running already.\n");
    assert_eq!(count(), resumed, "no event where nothing happened");

    drop(camp.biv(["send", "calm", "/exit 3"]).run().ok());
    instance.wait_for(&camp, "state", "failed");
    for command in [vec!["send", "calm", "hi"], vec!["pause", "calm"]] {
        let answer = camp.biv(command).with_json().run().fails(4);
        assert_eq!(answer.error()["code"], "wrong_state", "{}", answer.call);
        let message = answer.error()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("it is failed"), "{message}");
    }
}

#[test]
fn a_conversation_is_a_stream_of_json_lines() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let ran = camp
        .biv(["run", "--json", "quick", "-a", "demo", "-p", "a short word"])
        .within(&repository.path)
        .run()
        .ok();
    let lines = |text: &str| -> Vec<Value> {
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}")))
            .collect()
    };
    assert!(!lines(&ran.stdout).is_empty());
    let log = lines(&camp.biv(["log", "--json", "quick"]).run().ok().stdout);
    for entry in &log {
        check(entry, &["timestamp", "type", "content", "metadata"]);
        assert!(is_time(&entry["timestamp"]), "{entry}");
    }
    let said: Vec<(&str, &str)> = log
        .iter()
        .filter_map(|entry| Some((entry["type"].as_str()?, entry["content"].as_str()?)))
        .collect();
    assert_eq!(said[0], ("user", "a short word"));
    assert_eq!(said[1].0, "assistant");
}
