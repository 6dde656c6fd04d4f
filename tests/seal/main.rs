//! Sealed agents: what must go on inside, and what must fail, each tried with real programs.
#![cfg(test)]

mod autoyes;
mod canary;
mod life;
mod network;
mod refused;
mod relay;
mod works;

/// Shared with the tests of what is accepted outside of a seal.
#[path = "../../src/engine/autoyes/grammar.rs"]
mod grammar;

#[path = "../support/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "each tier uses its part of the support"
)]
mod support;

use std::sync::OnceLock;

use support::{Answer, Camp, Instance, Repository};

/// How a seal is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Namespaces,
    LandlockAlone,
}

impl Kind {
    fn camp(self) -> Camp {
        match self {
            Self::Namespaces => Camp::new(),
            Self::LandlockAlone => Camp::new().with("BIV_SEAL_WITHOUT", "namespaces"),
        }
    }
}

/// Whether this machine cannot build such a seal, and says so. `scripts/test` says it in its summary.
fn left_out(kind: Kind) -> bool {
    static SAID: OnceLock<String> = OnceLock::new();
    let said = SAID.get_or_init(|| Camp::new().biv(["doctor"]).run().stdout);
    let seal = said.lines().find(|line| line.contains(" seal: "));
    let seal = seal.unwrap_or_default();
    let possible = match kind {
        Kind::Namespaces => seal.contains("seal: complete"),
        Kind::LandlockAlone => seal.contains("landlock-scope"),
    };
    if !possible {
        eprintln!("left out: this machine cannot build such a seal: {seal}");
    }
    !possible
}

#[track_caller]
fn start_sealed(camp: &Camp, repository: &Repository, title: &str) -> Instance {
    camp.start(repository, title, &["--seal"])
}

/// Runs a shell script in the seal of this instance.
#[track_caller]
fn inside(camp: &Camp, instance: &Instance, script: &str) -> Answer {
    let worktree = instance.worktree.to_str().unwrap();
    camp.biv(["seal", "try", "--dir", worktree, "--", "sh", "-c", script])
        .within(&instance.worktree)
        .run()
}

fn configure(camp: &Camp, text: &str) {
    let directory = camp.home().join("config");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.toml"), text).unwrap();
}
