//! Branch, worktree, session, agent.

use std::path::PathBuf;

use crate::support::{Camp, Instance, until};

#[test]
fn an_instance_has_its_own_branch_worktree_and_session() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let head = repository.git(&["rev-parse", "HEAD"]);
    let instance = camp.start(&repository, "first", &[]);
    assert_eq!(
        repository.worktrees(),
        std::slice::from_ref(&instance.worktree)
    );
    assert!(instance.worktree.starts_with(camp.home()));
    let inside = repository.seen_from(&instance.worktree);
    assert_eq!(inside.git(&["branch", "--show-current"]), "biv/first");
    assert_eq!(inside.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(inside.git(&["status", "--porcelain"]), "");
    assert_eq!(camp.sessions(), [format!("biv-{}", instance.id)]);
    assert_eq!(instance.processes().len(), 1);
    // The user's own checkout is as it was.
    assert_eq!(repository.git(&["branch", "--show-current"]), "main");
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    assert_eq!(repository.git(&["stash", "list"]), "");
}

#[test]
fn several_repositories_share_one_home() {
    let camp = Camp::new();
    let api = camp.repository("api");
    let web = camp.repository("web");
    let one = camp.start(&api, "one", &[]);
    let two = camp.start(&web, "two", &[]);
    // The same directory name twice is no matter.
    let other = camp.repository("elsewhere/web");
    let three = camp.start(&other, "three", &[]);
    assert_eq!(camp.list().len(), 3);
    let listed = |directory: &std::path::Path| -> Vec<String> {
        let json = camp.biv(["list", "--json", "--repo"]).arg(directory);
        json.run().ok().json()["instances"]
            .as_array()
            .unwrap()
            .iter()
            .map(|instance| instance["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(listed(&api.path), [one.id]);
    assert_eq!(listed(&web.path.join("src")), std::slice::from_ref(&two.id));
    assert_eq!(listed(&two.worktree), [two.id]);
    assert_eq!(listed(&other.path), [three.id]);
}

#[test]
fn several_are_started_by_one_command() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let agent = ["-a", "shell", "--", "sh", "-c", "printf '> '; exec cat"];
    let answer = camp
        .biv(["new", "try", "-n", "5", "--json"])
        .args(agent)
        .within(&repository.path)
        .run()
        .ok();
    let titles: Vec<String> = answer.json()["instances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|instance| instance["title"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(titles, ["try-1", "try-2", "try-3", "try-4", "try-5"]);
    assert_eq!(camp.sessions().len(), 5);
    assert_eq!(repository.worktrees().len(), 5);

    // One that is there already is named; the others are started.
    let kill = ["kill", "-y", "--delete-branch", "try-1", "try-2", "try-4"];
    drop(camp.biv(kill).run().ok());
    let answer = camp
        .biv(["new", "try", "-n", "4"])
        .args(agent)
        .within(&repository.path)
        .run()
        .fails(1);
    let said = answer.said();
    assert!(said.contains("started 3 of 4"), "{said}");
    assert!(said.contains("`try-3`"), "{said}");
    // What was created is a result.
    let printed = answer.printed();
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 3, "{printed}");
    assert!(lines[1].starts_with("try-2 is running"), "{printed}");
    assert_eq!(camp.list().len(), 5);
}

/// It is found, and cannot be started: its interpreter is missing.
#[test]
fn a_program_that_cannot_be_started_leaves_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let camp = Camp::new();
    let repository = camp.repository("app");
    let program = camp.root().join("program");
    std::fs::write(&program, "#!/nonexistent/interpreter\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let answer = camp
        .biv(["new", "broken", "-a", "shell", "--"])
        .arg(&program)
        .within(&repository.path)
        .run()
        .fails(1);
    let said = answer.said();
    assert!(said.contains("exit status 127"), "{said}");
    assert_eq!(camp.list().len(), 0);
    assert_eq!(repository.branches(), ["main"]);
    assert_eq!(repository.worktrees(), Vec::<PathBuf>::new());
}

#[test]
fn an_existing_branch_is_taken_as_it_is() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.git(&["switch", "-q", "-c", "feature/x"]);
    let commit = repository.commit("on the feature");
    repository.git(&["switch", "-q", "main"]);
    let instance = camp.start(&repository, "taken", &["--branch", "feature/x"]);
    assert_eq!(instance.branch.as_deref(), Some("feature/x"));
    let inside = repository.seen_from(&instance.worktree);
    assert_eq!(inside.git(&["rev-parse", "HEAD"]), commit);
    // It was there before: a kill leaves it, whatever is asked.
    let kill = ["kill", "-y", "--delete-branch", "taken"];
    drop(camp.biv(kill).run().ok());
    assert_eq!(repository.git(&["rev-parse", "feature/x"]), commit);
}

#[test]
fn a_base_other_than_head_is_where_the_branch_starts() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let first = repository.git(&["rev-parse", "HEAD"]);
    repository.git(&["tag", "v1"]);
    repository.write("later.txt", "later\n");
    repository.commit("second");
    let instance = camp.start(&repository, "old", &["--base", "v1", "--branch", "from-v1"]);
    let inside = repository.seen_from(&instance.worktree);
    assert_eq!(inside.git(&["rev-parse", "HEAD"]), first);
    assert_eq!(camp.show(&instance)["base"], "v1");
    assert_eq!(camp.show(&instance)["diff"]["files"], 0);
    let diff = camp.biv(["diff", "old"]).run().ok();
    assert_eq!(diff.stdout, "");
    inside.write("README.md", "# Changed\n");
    inside.write("new.txt", "one\ntwo\n");
    let diff = camp.biv(["diff", "old"]).run().ok().stdout;
    assert!(diff.contains("+# Changed"), "{diff}");
    assert!(
        diff.contains("+++ b/new.txt"),
        "untracked files count: {diff}"
    );
    let stat = camp.biv(["diff", "--stat", "old"]).run().ok().stdout;
    assert!(
        stat.contains("2 files changed, 3 insertions(+), 1 deletion(-)"),
        "{stat}"
    );
}

