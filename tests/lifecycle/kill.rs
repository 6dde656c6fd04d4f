//! The end of an instance: the whole tree, the work saved, nothing foreign touched.

use std::process::{Child, Command};

use crate::support::{Camp, Instance, Repository, until};

/// A process that does not belong to an instance, ended with the test.
struct Bystander(Child);

impl Bystander {
    fn new(environment: &[(&str, &str)]) -> Self {
        let child = Command::new("sleep")
            .arg("600")
            .envs(environment.iter().copied())
            .spawn()
            .unwrap();
        Self(child)
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Its work is saved, and back when the file is.
#[test]
fn an_agent_whose_file_was_deleted_is_killed() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let agents = camp.home().join("config/agents");
    std::fs::create_dir_all(&agents).unwrap();
    let file = agents.join("own.toml");
    let text = "command = [\"sh\"]\n[session]\nstrategy = \"replay\"\n";
    std::fs::write(&file, text).unwrap();
    let root = repository.path.to_str().unwrap();
    let new = camp.biv(["new", "--json", "own", "-a", "own", "--repo", root]);
    let instance = Instance::from_json(&new.run().ok().json());
    std::fs::write(instance.worktree.join("work"), "of hours\n").unwrap();
    std::fs::remove_file(&file).unwrap();
    drop(camp.biv(["kill", "own", "--yes"]).run().ok());
    assert_eq!(instance.processes().len(), 0);
    assert!(!instance.worktree.exists());

    drop(camp.biv(["undo-kill", "own"]).run().ok());
    let refused = camp.biv(["resume", "own"]).run().fails(2);
    assert!(refused.stderr.contains("own"), "{}", refused.stderr);
    std::fs::write(&file, text).unwrap();
    drop(camp.biv(["resume", "own"]).run().ok());
    let work = std::fs::read_to_string(instance.worktree.join("work")).unwrap();
    assert_eq!(work, "of hours\n");
}

#[test]
fn children_that_resist_end_with_their_agent() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "family", &[]);
    instance.wait_idle(&camp);
    for prompt in ["/spawn 600", "/daemonize 600", "/ignore-signals"] {
        drop(camp.biv(["send", "family", prompt]).run().ok());
        instance.wait_idle(&camp);
    }
    until("the children are there", || instance.processes().len() >= 3);
    camp.kill(&instance);
    let left = instance.processes();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(camp.sessions(), Vec::<String>::new());
}

#[test]
fn the_server_ends_with_its_last_instance_although_a_hub_was_left() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "last", &[]);
    // What a killed UI leaves: the session of its control client, with nobody attached.
    let hub = camp.tmux(&["new-session", "-d", "-s", "biv-hub", "cat"]);
    assert!(hub.status.success(), "{hub:?}");
    camp.kill(&instance);
    until("the server has ended", || {
        !camp.tmux(&["list-sessions"]).status.success()
    });
}

#[test]
fn a_command_with_nohup_and_setsid_children_ends_whole() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start_shell(
        &repository,
        "stubborn",
        "trap '' HUP TERM INT; nohup sleep 601 >/dev/null 2>&1 & setsid sleep 602 & \
         (setsid sh -c 'trap \"\" TERM HUP; sleep 603 & wait' &) ; while :; do sleep 604; done",
    );
    until("all of them run", || instance.processes().len() >= 5);
    camp.kill(&instance);
    assert!(
        instance.processes().is_empty(),
        "{:?}",
        instance.processes()
    );
}

