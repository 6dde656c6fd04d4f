//! The help texts: commands in groups, examples for each, and global options under one heading.
//!
//! The arguments themselves are described where they are defined, in the file of their command.

use clap::{Command, CommandFactory};

use super::args::Cli;

struct Group {
    heading: &'static str,
    commands: &'static [&'static str],
}

/// Every visible command, in the order of use.
const GROUPS: [Group; 7] = [
    Group {
        heading: "Work with agents",
        commands: &[
            "new", "run", "adopt", "list", "status", "show", "attach", "send", "answer", "queue",
            "wait", "peek", "diff", "review", "log", "search", "usage", "path", "exec", "shell",
            "open", "rename",
        ],
    },
    Group {
        heading: "Pause and resume",
        commands: &[
            "pause",
            "resume",
            "restart",
            "kill",
            "undo-kill",
            "runs",
            "snapshots",
        ],
    },
    Group {
        heading: "Bring work home",
        commands: &["land", "undo-land", "push", "pr"],
    },
    Group {
        heading: "Leave agents alone",
        commands: &[
            "autoyes", "policy", "seal", "audit", "timeout", "daemon", "events",
        ],
    },
    Group {
        heading: "Use other machines",
        commands: &["host", "move", "drain"],
    },
    Group {
        heading: "Keep things in order",
        commands: &["doctor", "gc", "compact", "import", "export", "repo"],
    },
    Group {
        heading: "About biv",
        commands: &["demo", "agents", "config", "detect", "completions", "man"],
    },
];

/// Examples of each command, as they are printed: `[command]`, then pairs of lines.
const EXAMPLES: &str = include_str!("examples.txt");

/// The command line with its help texts.
pub(super) fn command() -> Command {
    let mut command = Cli::command();
    let header = *command.get_styles().get_header();
    for (name, examples) in examples() {
        let text = format!("{header}Examples:{header:#}\n{examples}");
        command = command.mut_subcommand(name, |sub| sub.after_help(text));
    }
    let groups = describe_groups(&command);
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}\n\n\
         {header}Global options:{header:#}\n{{options}}\n\n\
         Start with `biv demo`, or `biv new -p \"what to do\"` inside a repository.\n\
         `biv help COMMAND` explains one command with examples."
    ))
}

/// The name of each command with its examples.
fn examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXAMPLES
        .split("\n\n")
        .filter_map(|part| part.strip_prefix('[')?.split_once("]\n"))
        .map(|(name, examples)| (name, examples.trim_end()))
}

fn describe_groups(command: &Command) -> String {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let describe = |name: &&str| {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        let about = about.map(ToString::to_string).unwrap_or_default();
        format!("  {literal}{name:<12}{literal:#} {about}")
    };
    GROUPS
        .iter()
        .map(|group| {
            let rows: Vec<String> = group.commands.iter().map(describe).collect();
            format!("{header}{}:{header:#}\n{}", group.heading, rows.join("\n"))
        })
        .collect::<Vec<_>>()
        .join("\n\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Command;

    use super::{GROUPS, command, examples};

    fn visible() -> BTreeSet<String> {
        command()
            .get_subcommands()
            .filter(|sub| !sub.is_hide_set())
            .map(|sub| sub.get_name().to_owned())
            .collect()
    }

    #[test]
    fn every_command_stands_in_one_group_and_has_examples() {
        let grouped: Vec<String> = GROUPS
            .iter()
            .flat_map(|group| group.commands)
            .map(ToString::to_string)
            .collect();
        assert_eq!(grouped.len(), visible().len(), "none stands twice");
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), visible());
        let with_examples = examples().map(|(name, _)| name.to_owned());
        assert_eq!(with_examples.collect::<BTreeSet<_>>(), visible());
    }

    #[test]
    fn every_example_can_be_typed() {
        for (name, examples) in examples() {
            for line in examples.lines().filter(|line| !line.starts_with("   ")) {
                // Without a pipe before it or a redirection after it.
                let call = line.split_once("biv ").map_or("", |(_, call)| call);
                let call = call.split(['<', '>']).next().unwrap_or_default();
                let words = shlex::split(&format!("biv {call}")).unwrap_or_default();
                let parsed = command().try_get_matches_from(&words);
                assert!(parsed.is_ok(), "{line}: {:?}", parsed.err());
                assert_eq!(words.get(1).map(String::as_str), Some(name), "{line}");
            }
        }
    }

    #[test]
    fn the_first_page_fits_into_80_columns() {
        let page = command().term_width(80).render_help().to_string();
        for line in page.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(page.contains("Pause and resume:\n  pause "), "{page}");
    }

    #[test]
    fn global_options_stand_under_their_own_heading() {
        fn check(command: &Command) {
            let described = |sub: &&Command| !sub.is_hide_set() && sub.get_name() != "help";
            for sub in command.get_subcommands().filter(described) {
                let mut sub = sub.clone();
                let page = sub.render_long_help().to_string();
                let (own, global) = page.split_once("Global options:").unwrap_or_default();
                assert!(!own.contains("--json"), "{page}");
                assert!(
                    global.contains("--json") && global.contains("--color"),
                    "{page}"
                );
                check(&sub);
            }
        }
        let mut command = command();
        command.build();
        check(&command);
    }
}
