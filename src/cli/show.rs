//! `biv show`

use std::fmt::Write;
use std::time::Duration;

use clap::Args;

use super::context::CommandResult;
use super::instance::InstanceArg;
use super::output::Output;
use super::words::{self, BOLD, RESET};
use crate::engine::{Engine, InstanceView, PullRequestInfo, SealView, SizeView};
use crate::model::{printable_line, told_usage};

/// Show everything about one instance
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// Count what its files take on the disk, which needs a look at each of them
    #[arg(long)]
    pub size: bool,
}

pub(super) fn run(args: &ShowArgs, engine: &Engine, output: &Output) -> CommandResult {
    let mut view = engine.show(&args.instance.instance)?;
    if view.pull_request.is_some() {
        view.pull_request = engine.refreshed_pull_request(&view.id);
    }
    if args.size {
        view.size = Some(engine.sizes(view.id.as_str())?);
    }
    Ok(output.result(&view, || describe(&view, output.is_verbose())))
}

fn describe(view: &InstanceView, verbose: bool) -> String {
    let now = words::now();
    let mut text = format!("{BOLD}{}{RESET}\n", view.title);
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            // Writing into a string cannot fail.
            writeln!(text, "  {name:<12} {value}").ok();
        }
    };
    line("state", words::shown_state(view, now));
    line(
        "open",
        view.says.as_deref().map(printable_line).unwrap_or_default(),
    );
    let asked = view.asks.as_ref();
    line(
        "asks",
        asked
            .map(|asked| printable_line(&asked.text))
            .unwrap_or_default(),
    );
    if verbose {
        let rule = view.activity_source.as_deref().unwrap_or("unknown");
        line(
            "activity",
            format!("{} ({rule})", view.activity.map_or("-", |a| a.name())),
        );
    }
    line(
        "stuck",
        view.stuck
            .as_deref()
            .map(printable_line)
            .unwrap_or_default(),
    );
    line("agent", view.agent.clone());
    line("version", view.unmeasured.clone().unwrap_or_default());
    line("command", printable_line(&view.command.join(" ")));
    line("session", view.session_ref.clone().unwrap_or_default());
    line(
        "branch",
        view.branch
            .as_deref()
            .map(printable_line)
            .unwrap_or_default(),
    );
    let commit = view.base_commit.as_deref().and_then(|id| id.get(..10));
    line(
        "base",
        match commit {
            Some(commit) if !view.base.starts_with(commit) => {
                format!("{} ({commit})", printable_line(&view.base))
            }
            _ => printable_line(&view.base),
        },
    );
    line("repository", words::tilde(&view.repo));
    let gone = if view.worktree_present {
        ""
    } else {
        " (put away)"
    };
    line(
        "worktree",
        format!("{}{gone}", words::tilde(&view.worktree)),
    );
    line("directory", words::shown_subdirectory(view));
    line("size", view.size.map(sizes).unwrap_or_default());
    line("changes", words::shown_diff(view.diff));
    line("commits", words::described_standing(view));
    if let Some(pull) = &view.pull_request {
        line("pull request", described(pull));
    }
    if let Some(usage) = &view.usage {
        let mut text = told_usage(usage.total);
        if let Some(turn) = usage.last_turn.filter(|_| usage.turns > 1) {
            text += ", last turn ";
            text += &told_usage(turn.usage);
        }
        line("usage", text);
    }
    line(
        "queue",
        view.queue.map(words::shown_queue).unwrap_or_default(),
    );
    if view.autoyes {
        line("autoyes", "on".to_owned());
    } else if let Some(reason) = &view.autoyes_stopped {
        line("autoyes", format!("stopped: {}", printable_line(reason)));
    }
    if let Some(seconds) = view.idle_timeout_s {
        let idle = humantime::format_duration(Duration::from_secs(seconds));
        line("idle pause", format!("after {idle}"));
    }
    if let Some(seal) = &view.seal {
        line("sealed", sealed(seal));
        for layer in &seal.missing {
            line(
                "not sealed",
                format!("{}: {}", layer.name(), layer.without()),
            );
        }
        if seal.denied > 0 {
            line(
                "refused",
                format!("{} connections; `biv audit` lists them", seal.denied),
            );
        }
    }
    line(
        "draft",
        view.draft
            .as_deref()
            .map(printable_line)
            .unwrap_or_default(),
    );
    let cut_at = view.turn_cut_at.filter(|_| view.turn_failed.is_none());
    let turn = match (view.turn_trouble(), cut_at) {
        (Some(cut), Some(at)) => format!("{cut}, {}", words::ago(at, now)),
        (trouble, _) => trouble.unwrap_or_default(),
    };
    line("turn", turn);
    line("created", view.created_at.local_minute());
    line("active", words::ago(view.last_active_at, now));
    if let Some(pause) = &view.pause {
        line(
            "paused",
            format!("{} ({})", pause.at.local_minute(), pause.reason.name()),
        );
        line(
            "last action",
            pause
                .last_action
                .as_deref()
                .map(printable_line)
                .unwrap_or_default(),
        );
        for command in &pause.stopped {
            line("was stopped", printable_line(command));
        }
        line(
            "draft",
            pause
                .draft
                .as_deref()
                .map(printable_line)
                .unwrap_or_default(),
        );
        for task in &pause.pending_tasks {
            line("to do", printable_line(task));
        }
        line("snapshot", pause.snapshot.clone().unwrap_or_default());
        for left in &pause.left_on_disk {
            line(
                "not freed",
                printable_line(&format!("{} ({})", left.path, left.why)),
            );
        }
    }
    line(
        "exit status",
        view.exit_code
            .map(|code| code.to_string())
            .unwrap_or_default(),
    );
    line("lease", lease(view));
    line("id", view.id.to_string());
    line("run", view.run_id.to_string());
    line("last line", view.last_line.clone().unwrap_or_default());
    text
}

