//! An agent starts in the subdirectory in which the command was given.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Camp, Instance};

/// The directory of the agent's process.
fn directory_of(instance: &Instance) -> PathBuf {
    let processes = instance.processes();
    let agent = processes.first().expect("it runs");
    std::fs::read_link(format!("/proc/{}/cwd", agent.pid)).unwrap()
}

fn started(camp: &Camp, title: &str, directory: &Path) -> Instance {
    let call = camp.biv(["new", "--json", "-a", "demo", title]);
    Instance::from_json(&call.within(directory).run().ok().json())
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn it_is_kept_by_pause_restart_and_kill() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = started(&camp, "below", &repository.path.join("src"));
    let source = instance.worktree.join("src");
    assert_eq!(directory_of(&instance), real(&source));
    assert_eq!(camp.show(&instance)["subdirectory"], "src");
    let text = camp.biv(["show", "below"]).run().ok().stdout;
    assert!(text.contains("directory    src"), "{text}");
    for (away, back) in [
        (&["pause", "below"][..], &["resume", "below"][..]),
        (&["kill", "-y", "below"], &["undo-kill", "below"]),
        (&["pause", "below"], &["restart", "-y", "below"]),
    ] {
        drop(camp.biv(away).run().ok());
        assert_eq!(camp.show(&instance)["subdirectory"], "src", "{away:?}");
        drop(camp.biv(back).run().ok());
        if camp.show(&instance)["state"] != "running" {
            drop(camp.biv(["resume", "below"]).run().ok());
        }
        assert_eq!(directory_of(&instance), real(&source), "{back:?}");
    }
    // Commands of the user begin at the top.
    let top = camp.biv(["exec", "below", "--", "pwd"]).run().ok().stdout;
    assert_eq!(Path::new(top.trim()), instance.worktree);
    // At the top there is nothing to say, and the record has no such field.
    let other = started(&camp, "top", &repository.path);
    assert_eq!(camp.show(&other)["subdirectory"], Value::Null);
    let record = camp.instances_dir().join(&other.id).join("record.json");
    assert!(
        !std::fs::read_to_string(record)
            .unwrap()
            .contains("subdirectory")
    );
}

#[test]
#[cfg(target_os = "linux")]
fn one_that_is_not_there_is_named_and_the_top_is_taken() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let untracked = repository.path.join("notes/of mine");
    std::fs::create_dir_all(&untracked).unwrap();
    let call = camp.biv(["new", "-a", "demo", "untracked"]);
    let said = call.within(&untracked).run().ok();
    let line = "`notes/of mine` is not in its worktree: the agent starts at the top";
    assert!(said.stderr.contains(line), "{}", said.said());
    let listed = camp.list();
    let instance = listed.first().unwrap();
    assert_eq!(directory_of(instance), real(&instance.worktree));
    assert_eq!(camp.show(instance)["subdirectory"], Value::Null);
    // Its conversation goes on where it is, also if the directory is there now.
    std::fs::create_dir_all(instance.worktree.join("notes/of mine")).unwrap();
    drop(camp.biv(["pause", "untracked"]).run().ok());
    drop(camp.biv(["resume", "untracked"]).run().ok());
    assert_eq!(directory_of(instance), real(&instance.worktree));
}

#[test]
#[cfg(target_os = "linux")]
fn one_that_was_replaced_by_a_way_out_is_not_entered() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = started(&camp, "out", &repository.path.join("src"));
    drop(camp.biv(["pause", "--keep-worktree", "out"]).run().ok());
    let source = instance.worktree.join("src");
    std::fs::remove_dir_all(&source).unwrap();
    std::os::unix::fs::symlink(camp.root(), &source).unwrap();
    let said = camp.biv(["resume", "out"]).run().ok();
    let line = "`src` is not in its worktree: the agent starts at the top";
    assert!(said.stderr.contains(line), "{}", said.said());
    assert_eq!(directory_of(&instance), real(&instance.worktree));
}

#[test]
#[cfg(target_os = "linux")]
fn it_is_that_of_the_checkout_in_which_the_command_was_given() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let first = started(&camp, "first", &repository.path);
    let second = started(&camp, "second", &first.worktree.join("src"));
    assert_eq!(directory_of(&second), real(&second.worktree.join("src")));
    // Through a link, too.
    let link = camp.root().join("link");
    std::os::unix::fs::symlink(repository.path.join("src"), &link).unwrap();
    let third = started(&camp, "third", &link);
    assert_eq!(directory_of(&third), real(&third.worktree.join("src")));
}

#[test]
#[cfg(target_os = "linux")]
fn it_travels() {
    let here = Camp::new();
    let repository = here.repository("app");
    let instance = started(&here, "below", &repository.path.join("src"));
    instance.wait_idle(&here);
    drop(here.biv(["pause", "below"]).run().ok());
    let file = here.root().join("export");
    let call = here.biv(["export", "below", "--plain", "--with-history", "-o"]);
    drop(call.arg(&file).run().ok());
    let there = Camp::new();
    let clone = there.repository("app");
    let call = there.biv(["import", "--json", "--repo"]).arg(&clone.path);
    let arrived = call.arg(&file).run().ok().json();
    assert_eq!(arrived["instance"]["subdirectory"], "src");
    let instance = Instance::from_json(&arrived["instance"]);
    drop(there.biv(["resume", "below"]).run().ok());
    assert_eq!(
        directory_of(&instance),
        real(&instance.worktree.join("src"))
    );
}
