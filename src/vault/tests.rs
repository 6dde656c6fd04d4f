//! The vault against real repositories.

use std::path::PathBuf;

use crate::git::*;
use crate::model::{InstanceId, Timestamp};
use crate::vault::*;

mod ahead;
mod basics;
mod collect;
mod crash;
#[path = "../../tests/support/fingerprint.rs"]
mod fingerprint;
mod meanwhile;
mod migrate;
mod moved;
#[path = "../../tests/support/states.rs"]
mod states;
mod thinning;
mod vault;

/// In memory where that is possible: syncing a busy disk hundreds of times tests its patience only.
fn scratch() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() && std::env::var_os("STATES_ON_DISK").is_none() {
        memory
    } else {
        std::env::temp_dir()
    }
}

fn now() -> Timestamp {
    Timestamp::parse("2026-11-14T18:02:03Z").unwrap()
}

/// A snapshot, read in its own time.
fn saved(
    repo: &Repo,
    checkout: &Checkout,
    instance: &InstanceId,
    number: u64,
) -> Result<SnapshotFact, GitError> {
    let label = Label {
        instance,
        number,
        at: now(),
        home: std::path::Path::new("/home/of/the/test"),
    };
    take_snapshot(repo, checkout, label, None).map(|taken| taken.fact)
}

/// What the test binary calls a test, for one that starts itself as the process to be killed.
fn this_test(name: &str, module: &str) -> String {
    let (_crate, module) = module.split_once("::").unwrap();
    format!("{module}::{name}")
}