#[test]
fn a_bare_repository_will_do() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let bare = camp.root().join("app.git");
    repository.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let bare = camp.repository_at(&bare);
    let instance = camp.start(&bare, "in bare", &[]);
    assert!(instance.worktree.join("README.md").is_file());
    camp.kill(&instance);
    assert!(!instance.worktree.exists());
    assert_eq!(bare.branches(), ["biv/in-bare", "main"]);
}

#[test]
fn an_adopted_worktree_is_taken_as_it_stands_and_left_where_it_is() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let path = camp.root().join("by hand");
    repository.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "mine",
        path.to_str().unwrap(),
    ]);
    let inside = repository.seen_from(&path);
    inside.write("half-done.txt", "half\n");
    let adopted = camp
        .biv(["adopt", "--json", "-a", "demo", "--base", "main"])
        .arg(&path)
        .arg("adopted")
        .run()
        .ok();
    let instance = Instance::from_json(&adopted.json());
    assert_eq!(instance.worktree, path);
    assert_eq!(instance.branch.as_deref(), Some("mine"));
    assert_eq!(camp.show(&instance)["diff"]["files"], 1);
    let kill = ["kill", "-y", "--delete-branch", "adopted"];
    drop(camp.biv(kill).run().ok());
    assert!(path.join("half-done.txt").is_file(), "not ours to move");
    assert!(repository.branches().contains(&"mine".to_owned()));
    assert!(instance.processes().is_empty());
}

