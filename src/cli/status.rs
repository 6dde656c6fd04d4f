//! `biv status`

use clap::Args;
use serde::Serialize;

use super::context::CommandResult;
use super::everywhere::WhereArgs;
use super::output::Output;
use super::report::Report;
use super::words::now;
use crate::engine::{Engine, Freshness, InstanceView, WhichHosts};
use crate::model::{Activity, State, Timestamp, shown_cost, shown_count};

/// Print one line for a prompt or a status bar
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// The line, with fields such as {needs_you}, {busy}, {ready}, {paused} and {total}
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    #[command(flatten)]
    pub place: WhereArgs,
}

/// Fields that are no counts of instances.
const NO_COUNTS: [&str; 3] = ["tokens_today", "cost_today_usd", "blocked_until"];

/// How many instances there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
struct Counts {
    needs_you: usize,
    blocked: usize,
    busy: usize,
    ready: usize,
    /// Running, and it is not known what the agent does.
    running: usize,
    /// An operation is under way.
    changing: usize,
    paused: usize,
    interrupted: usize,
    completed: usize,
    failed: usize,
    total: usize,
    /// What all of them have used today, as far as they tell.
    tokens_today: u64,
    cost_today_usd: Option<f64>,
    /// When the first usage limit resets.
    blocked_until: Option<Timestamp>,
}

pub(super) fn run(args: &StatusArgs, engine: &Engine, output: &Output) -> CommandResult {
    let mut instances = match args.place.here() {
        true => engine.list_briefly()?.instances,
        false => Vec::new(),
    };
    if let Some(which) = args.place.hosts()? {
        // A prompt must not wait for the network.
        let freshness = match which {
            WhichHosts::All => Freshness::LastKnown,
            WhichHosts::These(_) => Freshness::Now,
        };
        let hosts = engine.list_hosts(&which, freshness)?;
        instances.extend(hosts.into_iter().flat_map(|host| host.instances));
    }
    let counts = Counts::of(&instances);
    let line = match &args.format {
        Some(format) => counts.formatted(format).map_err(|field| {
            let known = counts.fields().map(|(name, _)| name);
            let known: Vec<&str> = known.into_iter().chain(NO_COUNTS).collect();
            Report::usage(
                format!("`{{{field}}}` is not a field of the status"),
                format!("fields are {}", known.join(", ")),
            )
        })?,
        None => counts.line(),
    };
    Ok(output.result(&counts, || line))
}

impl Counts {
    fn of(views: &[InstanceView]) -> Self {
        let mut counts = Self::default();
        // One that is away is counted where it is.
        for view in views.iter().filter(|view| view.state != State::Away) {
            counts.total += 1;
            *counts.kind(view.state, view.activity) += 1;
            if let Some(until) = view.blocked_until {
                let first = counts.blocked_until.map_or(until, |first| first.min(until));
                counts.blocked_until = Some(first);
            }
            if let Some(usage) = &view.usage {
                counts.tokens_today += usage.today.tokens.total();
                if let Some(cost) = usage.today.cost_usd {
                    *counts.cost_today_usd.get_or_insert(0.0) += cost;
                }
            }
        }
        counts
    }

    fn kind(&mut self, state: State, activity: Option<Activity>) -> &mut usize {
        match (state, activity) {
            (State::Running, Some(Activity::Approval | Activity::Question)) => &mut self.needs_you,
            (State::Running, Some(Activity::Blocked | Activity::Menu)) => &mut self.blocked,
            (State::Running, Some(Activity::Busy)) => &mut self.busy,
            (State::Running, Some(Activity::Idle)) => &mut self.ready,
            (State::Running, _) => &mut self.running,
            (State::Paused, _) => &mut self.paused,
            (State::Interrupted, _) => &mut self.interrupted,
            (State::Completed, _) => &mut self.completed,
            (State::Failed, _) => &mut self.failed,
            _ => &mut self.changing,
        }
    }

