//! The decision on one request.

use super::file::{Layer, LayeredRule, NEVER, Policy};
use super::paths::{PathClass, PathContext};
use super::permit::{Judge, Permission};
use super::search::Search;
use super::shell::{self, Simple};
use super::text::unmasked;

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

/// How an agent is kept from its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Seal {
    #[default]
    None,
    /// Files, network and processes: all of them are closed.
    Full,
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
    /// How the agent that asks is kept from its surroundings.
    pub seal: Seal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ruling {
    pub decision: Decision,
    /// The rules that decided.
    pub rule: Option<String>,
    pub reason: String,
    /// The decision on each command.
    pub parts: Vec<PartRuling>,
    /// Accepted because of the seal: outside of one it would not be.
    pub by_seal: bool,
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
            by_seal: false,
        }
    }

    fn by(decision: Decision, layered: &LayeredRule, parts: Vec<PartRuling>) -> Self {
        Self {
            decision,
            rule: Some(layered.rule.id.clone()),
            reason: layered.rule.why.clone(),
            parts,
            by_seal: false,
        }
    }
}

impl Policy {
    /// Rejects if any rule rejects, accepts if every part is accepted, and otherwise asks the user.
    pub(crate) fn decide(&self, request: &Request<'_>, context: &PathContext<'_>) -> Ruling {
        let outside = self.decide_outside(request, context);
        match (request.seal, outside.decision) {
            (Seal::None, _) | (Seal::Full, Decision::Accept) => outside,
            (Seal::Full, Decision::Reject | Decision::Manual) => Ruling {
                by_seal: true,
                ..self.decide_sealed(request, context, outside)
            },
        }
    }

    /// The decision inside a full seal, where the rules outside have not accepted the request.
    fn decide_sealed(
        &self,
        request: &Request<'_>,
        context: &PathContext<'_>,
        outside: Ruling,
    ) -> Ruling {
        if !self.sealed.accept {
            return outside;
        }
        let stays = |layered: &&LayeredRule| {
            layered.layer != Layer::BuiltIn || self.sealed.reject.contains(&layered.rule.id)
        };
        let inside = Self {
            reject: self.reject.iter().filter(stays).cloned().collect(),
            manual: [&self.manual[..], &self.sealed.manual[..]].concat(),
            accept: self.accept.clone(),
            paths: self.paths.clone(),
            outward: self.outward.clone(),
            ..Self::default()
        };
        let ruling = inside.decide(
            &Request {
                seal: Seal::None,
                ..request.clone()
            },
            context,
        );
        // A ruling without a rule is a doubt; what cannot be seen, or is for a person, stays one.
        let known = request.complete && request.tool.is_some_and(|tool| !NEVER.contains(&tool));
        if ruling.decision == Decision::Manual && ruling.rule.is_none() && known {
            return Ruling {
                decision: Decision::Accept,
                rule: Some("sealed".to_owned()),
                reason: "it cannot reach anything outside of its seal".to_owned(),
                ..ruling
            };
        }
        ruling
    }

    /// The decision by the rules that hold outside of a seal.
    fn decide_outside(&self, request: &Request<'_>, context: &PathContext<'_>) -> Ruling {
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

impl Judge<'_> {
    /// The ruling on a tool that works on paths, or on nothing.
    fn paths(&self, paths: &[String]) -> Ruling {
        let lists = &self.policy.paths;
        let places: Vec<PathClass> = paths
            .iter()
            .map(|path| {
                if is_shortened(path) {
                    PathClass::Odd
                } else {
                    lists.class_of(path, &self.context.start, self.context)
                }
            })
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
                    "it is a file that controls more than the code (`guarded` of the `[paths]`)"
                        .to_owned()
                }
                Some(PathClass::Odd) => "where it leads is not known".to_owned(),
                _ => format!("no rule is about this path and the tool `{}`", self.tool),
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
            Ok(plain) => self.permissions(&plain.commands, possible),
            Err(_) => Vec::new(),
        };
        let parts = self.parts(&reading.plain, &permissions);

