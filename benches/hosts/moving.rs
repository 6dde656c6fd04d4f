//! What a move sends: a large repository that the host has already, and a few files that were changed.

use std::path::Path;

use crate::support::{BIV, Bench, Camp, Row, file_path};

const TRACKED: usize = 20_000;
const CHANGED: usize = 10;
const BYTES: usize = 27_000;

pub(crate) fn rows(bench: &mut Bench) {
    let (here, there) = (Camp::new(), Camp::new());
    let repository = here.repository(TRACKED);
    let repository = repository.display().to_string();
    // All that goes over the connection is counted.
    let sent = here.path("sent");
    let script = here.path("connect");
    let text = format!(
        "tee -a '{}' | env BIV_HOME='{}' \"$@\"\n",
        sent.display(),
        there.home().display()
    );
    assert!(std::fs::write(&script, text).is_ok());
    let connect = format!("sh {}", script.display());
    here.biv(&[
        "host",
        "add",
        "far",
        "--connect",
        &connect,
        "--program",
        BIV,
    ]);
    for title in ["first", "second"] {
        let new = ["new", title, "-a", "shell", "--repo", &repository];
        here.biv(&[&new[..], &["--", "cat"]].concat());
    }
    // Now the host has the repository.
    here.biv(&["move", "first", "far"]);
    let changed = change(&here.worktree("second"));
    assert!(std::fs::write(&sent, "").is_ok());
    here.biv(&["move", "second", "far"]);
    let bytes = std::fs::metadata(&sent).map_or(0, |found| found.len());
    bench.row(Row::below(
        "move-bytes",
        "bytes that `biv move` sends, 20,000 files, 10 changed (270 kB)",
        bytes as f64 / changed as f64,
        2.0,
        "× the changed content",
    ));
    there.biv(&["kill", "-y", "--all"]);
}

/// Gives some files a content that cannot be compressed. Returns its size.
fn change(worktree: &Path) -> usize {
    let mut state = 1_u64;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[4]
    };
    for number in 0..CHANGED {
        let bytes: Vec<u8> = (0..BYTES).map(|_| byte()).collect();
        let path = file_path(worktree, "src", number * (TRACKED / CHANGED));
        assert!(path.exists() && std::fs::write(path, &bytes).is_ok());
    }
    CHANGED * BYTES
}
