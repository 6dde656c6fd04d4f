//! Words of a command line that ends with a prompt.
//!
//! A prompt may begin with a hyphen (`- item`), and there can be several words before it. The parser
//! would take every flag after the first of them for a word too, so flags are moved before the words.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// Commands whose last words are prompts.
const COMMANDS: [&str; 2] = ["send", "queue"];

/// The same words with known flags first and a `--` before the rest, for commands that end with a prompt.
pub(super) fn flags_first(command: &Command, words: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = command_at(command, &words) else {
        return words;
    };
    let Some(sub) = words[at]
        .to_str()
        .and_then(|name| command.find_subcommand(name))
    else {
        return words;
    };
    if !COMMANDS.contains(&sub.get_name()) {
        return words;
    }
    let (mut ordered, rest) = (words[..=at].to_vec(), &words[at + 1..]);
    let (mut plain, mut literal) = (Vec::new(), false);
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match flag(command, Some(sub), word) {
            _ if literal => plain.push(word.clone()),
            _ if word == "--" => literal = true,
            None => plain.push(word.clone()),
            Some(Flag::Alone) => ordered.push(word.clone()),
            Some(Flag::WithValue) => {
                ordered.push(word.clone());
                ordered.extend(rest.next().cloned());
            }
        }
    }
    ordered.push("--".into());
    ordered.extend(plain);
    ordered
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    Alone,
    /// The next word is its value.
    WithValue,
}

/// Where the name of the subcommand stands.
pub(super) fn command_at(command: &Command, words: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match flag(command, None, word) {
            Some(Flag::WithValue) => at += 2,
            Some(Flag::Alone) => at += 1,
            None => return Some(at),
        }
    }
    None
}

/// The word as a flag of this command.
fn flag(command: &Command, sub: Option<&Command>, word: &OsStr) -> Option<Flag> {
    let word = word.to_str()?;
    let (name, value) = match word.split_once('=') {
        Some((name, _)) if word.starts_with("--") => (name, true),
        _ => (word, false),
    };
    if matches!(word, "-h" | "--help" | "-V" | "--version") {
        return Some(Flag::Alone);
    }
    let all = || {
        let of_sub = sub.into_iter().flat_map(Command::get_arguments);
        command.get_arguments().chain(of_sub)
    };
    let takes_value = |arg: &Arg| arg.get_action().takes_values();
    if let Some(long) = name.strip_prefix("--") {
        let arg = all().find(|arg| arg.get_long() == Some(long))?;
        return Some(match takes_value(arg) && !value {
            true => Flag::WithValue,
            false => Flag::Alone,
        });
    }
    // `-qv`: all of them are flags without a value.
    let letters = name
        .strip_prefix('-')
        .filter(|letters| !letters.is_empty())?;
    let known =
        |letter: char| all().any(|arg| arg.get_short() == Some(letter) && !takes_value(arg));
    letters.chars().all(known).then_some(Flag::Alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::help;

    fn ordered(line: &[&str]) -> Vec<String> {
        let words = line.iter().map(OsString::from).collect();
        flags_first(&help::command(), words)
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect()
    }

    #[test]
    fn flags_of_a_prompt_command_stand_before_its_words() {
        assert_eq!(
            ordered(&[
                "biv", "--color", "never", "send", "api", "- item", "--json", "--now"
            ]),
            [
                "biv", "--color", "never", "send", "--json", "--now", "--", "api", "- item"
            ]
        );
        assert_eq!(
            ordered(&[
                "biv",
                "queue",
                "--state",
                "busy",
                "-n leading",
                "-qv",
                "--unknown"
            ]),
            [
                "biv",
                "queue",
                "--state",
                "busy",
                "-qv",
                "--",
                "-n leading",
                "--unknown"
            ]
        );
        assert_eq!(
            ordered(&["biv", "send", "api", "--", "--json"]),
            ["biv", "send", "--", "api", "--json"]
        );
    }

    #[test]
    fn other_commands_stay_as_they_are() {
        let line = ["biv", "exec", "api", "--", "ls", "--color"];
        assert_eq!(ordered(&line), line);
        assert_eq!(ordered(&["biv"]), ["biv"]);
    }
}
