//! Instances from birth to death, on real tmux and real git.
#![cfg(test)]

mod answer;
mod attach;
mod autoyes;
mod calls;
mod confirmations;
mod create;
mod daily;
mod environment;
mod export;
mod export_remote;
mod formats;
mod homes;
mod import;
mod inside;
mod interrupted;
mod kill;
mod land;
mod land_cases;
mod land_checkout;
mod land_checks;
mod land_fix;
mod land_refusals;
mod land_settings;
mod many;
mod merge_request;
mod pull_request;
mod push;
mod review;
mod send;
mod setup;
mod several;
mod shell;
mod stores;
mod subdirectory;
mod trouble;
mod unmeasured;

#[path = "../support/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "each tier uses its part of the support"
)]
mod support;