#[test]
fn an_agent_that_ends_is_told_apart_by_its_exit_status() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    for (title, prompt, state, code) in [
        ("good", "/exit 0", "completed", 0),
        ("bad", "/exit 7", "failed", 7),
    ] {
        let instance = camp.start(&repository, title, &[]);
        instance.wait_idle(&camp);
        drop(camp.biv(["send", title, prompt]).run().ok());
        instance.wait_for(&camp, "state", state);
        let shown = camp.show(&instance);
        assert_eq!(shown["exit_code"], code);
        assert_eq!(shown["activity"], "exited");
        // Its last words survive it, and the server too.
        let peek = camp.biv(["peek", title]).run().ok().stdout;
        assert!(peek.contains(prompt), "{peek}");
        let refused = camp.biv(["send", title, "more", "--json"]).run();
        drop(refused);
    }
    camp.end_server();
    let peek = camp.biv(["peek", "bad"]).run().ok().stdout;
    assert!(peek.contains("/exit 7"), "{peek}");
    let runs = camp.biv(["runs", "--json", "bad"]).run().ok().json();
    assert_eq!(runs["runs"][0]["state"], "failed");
    assert_eq!(runs["runs"][0]["exit_code"], 7);
}

#[test]
fn a_server_that_vanished_interrupts_its_instances_and_no_more() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "alone", &[]);
    instance.wait_idle(&camp);
    std::fs::write(instance.worktree.join("work.txt"), "precious\n").unwrap();
    camp.end_server();
    until("the agent has gone with its server", || {
        instance.processes().is_empty()
    });
    // The list says so before anyone has asked about this one.
    let listed = camp.biv(["list", "--json"]).run().json();
    assert_eq!(listed["instances"][0]["state"], "interrupted");
    assert_eq!(camp.show(&instance)["state"], "interrupted");
    assert!(instance.worktree.join("work.txt").is_file());
    // And the home goes on with a new server.
    camp.start(&repository, "next", &[]);
    camp.kill(&instance);
}

#[test]
fn what_the_agent_inherits_is_the_users_environment_less_what_would_mislead_it() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let made = camp
        .biv([
            "new",
            "--json",
            "env",
            "-a",
            "shell",
            "--",
            "sh",
            "-c",
            "env > seen; exec cat",
        ])
        .within(&repository.path)
        .env("MY_TOKEN", "s3cret-token")
        .env("TMUX", "/tmp/other,1,0")
        .env("GIT_DIR", "/nowhere")
        .without_env("GIT_DIR")
        .run()
        .ok();
    let instance = Instance::from_json(&made.json());
    let seen = instance.worktree.join("seen");
    until("the agent has written what it sees", || {
        std::fs::read_to_string(&seen).is_ok_and(|text| text.contains("BIV_INSTANCE="))
    });
    let seen = std::fs::read_to_string(&seen).unwrap();
    assert!(seen.contains("MY_TOKEN=s3cret-token"));
    assert!(seen.contains(&format!("BIV_INSTANCE={}", instance.id)));
    for misleading in ["TMUX=", "TMUX_PANE=", "GIT_DIR="] {
        assert!(
            !seen.lines().any(|line| line.starts_with(misleading)),
            "{misleading} in {seen}"
        );
    }
    // No secret of the environment reaches the disk: neither the state nor the sockets' directory.
    for directory in ["state", "run", "config"] {
        assert_no_file_holds(&camp.home().join(directory), "s3cret-token");
    }
    // Nor a process list.
    let table = std::process::Command::new("ps")
        .args(["-axww", "-o", "args"])
        .output();
    let table = String::from_utf8_lossy(&table.unwrap().stdout).into_owned();
    assert!(!table.contains("s3cret-token"));
}

fn assert_no_file_holds(directory: &std::path::Path, secret: &str) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            assert_no_file_holds(&entry.path(), secret);
        } else if kind.is_file() {
            let text = std::fs::read(entry.path()).unwrap();
            let holds = text
                .windows(secret.len())
                .any(|part| part == secret.as_bytes());
            assert!(!holds, "{} holds the secret", entry.path().display());
        }
    }
}