    /// Each count by its name, as in the JSON.
    fn fields(&self) -> [(&'static str, usize); 11] {
        [
            ("needs_you", self.needs_you),
            ("blocked", self.blocked),
            ("busy", self.busy),
            ("ready", self.ready),
            ("running", self.running),
            ("changing", self.changing),
            ("paused", self.paused),
            ("interrupted", self.interrupted),
            ("completed", self.completed),
            ("failed", self.failed),
            ("total", self.total),
        ]
    }

    /// One field as text.
    fn field(&self, name: &str) -> Option<String> {
        match name {
            "tokens_today" => Some(shown_count(self.tokens_today)),
            "cost_today_usd" => Some(self.cost_today_usd.map(shown_cost).unwrap_or_default()),
            "blocked_until" => Some(self.shown_until().unwrap_or_default()),
            name => {
                let fields = self.fields();
                let found = fields.iter().find(|(known, _)| *known == name);
                found.map(|(_, count)| count.to_string())
            }
        }
    }

    fn shown_until(&self) -> Option<String> {
        self.blocked_until.map(|until| until.local_clock(now()))
    }

    /// What there is, the most urgent first: `2 need you · 3 busy`.
    fn line(&self) -> String {
        let parts: Vec<String> = self
            .fields()
            .into_iter()
            .filter(|(name, count)| *count > 0 && *name != "total")
            .map(|(name, count)| match (name, count) {
                ("needs_you", 1) => "1 needs you".to_owned(),
                ("needs_you", _) => format!("{count} need you"),
                ("blocked", _) => match self.shown_until() {
                    Some(until) => format!("{count} blocked until {until}"),
                    None => format!("{count} blocked"),
                },
                _ => format!("{count} {name}"),
            })
            .collect();
        if parts.is_empty() {
            "no agents".to_owned()
        } else {
            parts.join(" · ")
        }
    }

    /// The line that the user wants; an error names a field that does not exist.
    fn formatted(&self, format: &str) -> Result<String, String> {
        let mut line = String::new();
        let mut rest = format;
        while let Some((before, after)) = rest.split_once('{') {
            line.push_str(before);
            let Some((field, after)) = after.split_once('}') else {
                line.push('{');
                rest = after;
                continue;
            };
            line.push_str(&self.field(field).ok_or_else(|| field.to_owned())?);
            rest = after;
        }
        line.push_str(rest);
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_urgent_stands_first_and_nothing_is_said_of_none() {
        let counts = Counts {
            needs_you: 2,
            busy: 3,
            paused: 4,
            total: 9,
            ..Counts::default()
        };
        assert_eq!(counts.line(), "2 need you · 3 busy · 4 paused");
        assert_eq!(Counts::default().line(), "no agents");
        let one = Counts {
            needs_you: 1,
            ..Counts::default()
        };
        assert_eq!(one.line(), "1 needs you");
    }

    #[test]
    fn a_format_has_fields_and_everything_else_stays() {
        let counts = Counts {
            needs_you: 2,
            total: 5,
            ..Counts::default()
        };
        let formatted = |format: &str| counts.formatted(format);
        assert_eq!(formatted("{needs_you}/{total}!"), Ok("2/5!".to_owned()));
        assert_eq!(formatted("a { b"), Ok("a { b".to_owned()));
        assert_eq!(formatted("{bsy}"), Err("bsy".to_owned()));
    }

    #[test]
    fn every_count_is_a_field_of_the_json_under_its_name() {
        let json = serde_json::to_value(Counts::default()).unwrap();
        let names: Vec<&str> = Counts::default().fields().map(|(name, _)| name).into();
        let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(names.len() + NO_COUNTS.len(), keys.len());
        assert!(names.iter().all(|name| json.get(name).is_some()));
        assert!(NO_COUNTS.iter().all(|name| json.get(name).is_some()));
    }
}
