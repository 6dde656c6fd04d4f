//! An instance as it is named on the command line, with completion by live titles.

use clap::Args;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use super::context::engine;

#[derive(Debug, Clone, Args)]
pub(super) struct InstanceArg {
    /// Title, id, or a unique prefix of either
    #[arg(value_name = "INSTANCE", add = candidates())]
    pub instance: String,
}

#[derive(Debug, Clone, Args)]
pub(super) struct InstanceArgs {
    /// Title, id, or a unique prefix of either (can be repeated)
    #[arg(value_name = "INSTANCE", required = true, add = candidates())]
    pub instances: Vec<String>,
}

/// Some instances, or all of them.
#[derive(Debug, Clone, Args)]
pub(super) struct SomeInstances {
    /// Title, id, or a unique prefix of either (can be repeated)
    #[arg(value_name = "INSTANCE", required_unless_present = "all", conflicts_with = "all", add = candidates())]
    pub instances: Vec<String>,
    /// The whole camp
    #[arg(long)]
    pub all: bool,
}

fn candidates() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let Ok(engine) = engine() else {
            return Vec::new();
        };
        engine
            .names()
            .into_iter()
            .map(|(id, title)| {
                CompletionCandidate::new(title.as_str()).help(Some(id.as_str().to_owned().into()))
            })
            .collect()
    })
}
