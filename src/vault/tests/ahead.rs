//! What is read before the agent stands still, and what it does after that.

use super::states::{Base, Lab};
use super::{now, saved};
use crate::git::*;
use crate::model::InstanceId;
use crate::vault::*;

type Change = fn(&Lab);

/// A worktree in which nothing has happened for a while, and what happens in it between the reading
/// and the snapshot. Gives back what the snapshot holds and what it ought to hold; None where the
/// verification says itself that it lacks something.
fn meanwhile(change: impl Fn(&Lab)) -> Option<(Vec<String>, Vec<String>)> {
    let home = tempfile::tempdir().unwrap();
    let lab = Lab::new(&home.path().canonicalize().unwrap(), Base::Plain);
    std::fs::write(lab.main.join(".git/info/exclude"), "*.hidden\n").unwrap();
    lab.write("b.txt", "b\nmain\nstaged\n");
    lab.git(&["add", "b.txt"]);
    lab.write("dir/c.txt", "mine\n");
    lab.write("untracked", "u\n");
    lab.write("hidden/only.hidden", "h\n");
    let repo = Repo::discover(&lab.worktree).unwrap();
    let checkout = Checkout::live(&repo, &lab.worktree).unwrap();
    // Not before every change is older than a tick.
    let ahead = loop {
        match preflight(&repo, &checkout).unwrap().ahead {
            Some(ahead) => break ahead,
            None => std::thread::sleep(std::time::Duration::from_millis(50)),
        }
    };
    change(&lab);
    let instance = InstanceId::random();
    let label = Label {
        instance: &instance,
        number: 1,
        at: now(),
        home: std::path::Path::new("/home/of/the/test"),
    };
    let taken = take_snapshot(&repo, &checkout, label, Some(ahead)).unwrap();
    let verified = verify_snapshot(&repo, &checkout, &taken.fact, Some(&taken.seen)).unwrap();
    let fresh = saved(&repo, &checkout, &instance, 2).unwrap();
    let content = |fact: &SnapshotFact| {
        let trees = ["^{tree}", "^2^{tree}", "^3^{tree}"];
        let mut content: Vec<String> = trees
            .iter()
            .map(|tree| {
                let name = format!("{}{tree}", fact.reference);
                lab.git_in(
                    &repo.common_dir().join("bivouac/vault"),
                    &["rev-parse", &name],
                )
            })
            .collect();
        content.extend(fact.head.clone());
        content.extend(fact.branch.clone());
        content
    };
    (verified == Verification::Equal).then(|| (content(&taken.fact), content(&fresh)))
}

#[test]
fn what_was_read_ahead_is_used_where_nothing_happens() {
    let (held, wanted) = meanwhile(|_| {}).expect("nothing differs");
    assert_eq!(held, wanted);
}

#[test]
fn nothing_that_happens_meanwhile_is_missed() {
    let changes: [(&str, Change); 9] = [
        ("a file is changed", |lab| lab.write("dir/c.txt", "also\n")),
        ("an untracked file is changed", |lab| {
            lab.write("untracked", "v\n");
        }),
        ("a clean file is changed", |lab| lab.write("a.txt", "other")),
        ("a file comes", |lab| lab.write("dir/new", "n\n")),
        ("a file comes where git saw none", |lab| {
            lab.write("hidden/seen", "s\n");
        }),
        ("a file goes", |lab| lab.remove("untracked")),
        ("something is staged", |lab| {
            lab.git(&["add", "untracked"]);
        }),
        ("HEAD moves and nothing else", |lab| {
            lab.git(&["update-ref", "HEAD", "HEAD~1"]);
        }),
        ("the branch changes and nothing else", |lab| {
            lab.git(&["symbolic-ref", "HEAD", "refs/heads/another"]);
            lab.git(&["update-ref", "HEAD", "work"]);
        }),
    ];
    std::thread::scope(|scope| {
        for (what, change) in changes {
            scope.spawn(move || {
                if let Some((held, wanted)) = meanwhile(change) {
                    assert_eq!(held, wanted, "{what}");
                }
            });
        }
    });
}
