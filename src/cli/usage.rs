//! `biv usage`

use clap::Args;

use super::context::CommandResult;
use super::output::Output;
use super::table::{table, terminal_width};
use crate::engine::{Engine, UsageReport};
use crate::model::{Usage, shown_cost, shown_count};

/// Show the tokens and the cost that agents tell of
#[derive(Debug, Args)]
pub(super) struct UsageArgs {
    /// Title, id, or a unique prefix of either [default: all, also killed ones]
    #[arg(value_name = "INSTANCE")]
    pub instances: Vec<String>,
    /// One row for each of these
    #[arg(long, value_name = "WHAT", value_enum, default_value = "instance")]
    pub by: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum By {
    Instance,
    Day,
    Turn,
}

pub(super) fn run(args: &UsageArgs, engine: &Engine, output: &Output) -> CommandResult {
    let report = engine.usage(&args.instances)?;
    if !report.silent.is_empty() {
        output.say(&format!(
            "No usage is known of {}: an agent may tell none, or has not answered yet.",
            report.silent.join(", ")
        ));
    }
    Ok(output.result(&report, || describe(&report, args.by)))
}

fn describe(report: &UsageReport, by: By) -> String {
    if report.instances.is_empty() {
        return "No agent has told what it used.".to_owned();
    }
    let (first, mut rows): (&[&str], Vec<Vec<String>>) = match by {
        By::Instance => (
            &["TITLE", "AGENT", "TURNS"],
            report
                .instances
                .iter()
                .map(|one| {
                    let turns = one.turns.len().to_string();
                    row(
                        &[one.title.to_string(), one.agent.clone(), turns],
                        one.total,
                    )
                })
                .collect(),
        ),
        By::Day => (
            &["DAY"],
            report
                .days
                .iter()
                .map(|day| row(std::slice::from_ref(&day.day), day.usage))
                .collect(),
        ),
        By::Turn => (
            &["TITLE", "TURN", "BEGAN"],
            report
                .instances
                .iter()
                .flat_map(|one| {
                    one.turns.iter().enumerate().map(|(at, turn)| {
                        let number = (at + 1).to_string();
                        let began = turn.at.local_minute();
                        row(&[one.title.to_string(), number, began], turn.usage)
                    })
                })
                .collect(),
        ),
    };
    let mut total = vec![String::new(); first.len()];
    if let Some(cell) = total.first_mut() {
        *cell = "total".to_owned();
    }
    rows.push(row(&total, report.total));
    let numbers = ["INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST"];
    let headings: Vec<&str> = first.iter().copied().chain(numbers).collect();
    table(&headings, &rows, terminal_width())
}

fn row(first: &[String], usage: Usage) -> Vec<String> {
    let tokens = usage.tokens;
    let counts = [
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write,
    ];
    let mut row = first.to_vec();
    row.extend(counts.map(shown_count));
    row.push(usage.cost_usd.map(shown_cost).unwrap_or_default());
    row
}
