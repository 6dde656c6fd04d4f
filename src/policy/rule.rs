//! One rule of a policy, with its examples.

use serde::Deserialize;

use super::arguments::{Argument, arguments, gives, is_among, is_flag};
use super::paths::PathClass;
use crate::detect::{Fault, Pattern};

/// A rule as in a policy file. A condition that is not given is not checked.
///
/// For rejecting, a rule matches broadly: a flag in any spelling, a program by its name alone. For
/// accepting it matches strictly: what the rule does not name, it does not allow.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Rule {
    pub id: String,
    /// The reason, as one sentence for the user.
    pub why: String,
    pub agent: Vec<String>,
    pub tool: Vec<String>,
    /// The classes of the paths of the tool or command.
    pub path: Vec<PathClass>,
    /// The classes of the files that output is redirected to.
    pub redirect: Vec<PathClass>,

    pub program: Vec<String>,
    /// The subcommand: `push`, `remote show`.
    pub sub: Vec<String>,
    /// Flags that may come before `sub`; with `=` at the end, those that take a path.
    pub lead: Vec<String>,
    pub any_flag: Vec<String>,
    pub no_flag: Vec<String>,
    pub only_flag: Option<Vec<String>>,
    /// One of the other words matches one of these.
    pub any_arg: Vec<Pattern>,
    pub no_arg: Vec<Pattern>,
    /// There is at least one other word, and the first matches one of these.
    pub first_arg: Option<Vec<Pattern>>,
    /// Each of the other words matches one of these.
    pub only_arg: Option<Vec<Pattern>>,
    /// Flags whose value is free text; with `=` at the end, those that take it only attached.
    pub values: Vec<String>,
    /// Each such value matches one of these.
    pub only_value: Option<Vec<Pattern>>,
    pub args: Args,
    /// How many such values there are at least.
    pub least_values: usize,
    /// Flags whose value is a path.
    pub path_values: Vec<String>,
    /// How many other words there are at least, and at most.
    pub least: usize,
    pub most: Option<usize>,
    /// No other word is the name of a file.
    pub absent: bool,
    /// The other words name targets, none of which may lead outward.
    pub targets: bool,
    /// Flags with which it goes through whole directories; `*` where it always does.
    pub recursive: Vec<String>,
    /// It passes over what is hidden or ignored by git.
    pub skips: bool,
    /// It prints the names of files and nothing else; another command may work on these.
    pub lists: bool,
    /// Where it looks is said by the words before its first flag, and not by any other word.
    pub places_first: bool,
    /// It runs a command on the names that it reads, so it must read them from such a list.
    pub listed: bool,
    /// It works on the git repository around it, and does what that one's settings say.
    pub repository: bool,
    pub writes: Writes,
    /// It runs a file of the worktree: the program itself, or the first other word.
    pub script: Option<Script>,
    /// For a program that runs another command: how many words come before that command, which must be
    /// acceptable itself.
    pub carries: Option<usize>,
    /// The programs that such a command may run; any, where none is named.
    pub runs: Vec<String>,
    /// Whether it reads from a pipe.
    pub piped: Option<bool>,
    /// Variables that are set; `X*` matches names that begin with X.
    pub assign: Vec<String>,

    /// For rejecting: a plain command whose other words all match one of these is left to the user.
    pub spares: Vec<Pattern>,

    /// Searched for in code that is more than plain commands: scripts, documents, inline programs.
    pub code: Vec<Pattern>,
    /// Searched for everywhere.
    pub text: Vec<Pattern>,

    #[serde(rename = "match")]
    pub matches: Vec<String>,
    pub not_match: Vec<String>,
}

/// The meaning of the words of a command that are neither flags nor free text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Args {
    /// Paths, or words that are harmless as a path: they must be inside the worktree.
    #[default]
    Paths,
    /// Text that is only printed or compared.
    Text,
    /// The first is a pattern to search for, the others are paths.
    Pattern,
    None,
}

