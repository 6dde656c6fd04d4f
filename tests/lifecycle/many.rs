//! Many instances at once.

use crate::support::{Camp, Instance};

/// As many as a person may come to have; fewer where every change is tested.
fn how_many() -> usize {
    if std::env::var_os("BIV_TEST_LONG").is_some() {
        200
    } else {
        40
    }
}

#[test]
fn many_instances_are_made_listed_and_ended() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let count = how_many();
    // Four at a time, in one repository: git's own `worktree add` would trip over itself.
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (camp, repository) = (&camp, &repository);
            scope.spawn(move || {
                for number in (worker..count).step_by(4) {
                    camp.start_shell(
                        repository,
                        &format!("agent {number}"),
                        "echo here; exec cat",
                    );
                }
            });
        }
    });
    let instances = camp.list();
    assert_eq!(instances.len(), count);
    assert_eq!(camp.sessions().len(), count);
    assert_eq!(repository.worktrees().len(), count);
    let running = camp
        .biv(["list", "--json", "--state", "running"])
        .run()
        .ok();
    let running = running.json();
    let running = running["instances"].as_array().unwrap();
    assert_eq!(running.len(), count);
    // Each is seen, whatever the number of its pane.
    for instance in running {
        assert_eq!(instance["last_line"], "here", "{instance}");
    }

    let ids: Vec<&str> = instances
        .iter()
        .map(|instance| instance.id.as_str())
        .collect();
    for some in ids.chunks(20) {
        drop(camp.biv(["kill", "-y"]).args(some).run().ok());
    }
    assert_eq!(camp.list().len(), 0);
    assert_eq!(camp.sessions(), Vec::<String>::new());
    assert_eq!(repository.worktrees().len(), 0);
    let left: Vec<_> = instances.iter().flat_map(Instance::processes).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn one_title_asked_for_by_many_at_once_goes_to_one() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let outcomes: Vec<Option<i32>> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    camp.biv(["new", "wanted", "-a", "shell", "--", "cat"])
                        .within(&repository.path)
                        .run()
                        .status
                })
            })
            .collect();
        asked
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let made = outcomes.iter().filter(|status| **status == Some(0)).count();
    assert_eq!(made, 1, "{outcomes:?}");
    assert_eq!(camp.list().len(), 1);
    assert_eq!(repository.worktrees().len(), 1);
    assert_eq!(repository.branches(), ["biv/wanted", "main"]);
}
