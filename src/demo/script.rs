//! A prompt → what the agent will do about it.
//!
//! A prompt is a script when its first line is a command; then each further command has its own
//! line, and a line that is no command belongs to the one above it (more text for `/write`, more
//! shell for `/run`). Any other prompt is prose, even with `/words` somewhere inside: a pasted log
//! must not make the agent exit.

use std::time::Duration;

/// A day: nothing that is demonstrated takes longer.
const LONGEST: f64 = 86_400.0;
const MOST_LINES: usize = 100_000;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Looks busy before it says something.
    Think,
    Busy(Duration),
    Mute(Duration),
    Stream(usize),
    Run(String),
    Write {
        path: String,
        text: String,
    },
    Ask {
        question: String,
        choices: Vec<String>,
    },
    TodoAdd(Vec<String>),
    TodoDone(usize),
    /// As `TodoDone`, by what it says.
    TodoFinish(String),
    Lines(usize),
    Print(String),
    ClearScreen,
    Title(String),
    Allow,
    Trust,
    Limit,
    Recall,
    Help,
    Say(String),
    /// A friendly answer to prose.
    Answer,
    /// The end of the tour: what became of it.
    TourReport,
    /// Done only if nothing was declined in this turn.
    IfAllowed(Box<Self>),
    Complain(String),
    Exit(u8),
    Crash,
    IgnoreSignals,
    Spawn(Duration),
    Daemonize(Duration),
}

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
    ("/limit", "", "run into a usage limit"),
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

/// What the agent does about the prompt, in order.
pub(super) fn actions_for(prompt: &str) -> Vec<Action> {
    let first = prompt.trim_start().lines().next().unwrap_or_default();
    if is_command(first) {
        return commands(prompt).iter().map(|line| action(line)).collect();
    }
    let lowered = prompt.trim().to_lowercase();
    match lowered.as_str() {
        "help" | "?" => return vec![Action::Help],
        "exit" | "quit" => return vec![Action::Exit(0)],
        _ => {}
    }
    if ["what did i tell you", "what did i say"]
        .iter()
        .any(|words| lowered.contains(words))
    {
        return vec![Action::Think, Action::Recall];
    }
    // Only a sentence asks for the tour: the same word deep in a pasted file does not.
    let is_sentence = lowered.len() <= 200 && !lowered.contains('\n');
    if is_sentence && has_word(&lowered, &["hello", "demo", "tour"]) {
        return tour();
    }
    vec![Action::Think, Action::Answer]
}

fn is_command(line: &str) -> bool {
    line.strip_prefix('/')
        .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_lowercase()))
        // A path at the beginning of a sentence is none.
        && !name_of(line)[1..].contains('/')
}

fn name_of(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric())
        .any(|word| words.contains(&word))
}

/// The commands of a script, each with the lines that belong to it.
fn commands(prompt: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in prompt.trim_start().lines() {
        match commands.last_mut() {
            Some(command) if !is_command(line) => {
                command.push('\n');
                command.push_str(line);
            }
            Some(_) | None => commands.push(line.to_owned()),
        }
    }
    commands
}

fn action(command: &str) -> Action {
    let name = name_of(command);
    let rest = &command[name.len()..];
    // What is written or printed keeps its own blanks; all else is trimmed.
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
        "/limit" => Some(Action::Limit),
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

/// A small believable turn for newcomers, with a real file and a real command.
fn tour() -> Vec<Action> {
    let allowed = |action| Action::IfAllowed(Box::new(action));
    vec![
        Action::Think,
        Action::Say(
            "Happy to. I will write a small script, make sure that it runs, and tell you how it went."
                .to_owned(),
        ),
        Action::TodoAdd(vec!["Write hello.sh".to_owned(), "Run it".to_owned()]),
        Action::Think,
        Action::Write {
            path: "hello.sh".to_owned(),
            text: "#!/bin/sh\n# Greets whoever camps here.\necho \"Hello from $(basename \"$PWD\")!\"\n"
                .to_owned(),
        },
        allowed(Action::TodoFinish("Write hello.sh".to_owned())),
        allowed(Action::Think),
        allowed(Action::Run("sh hello.sh".to_owned())),
        allowed(Action::TodoFinish("Run it".to_owned())),
        Action::Think,
        Action::TourReport,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(prompt: &str) -> Action {
        let actions = actions_for(prompt);
        assert_eq!(actions.len(), 1, "{actions:?}");
        actions.into_iter().next().unwrap()
    }

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
            ("  /help", Action::Help),
            ("exit", Action::Exit(0)),
        ] {
            assert_eq!(one(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn a_script_runs_line_by_line_and_other_lines_belong_to_the_command_above() {
        assert_eq!(
            actions_for("/write a.txt one\n  two\n\n/etc/passwd is a path\n/busy 1\n/exit 2"),
            [
                Action::Write {
                    path: "a.txt".to_owned(),
                    text: "one\n  two\n\n/etc/passwd is a path\n".to_owned(),
                },
                Action::Busy(Duration::from_secs(1)),
                Action::Exit(2),
            ]
        );
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
            assert_eq!(one(prompt), Action::Complain(expected.to_owned()));
        }
    }

    #[test]
    fn commands_within_prose_are_left_alone() {
        let prose = vec![Action::Think, Action::Answer];
        assert_eq!(actions_for("a log:\n/exit 3\n/crash"), prose);
        assert_eq!(actions_for("/usr/bin/env is a path"), prose);
        assert_eq!(actions_for("// a comment"), prose);
        assert_eq!(actions_for(""), prose);
        assert_eq!(actions_for(&"hello ".repeat(100)), prose);
    }

    #[test]
    fn the_tour_and_the_memory_are_asked_for_in_plain_words() {
        assert!(actions_for("add a hello script").len() > 5);
        assert!(actions_for("Give me the TOUR, please!").len() > 5);
        assert_eq!(actions_for("an Othello board")[1], Action::Answer);
        assert_eq!(actions_for("What did I tell you?")[1], Action::Recall);
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
