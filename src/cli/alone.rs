//! The commands that only look, each parsed alone. Scripts and prompts call them all the time, and describing every
//! other command takes longer than the rest of the parsing.

use std::ffi::OsString;

use clap::{Args, Command, FromArgMatches};

use super::args::Cli;
use super::common::Common;
use super::list::ListArgs;
use super::peek::PeekArgs;
use super::show::ShowArgs;
use super::status::StatusArgs;

type Describe = fn(Command) -> Command;

/// What is typed, the command that it is, and what describes its arguments.
const ALONE: [(&str, &str, Describe); 5] = [
    ("list", "list", ListArgs::augment_args),
    ("ls", "list", ListArgs::augment_args),
    ("show", "show", ShowArgs::augment_args),
    ("status", "status", StatusArgs::augment_args),
    ("peek", "peek", PeekArgs::augment_args),
];

/// The command line, if it is one of these and complete. All else, such as a mistake or a wish for help, is left to the
/// description of all commands.
pub(super) fn parsed_alone(words: &[OsString]) -> Option<Cli> {
    let name = words.get(1)?.to_str()?;
    let (typed, command, describe) = ALONE.iter().find(|(known, ..)| *known == name)?;
    let own = describe(Command::new(*command));
    let own = match name == *command {
        true => own,
        false => own.alias(*typed),
    };
    let all = Common::augment_args(Command::new("biv")).subcommand(own);
    let matches = all.try_get_matches_from(words).ok()?;
    Cli::from_arg_matches(&matches).ok()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_command_means_the_same_alone() {
        for line in [
            "biv list",
            "biv ls --json",
            "biv list --state paused --repo /r -q",
            "biv show tent --color never",
            "biv show --size -v tent",
            "biv status",
            "biv status --format {busy}",
            "biv peek tent -n 7 --ansi",
        ] {
            let alone = parsed_alone(&words(line)).map(|cli| format!("{cli:?}"));
            let whole = Cli::try_parse_from(words(line)).map(|cli| format!("{cli:?}"));
            assert_eq!(alone, whole.ok(), "{line}");
            assert!(alone.is_some(), "{line}");
        }
    }

    #[test]
    fn help_and_mistakes_are_left_to_the_whole_description() {
        for line in [
            "biv",
            "biv list --help",
            "biv help list",
            "biv list --version",
            "biv list --stat paused",
            "biv show",
            "biv peek a b",
            "biv new tent",
            "biv --json list",
        ] {
            assert!(parsed_alone(&words(line)).is_none(), "{line}");
        }
    }

    #[test]
    fn they_are_commands() {
        let whole = Cli::command();
        for (name, ..) in ALONE {
            assert!(whole.find_subcommand(name).is_some(), "{name}");
        }
    }
}
