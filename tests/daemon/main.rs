//! The daemon on real tmux with real agents: watching, events, queues, sleep, notices, its socket.
#![cfg(test)]

mod chaos;
mod cut_turns;
mod events;
mod life;
mod limit;
mod multitude;
mod notices;
mod queue;
mod saved;
mod sleep;
mod starting;
mod watching;
mod wire;

#[path = "../pause/dice.rs"]
mod dice;
mod post;

#[path = "../support/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "each tier uses its part of the support"
)]
mod support;
