//! Landing without a check, beside the fast-forward by hand that it replaces.

use std::path::Path;

use crate::support::{Bench, Camp, Row, file_path, git, timed};

const CHANGED: usize = 10;
const TIMES: usize = 7;

pub(crate) fn rows(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(crate::TRACKED);
    let mut raw = Vec::new();
    let mut whole = Vec::new();
    let mut ours = Vec::new();
    for n in 0..TIMES {
        let branch = format!("hand{n}");
        let by_hand = camp.path(&branch);
        let place = by_hand.to_str().unwrap_or_default();
        git(
            &repository,
            &["worktree", "add", "-q", "-b", &branch, place],
        );
        change(&by_hand, 2 * n);
        let merged = timed(|| git(&repository, &["merge", "-q", "--ff", &branch]));
        let removed = timed(|| {
            git(&repository, &["worktree", "remove", place]);
            git(&repository, &["branch", "-q", "-d", &branch]);
        });
        raw.push(merged);
        whole.push(merged + removed);

        let title = format!("land{n}");
        camp.biv_in(&repository, &["new", &title, "-a", "shell", "--", "cat"]);
        change(&camp.worktree(&title), 2 * n + 1);
        camp.biv(&["pause", &title]);
        ours.push(timed(|| camp.biv(&["land", "--into", "main", &title])));
    }
    bench.row(Row::ratio_at_most(
        "land",
        "`biv land` of 10 files to `git merge --ff`, 20,000 files",
        &ours,
        &raw,
        1.5,
    ));
    bench.row(Row::ratio_at_most(
        "land-whole",
        "the same to `git merge --ff` + `git worktree remove` + `git branch -d`",
        &ours,
        &whole,
        1.5,
    ));
}

/// A commit that changes ten files, other ones for each number.
fn change(worktree: &Path, number: usize) {
    for n in 0..CHANGED {
        let file = file_path(worktree, "src", number * CHANGED + n);
        std::fs::write(file, format!("changed {number}\n")).ok();
    }
    git(worktree, &["commit", "-q", "-a", "-m", "changed"]);
}
