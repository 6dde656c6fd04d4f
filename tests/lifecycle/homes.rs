//! A home can be anywhere, and two never meet.

use crate::support::{Camp, Instance};

/// The whole cycle in a home that is named in this way.
#[track_caller]
fn cycle(camp: &Camp, home: &str) {
    let repository = camp.repository("app");
    let biv = |arguments: &[&str]| {
        camp.biv(arguments)
            .within(&repository.path)
            .env("BIV_HOME", home)
            .run()
    };
    let made = biv(&[
        "new",
        "--json",
        "far away",
        "-a",
        "demo",
        "-p",
        "greetings from here",
    ]);
    let instance = Instance::from_json(&made.ok().json());
    let peek = biv(&["peek", &instance.id]).ok().stdout;
    assert!(peek.contains("greetings from here"), "{peek}");
    drop(biv(&["send", &instance.id, "and again"]).ok());
    assert_eq!(
        biv(&["list", "--json"]).ok().json()["instances"][0]["state"],
        "running"
    );
    drop(biv(&["kill", "-y", "far away"]).ok());
    assert!(instance.processes().is_empty());
    drop(biv(&["undo-kill", "far away"]).ok());
    drop(biv(&["doctor"]).ok());
}

#[test]
fn a_home_may_lie_deeper_than_a_socket_path_may_be_long() {
    let deep = format!("{}/home", ["a-rather-long-directory-name"; 6].join("/"));
    let camp = Camp::with_home(&deep);
    assert!(camp.home().join("run/tmux.sock").as_os_str().len() > 108);
    cycle(&camp, camp.home().to_str().unwrap());
}

#[test]
fn a_home_may_have_any_name() {
    let name = "my home; $(touch pwned) 'quoted' \"twice\" #(touch pwned) 日本 %H";
    let camp = Camp::with_home(name);
    cycle(&camp, camp.home().to_str().unwrap());
    assert!(!camp.root().join("pwned").exists());
}

#[test]
fn a_home_may_be_relative() {
    let camp = Camp::with_home("repositories/near by");
    cycle(&camp, "../near by");
}

#[test]
fn two_homes_never_meet() {
    let here = Camp::new();
    let there = Camp::new();
    let repository = here.repository("app");
    let instance = here.start(&repository, "same", &[]);
    // The same repository, the same title.
    let other = there.start(&repository, "same", &[]);
    assert_eq!(there.list().len(), 1);
    assert_ne!(instance.branch, other.branch);
    drop(there.biv(["show", &instance.id]).run().fails(3));
    there.kill(&other);
    assert_eq!(here.show(&instance)["state"], "running");
    assert_eq!(instance.processes().len(), 1);
    drop(here.biv(["doctor"]).run());
    assert_eq!(
        repository.worktrees(),
        std::slice::from_ref(&instance.worktree)
    );
}