#[test]
fn what_is_foreign_is_left_alone() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.git(&["branch", "someone"]);
    let by_hand = camp.root().join("by-hand");
    repository.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "hand",
        by_hand.to_str().unwrap(),
    ]);
    let instance = camp.start(&repository, "victim", &[]);
    let neighbour = camp.start(&repository, "victim-too", &[]);
    let mut stranger = Bystander::new(&[]);
    let mut namesake = Bystander::new(&[("BIV_INSTANCE", "bcdfghjkmn"), ("HOME", "/nowhere")]);
    // A session of the user's own on our server, whose name begins like ours.
    let session = format!("biv-{}", &instance.id[..6]);
    assert!(
        camp.tmux(&["new-session", "-d", "-s", &session, "sleep", "600"])
            .status
            .success()
    );
    camp.kill(&instance);
    assert!(stranger.is_alive());
    assert!(namesake.is_alive());
    assert!(camp.sessions().contains(&session));
    assert_eq!(camp.show(&neighbour)["state"], "running");
    assert_eq!(neighbour.processes().len(), 1);
    assert!(by_hand.join("README.md").is_file());
    let branches = repository.branches();
    for branch in ["someone", "hand", "main", "biv/victim", "biv/victim-too"] {
        assert!(branches.contains(&branch.to_owned()), "{branches:?}");
    }
}

#[test]
fn a_directory_that_took_the_place_of_the_worktree_is_left_alone() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "moved", &[]);
    std::fs::rename(&instance.worktree, camp.root().join("aside")).unwrap();
    std::fs::create_dir(&instance.worktree).unwrap();
    std::fs::write(instance.worktree.join("mine.txt"), "mine\n").unwrap();
    let answer = camp.biv(["kill", "-y", "moved"]).run();
    assert!(
        instance.worktree.join("mine.txt").is_file(),
        "{}",
        answer.stderr
    );
    assert!(camp.root().join("aside/README.md").is_file());
}

/// Leaves work of every kind: committed, staged, changed, untracked, ignored.
fn leave_work(repository: &Repository, instance: &Instance) {
    let inside = repository.seen_from(&instance.worktree);
    inside.write("committed.txt", "committed\n");
    inside.commit("work of the agent");
    inside.write("staged.txt", "staged\n");
    inside.git(&["add", "staged.txt"]);
    inside.write("README.md", "# Changed\n");
    inside.write("untracked/deep.txt", "untracked\n");
    inside.write(".gitignore", "*.log\n");
    inside.write("ignored.log", "ignored\n");
}

#[test]
fn unsaved_work_is_saved_first_and_comes_back() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "worker", &[]);
    instance.wait_idle(&camp);
    leave_work(&repository, &instance);
    let inside = repository.seen_from(&instance.worktree);
    let status = inside.git(&["status", "--porcelain=v2", "--ignored"]);
    let head = inside.git(&["rev-parse", "HEAD"]);
    camp.kill(&instance);
    assert!(!instance.worktree.exists());
    assert_eq!(repository.worktrees(), Vec::<std::path::PathBuf>::new());
    assert_eq!(camp.list().len(), 0);
    assert_eq!(repository.git(&["rev-parse", "biv/worker"]), head);
    assert_eq!(repository.git(&["stash", "list"]), "");
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    // A killed one stays in its history, and can be looked at.
    assert_eq!(camp.show(&instance)["state"], "killed");
    let runs = camp.biv(["runs", "--json", "worker"]).run().ok().json();
    assert_eq!(runs["runs"][0]["state"], "killed");

    drop(camp.biv(["undo-kill", "worker"]).run().ok());
    assert_eq!(camp.show(&instance)["state"], "paused");
    drop(camp.biv(["resume", "worker"]).run().ok());
    assert_eq!(camp.show(&instance)["state"], "running");
    assert_eq!(
        inside.git(&["status", "--porcelain=v2", "--ignored"]),
        status
    );
    assert_eq!(inside.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(
        std::fs::read_to_string(instance.worktree.join("ignored.log")).unwrap(),
        "ignored\n"
    );
}

