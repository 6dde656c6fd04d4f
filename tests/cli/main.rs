//! The command line as scripts and people meet it: arguments, exit statuses, JSON, errors.
#![cfg(test)]

mod acts;
mod agents;
mod answers;
mod config;
mod doctor;
mod foreign;
mod help;
mod json;
mod looking;
mod naming;
mod readme;
mod refusals;
mod troubles;

#[path = "../support/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "each tier uses its part of the support"
)]
mod support;
