//! `biv policy`

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::context::CommandResult;
use super::detect::read_capture;
use super::output::Output;
use crate::engine::{Engine, PolicyAnswer, PolicyCheck, PolicyQuestion, PolicySite, PolicyTest};
use crate::model::{printable, printable_line};

/// Explain what autoyes would do
#[derive(Debug, Args)]
pub(super) struct PolicyArgs {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Show what would be done about a captured screen
    Check(CheckArgs),
    /// Show the decision on a command or a path, part by part
    Explain(ExplainArgs),
    /// Test the examples of all rules, built-in and yours
    Test(TestArgs),
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The agent whose screen it is
    #[arg(short, long)]
    pub agent: String,
    /// Where the agent works [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub worktree: Option<PathBuf>,
    /// Decide as for an agent in a complete seal
    #[arg(long)]
    pub sealed: bool,
    /// A capture, plain or with colours; standard input if it is `-` or not given
    pub file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// A shell command, or with --tool a path
    pub what: String,
    /// The tool that would use the path: read, edit, write
    #[arg(long)]
    pub tool: Option<String>,
    /// The agent that makes the request
    #[arg(short, long, default_value = "claude")]
    pub agent: String,
    /// Where the agent works [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub worktree: Option<PathBuf>,
    /// Decide as for an agent in a complete seal
    #[arg(long)]
    pub sealed: bool,
}

#[derive(Debug, Args)]
pub(super) struct TestArgs {
    /// A checkout whose rules are tested too [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub worktree: Option<PathBuf>,
}

pub(super) fn run(args: &PolicyArgs, engine: &Engine, output: &Output) -> CommandResult {
    match &args.action {
        Action::Check(args) => {
            let capture = read_capture(args.file.as_deref())?;
            let worktree = directory(args.worktree.as_ref());
            let site = PolicySite {
                worktree: &worktree,
                sealed: args.sealed,
            };
            let check = engine.policy_check(&args.agent, &capture, site)?;
            Ok(output.result(&check, || describe_check(&check)))
        }
        Action::Explain(args) => {
            let asked = match &args.tool {
                Some(tool) => PolicyQuestion::Path {
                    tool,
                    path: &args.what,
                },
                None => PolicyQuestion::Command(&args.what),
            };
            let worktree = directory(args.worktree.as_ref());
            let site = PolicySite {
                worktree: &worktree,
                sealed: args.sealed,
            };
            let answer = engine.policy_explain(&args.agent, asked, site)?;
            Ok(output.result(&answer, || describe_answer(&answer)))
        }
        Action::Test(args) => {
            let test = engine.policy_test(&directory(args.worktree.as_ref()))?;
            let status = output.result(&test, || describe_test(&test));
            let sound = test.mistake.is_none() && test.failures.is_empty();
            Ok(if sound { status } else { ExitCode::FAILURE })
        }
    }
}

fn directory(given: Option<&PathBuf>) -> PathBuf {
    let current = std::env::current_dir().unwrap_or_else(|_| "/".into());
    // An absolute path stays as it is.
    given.map_or_else(|| current.clone(), |given| current.join(given))
}

fn describe_check(check: &PolicyCheck) -> String {
    let mut text = said(check.decision.name(), check.rule.as_deref(), &check.reason);
    if !check.keys.is_empty() {
        let keys: Vec<String> = check.keys.iter().map(ToString::to_string).collect();
        // Writing into a string cannot fail.
        write!(text, "\n  keys     {}", keys.join(" ")).ok();
    }
    if let Some(dialog) = &check.dialog {
        let about = dialog
            .command
            .clone()
            .unwrap_or_else(|| dialog.paths.join(", "));
        let tool = dialog.tool.as_deref().unwrap_or("unknown");
        write!(text, "\n  dialog   {tool}: {}", printable(&about)).ok();
    }
    text
}

fn describe_answer(answer: &PolicyAnswer) -> String {
    let mut text = said(
        answer.decision.name(),
        answer.rule.as_deref(),
        &answer.reason,
    );
    for part in &answer.parts {
        // Writing into a string cannot fail.
        let said = said(part.decision.name(), part.rule.as_deref(), &part.reason);
        write!(text, "\n  {}\n    {said}", printable_line(&part.command)).ok();
    }
    for (rule, origin) in &answer.origins {
        write!(text, "\nrule {rule}: {}", printable_line(origin)).ok();
    }
    text
}

fn describe_test(test: &PolicyTest) -> String {
    if let Some(mistake) = &test.mistake {
        return format!("autoyes is off: {mistake}");
    }
    let mut text = format!("{} rules, {} examples", test.rules, test.examples);
    // Writing into a string cannot fail.
    for failure in &test.failures {
        write!(
            text,
            "\n  {}: `{}` should be {}, but is {}",
            failure.rule,
            printable_line(&failure.example),
            failure.expected,
            failure.found
        )
        .ok();
    }
    if test.failures.is_empty() {
        text.push_str(": all pass");
    }
    text
}

fn said(decision: &str, rule: Option<&str>, reason: &str) -> String {
    match rule {
        Some(rule) if rule.contains(", ") => format!("{decision} by the rules {rule}: {reason}"),
        Some(rule) => format!("{decision} by the rule {rule}: {reason}"),
        None => format!("{decision}: {reason}"),
    }
}