/// What a command does to the files that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Writes {
    #[default]
    Nothing,
    /// It changes or makes those files.
    Files,
    /// It puts files into the last one, or in its place.
    Into,
    /// It changes any files: those of another branch come, for example.
    Anything,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Script {
    Program,
    First,
}

/// A command in the form that rules match.
#[derive(Debug, Clone, Default)]
pub(super) struct Command<'c> {
    pub words: Vec<&'c str>,
    pub assignments: Vec<&'c str>,
    pub piped: bool,
}

/// What the caller must still check after a rule has allowed a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Allowed<'w> {
    pub paths: Vec<&'w str>,
    /// Those of the paths that are words of their own.
    pub others: Vec<&'w str>,
    /// Words that may name a target.
    pub targets: Vec<&'w str>,
    /// Words that may not be the name of a file.
    pub absent: Vec<&'w str>,
    /// Whether a flag makes it go through whole directories.
    pub recursive: bool,
    /// The values of its flags that are free text.
    pub values: Vec<&'w str>,
    /// The command that this one runs.
    pub carried: Option<Vec<&'w str>>,
}

impl Rule {
    pub(super) fn is_for(&self, agent: &str, tool: &str) -> bool {
        let among = |list: &[String], name: &str| list.is_empty() || list.iter().any(|n| n == name);
        among(&self.agent, agent) && among(&self.tool, tool)
    }

    pub(super) fn is_about_commands(&self) -> bool {
        !self.program.is_empty() || !self.assign.is_empty() || self.script.is_some()
    }

    /// Whether a rule that rejects, or leaves to the user, matches this command.
    pub(super) fn hits(&self, command: &Command<'_>) -> bool {
        // Conditions on paths are checked elsewhere: see `search`.
        if !self.is_about_commands() || !self.path.is_empty() {
            return false;
        }
        self.describes(command)
    }

    /// Whether the words of a command match the rule.
    pub(super) fn describes(&self, command: &Command<'_>) -> bool {
        // The name first: it is cheap, and rules out most commands.
        let named =
            self.program.is_empty() || command.words.first().is_some_and(|word| self.names(word));
        let assigned =
            self.assign.is_empty() || command.assignments.iter().any(|name| self.sets(name));
        if !named || !assigned {
            return false;
        }
        let rest: Vec<&str> = arguments(command.words.get(1..).unwrap_or_default(), &self.values)
            .into_iter()
            .filter_map(|argument| match argument {
                Argument::Flag(word) | Argument::Other(word) | Argument::Behind(word) => Some(word),
                Argument::FreeText(_) => None,
            })
            .collect();
        let given = |flags: &[String]| {
            rest.iter()
                .filter(|word| is_flag(word))
                .any(|word| flags.iter().any(|flag| gives(word, flag)))
        };
        let found = |patterns: &[Pattern]| {
            rest.iter()
                .any(|word| patterns.iter().any(|pattern| pattern.is_match(word)))
        };
        (self.sub.is_empty() || self.sub.iter().any(|sub| follows(&rest, sub)))
            && (self.any_flag.is_empty() || given(&self.any_flag))
            && (self.any_arg.is_empty() || found(&self.any_arg))
            && !given(&self.no_flag)
            && !found(&self.no_arg)
            && self.piped.is_none_or(|piped| piped == command.piped)
    }

    /// Whether a command is one of those that the rule would reject, but leaves to the user.
    pub(super) fn spares(&self, words: &[&str]) -> bool {
        let Some((program, rest)) = words.split_first() else {
            return false;
        };
        let mut others = rest.iter().filter(|word| !is_flag(word)).peekable();
        self.program.iter().any(|name| name == program)
            && others.peek().is_some()
            && others.all(|word| self.spares.iter().any(|pattern| pattern.is_match(word)))
    }

