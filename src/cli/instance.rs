//! Arguments that name instances.

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::engine::InstanceView;
use crate::model::{Activity, State};

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

/// Some instances, all of them, or those in one state.
#[derive(Debug, Clone, Args)]
pub(super) struct SomeInstances {
    /// Title, id, or a unique prefix of either (can be repeated)
    #[arg(
        value_name = "INSTANCE",
        required_unless_present_any = ["all", "state"],
        conflicts_with_all = ["all", "state"]
    )]
    pub instances: Vec<String>,
    #[command(flatten)]
    pub group: Group,
}

/// Instances that are not named one by one.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Group {
    /// All instances
    #[arg(long, conflicts_with = "state")]
    pub all: bool,
    /// All that are in this state, such as running, paused, busy or ready
    #[arg(
        long,
        value_name = "STATE",
        value_parser = PossibleValuesParser::new(state_names()),
        hide_possible_values = true
    )]
    pub state: Option<String>,
}

impl Group {
    pub(super) fn is_given(&self) -> bool {
        self.all || self.state.is_some()
    }
}

/// The states, and what a running agent does, as `list` and `show` name them.
pub(super) fn state_names() -> Vec<&'static str> {
    let states = State::ALL.map(State::name);
    let doing = ["busy", "ready", "idle", "needs-you", "blocked"];
    states.into_iter().chain(doing).collect()
}

/// Whether an instance is in the state that was asked for.
pub(super) fn is_in_state(view: &InstanceView, name: &str) -> bool {
    let running = view.state == State::Running;
    match name {
        "busy" => running && view.activity == Some(Activity::Busy),
        "ready" | "idle" => running && view.activity == Some(Activity::Idle),
        "blocked" => running && view.activity == Some(Activity::Blocked),
        "needs-you" => {
            let asks = Some(Activity::Approval) == view.activity;
            running && (asks || view.activity == Some(Activity::Question))
        }
        name => view.state.name() == name,
    }
}
