//! A home can be anywhere, and two never meet.

use crate::support::{Camp, Instance, until};

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

/// Two homes share a repository and its vault. Neither calls the other's saved work an orphan, and
/// neither lets it go.
#[test]
fn saved_work_of_another_home_is_its_own_business() {
    let here = Camp::new();
    let there = Camp::new();
    let repository = here.repository("app");
    let mine = here.start(&repository, "mine", &[]);
    let theirs = there.start(&repository, "theirs", &[]);
    for (camp, instance) in [(&here, &mine), (&there, &theirs)] {
        instance.wait_idle(camp);
        std::fs::write(instance.worktree.join("work"), &instance.id).unwrap();
        drop(camp.biv(["pause", &instance.id]).run().ok());
    }
    let findings = |camp: &Camp| -> Vec<String> {
        let json = camp.biv(["doctor", "--json"]).run().json();
        let findings = json["findings"].as_array().unwrap().iter();
        findings
            .filter(|finding| finding["check"] != "agents" && finding["health"] != "good")
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!((findings(&here), findings(&there)), (vec![], vec![]));

    // The one lets all go at once, also what it has released.
    let config = here.home().join("config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[snapshots]\nkeep = \"1s\"\n").unwrap();
    drop(there.biv(["resume", "theirs"]).run().ok());
    let released = |id: &str| {
        let all = repository.snapshots();
        all.iter()
            .any(|name| name.contains("trash") && name.contains(id))
    };
    assert!(released(&theirs.id));
    until("a second is over", || {
        drop(here.biv(["gc"]).run().ok());
        drop(here.biv(["resume", "mine"]).run().ok());
        !released(&mine.id)
    });
    assert!(released(&theirs.id), "it was another home's");
    assert_eq!((findings(&here), findings(&there)), (vec![], vec![]));

    // A record that is gone makes an orphan, in its own home alone.
    drop(here.biv(["pause", "mine"]).run().ok());
    std::fs::remove_dir_all(here.instances_dir().join(&mine.id)).unwrap();
    // (A second instance, so that the home still knows of the repository.)
    here.start(&repository, "second", &[]);
    let found = findings(&here);
    let orphan = found
        .iter()
        .find(|finding| finding.contains(&mine.id))
        .unwrap();
    assert!(
        orphan.contains("--git-dir=") && orphan.contains("stash apply"),
        "{orphan}"
    );
    assert_eq!(findings(&there), Vec::<String>::new());
}

/// `git fetch --prune` of all refs, or a person, may delete the ref that protects what saved work
/// stands on.
#[test]
fn a_deleted_keep_ref_is_told_and_made_again() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "kept", &[]);
    instance.wait_idle(&camp);
    drop(camp.biv(["pause", "kept"]).run().ok());
    let reference = format!("refs/bivouac-keep/{}", instance.id);
    let parents = || repository.git(&["log", "-1", "--format=%P", &reference]);
    let before = parents();
    repository.git(&["update-ref", "-d", &reference]);
    let told = camp.biv(["doctor", "--json"]).run().json().to_string();
    assert!(told.contains(&reference), "{told}");
    drop(camp.biv(["doctor", "--fix"]).run());
    assert_eq!(parents(), before);
    let told = camp.biv(["doctor", "--json"]).run().json().to_string();
    assert!(!told.contains(&reference), "{told}");
}
