//! The decision on one request.

use std::path::{Path, PathBuf};

use super::file::{LayeredRule, NEVER, Policy};
use super::paths::{PathClass, PathContext, candidates};
use super::search::Search;
use super::shell::{self, Simple};
use super::text::unmasked;

/// How deep commands that run other commands are followed (`timeout 5 env A=b nice …`).
const DEPTH: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    Accept,
    Reject,
    Manual,
}

impl Decision {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Manual => "manual",
        }
    }
}

/// What an agent asks for, from a dialog or from a hook.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request<'r> {
    pub agent: &'r str,
    pub tool: Option<&'r str>,
    /// The command, followed by all other readings of its rows.
    pub readings: Vec<String>,
    pub paths: Vec<String>,
    /// Whether the whole request is known.
    pub complete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ruling {
    pub decision: Decision,
    /// The rules that decided.
    pub rule: Option<String>,
    pub reason: String,
    /// The decision on each command.
    pub parts: Vec<PartRuling>,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct PartRuling {
    pub command: String,
    pub decision: Decision,
    pub rule: Option<String>,
    pub reason: String,
}

impl Ruling {
    pub(crate) fn manual(reason: impl Into<String>) -> Self {
        Self {
            decision: Decision::Manual,
            rule: None,
            reason: reason.into(),
            parts: Vec::new(),
        }
    }

    fn by(decision: Decision, layered: &LayeredRule, parts: Vec<PartRuling>) -> Self {
        Self {
            decision,
            rule: Some(layered.rule.id.clone()),
            reason: layered.rule.why.clone(),
            parts,
        }
    }
}

impl Policy {
    /// Rejects if any rule rejects, accepts if every part is accepted, and otherwise asks the user.
    pub(crate) fn decide(&self, request: &Request<'_>, context: &PathContext<'_>) -> Ruling {
        let judge = Judge {
            policy: self,
            agent: request.agent,
            tool: request.tool.unwrap_or("shell"),
            context,
        };
        let spoken = if request.readings.is_empty() {
            judge.paths(&request.paths)
        } else {
            judge.commands(&request.readings)
        };
        match (spoken.decision, request.tool) {
            (Decision::Reject, _) => spoken,
            (_, Some(tool)) if NEVER.contains(&tool) => {
                Ruling::manual(format!("a {tool} is for a person to answer"))
            }
            (_, None) => Ruling::manual("it is not clear what is asked"),
            (_, Some(_)) if !request.complete => Ruling {
                parts: spoken.parts,
                ..Ruling::manual("not all that is asked about can be seen")
            },
            (Decision::Accept | Decision::Manual, Some(_)) => spoken,
        }
    }
}

struct Judge<'j> {
    policy: &'j Policy,
    agent: &'j str,
    tool: &'j str,
    context: &'j PathContext<'j>,
}

/// The rules that allow a command, or why it is not allowed.
type Permission = Result<Vec<String>, String>;

