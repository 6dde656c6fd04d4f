//! The permission of each command of a line: which rules accept it, with all that it names.

use std::path::PathBuf;

use super::arguments::is_flag;
use super::file::{LayeredRule, Policy};

use super::paths::{PathClass, PathContext, physical};
use super::rule::{Allowed, Args, Rule, Script, Writes};
use super::shell::Simple;
use super::tree::{Through, is_in_nested_repository};
use super::walk::Walk;

/// How deep commands that run other commands are followed (`timeout 5 env A=b nice …`).
const DEPTH: usize = 4;

/// Where the tools of a project are installed: a program there is the tool of that name.
const TOOL_DIRECTORIES: [&str; 6] = [
    ".venv/bin/",
    "venv/bin/",
    "./.venv/bin/",
    "./venv/bin/",
    "node_modules/.bin/",
    "./node_modules/.bin/",
];

pub(super) struct Judge<'j> {
    pub policy: &'j Policy,
    pub agent: &'j str,
    pub tool: &'j str,
    pub context: &'j PathContext<'j>,
}

/// The rules that allow a command, or why it is not allowed.
pub(super) type Permission = Result<Vec<String>, String>;

/// What is known of the commands before one.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// One of them writes files, in a way that can be told beforehand.
    pub wrote: bool,
    /// One of them can change what any path leads to.
    pub reshaped: bool,
}

/// A command, and where it may run.
pub(super) struct Asked<'a> {
    command: &'a Simple,
    pub bases: &'a [PathBuf],
    pub before: &'a Before,
    /// The command whose output it reads.
    source: Option<&'a Simple>,
}

