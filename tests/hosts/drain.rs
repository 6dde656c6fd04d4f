//! `biv drain`: everything goes elsewhere, and what cannot stays and works.

use crate::pair::{Pair, Words};
use crate::support::Instance;

fn three(pair: &Pair) -> Vec<Instance> {
    let repository = pair.here.repository("app");
    ["a", "b", "c"]
        .into_iter()
        .map(|title| {
            let instance = pair.here.start_shell(&repository, title, "exec sleep 600");
            let work = pair.here.repository_at(&instance.worktree);
            work.write("work.txt", &format!("work of {title}\n"));
            instance
        })
        .collect()
}

fn states(pair: &Pair, host: Option<&str>) -> Vec<(String, String)> {
    let mut words = vec!["list", "--json"];
    words.extend(host.map_or(["--local", "-q"], |host| ["--host", host]));
    let listing = pair.biv(&words).run().ok().json();
    let mut states: Vec<(String, String)> = listing["instances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|view| {
            let text = |key: &str| view[key].as_str().unwrap().to_owned();
            (text("title"), text("state"))
        })
        .collect();
    states.sort();
    states
}

fn expected(states: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(title, state): &(&str, &str)| ((*title).to_owned(), (*state).to_owned());
    states.iter().map(owned).collect()
}

#[test]
fn all_go_there_and_all_come_back() {
    let pair = Pair::new(Words::Exact);
    let instances = three(&pair);
    drop(pair.biv(&["pause", "b"]).run().ok());
    let drained = pair
        .biv(&["drain", "--to", "far", "--json"])
        .run()
        .ok()
        .json();
    assert_eq!(drained["moved"].as_array().unwrap().len(), 3, "{drained}");
    let away = [("a", "away"), ("b", "away"), ("c", "away")];
    assert_eq!(states(&pair, None), expected(&away));
    // One that rested rests there too.
    let there = [("a", "running"), ("b", "paused"), ("c", "running")];
    assert_eq!(states(&pair, Some("far")), expected(&there));
    let nothing = pair.biv(&["drain", "--to", "far"]).run().ok();
    assert!(nothing.stderr.contains("nothing to move"), "{nothing:?}");
    drop(pair.biv(&["drain", "far", "--to", "."]).run().ok());
    assert_eq!(states(&pair, None), expected(&there));
    assert_eq!(states(&pair, Some("far")), []);
    let text = std::fs::read_to_string(instances[0].worktree.join("work.txt")).unwrap();
    assert_eq!(text, "work of a\n");
    for wrong in [
        &["drain", "--to", "."][..],
        &["drain", "far", "--to", "far"],
        &["drain", "far", "--to", ".", "--to", "far"],
        &["drain"],
    ] {
        drop(pair.biv(wrong).run().fails(2));
    }
}

#[test]
fn a_link_that_is_cut_in_the_middle_leaves_the_rest_here_at_work() {
    let pair = Pair::new(Words::Exact);
    let instances = three(&pair);
    drop(pair.biv(&["move", "a", "far"]).run().ok());
    drop(pair.biv(&["move", "a", "--take-back"]).run().ok());
    // As many requests as the first one needs, once it was there, and some of the second.
    pair.cut_at(1000, false);
    drop(pair.biv(&["move", "a", "far"]).run().ok());
    let needed = pair.requests();
    pair.mend();
    drop(pair.biv(&["move", "a", "--take-back"]).run().ok());
    pair.cut_at(needed + 3, false);
    let drained = pair.biv(&["drain", "--to", "far", "--json"]).run().fails(1);
    let error = drained.error();
    assert_eq!(error["message"], "moved 1 of 3", "{error}");
    let failures = error["details"]["failures"].as_array().unwrap().len();
    assert_eq!((&error["details"]["done"], failures), (&1.into(), 2));
    let here = [("a", "away"), ("b", "running"), ("c", "running")];
    assert_eq!(states(&pair, None), expected(&here));
    for instance in &instances[1..] {
        assert!(!instance.processes().is_empty(), "its agent works");
        assert!(instance.worktree.join("work.txt").exists());
    }
    // The same command later does the rest.
    pair.mend();
    let rest = pair.biv(&["drain", "--to", "far"]).run().ok();
    assert!(rest.stderr.contains("Moved 2 instances."), "{rest:?}");
    let there = [("a", "running"), ("b", "running"), ("c", "running")];
    assert_eq!(states(&pair, Some("far")), expected(&there));
}

#[test]
fn one_that_cannot_go_does_not_keep_the_others() {
    let pair = Pair::new(Words::Exact);
    let instances = three(&pair);
    // What is said here stands in the way of `b` there.
    let branch = pair.here.show(&instances[1])["branch"]
        .as_str()
        .unwrap()
        .to_owned();
    drop(pair.biv(&["move", "a", "far"]).run().ok());
    let there = pair.biv(&["show", "far:a", "--json"]).run().ok().json();
    let there = Instance::from_json(&there);
    let work = pair.there.repository_at(&there.worktree);
    work.git(&["commit", "-q", "--allow-empty", "-m", "another"]);
    work.git(&["branch", &branch]);
    let drained = pair.biv(&["drain", "--to", "far"]).run().fails(1);
    assert!(drained.stderr.contains("moved 1 of 2"), "{drained:?}");
    assert!(drained.stderr.contains("`b`: "), "{drained:?}");
    let here = [("a", "away"), ("b", "running"), ("c", "away")];
    assert_eq!(states(&pair, None), expected(&here));
}
