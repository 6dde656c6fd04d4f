//! The vault against real repositories.

mod basics;
#[path = "../../tests/support/fingerprint.rs"]
mod fingerprint;
mod moved;
mod speed;
#[path = "../../tests/support/states.rs"]
mod states;
mod vault;
