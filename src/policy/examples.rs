//! The examples of a policy's rules, tried: what a rule is meant for, and what it is not meant for.

use std::path::{Path, PathBuf};

use super::decide::{Decision, Request};
use super::file::{Owned, Policy};
use super::paths::{Ground, Site};
use super::search::Search;

/// A worktree in which nothing is a link: what examples are tried in.
struct Imagined;

impl Ground for Imagined {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn links(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Where examples are tried.
pub(super) fn imagined() -> Site<'static> {
    Site {
        worktree: "/w".into(),
        home: Some("/home/me".into()),
        ground: &Imagined,
    }
}

/// An example that is not as its rule says.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Failure {
    pub rule: String,
    pub example: String,
    pub expected: &'static str,
    pub found: String,
}

impl Policy {
    /// Tries the examples of every rule; how many, and those that failed.
    pub(crate) fn examples(&self, chosen: impl Fn(&Owned) -> bool) -> (usize, Vec<Failure>) {
        let mut tried = 0;
        let mut failures = Vec::new();
        for (rules, decision) in [
            (&self.reject, Decision::Reject),
            (&self.manual, Decision::Manual),
            (&self.accept, Decision::Accept),
        ] {
            for owned in rules.iter().filter(|owned| chosen(owned)) {
                tried += owned.rule.matches.len() + owned.rule.not_match.len();
                self.try_rule(owned, decision, &mut failures);
            }
        }
        (tried, failures)
    }

    /// The first of these that failed, in words.
    pub(super) fn try_examples(&self, chosen: impl Fn(&Owned) -> bool) -> Result<(), String> {
        match self.examples(chosen).1.first() {
            None => Ok(()),
            Some(failure) => Err(format!(
                "the rule `{}` says that `{}` is {}, but it is {}",
                failure.rule, failure.example, failure.expected, failure.found
            )),
        }
    }

    fn try_rule(&self, owned: &Owned, decision: Decision, failures: &mut Vec<Failure>) {
        let rule = &owned.rule;
        let mut fail = |example: &str, expected: &'static str, found: String| {
            failures.push(Failure {
                rule: rule.id.clone(),
                example: example.to_owned(),
                expected,
                found,
            });
        };
        for example in &rule.matches {
            let hit = match decision {
                // Another rule may speak first: this one alone must know it.
                Decision::Reject | Decision::Manual => self.hits_alone(owned, example),
                Decision::Accept => self.speaks(owned, decision, example),
            };
            if !hit {
                fail(example, "matched", "not".to_owned());
            }
        }
        for example in &rule.not_match {
            if self.speaks(owned, decision, example) {
                fail(example, "not matched", "matched".to_owned());
            }
        }
    }

    /// Whether the whole policy comes to this decision by this rule.
    fn speaks(&self, owned: &Owned, decision: Decision, example: &str) -> bool {
        let ruling = self.decide(&self.request(owned, example), &imagined());
        let by = ruling.rule.unwrap_or_default();
        ruling.decision == decision && by.split(", ").any(|id| id == owned.rule.id)
    }

    fn hits_alone(&self, owned: &Owned, example: &str) -> bool {
        let site = imagined();
        if is_about_paths(owned) {
            let alone = Self {
                reject: vec![owned.clone()],
                paths: self.paths.clone(),
                ..Self::default()
            };
            return alone.decide(&self.request(owned, example), &site).decision == Decision::Reject;
        }
        let search = Search {
            lists: &self.paths,
            site: &site,
        };
        let rules = [owned];
        search.plainly(&rules, example).is_some()
            || search.deeply(&rules, &[example.to_owned()]).is_some()
    }

    pub(super) fn request<'o>(&self, owned: &'o Owned, example: &str) -> Request<'o> {
        let rule = &owned.rule;
        let (readings, paths) = if is_about_paths(owned) {
            (Vec::new(), vec![example.to_owned()])
        } else {
            (vec![example.to_owned()], Vec::new())
        };
        let tool = if is_about_paths(owned) {
            rule.tool.iter().find(|tool| *tool != "shell")
        } else {
            None
        };
        Request {
            agent: rule.agent.first().map_or("claude", String::as_str),
            tool: Some(tool.map_or("shell", String::as_str)),
            readings,
            paths,
            complete: true,
        }
    }
}

fn is_about_paths(owned: &Owned) -> bool {
    let rule = &owned.rule;
    !rule.is_about_commands()
        && rule.code.is_empty()
        && rule.text.is_empty()
        && rule.redirect.is_empty()
        && rule.tool.iter().any(|tool| tool != "shell")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_of_the_built_in_rules_holds() {
        let policy = Policy::built_in().unwrap();
        let (tried, failures) = policy.examples(|_| true);
        assert!(tried > 500, "{tried}");
        for owned in policy.all() {
            assert_eq!(owned.rule.check(""), Ok(()), "{}", owned.rule.id);
        }
        let lines: Vec<String> = failures
            .iter()
            .map(|f| format!("{}: {:?} should be {}", f.rule, f.example, f.expected))
            .collect();
        assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
    }

    /// A rule that could be deleted without anything changing would be a rule that does nothing.
    #[test]
    fn every_built_in_rule_is_needed() {
        let policy = Policy::built_in().unwrap();
        let site = imagined();
        let mut idle = Vec::new();
        for (reject, owned) in (policy.reject.iter().map(|owned| (true, owned)))
            .chain(policy.accept.iter().map(|owned| (false, owned)))
        {
            let mut without = policy.clone();
            without
                .reject
                .retain(|other| other.rule.id != owned.rule.id);
            without
                .accept
                .retain(|other| other.rule.id != owned.rule.id);
            let changes = owned.rule.matches.iter().any(|example| {
                let request = policy.request(owned, example);
                let wanted = if reject {
                    Decision::Reject
                } else {
                    Decision::Accept
                };
                policy.decide(&request, &site).decision == wanted
                    && without.decide(&request, &site).decision != wanted
            });
            if !changes {
                let by = owned
                    .rule
                    .matches
                    .iter()
                    .map(|example| without.decide(&policy.request(owned, example), &site).rule);
                idle.push((owned.rule.id.clone(), by.collect::<Vec<_>>()));
            }
        }
        assert!(idle.is_empty(), "{idle:?}");
    }
}
