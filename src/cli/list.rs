//! `biv list`

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::context::CommandResult;
use super::instance::{is_in_state, state_names};
use super::output::Output;
use super::table::{table, terminal_width};
use super::words;
use crate::engine::{Engine, Listing};
use crate::model::{State, printable_line};

/// The column of the usage.
const USAGE: usize = 5;

/// List instances, newest activity first
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Only those in this state, such as running, paused, killed, busy or ready
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(state_names()),
        hide_possible_values = true
    )]
    pub state: Option<String>,
    /// Only those of this repository
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
}

pub(super) fn run(args: &ListArgs, engine: &Engine, output: &Output) -> CommandResult {
    let state = args
        .state
        .as_deref()
        .and_then(|name| State::ALL.into_iter().find(|state| state.name() == name));
    let mut listing = engine.list(state, args.repo.as_deref())?;
    if let Some(name) = &args.state {
        listing.instances.retain(|view| is_in_state(view, name));
    }
    for unreadable in &listing.unreadable {
        let title = unreadable.title.as_deref().map(printable_line);
        let title = title.map(|title| format!(" (`{title}`)"));
        output.say(&format!(
            "{}{} is left alone: {}; `biv doctor` says more",
            unreadable.id,
            title.unwrap_or_default(),
            unreadable.reason
        ));
    }
    if let Some(camp) = listing.camp {
        super::camp::mention(camp, output);
    }
    Ok(output.result(&listing, || {
        if listing.instances.is_empty() {
            return "No instances. Start one with `biv new`, or see it all with `biv demo`."
                .to_owned();
        }
        lines(&listing)
    }))
}

fn lines(listing: &Listing) -> String {
    let now = words::now();
    let mut rows: Vec<Vec<String>> = listing
        .instances
        .iter()
        .map(|view| {
            vec![
                words::listed_title(view, &listing.instances),
                words::shown_state(view, now) + words::seal_mark(view),
                view.agent.clone(),
                view.branch
                    .as_deref()
                    .map(printable_line)
                    .unwrap_or_default(),
                format!(
                    "{} {}",
                    words::shown_diff(view.diff),
                    words::shown_standing(view)
                )
                .trim()
                .to_owned(),
                view.usage
                    .map(|usage| words::shown_usage(usage.total))
                    .unwrap_or_default(),
                words::ago(view.last_active_at, now),
                match &view.asks {
                    Some(asks) => format!("asks: {}", asks.text),
                    None => view.last_line.clone().unwrap_or_default(),
                },
            ]
        })
        .collect();
    let mut headings = vec![
        "TITLE",
        "STATE",
        "AGENT",
        "BRANCH",
        "DIFF",
        "USAGE",
        "ACTIVE",
        "LAST LINE",
    ];
    // A column for something that no agent tells would only take room.
    if listing.instances.iter().all(|view| view.usage.is_none()) {
        headings.remove(USAGE);
        for row in &mut rows {
            row.remove(USAGE);
        }
    }
    table(&headings, &rows, terminal_width())
}