#[test]
fn everything_on_disk_is_private_and_the_worktree_keeps_the_users_modes() {
    use std::os::unix::fs::PermissionsExt;
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "private", &[]);
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let own = camp.instances_dir().join(&instance.id);
    for directory in ["state", "run", "state/instances", "state/lock"] {
        assert_eq!(mode(&camp.home().join(directory)), 0o700, "{directory}");
    }
    assert_eq!(mode(&own), 0o700);
    for file in ["record.json", "journal.jsonl", "op.lock"] {
        assert_eq!(mode(&own.join(file)), 0o600, "{file}");
    }
    let umask_file = camp.root().join("umask");
    std::fs::write(&umask_file, "").unwrap();
    assert_eq!(
        mode(&instance.worktree.join("README.md")),
        mode(&umask_file),
        "files of the worktree have the modes that the user's own would have"
    );
}

#[test]
fn where_it_started_is_a_name_and_a_commit() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let commit = repository.git(&["rev-parse", "HEAD"]);
    let shown = |title: &str, more: &[&str]| camp.show(&camp.start(&repository, title, more));
    let usual = shown("usual", &[]);
    assert_eq!(usual["base"], "main");
    assert_eq!(usual["base_commit"], commit);
    let text = camp.biv(["show", "usual"]).run().ok().stdout;
    assert!(
        text.contains(&format!("main ({})", &commit[..10])),
        "{text}"
    );
    repository.git(&["tag", "v1"]);
    assert_eq!(shown("named", &["--base", "v1"])["base"], "v1");
    repository.git(&["checkout", "-q", "--detach"]);
    let detached = shown("detached", &[]);
    assert_eq!(detached["base"], "HEAD");
    assert_eq!(detached["base_commit"], commit);
}

#[test]
fn a_pause_does_not_change_when_an_agent_was_active() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let first = camp.start(&repository, "first", &[]);
    let second = camp.start(&repository, "second", &[]);
    first.wait_idle(&camp);
    second.wait_idle(&camp);
    let active = || {
        camp.show(&first)["last_active_at"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let at_start = active();
    until("a second has passed since the start", || {
        drop(camp.biv(["send", "first", "/lines 1"]).run().ok());
        first.wait_idle(&camp);
        active()[..19] > at_start[..19]
    });
    let order = || -> Vec<String> { camp.list().into_iter().map(|one| one.title).collect() };
    let before = (active(), order());
    drop(camp.biv(["pause", "first"]).run().ok());
    let after = (active(), order());
    assert!(after.0 >= before.0, "it jumped back: {before:?} {after:?}");
    assert_eq!(after.1, before.1);
    assert_eq!(after.1, ["first", "second"]);
}

/// Most content of a partial clone is still with its remote: a worktree fetches what it needs, as
/// `git worktree add` does.
#[test]
fn in_a_partial_clone_what_is_not_there_is_fetched() {
    let camp = Camp::new();
    let origin = camp.repository("origin");
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.write("old.txt", "first\n");
    let first = origin.commit("first");
    origin.write("old.txt", "second\n");
    origin.commit("second");
    let path = camp.root().join("clone");
    let url = format!("file://{}", origin.path.display());
    origin.git(&[
        "clone",
        "-q",
        "--filter=blob:none",
        "--no-checkout",
        &url,
        path.to_str().unwrap(),
    ]);
    let clone = camp.repository_at(&path);

    let instance = camp.start(&clone, "partial", &["--base", &first]);
    let read = |name: &str| std::fs::read_to_string(instance.worktree.join(name)).unwrap();
    assert_eq!(read("old.txt"), "first\n");
    std::fs::write(instance.worktree.join("old.txt"), "mine\n").unwrap();
    instance.wait_idle(&camp);
    drop(camp.biv(["pause", "partial"]).run().ok());
    let diff = camp.biv(["diff", "partial"]).run().ok().stdout;
    assert!(diff.contains("-first") && diff.contains("+mine"), "{diff}");
    drop(camp.biv(["resume", "partial"]).run().ok());
    assert_eq!(read("old.txt"), "mine\n");
}