#[test]
fn a_branch_goes_only_if_it_was_made_here_and_only_on_request() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    for title in ["stays", "goes"] {
        let instance = camp.start(&repository, title, &[]);
        leave_work(&repository, &instance);
    }
    drop(camp.biv(["kill", "-y", "stays"]).run().ok());
    drop(
        camp.biv(["kill", "-y", "--delete-branch", "goes"])
            .run()
            .ok(),
    );
    assert_eq!(repository.branches(), ["biv/stays", "main"]);
    // Even then the work is kept.
    drop(camp.biv(["undo-kill", "goes"]).run().ok());
    let diff = camp.biv(["diff", "goes"]).run().ok().stdout;
    assert!(diff.contains("+committed"), "{diff}");
}

#[test]
fn several_are_killed_at_once_and_killing_twice_is_said() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let one = camp.start(&repository, "one", &[]);
    let two = camp.start(&repository, "two", &[]);
    drop(camp.biv(["kill", "-y", "one", "two"]).run().ok());
    assert!(one.processes().is_empty() && two.processes().is_empty());
    let said = |words: &[&str], status: i32| camp.biv(words).run().fails(status).said();
    let killed = format!(
        "error: `one` was killed\n  hint: `biv undo-kill {}` brings it back, paused\n",
        one.id
    );
    for command in [
        &["kill", "-y", "one"][..],
        &["diff", "one"],
        &["peek", "one"],
    ] {
        assert_eq!(said(command, 3), killed, "{command:?}");
    }
    assert_eq!(
        said(&["undo-kill", "nobody"], 3),
        "error: no killed instance is called `nobody`\n  \
         hint: `biv list --state killed` shows those that were killed\n"
    );
    drop(camp.biv(["undo-kill", "one"]).run().ok());
    assert_eq!(
        said(&["undo-kill", "one"], 4),
        "error: `one` was not killed: it is paused\n  hint: resume it with `biv resume one`\n"
    );
    // Of several with one title, the last is meant.
    drop(camp.biv(["rename", "one", "two"]).run().ok());
    drop(camp.biv(["kill", "-y", "two"]).run().ok());
    let last = said(&["diff", "two"], 3);
    assert!(
        last.contains(&format!("biv undo-kill {}", one.id)),
        "{last}"
    );
}

#[test]
fn one_that_was_landed_is_said_to_be() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "done", &[]);
    instance.wait_idle(&camp);
    let checkout = repository.seen_from(&instance.worktree);
    checkout.write("done.txt", "done\n");
    checkout.commit("done");
    drop(camp.biv(["land", "done"]).run().ok());
    let said = camp.biv(["diff", "done"]).run().fails(3).said();
    assert!(
        said.contains("`done` has ended: its work was landed on `main`"),
        "{said}"
    );
    assert!(said.contains("biv undo-land"), "{said}");
}

#[test]
fn the_second_caller_is_told_who_is_at_work() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "held", &[]);
    let lock =
        std::fs::File::open(camp.instances_dir().join(&instance.id).join("op.lock")).unwrap();
    lock.lock().unwrap();
    let answer = camp.biv(["kill", "-y", "held", "--json"]).run().fails(7);
    assert_eq!(answer.error()["code"], "busy");
    // Looking is always possible.
    assert_eq!(camp.list().len(), 1);
    drop(lock);
    camp.kill(&instance);
}

#[test]
fn one_that_comes_back_takes_no_used_title() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let old = camp.start(&repository, "tent", &[]);
    leave_work(&repository, &old);
    camp.kill(&old);
    let new = camp.start(&repository, "tent", &[]);
    let back = camp.biv(["undo-kill", &old.id]).run().ok();
    assert!(back.stderr.contains("`tent-2`"), "{}", back.stderr);
    assert_eq!(camp.show(&old)["title"], "tent-2");
    assert_eq!(camp.show(&new)["title"], "tent");
    drop(camp.biv(["resume", "tent-2"]).run().ok());
    assert_ne!(camp.show(&old)["branch"], camp.show(&new)["branch"]);

    // Each of two that come back at once has a name of its own.
    let again = camp.start(&repository, "again", &[]);
    camp.kill(&again);
    let twin = camp.start(&repository, "again", &[]);
    camp.kill(&twin);
    let children: Vec<_> = [&again, &twin]
        .map(|instance| camp.biv(["undo-kill", &instance.id]).in_background())
        .into_iter()
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut titles: Vec<String> = camp.list().into_iter().map(|one| one.title).collect();
    titles.sort();
    assert_eq!(titles, ["again", "again-2", "tent", "tent-2"]);
}

