//! The terminal UI in a real terminal, over real tmux, git and processes.
#![cfg(test)]

mod company;
mod journeys;
mod leaving;
mod recording;
mod reviewing;
mod truth;
mod undisturbed;

#[path = "../support/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "each tier uses its part of the support"
)]
mod support;
