//! Operations on a sealed instance keep its seal.

use crate::support::{Camp, Instance, until};
use crate::{Kind, left_out, start_sealed};

const FULL: [&str; 5] = [
    "landlock-files",
    "landlock-scope",
    "mount-namespace",
    "pid-namespace",
    "network-namespace",
];

fn layers(camp: &Camp, instance: &Instance) -> Vec<String> {
    let seal = &camp.show(instance)["seal"];
    let names = seal["layers"].as_array().unwrap().iter();
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// The agent itself is in a pid namespace that is not ours.
#[track_caller]
fn assert_sealed(camp: &Camp, instance: &Instance) {
    let ours = std::fs::read_link("/proc/self/ns/pid").unwrap();
    until("the agent runs in a namespace of its own", || {
        instance.processes().iter().any(|process| {
            let theirs = std::fs::read_link(format!("/proc/{}/ns/pid", process.pid));
            theirs.is_ok_and(|theirs| theirs != ours)
        })
    });
    assert_eq!(layers(camp, instance), FULL);
}

#[test]
fn pause_resume_and_restart_keep_the_seal() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start_sealed(&camp, &repository, "fix");
    instance.wait_idle(&camp);
    assert_sealed(&camp, &instance);
    drop(camp.biv(["send", "fix", "the first"]).run().ok());
    instance.wait_idle(&camp);
    assert_eq!(instance.prompts(&camp), ["the first"]);
    drop(camp.biv(["pause", "fix"]).run().ok());
    assert_eq!(instance.processes().len(), 0);
    let keeper = repository
        .path
        .join(".git/refs/heads/biv/fix/.bivouac-seal");
    assert!(!keeper.exists(), "what only a running seal needs");
    drop(camp.biv(["resume", "fix"]).run().ok());
    instance.wait_idle(&camp);
    assert_sealed(&camp, &instance);
    drop(camp.biv(["send", "fix", "the second"]).run().ok());
    instance.wait_idle(&camp);
    assert_eq!(instance.prompts(&camp), ["the first", "the second"]);
    drop(camp.biv(["restart", "fix", "-y"]).run().ok());
    instance.wait_idle(&camp);
    assert_sealed(&camp, &instance);
    drop(
        camp.biv(["kill", "fix", "-y", "--delete-branch"])
            .run()
            .ok(),
    );
    assert!(!keeper.parent().unwrap().exists());
}

#[test]
fn an_agent_below_the_top_reaches_the_whole_worktree() {
    for kind in [Kind::Namespaces, Kind::LandlockAlone] {
        if left_out(kind) {
            continue;
        }
        let camp = kind.camp();
        let repository = camp.repository("app");
        let call = camp.biv(["new", "--json", "-a", "demo", "--seal", "fix"]);
        let call = call.within(repository.path.join("src"));
        let instance = Instance::from_json(&call.run().ok().json());
        let source = instance.worktree.join("src").canonicalize().unwrap();
        for started_by in ["new", "resume"] {
            if started_by == "resume" {
                drop(camp.biv(["pause", "fix"]).run().ok());
                drop(camp.biv(["resume", "fix"]).run().ok());
            }
            instance.wait_idle(&camp);
            let starts_below = instance.processes().iter().any(|process| {
                let directory = std::fs::read_link(format!("/proc/{}/cwd", process.pid));
                directory.is_ok_and(|directory| directory == source)
            });
            assert!(starts_below, "{kind:?}, {started_by}");
            let command =
                format!("/run touch here ../top-{started_by} && git add -A && git commit -m x");
            drop(camp.biv(["send", "fix", &command]).run().ok());
            instance.wait_for(&camp, "activity", "approval");
            drop(camp.biv(["answer", "fix", "yes"]).run().ok());
            instance.wait_idle(&camp);
            let top = instance.worktree.join(format!("top-{started_by}"));
            assert!(top.is_file(), "{kind:?}, {started_by}");
            let shown = camp.show(&instance);
            let branch = shown["branch"].as_str().unwrap();
            let said = repository.git(&["log", "--format=%s", "-1", branch]);
            assert_eq!(said.trim(), "x", "{kind:?}, {started_by}");
        }
        assert!(source.join("here").is_file());
    }
}

