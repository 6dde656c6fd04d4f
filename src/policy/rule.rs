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
    /// Flags whose value is free text.
    pub values: Vec<String>,
    pub args: Args,
    /// For a program that runs another command: how many words come before that command, which must be
    /// acceptable itself.
    pub carries: Option<usize>,
    /// The programs that such a command may run; any, where none is named.
    pub runs: Vec<String>,
    /// Whether it reads from a pipe.
    pub piped: Option<bool>,
    /// Variables that are set; `X*` matches names that begin with X.
    pub assign: Vec<String>,

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
    /// The command that this one runs.
    pub carried: Option<Vec<&'w str>>,
}

impl Rule {
    pub(super) fn is_for(&self, agent: &str, tool: &str) -> bool {
        let among = |list: &[String], name: &str| list.is_empty() || list.iter().any(|n| n == name);
        among(&self.agent, agent) && among(&self.tool, tool)
    }

    pub(super) fn is_about_commands(&self) -> bool {
        !self.program.is_empty() || !self.assign.is_empty()
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
        if !self.program.iter().any(|name| name == program) {
            return None;
        }
        let mut allowed = Allowed::default();
        let rest = self.behind_sub(rest, &mut allowed)?;
        if let Some(count) = self.carries {
            allowed.carried = Some(self.carried(rest, count)?);
            return Some(allowed);
        }
        let hit = |patterns: &[Pattern], word: &str| patterns.iter().any(|p| p.is_match(word));
        let mut others = Vec::new();
        for argument in arguments(rest, &self.values) {
            match argument {
                Argument::Flag(flag) => {
                    // The value of a flag is a word like the others.
                    let value = flag.split_once('=').map(|(_, value)| value);
                    if !self.allows_flag(flag) || value.is_some_and(|v| hit(&self.no_arg, v)) {
                        return None;
                    }
                    allowed.paths.push(flag);
                }
                Argument::FreeText(_) => {}
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
        match self.args {
            Args::Paths => allowed.paths.extend(others),
            Args::Pattern => allowed.paths.extend(others.into_iter().skip(1)),
            Args::Text => {}
            Args::None if others.is_empty() => {}
            Args::None => return None,
        }
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
        ];
        for (field, patterns) in lists {
            for (at, pattern) in patterns.iter().enumerate() {
                pattern.check(&format!("{key}.{field}[{at}]"))?;
            }
        }
        for (field, patterns) in [("first_arg", &self.first_arg), ("only_arg", &self.only_arg)] {
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
mod tests {
    use super::*;

    fn rule(text: &str) -> Rule {
        toml::from_str(text).unwrap()
    }

    fn allows(rule: &Rule, command: &str) -> bool {
        let words: Vec<&str> = command.split(' ').collect();
        rule.allows(&words).is_some()
    }

    #[test]
    fn a_rule_that_accepts_is_strict() {
        let commit = rule(
            "program = ['git']\nsub = ['commit']\nlead = ['--no-pager', '-C=']\nonly_flag = ['-m', '-a']\nvalues = ['-m']",
        );
        for good in [
            "git commit -m x",
            "git commit -am x",
            "git -C d --no-pager commit -m x",
        ] {
            assert!(allows(&commit, good), "{good}");
        }
        for bad in [
            "git commit --amend",
            "git -c a=b commit",
            "/bin/git commit",
            "git",
            "git push",
            "git commit -nm x",
        ] {
            assert!(!allows(&commit, bad), "{bad}");
        }
        let timeout = rule("program = ['timeout']\ncarries = 1\nonly_arg = ['^\\d+$']");
        assert_eq!(
            timeout
                .allows(&["timeout", "5", "ls", "-l"])
                .unwrap()
                .carried
                .unwrap(),
            ["ls", "-l"]
        );
        for bad in ["timeout ls", "timeout 5", "timeout -k 5 ls"] {
            assert!(!allows(&timeout, bad), "{bad}");
        }
    }

    #[test]
    fn a_rule_that_rejects_is_generous() {
        let push = rule("program = ['git']\nsub = ['push']\nany_flag = ['-f', '--force']");
        let hits = |command: &str| {
            push.hits(&Command {
                words: command.split(' ').collect(),
                ..Command::default()
            })
        };
        for bad in [
            "git push -f",
            "/usr/bin/GIT -c x=y push -uf o m",
            "git -C d push o --forc",
        ] {
            assert!(hits(bad), "{bad}");
        }
        assert!(!hits("git push o m") && !hits("git log -f") && !hits("hg push -f"));
    }
}