        let rejects = self.mine(&self.policy.reject);
        let manuals = self.mine(&self.policy.manual);
        let search = Search {
            lists: &self.policy.paths,
            context: self.context,
        };
        let is_spared = |command: &Simple| {
            let words = command.texts();
            command.redirects.iter().all(|redirect| !redirect.writes)
                && rejects.iter().any(|layered| layered.rule.spares(&words))
        };
        let spared: Vec<bool> = match &reading.plain {
            Ok(plain) => plain.commands.iter().map(is_spared).collect(),
            Err(_) => Vec::new(),
        };
        let scripts: Vec<bool> = permissions
            .iter()
            .map(|said| self.runs_script(said))
            .collect();
        let known = Known {
            permissions: &permissions,
            spared: &spared,
            scripts: &scripts,
        };
        let unclear = unclear(text, &reading.plain, &known);
        let searched = match &reading.plain {
            Ok(plain) if spared.contains(&true) => remaining(plain, &spared),
            _ => text.to_owned(),
        };
        let reject = search
            .search_plain(&rejects, &searched)
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
            by_seal: false,
        }
    }

    fn runs_script(&self, permission: &Permission) -> bool {
        let rules = permission.as_deref().unwrap_or_default();
        let mut accepts = self.policy.accept.iter();
        accepts.any(|layered| layered.rule.script.is_some() && rules.contains(&layered.rule.id))
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
                command: command.texts().join(" "),
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
}

/// Whether a path on a screen may have been shortened: `src/.../a.rs`. `[...slug].ts` is a name.
fn is_shortened(path: &str) -> bool {
    path.match_indices("...")
        .any(|(at, _)| !path[..at].ends_with('['))
}

/// What is known of each command of a text.
struct Known<'k> {
    permissions: &'k [Permission],
    spared: &'k [bool],
    scripts: &'k [bool],
}

/// The part of the text that no rule allows. There, harm is searched for in every disguise. Free text that
/// is allowed, such as a commit message, is not searched.
fn unclear(text: &str, plain: &Result<shell::Plain, String>, known: &Known<'_>) -> Vec<String> {
    let Ok(plain) = plain else {
        return vec![unmasked(text), text.to_owned()];
    };
    let mut unclear: Vec<String> = Vec::new();
    let mut together = String::new();
    for (at, command) in plain.commands.iter().enumerate() {
        let at_command = |flags: &[bool]| flags.get(at).copied().unwrap_or_default();
        let allowed = known.permissions.get(at).is_some_and(Result::is_ok);
        if (allowed && !at_command(known.scripts)) || at_command(known.spared) {
            continue;
        }
        let text = spelt(command);
        if !together.is_empty() {
            together.push_str(if command.piped { " | " } else { " && " });
        }
        together.push_str(&text);
        if !allowed {
            unclear.push(text);
        }
    }
    // A script that is allowed by itself may be what the command before it has just fetched.
    if !unclear.is_empty() && unclear.first() != Some(&together) {
        unclear.push(together);
    }
    unclear
}

/// The commands that are not spared, as text.
fn remaining(plain: &shell::Plain, spared: &[bool]) -> String {
    let commands = plain.commands.iter().zip(spared);
    let texts = commands
        .filter(|(_, spared)| !**spared)
        .map(|(command, _)| spelt(command));
    texts.collect::<Vec<_>>().join("\n")
}

/// A command as text, with the files that it writes.
fn spelt(command: &Simple) -> String {
    let mut words: Vec<String> = command.texts().into_iter().map(quoted).collect();
    for redirect in command
        .redirects
        .iter()
        .filter(|r| r.target != "1" && r.target != "2")
    {
        let operator = if redirect.writes { ">" } else { "<" };
        words.push(format!("{operator} {}", quoted(&redirect.target)));
    }
    words.join(" ")
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
