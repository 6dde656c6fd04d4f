//! `biv agents`

use clap::{Args, Subcommand};
use serde_json::json;

use super::agents_record::{self, RecordArgs};
use super::context::CommandResult;
use super::output::Output;
use super::table::{table, terminal_width};
use crate::engine::{AgentView, Engine};

/// List known agents and what is supported for each
#[derive(Debug, Args)]
pub(super) struct AgentsArgs {
    #[command(subcommand)]
    pub action: Option<AgentsAction>,
}

#[derive(Debug, Subcommand)]
pub(super) enum AgentsAction {
    Record(RecordArgs),
}

pub(super) fn run(args: &AgentsArgs, engine: &Engine, output: &Output) -> CommandResult {
    if let Some(AgentsAction::Record(args)) = &args.action {
        return agents_record::run(args, engine, output);
    }
    let agents = engine.agents()?;
    Ok(output.result(&json!({ "agents": agents }), || describe(&agents)))
}

fn describe(agents: &[AgentView]) -> String {
    let yes = |supported: bool| if supported { "yes" } else { "-" }.to_owned();
    let rows: Vec<Vec<String>> = agents
        .iter()
        .map(|agent| {
            let mark = if agent.default { " (default)" } else { "" };
            vec![
                format!("{}{mark}", agent.name),
                if agent.installed { "yes" } else { "no" }.to_owned(),
                agent.version.clone().unwrap_or_default(),
                yes(agent.native_resume),
                yes(agent.hooks),
                yes(agent.transcript),
                agent.about.clone().unwrap_or_default(),
            ]
        })
        .collect();
    let headings = [
        "AGENT",
        "INSTALLED",
        "VERSION",
        "RESUME",
        "HOOKS",
        "TRANSCRIPT",
        "",
    ];
    let mut text = table(&headings, &rows, terminal_width());
    for agent in agents.iter().filter(|agent| !agent.limits.is_empty()) {
        text.push('\n');
        text.push_str(&agent.display);
        text.push_str(":\n");
        for limit in &agent.limits {
            text.push_str("  - ");
            text.push_str(limit);
            text.push('\n');
        }
    }
    text
}