impl Judge<'_> {
    fn mine<'o>(&self, rules: &'o [LayeredRule]) -> Vec<&'o LayeredRule> {
        let mine = |layered: &&LayeredRule| layered.rule.is_for(self.agent, self.tool);
        rules.iter().filter(mine).collect()
    }

    /// The ruling on a tool that works on paths, or on nothing.
    fn paths(&self, paths: &[String]) -> Ruling {
        let lists = &self.policy.paths;
        let places: Vec<PathClass> = paths
            .iter()
            .map(|path| lists.class_of(path, &self.context.worktree, self.context))
            .collect();
        let about_paths = |layered: &&LayeredRule| {
            let rule = &layered.rule;
            !rule.is_about_commands() && !rule.tool.is_empty()
        };
        let reached = |layered: &&LayeredRule| {
            layered.rule.path.is_empty()
                || places.iter().any(|place| layered.rule.path.contains(place))
        };
        for (rules, decision) in [
            (&self.policy.reject, Decision::Reject),
            (&self.policy.manual, Decision::Manual),
        ] {
            let said = self
                .mine(rules)
                .into_iter()
                .filter(about_paths)
                .find(reached);
            if let Some(layered) = said {
                return Ruling::by(decision, layered, Vec::new());
            }
        }
        let allowed = |layered: &&LayeredRule| {
            let wanted = &layered.rule.path;
            wanted.is_empty() || (!places.is_empty() && places.iter().all(|at| wanted.contains(at)))
        };
        let mut rules = self
            .mine(&self.policy.accept)
            .into_iter()
            .filter(about_paths);
        match rules.find(allowed) {
            Some(layered) => Ruling::by(Decision::Accept, layered, Vec::new()),
            None => Ruling::manual(match places.iter().max() {
                Some(PathClass::Outside) => "it is outside of the worktree".to_owned(),
                Some(PathClass::Guarded) => {
                    "it is a file that steers more than the code".to_owned()
                }
                Some(PathClass::Odd) => "where it leads is not known".to_owned(),
                _ => "no rule speaks of it".to_owned(),
            }),
        }
    }

    /// Every reading of the rows must be allowed; the first is the most likely one.
    fn commands(&self, readings: &[String]) -> Ruling {
        let mut said: Option<Ruling> = None;
        for (at, text) in readings.iter().enumerate() {
            let ruling = self.command(text, at > 0);
            let stricter = |before: &Ruling| match (before.decision, ruling.decision) {
                (Decision::Reject, _) => false,
                (_, Decision::Reject) => true,
                (Decision::Accept, Decision::Manual) => true,
                (Decision::Accept | Decision::Manual, _) => false,
            };
            if said.as_ref().is_none_or(stricter) {
                said = Some(ruling);
            }
        }
        said.unwrap_or_else(|| Ruling::manual("there is no command"))
    }

    /// `possible`: one of several readings. In a wrong reading an argument may be in the place of the
    /// program; such a command would only fail.
    fn command(&self, text: &str, possible: bool) -> Ruling {
        let reading = shell::read(text);
        let permissions: Vec<Permission> = match &reading.plain {
            Ok(plain) => self.permissions(&plain.commands, plain.only_and, possible),
            Err(_) => Vec::new(),
        };
        let parts = self.parts(&reading.plain, &permissions);

        let rejects = self.mine(&self.policy.reject);
        let manuals = self.mine(&self.policy.manual);
        let search = Search {
            lists: &self.policy.paths,
            context: self.context,
        };
        let unclear = unclear(text, &reading.plain, &permissions);
        let reject = search
            .search_plain(&rejects, text)
            .or_else(|| search.search_deep(&rejects, &unclear));
        if let Some(layered) = reject {
            return Ruling::by(Decision::Reject, layered, parts);
        }
        let manual = search
            .search_plain(&manuals, text)
            .or_else(|| search.search_deep(&manuals, &unclear));
        if let Some(layered) = manual {
            return Ruling::by(Decision::Manual, layered, parts);
        }
        let refusal = match &reading.plain {
            Err(reason) => Some(reason.clone()),
            Ok(_) => permissions
                .iter()
                .find_map(|permission| permission.as_ref().err().cloned()),
        };
        if let Some(reason) = refusal {
            return Ruling {
                parts,
                ..Ruling::manual(reason)
            };
        }
        let mut rules: Vec<String> = Vec::new();
        for rule in permissions.into_iter().flatten().flatten() {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        Ruling {
            decision: Decision::Accept,
            reason: self.reasons(&rules),
            rule: Some(rules.join(", ")),
            parts,
        }
    }

    fn reasons(&self, rules: &[String]) -> String {
        let why = |id: &String| {
            let mut all = self.policy.accept.iter();
            all.find(|layered| layered.rule.id == *id)
                .map(|layered| layered.rule.why.as_str())
        };
        let mut reasons: Vec<&str> = rules.iter().filter_map(why).collect();
        reasons.dedup();
        reasons.join("; ")
    }

    fn parts(
        &self,
        plain: &Result<shell::Plain, String>,
        permissions: &[Permission],
    ) -> Vec<PartRuling> {
        let Ok(plain) = plain else { return Vec::new() };
        plain
            .commands
            .iter()
            .zip(permissions)
            .map(|(command, permission)| PartRuling {
                command: words_of(command).join(" "),
                decision: match permission {
                    Ok(_) => Decision::Accept,
                    Err(_) => Decision::Manual,
                },
                rule: permission.as_ref().ok().map(|rules| rules.join(", ")),
                reason: match permission {
                    Ok(rules) => self.reasons(rules),
                    Err(reason) => reason.clone(),
                },
            })
            .collect()
    }

    /// The permission of each command, in order.
    fn permissions(&self, commands: &[Simple], only_and: bool, possible: bool) -> Vec<Permission> {
        let mut bases = vec![self.context.worktree.clone()];
        let mut permissions = Vec::new();
        for command in commands {
            let words = words_of(command);
            let inert = possible && words.first().is_some_and(|word| word.starts_with('-'));
            let permission = if inert {
                Ok(Vec::new())
            } else {
                self.permission(command, &words, &bases, 0)
            };
            if permission.is_ok() && words.first() == Some(&"cd") {
                let target = Path::new(words.get(1).copied().unwrap_or("."));
                let moved: Vec<PathBuf> = bases.iter().map(|base| base.join(target)).collect();
                if only_and {
                    bases = moved;
                } else {
                    bases.extend(moved);
                }
            }
            permissions.push(permission);
        }
        permissions
    }

    fn permission(
        &self,
        command: &Simple,
        words: &[&str],
        bases: &[PathBuf],
        depth: usize,
    ) -> Permission {
        let accepts = self.mine(&self.policy.accept);
        let mut rules = Vec::new();
        for (name, value) in &command.assignments {
            let known = accepts.iter().find(|layered| layered.rule.sets(name));
            let Some(layered) = known else {
                return Err(format!("no rule allows setting {name}"));
            };
            self.leads_inside(&format!("={value}"), false, bases, &[])?;
            rules.push(layered.rule.id.clone());
        }
        let program = words.first().copied().unwrap_or_default();
        let mut reason = None;
        for layered in accepts {
            let Some(allowed) = layered.rule.allows(words) else {
                continue;
            };
            let outcome = match &allowed.carried {
                Some(_) if depth >= DEPTH => Err("too much is wrapped around it".to_owned()),
                Some(carried) => self.carried(command, carried, bases, depth),
                None => Ok(Vec::new()),
            };
            let glob = |word: &&str| command.words.iter().any(|w| w.glob && w.text == **word);
            let outcome = outcome.and_then(|inner| {
                for word in &allowed.paths {
                    self.leads_inside(word, glob(word), bases, &layered.rule.path)?;
                }
                Ok(inner)
            });
            match outcome {
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

    /// The command that another one runs, with the variables that are set between them.
    fn carried(
        &self,
        command: &Simple,
        words: &[&str],
        bases: &[PathBuf],
        depth: usize,
    ) -> Permission {
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
            words: command.words.clone(),
            piped: command.piped,
        };
        if words.is_empty() {
            return Err("it runs nothing".to_owned());
        }
        self.permission(&inner, words, bases, depth + 1)
    }

    fn leads_inside(
        &self,
        word: &str,
        glob: bool,
        bases: &[PathBuf],
        also: &[PathClass],
    ) -> Result<(), String> {
        let lists = &self.policy.paths;
        if word.contains("://") {
            return Err(format!("`{word}` is an address"));
        }
        for candidate in candidates(word) {
            for base in bases {
                let place = if glob {
                    lists.class_of_glob(candidate, base, self.context)
                } else {
                    lists.class_of(candidate, base, self.context)
                };
                let reason = match place {
                    PathClass::Nowhere | PathClass::Inside => continue,
                    place if also.contains(&place) => continue,
                    PathClass::Outside => "leads out of the worktree",
                    PathClass::Guarded => "steers more than the code",
                    PathClass::Forbidden => "would run or grant something later",
                    PathClass::Secret => "may hold secrets",
                    PathClass::Odd => "leads who knows where",
                };
                return Err(format!("`{candidate}` {reason}"));
            }
        }
        Ok(())
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn words_of(command: &Simple) -> Vec<&str> {
    command
        .words
        .iter()
        .map(|word| word.text.as_str())
        .collect()
}

/// The part of the text that no rule allows. There, harm is searched for in every disguise. Free text that
/// is allowed, such as a commit message, is not searched.
fn unclear(
    text: &str,
    plain: &Result<shell::Plain, String>,
    permissions: &[Permission],
) -> Vec<String> {
    let Ok(plain) = plain else {
        return vec![unmasked(text), text.to_owned()];
    };
    let mut unclear: Vec<String> = Vec::new();
    let mut together = String::new();
    for (command, permission) in plain.commands.iter().zip(permissions) {
        if permission.is_ok() {
            continue;
        }
        let words: Vec<String> = words_of(command).into_iter().map(quoted).collect();
        let text = words.join(" ");
        if !together.is_empty() {
            together.push_str(if command.piped { " | " } else { " && " });
        }
        together.push_str(&text);
        unclear.push(text);
    }
    if unclear.len() > 1 {
        unclear.push(together);
    }
    unclear
}

/// A word quoted for the shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./=:,@%+-^~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