#[test]
fn with_landlock_alone_the_missing_layers_are_named() {
    if left_out(Kind::LandlockAlone) {
        return;
    }
    let camp = Kind::LandlockAlone.camp();
    let repository = camp.repository("app");
    let instance = start_sealed(&camp, &repository, "fix");
    instance.wait_idle(&camp);
    let shown = camp.show(&instance);
    assert_eq!(
        shown["seal"]["missing"],
        serde_json::json!(["mount-namespace", "pid-namespace", "network-namespace"])
    );
    let text = camp.biv(["show", "fix"]).run().ok().stdout;
    assert!(
        text.contains("Unix sockets outside can be reached"),
        "{text}"
    );
    drop(camp.biv(["pause", "fix"]).run().ok());
    drop(camp.biv(["resume", "fix"]).run().ok());
    assert_eq!(
        layers(&camp, &instance),
        ["landlock-files", "landlock-tcp", "landlock-scope"]
    );
}

#[test]
fn the_exit_status_of_a_sealed_agent_is_its_own() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let arguments = ["new", "x", "--seal", "--json", "-a", "shell", "--"];
    let script = ["sh", "-c", "sleep 2; exit 7"];
    let call = camp
        .biv(arguments.iter().chain(&script))
        .within(&repository.path);
    let instance = Instance::from_json(&call.run().ok().json());
    instance.wait_for(&camp, "state", "failed");
    assert_eq!(camp.show(&instance)["exit_code"], 7);
}

/// The supervisor outside is the last that the user could end by hand: nothing outlives it.
#[test]
fn an_agent_does_not_outlive_the_process_outside() {
    if left_out(Kind::Namespaces) {
        return;
    }
    for kind in [Kind::Namespaces, Kind::LandlockAlone] {
        let camp = kind.camp();
        let repository = camp.repository("app");
        let instance = start_sealed(&camp, &repository, "fix");
        instance.wait_idle(&camp);
        let outside = instance.processes().iter().map(|process| process.pid).min();
        let launcher = until_launcher(&instance).or(outside).unwrap();
        let killed = std::process::Command::new("kill")
            .args(["-9", &launcher.to_string()])
            .status();
        assert!(killed.unwrap().success());
        until("nothing of the agent is left", || {
            instance.processes().is_empty()
        });
        camp.kill(&instance);
    }
}

/// The parent of the sealed processes that has not their variable.
fn until_launcher(instance: &Instance) -> Option<i32> {
    let processes = instance.processes();
    let pids: Vec<i32> = processes.iter().map(|process| process.pid).collect();
    let parent = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields = stat.rsplit_once(')')?.1;
        fields.split_whitespace().nth(1)?.parse::<i32>().ok()
    };
    let is_ours = |pid: &i32| {
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.contains("__launch")
    };
    pids.into_iter()
        .flat_map(|pid| std::iter::successors(parent(pid), |pid| parent(*pid)).take(4))
        .find(is_ours)
}

#[test]
fn a_repository_may_ask_for_a_seal_and_a_shared_branch_is_refused() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.write(".bivouac.toml", "[seal]\ndefault = true\n");
    let instance = camp.start(&repository, "asked", &[]);
    assert_eq!(layers(&camp, &instance), FULL);
    let path = repository.path.to_str().unwrap();
    let answer = camp
        .biv(["new", "--branch", "plain", "-a", "demo", "--repo", path])
        .run()
        .fails(1);
    assert!(
        answer.stderr.contains("beside those of all other branches"),
        "{}",
        answer.stderr
    );
    assert!(answer.stderr.contains("hint:"), "{}", answer.stderr);
    repository.write(".bivouac.toml", "[seal]\nnetwork = \"all\"\n");
    drop(
        camp.biv(["new", "-a", "demo", "--repo", path])
            .run()
            .fails(1),
    );
}

/// A program that reads at once must not read before it has the terminal.
#[test]
fn a_program_that_reads_at_once_has_its_terminal() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    for number in 0..8 {
        let title = format!("reads-{number}");
        let answer = camp
            .biv(["new", &title, "--seal", "-a", "shell", "--", "cat"])
            .within(&repository.path)
            .run();
        drop(answer.ok());
    }
    assert_eq!(camp.list().len(), 8);
}
