//! The command line as scripts and people meet it: arguments, exit statuses, JSON, errors.
#![cfg(test)]

mod agents;
mod answers;
mod config;
mod doctor;
mod help;
mod json;
mod naming;
mod readme;
mod refusals;

#[path = "../support/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "each tier uses its part of the support"
)]
mod support;
