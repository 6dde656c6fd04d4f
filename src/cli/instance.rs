//! Arguments that name instances.

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(super) struct InstanceArg {
    /// Title, id, or a unique prefix of either
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
}

#[derive(Debug, Clone, Args)]
pub(super) struct InstanceArgs {
    /// Title, id, or a unique prefix of either (can be repeated)
    #[arg(value_name = "INSTANCE", required = true)]
    pub instances: Vec<String>,
}

/// Some instances, or all of them.
#[derive(Debug, Clone, Args)]
pub(super) struct SomeInstances {
    /// Title, id, or a unique prefix of either (can be repeated)
    #[arg(
        value_name = "INSTANCE",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub instances: Vec<String>,
    /// All instances
    #[arg(long)]
    pub all: bool,
}
