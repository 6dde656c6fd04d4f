//! An export that arrives, and is cut off on its way.

use crate::support::Camp;
use crate::world::{MOMENTS, next_command};

#[test]
fn an_arrival_that_is_cut_off_leaves_all_of_it_or_nothing() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start_shell(&repository, "crashed", "echo here; exec cat");
    let seen = repository.seen_from(&instance.worktree);
    seen.write("committed.txt", "committed\n");
    seen.commit("own");
    seen.write("new.txt", "new\n");
    drop(camp.biv(["pause", "crashed"]).run().ok());
    let export = camp.root().join("crashed.biv");
    let call = camp.biv(["export", "crashed", "--plain", "-o"]);
    drop(call.arg(&export).run().ok());
    let mut number = 0;
    for (step, expected) in [
        ("claim-names", 0),
        ("add-worktree", 0),
        ("unpack", 0),
        ("snapshot", 0),
        ("verify-snapshot", 0),
        ("deliver", 1),
        ("free-worktree", 1),
        ("record", 1),
    ] {
        for moment in MOMENTS {
            let place = format!("import:{step}:{moment}");
            let there = Camp::new();
            let clone = there.repository("app");
            clone.git(&["fetch", "-q", repository.path.to_str().unwrap(), "main"]);
            let before = clone.branches();
            let import = |place: Option<&str>| {
                let call = there
                    .biv(["import", "--repo"])
                    .arg(&clone.path)
                    .arg(&export);
                match place {
                    Some(place) => call.crash_at(place).run().crashed(),
                    None => call.run(),
                }
            };
            drop(import(Some(&place)));
            next_command(&there, number);
            assert_eq!(there.list().len(), expected, "{place}");
            let made = usize::from(expected == 1);
            assert_eq!(clone.branches().len(), before.len() + made, "{place}");
            assert_eq!(clone.worktrees().len(), 0, "{place}");
            // What was taken back can be done again; what was completed is whole.
            if expected == 0 {
                drop(import(None).ok());
            }
            drop(there.biv(["resume", "crashed"]).run().ok());
            let arrived = there.list().remove(0);
            let text = |name: &str| std::fs::read_to_string(arrived.worktree.join(name)).unwrap();
            assert_eq!(text("committed.txt"), "committed\n", "{place}");
            assert_eq!(text("new.txt"), "new\n", "{place}");
            number += 1;
        }
    }
}
