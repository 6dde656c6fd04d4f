//! `biv exec` and `biv open`

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::aside;
use super::context::CommandResult;
use super::instance::InstanceArg;
use super::interrupts::Interrupts;
use super::output::Output;
use super::report::Report;
use crate::engine::Engine;

/// Run a command in an instance's worktree
#[derive(Debug, Args)]
pub(super) struct ExecArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Open an instance's worktree in your editor
#[derive(Debug, Args)]
pub(super) struct OpenArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
}

pub(super) fn run(args: &ExecArgs, engine: &Engine, output: &Output) -> CommandResult {
    foreground(&args.instance.instance, &args.command, engine, output)
}

pub(super) fn open(args: &OpenArgs, engine: &Engine, output: &Output) -> CommandResult {
    let given = &args.instance.instance;
    let path = engine.worktree_path(given)?;
    let variable = |name: &str| std::env::var(name).ok();
    let installed = |program: &str| which::which(program).is_ok();
    let Some(mut command) = editor(variable, installed) else {
        return Err(Report::failed(
            "no_editor",
            "there is no editor to open it with",
            "set VISUAL to the command of your editor",
        ));
    };
    output.detail(&format!(
        "opening {} with {}",
        path.display(),
        command[0].display()
    ));
    command.push(path.into_os_string());
    foreground(given, &command, engine, output)
}

fn foreground(
    given: &str,
    command: &[OsString],
    engine: &Engine,
    output: &Output,
) -> CommandResult {
    // Ctrl+C is for the command; this process ends with it.
    let _interrupts = Interrupts::counted();
    let status = aside::foreground(output, || engine.run_in_worktree(given, command))?;
    if output.wants_json() {
        let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        output.json(&json!({ "command": words, "exit_code": status }));
    }
    Ok(ExitCode::from(status))
}

/// The user's own choice, else an editor with windows, else the one for terminals.
fn editor(
    variable: impl Fn(&str) -> Option<String>,
    installed: impl Fn(&str) -> bool,
) -> Option<Vec<OsString>> {
    let words = |name: &str| {
        let words = shlex::split(&variable(name)?)?;
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        (!words.is_empty()).then_some(words)
    };
    words("VISUAL")
        .or_else(|| {
            let program = ["code", "zed"].into_iter().find(|name| installed(name))?;
            Some(vec![program.into()])
        })
        .or_else(|| words("EDITOR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_choice_comes_first_and_the_terminals_editor_last() {
        let chosen = |visual: Option<&str>, editor_of: Option<&str>, programs: &[&str]| {
            let variable = |name: &str| match name {
                "VISUAL" => visual.map(str::to_owned),
                _ => editor_of.map(str::to_owned),
            };
            editor(variable, |program| programs.contains(&program))
                .map(|words| words.join(" ".as_ref()))
        };
        let named = |text: &str| Some(OsString::from(text));
        assert_eq!(
            chosen(Some("emacs -nw"), Some("vi"), &["code"]),
            named("emacs -nw")
        );
        assert_eq!(chosen(None, Some("vi"), &["zed"]), named("zed"));
        assert_eq!(chosen(None, Some("vi"), &["zed", "code"]), named("code"));
        assert_eq!(chosen(Some(""), Some("vi"), &[]), named("vi"));
        assert_eq!(chosen(None, None, &[]), None);
    }
}
