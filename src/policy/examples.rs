//! Tests the examples of a policy's rules: what each rule must match, and what it must not.

use std::path::{Path, PathBuf};

use super::decide::{Decision, Request};
use super::file::{LayeredRule, Policy};
use super::paths::{Entry, PathContext, PathResolver};
use super::search::Search;

/// A worktree without symbolic links, for the examples.
struct Imagined;

impl PathResolver for Imagined {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn entries(&self, _: &Path) -> Option<Vec<Entry>> {
        None
    }

    fn exists(&self, _: &Path) -> bool {
        true
    }
}

/// The context in which examples are tested.
pub(super) fn imagined() -> PathContext<'static> {
    PathContext {
        worktree: "/w".into(),
        start: "/w".into(),
        home: Some("/home/me".into()),
        resolver: &Imagined,
    }
}

/// An example for which the policy does not decide as its rule says.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct ExampleFailure {
    pub rule: String,
    pub example: String,
    pub expected: &'static str,
    pub found: String,
}

impl Policy {
    /// Tests the examples of the chosen rules; returns how many, and those that failed.
    pub(crate) fn examples(
        &self,
        chosen: impl Fn(&LayeredRule) -> bool,
    ) -> (usize, Vec<ExampleFailure>) {
        let mut tried = 0;
        let mut failures = Vec::new();
        for (rules, decision) in [
            (&self.reject, Decision::Reject),
            (&self.manual, Decision::Manual),
            (&self.accept, Decision::Accept),
            (&self.sealed.manual, Decision::Manual),
        ] {
            for layered in rules.iter().filter(|layered| chosen(layered)) {
                tried += layered.rule.matches.len() + layered.rule.not_match.len();
                self.try_rule(layered, decision, &mut failures);
            }
        }
        (tried, failures)
    }

    /// An error with the first of these that failed.
    pub(super) fn try_examples(&self, chosen: impl Fn(&LayeredRule) -> bool) -> Result<(), String> {
        match self.examples(chosen).1.first() {
            None => Ok(()),
            Some(failure) => Err(format!(
                "the rule `{}` says that `{}` is {}, but it is {}",
                failure.rule, failure.example, failure.expected, failure.found
            )),
        }
    }

    fn try_rule(
        &self,
        layered: &LayeredRule,
        decision: Decision,
        failures: &mut Vec<ExampleFailure>,
    ) {
        let rule = &layered.rule;
        let mut fail = |example: &str, expected: &'static str, found: String| {
            failures.push(ExampleFailure {
                rule: rule.id.clone(),
                example: example.to_owned(),
                expected,
                found,
            });
        };
        for example in &rule.matches {
            let hit = match decision {
                // Another rule may decide first, so this rule is tested alone.
                Decision::Reject | Decision::Manual => self.hits_alone(layered, example),
                Decision::Accept => self.speaks(layered, decision, example),
            };
            if !hit {
                fail(example, "matched", "not".to_owned());
            }
        }
        for example in &rule.not_match {
            let sealed = self.sealed.manual.iter();
            let speaks = if sealed.map(|other| &other.rule.id).any(|id| *id == rule.id) {
                self.hits_alone(layered, example)
            } else {
                self.speaks(layered, decision, example)
            };
            if speaks {
                fail(example, "not matched", "matched".to_owned());
            }
        }
    }

    /// Whether the whole policy comes to this decision by this rule.
    fn speaks(&self, layered: &LayeredRule, decision: Decision, example: &str) -> bool {
        let ruling = self.decide(&self.request(layered, example), &imagined());
        let by = ruling.rule.unwrap_or_default();
        ruling.decision == decision && by.split(", ").any(|id| id == layered.rule.id)
    }

    fn hits_alone(&self, layered: &LayeredRule, example: &str) -> bool {
        let context = imagined();
        if is_about_paths(layered) {
            let alone = Self {
                reject: vec![layered.clone()],
                paths: self.paths.clone(),
                ..Self::default()
            };
            return alone
                .decide(&self.request(layered, example), &context)
                .decision
                == Decision::Reject;
        }
        let search = Search {
            lists: &self.paths,
            context: &context,
        };
        let rules = [layered];
        search.search_plain(&rules, example).is_some()
            || search.search_deep(&rules, &[example.to_owned()]).is_some()
    }

    pub(super) fn request<'o>(&self, layered: &'o LayeredRule, example: &str) -> Request<'o> {
        let rule = &layered.rule;
        let (readings, paths) = if is_about_paths(layered) {
            (Vec::new(), vec![example.to_owned()])
        } else {
            (vec![example.to_owned()], Vec::new())
        };
        let tool = if is_about_paths(layered) {
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
            seal: super::decide::Seal::None,
        }
    }
}

fn is_about_paths(layered: &LayeredRule) -> bool {
    let rule = &layered.rule;
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
        for layered in policy.all() {
            assert_eq!(layered.rule.check(""), Ok(()), "{}", layered.rule.id);
        }
        let lines: Vec<String> = failures
            .iter()
            .map(|f| format!("{}: {:?} should be {}", f.rule, f.example, f.expected))
            .collect();
        assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
    }

    /// A rule that can be deleted without any change in decisions has no use.
    #[test]
    fn every_built_in_rule_is_needed() {
        let policy = Policy::built_in().unwrap();
        let context = imagined();
        let mut idle = Vec::new();
        for (reject, layered) in (policy.reject.iter().map(|layered| (true, layered)))
            .chain(policy.accept.iter().map(|layered| (false, layered)))
        {
            let mut without = policy.clone();
            without
                .reject
                .retain(|other| other.rule.id != layered.rule.id);
            without
                .accept
                .retain(|other| other.rule.id != layered.rule.id);
            let changes = layered.rule.matches.iter().any(|example| {
                let request = policy.request(layered, example);
                let wanted = if reject {
                    Decision::Reject
                } else {
                    Decision::Accept
                };
                policy.decide(&request, &context).decision == wanted
                    && without.decide(&request, &context).decision != wanted
            });
            if !changes {
                let by = layered.rule.matches.iter().map(|example| {
                    without
                        .decide(&policy.request(layered, example), &context)
                        .rule
                });
                idle.push((layered.rule.id.clone(), by.collect::<Vec<_>>()));
            }
        }
        assert!(idle.is_empty(), "{idle:?}");
    }
}
