//! The proof that pause and resume lose nothing: real git, real tmux, the real program.
#![cfg(test)]

mod camp;
mod carried;
mod chance;
mod contention;
mod crash;
mod crowd;
mod dice;
mod disk;
mod exactness;
mod ground;
mod identity;
mod inside;
mod meanwhile;
mod outside;
mod power;
mod private;
mod quiesce;
mod requests;
mod rest;
mod retention;
mod screen;
mod undeletable;
mod writers;

#[path = "../support/fingerprint.rs"]
mod fingerprint;
#[path = "../support/portable.rs"]
mod portable;
#[path = "../support/states.rs"]
mod states;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each tier uses its part of the support")]
mod support;
