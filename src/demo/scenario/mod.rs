//! Whole conversations with the agent, without a terminal: keys in, screen and session file out.

mod looks;
mod stage;
mod tests;
mod turns;
