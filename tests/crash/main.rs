//! SIGKILL at every step of every operation, and whatever command comes next: nothing is lost,
//! nothing is orphaned, one agent at most.
#![cfg(test)]

mod create;
mod export;
mod import;
mod kill;
mod land;
mod world;

#[path = "../support/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "each tier uses its part of the support"
)]
mod support;
