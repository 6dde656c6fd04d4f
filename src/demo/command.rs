//! Parses one command of a script into an action.

use std::time::Duration;

use super::action::Action;

/// The longest duration of a command: one day.
const LONGEST: f64 = 86_400.0;
const MOST_LINES: usize = 100_000;

/// Every command, with what `/help` says of it.
pub(super) const COMMANDS: &[(&str, &str, &str)] = &[
    ("/busy", "SECONDS", "work visibly for a while"),
    ("/mute", "SECONDS", "work without any sign of it"),
    ("/stream", "WORDS", "answer word by word, without a spinner"),
    ("/run", "COMMAND", "run a shell command, after asking"),
    ("/write", "PATH TEXT…", "write a file, after asking"),
    ("/ask", "QUESTION | CHOICE | …", "ask you something"),
    ("/todo", "add TEXT | done N", "keep a todo list"),
    ("/lines", "N", "print N coloured lines"),
    ("/print", "TEXT", "print the text as it is"),
    ("/clear-screen", "", "clear screen and scrollback"),
    ("/title", "TEXT", "name the terminal's title"),
    ("/allow", "", "stop asking for the rest of this session"),
    ("/trust", "", "show a trust dialog"),
    ("/limit", "[TIME]", "run into a usage limit"),
    ("/recall", "", "list what you told me so far"),
    ("/spawn", "SECONDS", "start a child that ignores SIGHUP"),
    (
        "/daemonize",
        "SECONDS",
        "start a child in a session of its own",
    ),
    (
        "/ignore-signals",
        "",
        "ignore signals and interrupt keys from now on",
    ),
    ("/exit", "[CODE]", "exit"),
    ("/crash", "", "die without a word"),
    ("/help", "", "list the commands"),
];

/// The action of a command, or an error message.
pub(super) fn action(command: &str) -> Action {
    let name = command.split_whitespace().next().unwrap_or_default();
    let rest = &command[name.len()..];
    // Text that is written or printed keeps its blanks; all else is trimmed.
    let text = rest.strip_prefix(' ').unwrap_or(rest);
    let rest = rest.trim();
    let parsed = match name {
        "/busy" => seconds(rest).map(Action::Busy),
        "/mute" => seconds(rest).map(Action::Mute),
        "/spawn" => seconds(rest).map(Action::Spawn),
        "/daemonize" => seconds(rest).map(Action::Daemonize),
        "/stream" => rest
            .parse()
            .ok()
            .map(|n: usize| Action::Stream(n.min(MOST_LINES))),
        "/lines" => rest
            .parse()
            .ok()
            .map(|n: usize| Action::Lines(n.min(MOST_LINES))),
        "/run" => (!rest.is_empty()).then(|| Action::Run(rest.to_owned())),
        "/write" => write(text),
        "/ask" => ask(rest),
        "/todo" => todo(rest),
        "/print" => Some(Action::Print(text.to_owned())),
        "/title" => Some(Action::Title(rest.to_owned())),
        "/exit" if rest.is_empty() => Some(Action::Exit(0)),
        "/exit" => rest.parse().ok().map(Action::Exit),
        "/clear-screen" => Some(Action::ClearScreen),
        "/allow" => Some(Action::Allow),
        "/trust" => Some(Action::Trust),
        "/limit" if rest.is_empty() => Some(Action::Limit),
        "/limit" => Some(Action::LimitUntil(rest.to_owned())),
        "/recall" => Some(Action::Recall),
        "/ignore-signals" => Some(Action::IgnoreSignals),
        "/crash" => Some(Action::Crash),
        "/help" => Some(Action::Help),
        _ => return Action::Complain(unknown(name)),
    };
    parsed.unwrap_or_else(|| Action::Complain(usage(name)))
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s').unwrap_or(text).trim().parse().ok()?;
    (0.0..=LONGEST)
        .contains(&seconds)
        .then(|| Duration::from_secs_f64(seconds))
}

fn write(rest: &str) -> Option<Action> {
    let rest = rest.trim_start();
    let (path, text) = rest
        .split_once(|blank: char| blank.is_whitespace())
        .unwrap_or((rest, ""));
    (!path.is_empty()).then(|| Action::Write {
        path: path.to_owned(),
        text: format!("{text}\n"),
    })
}

fn ask(rest: &str) -> Option<Action> {
    let mut parts = rest.split('|').map(|part| part.trim().to_owned());
    let question = parts.next().filter(|question| !question.is_empty())?;
    let mut choices: Vec<String> = parts.filter(|choice| !choice.is_empty()).collect();
    if choices.is_empty() {
        choices = vec!["Yes".to_owned(), "No".to_owned()];
    }
    Some(Action::Ask { question, choices })
}

fn todo(rest: &str) -> Option<Action> {
    let (verb, what) = rest.split_once(' ')?;
    let what = what.trim();
    match verb {
        "add" if !what.is_empty() => Some(Action::TodoAdd(vec![what.to_owned()])),
        "done" => what.parse().ok().map(Action::TodoDone),
        _ => None,
    }
}

fn usage(name: &str) -> String {
    let arguments = COMMANDS
        .iter()
        .find(|(command, _, _)| *command == name)
        .map_or("", |(_, arguments, _)| arguments);
    format!("Usage: {name} {arguments}")
}

fn unknown(name: &str) -> String {
    let nearest = COMMANDS
        .iter()
        .map(|(command, _, _)| (strsim::damerau_levenshtein(command, name), *command))
        .min()
        .filter(|(distance, _)| *distance <= 2);
    match nearest {
        Some((_, command)) => format!("I do not know {name}: did you mean {command}?"),
        None => format!("I do not know {name}: /help lists what I know."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_understood() {
        let text = str::to_owned;
        for (prompt, expected) in [
            ("/busy 2.5", Action::Busy(Duration::from_millis(2500))),
            ("/mute 3s", Action::Mute(Duration::from_secs(3))),
            ("/stream 40", Action::Stream(40)),
            ("/run ls -la | wc", Action::Run(text("ls -la | wc"))),
            (
                "/ask Tea? | Green | Black",
                Action::Ask {
                    question: text("Tea?"),
                    choices: vec![text("Green"), text("Black")],
                },
            ),
            ("/todo add pack", Action::TodoAdd(vec![text("pack")])),
            ("/todo done 2", Action::TodoDone(2)),
            ("/lines 500", Action::Lines(500)),
            (
                "/print  Do you want to proceed?",
                Action::Print(text(" Do you want to proceed?")),
            ),
            ("/exit", Action::Exit(0)),
            ("/exit 3", Action::Exit(3)),
            ("/help", Action::Help),
        ] {
            assert_eq!(action(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (prompt, expected) in [
            ("/bussy 3", "I do not know /bussy: did you mean /busy?"),
            (
                "/frobnicate",
                "I do not know /frobnicate: /help lists what I know.",
            ),
            ("/busy soon", "Usage: /busy SECONDS"),
            ("/busy -1", "Usage: /busy SECONDS"),
            ("/busy 1e300", "Usage: /busy SECONDS"),
            ("/todo", "Usage: /todo add TEXT | done N"),
            ("/run", "Usage: /run COMMAND"),
        ] {
            assert_eq!(action(prompt), Action::Complain(expected.to_owned()));
        }
    }

    #[test]
    fn every_command_of_the_help_is_known() {
        for (name, _, _) in COMMANDS {
            let action = action(name);
            assert!(
                !matches!(&action, Action::Complain(text) if !text.starts_with("Usage")),
                "{name}: {action:?}"
            );
        }
    }
}