#[test]
fn one_branch_belongs_to_one_instance() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let old = camp.start(&repository, "tent", &[]);
    leave_work(&repository, &old);
    let branch = old.branch.clone().unwrap();
    drop(
        camp.biv(["kill", "-y", "--delete-branch", "tent"])
            .run()
            .ok(),
    );
    let new = camp.start(&repository, "other", &["--branch", &branch]);
    let refused = camp.biv(["undo-kill", "--json", "tent"]).run().fails(1);
    assert_eq!(refused.error()["code"], "branch_held");
    let said = refused.error()["message"].as_str().unwrap().to_owned();
    assert!(said.contains("`other`") && said.contains(&branch), "{said}");
    assert_eq!(camp.show(&old)["state"], "killed");

    // A paused one has its branch too, for a new one and for one that is taken over.
    drop(camp.biv(["pause", "other"]).run().ok());
    drop(camp.biv(["undo-kill", "tent"]).run().fails(1));
    let directory = repository.path.to_str().unwrap();
    let third = [
        "new", "third", "-a", "demo", "--repo", directory, "--branch",
    ];
    let refused = camp.biv(third).arg(&branch).run().fails(1);
    assert!(refused.stderr.contains("`other`"), "{}", refused.stderr);
    let by_hand = camp.root().join("by-hand");
    let by_hand = by_hand.to_str().unwrap();
    repository.git(&["worktree", "add", "-q", by_hand, &branch]);
    let refused = camp.biv(["adopt", by_hand, "-a", "demo"]).run().fails(1);
    assert!(refused.stderr.contains("`other`"), "{}", refused.stderr);
    repository.git(&["worktree", "remove", by_hand]);

    camp.kill(&new);
    drop(camp.biv(["undo-kill", "tent"]).run().ok());
    assert_eq!(camp.show(&old)["state"], "paused");
}

#[test]
fn only_one_that_was_killed_in_its_turn_was_forced() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let idle = camp.start(&repository, "idle", &[]);
    idle.wait_idle(&camp);
    let busy = camp.start(&repository, "busy", &["-p", "/busy 600"]);
    busy.wait_for(&camp, "activity", "busy");
    for (instance, forced) in [(&idle, false), (&busy, true)] {
        camp.kill(instance);
        let back = camp.biv(["undo-kill", "--json", &instance.id]).run().ok();
        let pause = &back.json()["pause"];
        assert_eq!(pause["forced"], forced, "{pause}");
        assert_eq!(pause["reason"], "user");
        assert!(pause["scrollback_lines"].as_u64() > Some(0), "{pause}");
    }
}

#[test]
fn killed_ones_are_listed_when_they_are_asked_for() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let gone = camp.start(&repository, "gone", &[]);
    camp.start(&repository, "here", &[]);
    camp.kill(&gone);
    let killed = camp.biv(["list", "--state", "killed"]).run().ok().stdout;
    assert!(
        killed.contains("gone") && !killed.contains("here"),
        "{killed}"
    );
    let living = camp.biv(["list"]).run().ok().stdout;
    assert!(
        living.contains("here") && !living.contains("gone"),
        "{living}"
    );
    let json = camp.biv(["list", "--state", "killed", "--json"]).run().ok();
    let json = &json.json()["instances"];
    assert_eq!(json[0]["id"], gone.id.as_str());
    assert_eq!(json[0]["state"], "killed");
    assert!(json[0]["pause"].is_null(), "it was never paused: {json}");
}