    pub(super) fn sets(&self, name: &str) -> bool {
        self.assign
            .iter()
            .any(|known| match known.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => known == name,
            })
    }

    /// By its last component and ignoring case: for rejecting, `/bin/RM` is `rm`.
    fn names(&self, word: &str) -> bool {
        let name = word.rsplit('/').next().unwrap_or(word).to_lowercase();
        self.program.contains(&name)
    }

    /// What is left to check if this rule allows the command; None where it does not.
    pub(super) fn allows<'w>(&self, words: &[&'w str]) -> Option<Allowed<'w>> {
        let (program, rest) = words.split_first()?;
        let mut allowed = Allowed::default();
        if self.script == Some(Script::Program) {
            let (_, name) = program.rsplit_once('/')?;
            allowed.targets.push(name);
        } else if !self.program.iter().any(|name| name == program) {
            return None;
        }
        let rest = self.behind_sub(rest, &mut allowed)?;
        if let Some(count) = self.carries {
            allowed.carried = Some(self.carried(rest, count)?);
            return Some(allowed);
        }
        let hit = |patterns: &[Pattern], word: &str| patterns.iter().any(|p| p.is_match(word));
        let mut others = Vec::new();
        let own = match self.script {
            // What follows a script are words for the script.
            Some(Script::First) => {
                let flags = rest.iter().take_while(|word| is_flag(word)).count();
                rest.len().min(flags + 1)
            }
            _ => rest.len(),
        };
        let (rest, handed_on) = rest.split_at(own);
        allowed.paths.extend(handed_on);
        allowed.targets.extend(handed_on);
        let with_value = [&self.values[..], &self.path_values[..]].concat();
        let mut takes_path = false;
        for argument in arguments(rest, &with_value) {
            match argument {
                Argument::Flag(flag) => {
                    takes_path = self.path_values.iter().any(|known| known == flag);
                    allowed.recursive |= self.recursive.iter().any(|known| gives(flag, known));
                    // The value of a flag is a word like the others.
                    let value = flag.split_once('=').map(|(_, value)| value);
                    if !self.allows_flag(flag) || value.is_some_and(|v| hit(&self.no_arg, v)) {
                        return None;
                    }
                    allowed.targets.extend(value);
                    allowed.paths.push(flag);
                }
                Argument::FreeText(value) if takes_path => {
                    if hit(&self.no_arg, value) {
                        return None;
                    }
                    allowed.paths.push(value);
                }
                Argument::FreeText(value) => {
                    let fits = |only: &Vec<Pattern>| hit(only, value);
                    if !self.only_value.as_ref().is_none_or(fits) {
                        return None;
                    }
                    allowed.targets.push(value);
                    allowed.values.push(value);
                }
                Argument::Other(word) => others.push(word),
                Argument::Behind(word) => {
                    if is_flag(word) && !self.allows_flag(word) {
                        return None;
                    }
                    others.push(word);
                }
            }
        }
        if others.iter().any(|word| hit(&self.no_arg, word)) {
            return None;
        }
        let given = |known: &String| rest.iter().any(|word| gives(word, known));
        if !self.any_flag.is_empty() && !self.any_flag.iter().any(given) {
            return None;
        }
        if let Some(first) = &self.first_arg
            && !others.first().is_some_and(|word| hit(first, word))
        {
            return None;
        }
        if let Some(only) = &self.only_arg
            && !others.iter().all(|word| hit(only, word))
        {
            return None;
        }
        if allowed.values.len() < self.least_values {
            return None;
        }
        let too_many = self.most.is_some_and(|most| others.len() > most);
        if others.len() < self.least || too_many {
            return None;
        }
        if self.absent {
            allowed.absent.clone_from(&others);
        }
        allowed.recursive |= self.recursive.iter().any(|known| known == "*");
        allowed.targets.extend(&others);
        match self.args {
            Args::Paths => allowed.others = others,
            Args::Pattern => allowed.others = others.into_iter().skip(1).collect(),
            Args::Text => {}
            Args::None if others.is_empty() => {}
            Args::None => return None,
        }
        allowed.paths.extend(&allowed.others);
        Some(allowed)
    }

    fn allows_flag(&self, flag: &str) -> bool {
        !self.no_flag.iter().any(|known| gives(flag, known))
            && self
                .only_flag
                .as_ref()
                .is_none_or(|only| is_among(flag, only))
    }

    /// The words after the subcommand, if the rule has one.
    fn behind_sub<'s, 'w>(
        &self,
        mut rest: &'s [&'w str],
        allowed: &mut Allowed<'w>,
    ) -> Option<&'s [&'w str]> {
        if self.sub.is_empty() {
            return Some(rest);
        }
        while let Some((word, behind)) = rest.split_first() {
            let with_path = format!("{word}=");
            if self.lead.iter().any(|known| known == word) {
                rest = behind;
            } else if self.lead.contains(&with_path) {
                let (path, behind) = behind.split_first()?;
                allowed.paths.push(path);
                rest = behind;
            } else {
                break;
            }
        }
        self.sub.iter().find_map(|sub| {
            let wanted: Vec<&str> = sub.split(' ').collect();
            rest.starts_with(&wanted).then(|| &rest[wanted.len()..])
        })
    }

    fn carried<'w>(&self, rest: &[&'w str], count: usize) -> Option<Vec<&'w str>> {
        let only = self.only_flag.as_deref().unwrap_or_default();
        let flags = rest.iter().take_while(|word| is_flag(word)).count();
        let (flags, rest) = rest.split_at(flags);
        if !flags.iter().all(|flag| is_among(flag, only)) || rest.len() <= count {
            return None;
        }
        let (before, carried) = rest.split_at(count);
        let known = |program: &&str| self.runs.iter().any(|known| known == program);
        if !self.runs.is_empty() && !carried.first().is_some_and(known) {
            return None;
        }
        let fits = |word: &&str| {
            self.only_arg
                .as_ref()
                .is_none_or(|only| only.iter().any(|pattern| pattern.is_match(word)))
        };
        before.iter().all(fits).then(|| carried.to_vec())
    }

    /// Checks the rule by itself.
    pub(super) fn check(&self, key: &str) -> Result<(), Fault> {
        let fault = |field: &str, message: String| {
            Err(Fault {
                key: format!("{key}{field}"),
                message,
            })
        };
        if self.id.is_empty() {
            return fault(".id", "a rule needs a name".to_owned());
        }
        if self.matches.is_empty() {
            return fault(
                ".match",
                "a rule needs an example that it matches".to_owned(),
            );
        }
        if !self.is_about_commands()
            && self.path.is_empty()
            && self.redirect.is_empty()
            && self.tool.is_empty()
            && self.code.is_empty()
            && self.text.is_empty()
        {
            return fault(
                "",
                "the rule asks for nothing: it would match everything".to_owned(),
            );
        }
        let lists = [
            ("any_arg", &self.any_arg),
            ("no_arg", &self.no_arg),
            ("code", &self.code),
            ("text", &self.text),
            ("spares", &self.spares),
        ];
        for (field, patterns) in lists {
            for (at, pattern) in patterns.iter().enumerate() {
                pattern.check(&format!("{key}.{field}[{at}]"))?;
            }
        }
        for (field, patterns) in [
            ("first_arg", &self.first_arg),
            ("only_arg", &self.only_arg),
            ("only_value", &self.only_value),
        ] {
            for (at, pattern) in patterns.iter().flatten().enumerate() {
                pattern.check(&format!("{key}.{field}[{at}]"))?;
            }
        }
        Ok(())
    }
}

/// Whether the words of a subcommand occur in sequence among these, ignoring flags.
fn follows(words: &[&str], sub: &str) -> bool {
    let plain: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !is_flag(word))
        .collect();
    let wanted: Vec<&str> = sub.split(' ').collect();
    plain.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests;
