//! What a killed process leaves beside the work, and who deletes it.

use std::path::{Path, PathBuf};

use crate::pair::{Pair, Words};

/// The directories that exports and imports use for a while.
fn scratch(repository: &Path) -> Vec<PathBuf> {
    let place = repository.join(".git/bivouac/tmp");
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[test]
fn a_killed_export_leaves_nothing_for_long_and_a_living_one_is_left_alone() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    let one = pair.here.start_shell(&repository, "one", "exec sleep 600");
    std::fs::write(one.worktree.join("work.txt"), "work\n").unwrap();
    let killed = || {
        let call = pair.biv(&["move", "one", "far"]);
        let answer = call.env("BIV_CRASH_AT", "move:send:before").run();
        assert_eq!(answer.status, None, "{answer:?}");
        assert_eq!(scratch(&repository.path).len(), 1);
    };
    killed();
    drop(pair.biv(&["gc", "--dry-run"]).run().ok());
    assert_eq!(scratch(&repository.path).len(), 1);
    drop(pair.biv(&["gc"]).run().ok());
    assert!(scratch(&repository.path).is_empty());

    // The next export deletes it, too.
    killed();
    let file = pair.here.root().join("one.biv");
    let export = ["export", "one", "--plain", "-o", file.to_str().unwrap()];
    drop(pair.biv(&export).run().ok());
    assert!(scratch(&repository.path).is_empty());

    // Each request of the move meets a gc that runs while its export lies there.
    let variables: Vec<String> = pair
        .here
        .environment()
        .into_iter()
        .map(|(name, value)| format!("'{name}={value}'"))
        .collect();
    let counts = pair.here.root().join("counts");
    let first = format!(
        "env -i {} '{}' gc > /dev/null 2>&1 < /dev/null; ls '{}' | wc -l >> '{}'",
        variables.join(" "),
        env!("CARGO_BIN_EXE_biv"),
        repository.path.join(".git/bivouac/tmp").display(),
        counts.display()
    );
    pair.change_link(&first);
    drop(pair.biv(&["move", "one", "far"]).run().ok());
    let counts = std::fs::read_to_string(counts).unwrap();
    assert!(counts.contains('1'), "it was there: {counts}");
    assert!(scratch(&repository.path).is_empty());
    pair.mend();
    drop(pair.biv(&["move", "one", "--take-back"]).run().ok());
    let work = std::fs::read_to_string(one.worktree.join("work.txt")).unwrap();
    assert_eq!(work, "work\n");
}
