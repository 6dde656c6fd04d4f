//! `biv list`

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;

use super::context::CommandResult;
use super::everywhere::{WhereArgs, mention};
use super::instance::{is_in_state, state_names};
use super::output::Output;
use super::table::{table, terminal_width};
use super::words::{self, DIM, RESET};
use crate::engine::{Engine, Freshness, HostListing, InstanceView, Listing, PullRequestInfo, via};
use crate::model::{State, printable_line, shown_usage};

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
    #[command(flatten)]
    pub place: WhereArgs,
}

/// The instances of this machine and of all hosts.
#[derive(Serialize)]
struct Everywhere {
    #[serde(flatten)]
    here: Listing,
    hosts: Vec<HostListing>,
}

pub(super) fn run(args: &ListArgs, engine: &Engine, output: &Output) -> CommandResult {
    let state = args
        .state
        .as_deref()
        .and_then(|name| State::ALL.into_iter().find(|state| state.name() == name));
    // A repository is a directory here, and hosts list no killed ones.
    let only_here = args.repo.is_some() || state == Some(State::Killed);
    let which = args
        .place
        .hosts()?
        .filter(|_| !only_here || !args.place.here())
        .filter(|which| !engine.meant_hosts(which).is_empty());
    let (here, hosts) = std::thread::scope(|scope| {
        let hosts =
            which.map(|which| scope.spawn(move || engine.list_hosts(&which, Freshness::Now)));
        let here = args
            .place
            .here()
            .then(|| engine.list(state, args.repo.as_deref()));
        (
            here.transpose(),
            hosts.map(std::thread::ScopedJoinHandle::join),
        )
    });
    let mut everywhere = Everywhere {
        here: here?.unwrap_or_else(Listing::empty),
        hosts: match hosts {
            Some(Ok(hosts)) => hosts?,
            _ => Vec::new(),
        },
    };
    everywhere.merge(state);
    if let Some(name) = &args.state {
        everywhere
            .here
            .instances
            .retain(|view| is_in_state(view, name));
    }
    let listing = &everywhere.here;
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
    mention(&everywhere.hosts, output);
    Ok(output.result(&everywhere, || {
        if listing.instances.is_empty() {
            return "No instances. Start one with `biv new`, or see it all with `biv demo`."
                .to_owned();
        }
        lines(&everywhere)
    }))
}

impl Everywhere {
    /// Puts the instances of hosts among the others, newest activity first.
    fn merge(&mut self, state: Option<State>) {
        let views = self
            .hosts
            .iter_mut()
            .flat_map(|host| std::mem::take(&mut host.instances))
            .filter(|view| state.is_none_or(|state| state == view.state));
        self.here.instances.extend(views);
        if !self.hosts.is_empty() {
            self.here
                .instances
                .sort_by_key(|view| std::cmp::Reverse(view.last_active_at));
        }
    }

    /// Whether an instance that is away is in the list as one of its host, too.
    fn is_listed_there(&self, view: &InstanceView) -> bool {
        let Some(away) = &view.away else {
            return false;
        };
        self.here.instances.iter().any(|there| {
            there.host.is_some()
                && there.host == away.host
                && Some(&there.id) == away.instance.as_ref()
        })
    }

    /// Whether this is the last known state of an instance, and its host is down.
    fn is_old(&self, view: &InstanceView) -> bool {
        let on = |host: &&HostListing| Some(host.name.as_str()) == view.host.as_deref();
        self.hosts
            .iter()
            .find(on)
            .is_some_and(|host| !host.reachable)
    }
}

fn lines(everywhere: &Everywhere) -> String {
    let now = words::now();
    let mut rows: Vec<Vec<String>> = everywhere
        .here
        .instances
        .iter()
        // Its row there says more.
        .filter(|view| !everywhere.is_listed_there(view))
        .map(|view| {
            let title = match &view.host {
                // The answer of another machine calls that one by the name that we have for it.
                Some(host) if via().is_none() => format!("{host}:{}", view.title),
                _ => words::listed_title(view, &everywhere.here.instances),
            };
            let state = words::shown_state(view, now) + words::seal_mark(view);
            let (title, state) = match everywhere.is_old(view) {
                true => (
                    format!("{DIM}{title}{RESET}"),
                    format!("{DIM}{}?{RESET}", plain(&state)),
                ),
                false => (title, state),
            };
            vec![
                title,
                state,
                view.agent.clone(),
                view.branch
                    .as_deref()
                    .map(printable_line)
                    .unwrap_or_default(),
                [
                    words::shown_diff(view.diff),
                    view.standing_marks(),
                    view.pull_request
                        .as_ref()
                        .map(PullRequestInfo::brief)
                        .unwrap_or_default(),
                ]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" "),
                view.usage
                    .map(|usage| shown_usage(usage.total))
                    .unwrap_or_default(),
                words::ago(view.last_active_at, now),
                match (&view.asks, view.open_matter()) {
                    (Some(asks), _) => format!("asks: {}", asks.text),
                    (None, Some(matter)) => printable_line(matter),
                    (None, None) => {
                        let parts = [view.turn_trouble(), view.last_line.clone()];
                        let parts: Vec<String> = parts.into_iter().flatten().collect();
                        parts.join(" · ")
                    }
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
    let told = |view: &InstanceView| view.usage.is_some();
    if !everywhere.here.instances.iter().any(told) {
        headings.remove(USAGE);
        for row in &mut rows {
            row.remove(USAGE);
        }
    }
    table(&headings, &rows, terminal_width())
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
