//! The real agents in real tmux sessions, against a model that does as its prompts say.
//!
//! `scripts/install-agents` must have run. Everything stays on this machine: a private home, a model
//! on loopback, and no telemetry.
#![cfg(test)]

mod acts;
mod aider;
mod allowing;
mod answering;
mod autoyes;
mod claude;
mod codex;
mod copilot;
mod day;
mod disguise;
mod drafts;
mod gemini;
mod hooks;
mod kilo;
mod kimi;
mod landing;
mod menus;
mod model;
mod moving;
mod opencode;
mod own_commands;
mod pastes;
mod queueing;
mod qwen;
mod refusing;
mod room;
mod rows;
mod sealed;
mod settings;
mod stage;
mod talking;
mod versions;
mod vibe;

#[path = "../support/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "each tier uses its part of the support"
)]
mod support;