impl Judge<'_> {
    pub(super) fn mine<'o>(&self, rules: &'o [LayeredRule]) -> Vec<&'o LayeredRule> {
        let mine = |layered: &&LayeredRule| layered.rule.is_for(self.agent, self.tool);
        rules.iter().filter(mine).collect()
    }

    /// The permission of each command, in order. `possible`: in one of several readings, an argument may
    /// be in the place of the program; such a command would only fail.
    pub(super) fn permissions(&self, commands: &[Simple], possible: bool) -> Vec<Permission> {
        let mut walk = Walk::new(&self.context.start);
        let mut before = Before::default();
        let mut permissions = Vec::new();
        for (at, command) in commands.iter().enumerate() {
            let words = command.texts();
            let bases = walk.enter(command);
            let inert = possible && words.first().is_some_and(|word| word.starts_with('-'));
            let permission = if inert {
                Ok(Vec::new())
            } else {
                let source = at.checked_sub(1).and_then(|before| commands.get(before));
                let asked = Asked {
                    command,
                    bases: &bases,
                    before: &before,
                    source: source.filter(|_| command.piped),
                };
                self.redirections(&asked)
                    .and_then(|()| self.permission(&asked, &words, 0))
            };
            if let Ok(rules) = &permission {
                self.note_effects(command, rules, &mut before);
            }
            walk.leave(command, bases, self.context);
            permissions.push(permission);
        }
        permissions
    }

    fn note_effects(&self, command: &Simple, rules: &[String], before: &mut Before) {
        let writes = |redirect: &super::shell::PlainRedirect| redirect.writes;
        before.wrote |= command.redirects.iter().any(writes);
        let accepts = self.policy.accept.iter();
        for layered in accepts.filter(|layered| rules.contains(&layered.rule.id)) {
            match layered.rule.writes {
                Writes::Nothing => {}
                Writes::Files => before.wrote = true,
                Writes::Into | Writes::Anything => {
                    before.wrote = true;
                    before.reshaped = true;
                }
            }
        }
    }

    fn redirections(&self, asked: &Asked<'_>) -> Result<(), String> {
        for redirect in &asked.command.redirects {
            let also: &[PathClass] = if redirect.writes {
                &[]
            } else {
                &[PathClass::Guarded]
            };
            if !["1", "2"].contains(&redirect.target.as_str()) {
                self.leads_inside(&redirect.target, false, asked, also)?;
            }
        }
        Ok(())
    }

    fn permission(&self, asked: &Asked<'_>, words: &[&str], depth: usize) -> Permission {
        let accepts = self.mine(&self.policy.accept);
        let mut rules = Vec::new();
        for (name, value) in &asked.command.assignments {
            let known = accepts.iter().find(|layered| layered.rule.sets(name));
            let Some(layered) = known else {
                return Err(format!("no rule allows setting {name}"));
            };
            self.leads_inside(&format!("={value}"), false, asked, &[])?;
            rules.push(layered.rule.id.clone());
        }
        let program = words.first().copied().unwrap_or_default();
        let installed = TOOL_DIRECTORIES
            .iter()
            .find_map(|directory| program.strip_prefix(directory));
        if installed.is_some() {
            self.leads_inside(program, false, asked, &[PathClass::Guarded])?;
        }
        let mut words = words.to_vec();
        if let (Some(name), Some(first)) = (installed, words.first_mut()) {
            *first = name;
        }
        let mut reason = None;
        for layered in accepts {
            let Some(allowed) = layered.rule.allows(&words) else {
                continue;
            };
            match self.all_in_place(&layered.rule, &allowed, asked, &words, depth) {
                Ok(inner) => {
                    rules.push(layered.rule.id.clone());
                    rules.extend(inner);
                    return Ok(rules);
                }
                Err(why) => reason = Some(why),
            }
        }
        Err(reason.unwrap_or_else(|| format!("no rule accepts this use of `{program}`")))
    }

    /// Checks what a rule leaves to check; returns the rules of the command that is run by this one.
    fn all_in_place(
        &self,
        rule: &Rule,
        allowed: &Allowed<'_>,
        asked: &Asked<'_>,
        words: &[&str],
        depth: usize,
    ) -> Permission {
        let program = words.first().copied().unwrap_or_default();
        if program == "cd" && (depth > 0 || asked.command.piped || asked.command.feeds) {
            return Err("where the next command runs is not certain".to_owned());
        }
        match rule.script {
            Some(Script::Program) => self.is_script(program, asked)?,
            Some(Script::First) => {
                let first = allowed.others.first().copied().unwrap_or_default();
                self.is_there(first, asked)?;
            }
            None => {}
        }
        if rule.targets || rule.script.is_some() {
            let outward = allowed
                .targets
                .iter()
                .find(|word| self.policy.leads_outward(word));
            if let Some(word) = outward {
                return Err(format!("`{word}` may send something away"));
            }
        }
        if rule.script.is_some() {
            self.hands_on_no_command(words)?;
        }
        if rule.listed && !self.reads_a_list(asked) {
            return Err("which files it works on is not known".to_owned());
        }
        let inner = match &allowed.carried {
            Some(_) if depth >= DEPTH => return Err("too much is wrapped around it".to_owned()),
            Some(carried) => self.carried(asked, carried, depth)?,
            None => Vec::new(),
        };
        let glob = |word: &str| asked.command.words.iter().any(|w| w.glob && w.text == word);
        for word in &allowed.paths {
            self.leads_inside(word, glob(word), asked, &rule.path)?;
        }
        let handed_on = allowed.carried.as_ref().map_or(0, Vec::len);
        let own = &words[..words.len().saturating_sub(handed_on)];
        // The shell puts names of files in its place, and the first of them is the pattern or the program text.
        let unseen = |word: &&&str| glob(word) && !allowed.paths.contains(word);
        if rule.args != Args::Text
            && let Some(word) = own.iter().skip(1).find(unseen)
        {
            return Err(format!(
                "what the shell puts in the place of `{word}` is not known"
            ));
        }
        if allowed.recursive {
            let through = Through {
                skips: rule.skips,
                links: !rule.skips,
                ..Through::default()
            };
            let places = match rule.writes {
                Writes::Nothing => self.looked_through(&allowed.others, asked),
                Writes::Files | Writes::Into | Writes::Anything => allowed.others.clone(),
            };
            self.goes_through(&places, through, asked, &rule.path)?;
        }
        if rule.writes == Writes::Into {
            self.puts_inside(&allowed.others, allowed.recursive, asked)?;
        }
        for word in &allowed.absent {
            self.names_no_file(word, asked)?;
        }
        if rule.repository {
            self.in_own_repository(words, asked)?;
        }
        Ok(inner)
    }

    /// The command that another one runs, with the variables that are set between them.
    fn carried(&self, asked: &Asked<'_>, words: &[&str], depth: usize) -> Permission {
        let set = words
            .iter()
            .take_while(|word| word.split_once('=').is_some_and(|(name, _)| is_name(name)))
            .count();
        let (assigned, words) = words.split_at(set);
        let inner = Simple {
            assignments: assigned
                .iter()
                .filter_map(|word| word.split_once('='))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            ..asked.command.clone()
        };
        if words.is_empty() {
            return Err("it runs nothing".to_owned());
        }
        let asked = Asked {
            command: &inner,
            ..*asked
        };
        self.permission(&asked, words, depth + 1)
    }

    /// A file of the worktree, and not one that has the name of a program which the rules know.
    fn is_script(&self, program: &str, asked: &Asked<'_>) -> Result<(), String> {
        let name = program.rsplit('/').next().unwrap_or(program);
        let known = |layered: &LayeredRule| {
            let rule = &layered.rule;
            let mut programs = rule.program.iter();
            programs.any(|known| known == program || known.rsplit('/').next() == Some(name))
        };
        if !program.contains('/') || self.policy.all().any(known) {
            return Err(format!("no rule accepts this use of `{program}`"));
        }
        self.leads_inside(program, false, asked, &[])?;
        self.is_there(program, asked)
    }

    /// A script may run what it is given, so the first of its words may not be a program.
    fn hands_on_no_command(&self, words: &[&str]) -> Result<(), String> {
        let named = |word: &str| {
            let known =
                |layered: &LayeredRule| layered.rule.program.iter().any(|name| name == word);
            !["test", "."].contains(&word) && self.policy.all().any(known)
        };
        let mut given = words.iter().skip(1).filter(|word| !word.starts_with('-'));
        match given.find(|word| named(word) || word.contains([' ', ';', '|', '&'])) {
            Some(word) => Err(format!("it may run `{word}`")),
            None => Ok(()),
        }
    }

    /// A script that is there now, and is still the same when it runs.
    fn is_there(&self, script: &str, asked: &Asked<'_>) -> Result<(), String> {
        let exists = |base: &PathBuf| {
            physical(script, base, self.context)
                .is_some_and(|path| self.context.resolver.exists(&path))
        };
        if asked.before.wrote || !asked.bases.iter().all(exists) {
            return Err(format!("what is in `{script}` by then is not known"));
        }
        Ok(())
    }

    /// Whether the command before it in a pipe lists files, none of which is more than a file.
    fn reads_a_list(&self, asked: &Asked<'_>) -> bool {
        let Some(source) = asked.source else {
            return false;
        };
        let words = source.texts();
        self.mine(&self.policy.accept).iter().any(|layered| {
            let rule = &layered.rule;
            let Some(allowed) = rule.allows(&words).filter(|_| rule.lists) else {
                return false;
            };
            // Such a format prints anything: the name of a secret, or a path that leads out.
            if words.iter().any(|word| PRINTS_ANYTHING.contains(word)) {
                return false;
            }
            let separated =
                |words: &[&str], flags: &[&str]| words.iter().any(|word| flags.contains(word));
            let by_nul = separated(&words, &["-z", "-0", "-print0"]);
            let reader = asked.command.texts();
            if by_nul != separated(&reader, &["-0", "--null"]) {
                return false;
            }
            let named = if rule.places_first {
                let first = words.iter().skip(1);
                first.take_while(|word| !is_flag(word)).copied().collect()
            } else {
                allowed.others
            };
            let places: Vec<&str> = named
                .into_iter()
                .filter(|word| !word.contains('*'))
                .collect();
            let places = self.looked_through(&places, asked);
            let names = listed_names(&words);
            let through = Through {
                links: true,
                names: &names,
                splits: !by_nul,
                ..Through::default()
            };
            self.goes_through(&places, through, asked, &[PathClass::Guarded])
                .is_ok()
        })
    }

    fn names_no_file(&self, word: &str, asked: &Asked<'_>) -> Result<(), String> {
        let first = word.split('/').next().unwrap_or(word);
        for base in asked.bases {
            let entries = self.context.resolver.entries(base).unwrap_or_default();
            if entries
                .iter()
                .any(|entry| entry.name.eq_ignore_ascii_case(first))
            {
                return Err(format!("`{word}` may be a file"));
            }
        }
        Ok(())
    }

    fn in_own_repository(&self, words: &[&str], asked: &Asked<'_>) -> Result<(), String> {
        let mut places: Vec<PathBuf> = asked.bases.to_vec();
        let moves = words.windows(2).filter(|pair| pair[0] == "-C");
        for pair in moves {
            places = places.iter().map(|place| place.join(pair[1])).collect();
        }
        for place in &places {
            let elsewhere = *place != self.context.worktree;
            if elsewhere && (asked.before.wrote || asked.before.reshaped) {
                return Err("which repository it works on is not certain".to_owned());
            }
            if is_in_nested_repository(place, self.context) {
                return Err("it works on another repository inside the worktree".to_owned());
            }
        }
        Ok(())
    }
}

/// Actions of `find` that print more than names.
const PRINTS_ANYTHING: [&str; 3] = ["-printf", "-ls", "-print-xml"];

/// The one pattern that all names of a list fit: `*.rs`. None where the list may have other names: behind
/// `-o` and `-not`, for example, or where a pattern leaves names out.
fn listed_names<'w>(words: &[&'w str]) -> Vec<&'w str> {
    const PLAIN: [&str; 8] = [
        "-name",
        "-type",
        "-maxdepth",
        "-print0",
        "-print",
        "-z",
        "-g",
        "--files",
    ];
    let flags = words.iter().filter(|word| word.starts_with('-'));
    let patterns: Vec<&str> = words.iter().filter(|w| w.contains('*')).copied().collect();
    let ending = |pattern: &str| {
        let ending = pattern.strip_prefix("*.");
        ending.is_some_and(|ending| ending.chars().all(char::is_alphanumeric))
    };
    match patterns[..] {
        [pattern] if ending(pattern) && flags.into_iter().all(|flag| PLAIN.contains(flag)) => {
            patterns
        }
        _ => Vec::new(),
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
