//! Other machines: a second camp plays the other one, reached by a script or by a real ssh server;
//! and ten of them, each in a network of its own.
#![cfg(test)]

mod commits;
mod containers;
mod drain;
mod ended;
mod exports;
mod fleet;
mod full;
mod lease;
mod limits;
mod moving;
mod namespaces;
mod pair;
mod passing;
mod scratch;
mod server;
mod ssh;
mod stalls;
mod trouble;
mod ui;

#[path = "../support/fingerprint.rs"]
mod fingerprint;
#[path = "../support/portable.rs"]
mod portable;
#[path = "../support/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "each tier uses its part of the support"
)]
mod support;