/// Which machine has an instance that has moved, and by which hand-over.
fn lease(view: &InstanceView) -> String {
    let Some(number) = view.lease else {
        return String::new();
    };
    let holder = match &view.away {
        None => "this machine has it".to_owned(),
        Some(away) => {
            let whose = match (&away.host, &away.instance) {
                (Some(host), Some(there)) if *there != view.id => {
                    format!("the host `{host}`, as {there}")
                }
                (Some(host), _) => format!("the host `{host}`"),
                (None, _) => "another machine".to_owned(),
            };
            match away.unfinished {
                true => format!("a move from or to {whose} has not ended"),
                false => format!("{whose} has it"),
            }
        }
    };
    printable_line(&format!("number {number}: {holder}"))
}

fn sizes(size: SizeView) -> String {
    let parts = [
        (size.worktree_bytes, "in its worktree"),
        (size.put_away_bytes, "put away"),
        (size.repository_saved_bytes, "saved in the repository"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(bytes, place)| Some(format!("{} {place}", words::shown_bytes(bytes?))))
        .collect();
    parts.join(", ")
}

fn described(pull: &PullRequestInfo) -> String {
    let mut parts = vec![format!("#{}", pull.number)];
    parts.extend(pull.standing.map(|standing| standing.words()));
    if pull.watched {
        parts.push("watched".to_owned());
    }
    if let Some(trouble) = &pull.trouble {
        parts.push(format!("not known now: {}", printable_line(trouble)));
    }
    format!("{} ({})", parts.join(", "), printable_line(&pull.url))
}

fn sealed(seal: &SealView) -> String {
    let layers: Vec<&str> = seal.layers.iter().map(|layer| layer.name()).collect();
    let network = seal.network.name();
    if layers.is_empty() {
        return format!("network {network}");
    }
    format!("network {network}; {}", layers.join(", "))
}
