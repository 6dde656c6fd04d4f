//! Parses a prompt into actions.
//!
//! A prompt is a script if its first line is a command. Each further command has its own line, and a line
//! that is no command belongs to the one above it (more text for `/write`, more shell for `/run`). Any other
//! prompt is prose, even with `/words` inside: a pasted log must not make the agent exit.

use super::action::Action;
use super::command;
use super::corrections::correction;

/// The actions for a prompt, in order.
pub(super) fn actions_for(prompt: &str) -> Vec<Action> {
    let first = prompt.trim_start().lines().next().unwrap_or_default();
    if is_command(first) {
        return commands(prompt)
            .iter()
            .map(|line| command::action(line))
            .collect();
    }
    if let Some(actions) = correction(prompt) {
        return actions;
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
    // Only a short sentence requests the tour: the same word in a pasted file does not.
    let is_sentence = lowered.len() <= 200 && !lowered.contains('\n');
    if is_sentence && has_word(&lowered, &["hello", "demo", "tour"]) {
        return tour();
    }
    vec![Action::Think, Action::Answer]
}

fn is_command(line: &str) -> bool {
    line.strip_prefix('/')
        .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_lowercase()))
        // A path at the start of a sentence is not a command.
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

/// A small realistic turn for new users, with a real file and a real command.
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
            text: "#!/bin/sh\n# Prints a greeting.\necho \"Hello from $(basename \"$PWD\")!\"\n"
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
    use std::time::Duration;

    use super::*;

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
}
