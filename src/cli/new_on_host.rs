//! `biv new --host`, and what the other side does for it.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::context::CommandResult;
use super::host::parsed;
use super::new::{NewArgs, current_dir};
use super::output::Output;
use super::table::terminal_width;
use crate::engine::{Carried, Engine, Error, Passing, Receive, RepositoryKey, Screen};

/// Take commits from another machine
#[derive(Debug, Args)]
pub(super) struct ReceiveArgs {
    pub id: String,
    pub name: String,
    pub object_format: String,
    /// The branch that standard input, a bundle, has
    #[arg(long = "ref")]
    pub branch: Option<String>,
    /// A commit that is here already
    #[arg(long, requires = "branch")]
    pub commit: Option<String>,
}

pub(super) fn run(host: &str, args: NewArgs, engine: &Engine, output: &Output) -> CommandResult {
    let host = parsed(host)?;
    let terminals = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if args.start.attach && !terminals {
        return Err(Error::NoTerminal.into());
    }
    let directory = match &args.repo {
        Some(directory) => directory.clone(),
        None => current_dir()?,
    };
    let carried = engine.send_commits(&host, &directory, args.base.as_deref())?;
    output.detail(&format!(
        "sent {} bytes to {} on `{host}`",
        carried.bytes, carried.repository
    ));
    let file = args.start.prompt_file.clone();
    let reads_input = file.as_deref() == Some(Path::new("-"));
    let passing = Passing {
        screen: Screen {
            columns: terminal_width().and_then(|columns| u16::try_from(columns).ok()),
            coloured: output.is_coloured(),
            terminal: args.start.attach,
        },
        words: words(args, &carried, output),
        reads_input,
        input: file.filter(|_| !reads_input),
        raw: false,
    };
    Ok(ExitCode::from(engine.pass_to_host(&host, &passing)?))
}

/// The command line for the host.
fn words(args: NewArgs, carried: &Carried, output: &Output) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["new".into()];
    let mut flag = |name: &str, set: bool| {
        if set {
            words.push(name.into());
        }
    };
    flag("--json", output.wants_json());
    flag("--quiet", output.is_quiet());
    flag("--verbose", output.is_verbose());
    flag("--autoyes", args.start.autoyes);
    flag("--seal", args.start.seal);
    flag("--attach", args.start.attach);
    flag("--trust-setup", args.trust_setup);
    flag("--no-setup", args.no_setup);
    flag("--prompt-file=-", args.start.prompt_file.is_some());
    let options = [
        ("--repo", Some(carried.repository.clone())),
        ("--base", Some(carried.base.clone())),
        ("--branch", args.branch),
        ("--prompt", args.start.prompt),
        ("--agent", args.start.agent),
        ("--idle-timeout", args.start.idle_timeout),
        ("--count", (args.count > 1).then(|| args.count.to_string())),
    ];
    for (name, value) in options {
        // In one word, so that a value with a leading dash stays a value.
        words.extend(value.map(|value| format!("{name}={value}").into()));
    }
    words.extend(args.title.map(Into::into));
    if !args.start.agent_args.is_empty() {
        words.push("--".into());
        words.extend(args.start.agent_args.into_iter().map(Into::into));
    }
    words
}

/// `biv __receive`
pub(super) fn receive(args: &ReceiveArgs, engine: &Engine, output: &Output) -> CommandResult {
    let key = RepositoryKey {
        id: args.id.clone(),
        name: args.name.clone(),
        object_format: args.object_format.clone(),
    };
    let receive = match (&args.branch, &args.commit) {
        (None, _) => Receive::Nothing,
        (Some(name), None) => Receive::Bundle { name: name.clone() },
        (Some(name), Some(commit)) => Receive::Commit {
            name: name.clone(),
            commit: commit.clone(),
        },
    };
    let there = engine.receive(&key, &receive, std::io::stdin().lock())?;
    Ok(output.result(&there, || there.path.clone()))
}
