//! The vault against real repositories.

use std::path::PathBuf;

mod basics;
mod crash;
#[path = "../../tests/support/fingerprint.rs"]
mod fingerprint;
mod moved;
#[path = "../../tests/support/states.rs"]
mod states;
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
