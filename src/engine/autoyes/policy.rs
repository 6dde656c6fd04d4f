//! The policy in force, and its decision about a screen, a command or a path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::config::{Owner, Unreadable, is_writable_by_others, read_in_checkout, read_own};
use crate::detect::{Dialog, Key};
use crate::engine::autoyes::disk::Disk;
use crate::engine::base::{Core, Error};
use crate::model::{InstanceRecord, SealNetwork, missing_layers};
use crate::policy::{
    Decision, ExampleFailure, Layer, PartRuling, PathContext, Policy, PolicyFileError,
    PolicySource, Request, Ruling, Seal, can_be_accepted, keys, request,
};

/// The user's rules, beside the configuration file.
const USER_FILE: &str = "policy.toml";
/// A repository's own: it may only make things stricter.
const REPOSITORY_FILE: &str = ".bivouac/policy.toml";

/// What would be done about a captured screen, in the form that scripts rely on.
#[derive(Debug, serde::Serialize)]
pub(crate) struct PolicyCheck {
    pub decision: Decision,
    pub rule: Option<String>,
    pub reason: String,
    pub keys: Vec<Key>,
    pub dialog: Option<Dialog>,
}

/// What the policy says to a command or a path, part by part.
#[derive(Debug, serde::Serialize)]
pub(crate) struct PolicyAnswer {
    pub decision: Decision,
    pub rule: Option<String>,
    pub reason: String,
    pub parts: Vec<PartRuling>,
    /// Where the rules that are named come from.
    pub origins: BTreeMap<String, String>,
}

/// The examples of all rules, tried.
#[derive(Debug, serde::Serialize)]
pub(crate) struct PolicyTest {
    pub rules: usize,
    pub examples: usize,
    /// A mistake in a file: none of the rules is in force.
    pub mistake: Option<String>,
    pub failures: Vec<ExampleFailure>,
}

/// Where the agent of a question works.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PolicySite<'a> {
    pub worktree: &'a Path,
    /// As in a seal that has all its layers.
    pub sealed: bool,
}

/// What `policy explain` is asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PolicyQuestion<'a> {
    Command(&'a str),
    Path { tool: &'a str, path: &'a str },
}

impl Core {
    /// The decision about this screen, and the reason.
    pub(crate) fn policy_check(
        &self,
        agent: &str,
        capture: &str,
        PolicySite { worktree, sealed }: PolicySite<'_>,
    ) -> Result<PolicyCheck, Error> {
        let verdict = self.detect(agent, capture, None)?;
        let Some(dialog) = verdict.dialog else {
            return Ok(PolicyCheck {
                decision: Decision::Manual,
                rule: None,
                reason: "there is no dialog at the bottom of this screen".to_owned(),
                keys: Vec::new(),
                dialog: None,
            });
        };
        let policy = match self.policy(&[worktree]) {
            Ok(policy) => policy,
            Err(mistake) => {
                return Ok(PolicyCheck {
                    decision: Decision::Manual,
                    rule: None,
                    reason: off(&mistake),
                    keys: Vec::new(),
                    dialog: Some(dialog),
                });
            }
        };
        let ruling = rule_on(
            &policy,
            agent,
            &dialog,
            DialogSite::at_top(worktree),
            assumed(sealed),
        );
        let keys = keys(&dialog, ruling.decision, policy.options.on_reject);
        let unseen = ruling.decision == Decision::Accept && keys.is_empty();
        Ok(PolicyCheck {
            decision: ruling.decision,
            rule: ruling.rule,
            reason: if unseen {
                format!(
                    "{}; which choice is marked cannot be seen here, so no key is named",
                    ruling.reason
                )
            } else {
                ruling.reason
            },
            keys,
            dialog: Some(dialog),
        })
    }

    /// The policy's decision about a command or a path, without a screen.
    pub(crate) fn policy_explain(
        &self,
        agent: &str,
        asked: PolicyQuestion<'_>,
        PolicySite { worktree, sealed }: PolicySite<'_>,
    ) -> Result<PolicyAnswer, Error> {
        self.catalog.require(agent)?;
        let asked = match asked {
            PolicyQuestion::Command(command) => Request {
                agent,
                tool: Some("shell"),
                readings: vec![command.to_owned()],
                complete: true,
                ..Request::default()
            },
            PolicyQuestion::Path { tool, path } => Request {
                agent,
                tool: Some(tool),
                paths: vec![path.to_owned()],
                complete: true,
                ..Request::default()
            },
        };
        let request = Request {
            seal: assumed(sealed),
            ..asked
        };
        let (mut ruling, policy) = match self.policy(&[worktree]) {
            Ok(policy) => (policy.decide(&request, &site(worktree)), policy),
            Err(mistake) => (Ruling::manual(off(&mistake)), Policy::default()),
        };
        // A part that nothing accepts may be the one that is rejected.
        let rejected = ruling.decision == Decision::Reject;
        for part in ruling.parts.iter_mut().filter(|_| rejected) {
            let alone = Request {
                readings: vec![part.command.clone()],
                ..request.clone()
            };
            let alone = policy.decide(&alone, &site(worktree));
            if alone.decision == Decision::Reject {
                (part.decision, part.rule) = (alone.decision, alone.rule);
                part.reason = alone.reason;
            }
        }
        let parts = ruling.parts.iter().map(|part| &part.rule);
        let named: Vec<&str> = parts
            .chain([&ruling.rule])
            .flatten()
            .flat_map(|rules| rules.split(", "))
            .collect();
        let origins = policy
            .all()
            .filter(|layered| named.contains(&layered.rule.id.as_str()))
            .map(|layered| (layered.rule.id.clone(), self.origin(layered.layer)))
            .collect();
        Ok(PolicyAnswer {
            decision: ruling.decision,
            rule: ruling.rule,
            reason: ruling.reason,
            parts: ruling.parts,
            origins,
        })
    }

    fn origin(&self, layer: Layer) -> String {
        match layer {
            Layer::BuiltIn => "built-in".to_owned(),
            Layer::User => self.home.config.join(USER_FILE).display().to_string(),
            Layer::Repository => format!("{REPOSITORY_FILE} of the repository"),
        }
    }

    /// Tries the examples of every rule in force, built-in ones too.
    pub(crate) fn policy_test(&self, worktree: &Path) -> Result<PolicyTest, Error> {
        Ok(match self.policy(&[worktree]) {
            Ok(policy) => {
                // The built-in rules alone: stricter rules of the user are no failure.
                let built_in = Policy::load(&[]).unwrap_or_default();
                let (own, mut failures) = built_in.examples(|_| true);
                let (more, others) = policy.examples(|owned| owned.layer != Layer::BuiltIn);
                let examples = own + more;
                failures.extend(others);
                PolicyTest {
                    rules: policy.all().count(),
                    examples,
                    mistake: None,
                    failures,
                }
            }
            Err(mistake) => PolicyTest {
                rules: 0,
                examples: 0,
                mistake: Some(mistake.to_string()),
                failures: Vec::new(),
            },
        })
    }

    /// All layers: built-in, the user's, and those of the checkouts. A file that is there and cannot
    /// be read is a mistake like any other.
    pub(in crate::engine) fn policy(&self, checkouts: &[&Path]) -> Result<Policy, PolicyFileError> {
        let mut sources = Vec::new();
        let user = self.home.config.join(USER_FILE);
        sources.extend(source(&user, Layer::User, read_own(&user))?);
        for checkout in checkouts {
            let file = checkout.join(REPOSITORY_FILE);
            let text = read_in_checkout(checkout, Path::new(REPOSITORY_FILE), Owner::Trusted);
            let found = source(&file, Layer::Repository, text)?;
            // The checkouts of one repository mostly hold the same rules.
            sources.extend(found.filter(|found| {
                !sources.iter().any(|known: &PolicySource| {
                    known.layer == Layer::Repository && known.text == found.text
                })
            }));
        }
        Policy::load(&sources)
    }
}

impl Core {
    /// A doubt about the user's rules, which are in force all the same.
    pub(in crate::engine) fn policy_doubt(&self) -> Option<String> {
        let user = self.home.config.join(USER_FILE);
        is_writable_by_others(&user)
            .then(|| format!("other users of this machine can change {}", user.display()))
    }
}

/// Where the agent of a dialog works.
#[derive(Debug, Clone, Copy)]
pub(super) struct DialogSite<'a> {
    pub worktree: &'a Path,
    /// Where the agent was started.
    pub start: &'a Path,
}

impl<'a> DialogSite<'a> {
    pub(super) fn at_top(worktree: &'a Path) -> Self {
        Self {
            worktree,
            start: worktree,
        }
    }

    /// The decision about a request that was read from a screen. Agents that were started in a subdirectory
    /// differ in what their relative paths begin at (measured: aider runs its commands at the top of the
    /// checkout), so such a request is accepted only if it would be from both directories.
    pub(super) fn decide(self, policy: &Policy, request: &Request<'_>) -> Ruling {
        let top = site(self.worktree);
        if self.start == self.worktree {
            return policy.decide(request, &top);
        }
        let here = PathContext {
            start: self.start.to_owned(),
            ..site(self.worktree)
        };
        let ruling = policy.decide(request, &here);
        if ruling.decision != Decision::Accept {
            return ruling;
        }
        let from_top = policy.decide(request, &top);
        match from_top.decision {
            Decision::Accept => ruling,
            Decision::Reject | Decision::Manual => Ruling::manual(format!(
                "from the top of its worktree it would not be accepted: {}",
                from_top.reason
            )),
        }
    }
}

/// The decision of a policy about a dialog at this site.
pub(super) fn rule_on(
    policy: &Policy,
    agent: &str,
    dialog: &Dialog,
    site: DialogSite<'_>,
    seal: Seal,
) -> Ruling {
    let request = Request {
        seal,
        ..request(agent, dialog)
    };
    let ruling = site.decide(policy, &request);
    if ruling.decision == Decision::Accept && !can_be_accepted(dialog) {
        return Ruling::manual("there is no choice that says yes just this once");
    }
    ruling
}

/// The seal of the running agent, as its launcher has built it. One that lacks a layer, or leaves the
/// network open, counts as none.
pub(super) fn seal_of(record: &InstanceRecord) -> Seal {
    let layers = record.place.as_ref().and_then(|place| place.seal.as_ref());
    match (&record.seal, layers) {
        (Some(seal), Some(layers))
            if seal.network != SealNetwork::All
                && missing_layers(layers, seal.network).is_empty() =>
        {
            Seal::Full
        }
        _ => Seal::None,
    }
}

fn assumed(sealed: bool) -> Seal {
    if sealed { Seal::Full } else { Seal::None }
}

pub(super) fn site(worktree: &Path) -> PathContext<'static> {
    PathContext {
        worktree: worktree.to_owned(),
        start: worktree.to_owned(),
        home: std::env::var_os("HOME").map(PathBuf::from),
        resolver: &Disk,
    }
}

pub(super) fn off(mistake: &PolicyFileError) -> String {
    format!("autoyes answers nothing: the policy has a mistake: {mistake}")
}

fn source(
    file: &Path,
    layer: Layer,
    read: Result<Option<String>, Unreadable>,
) -> Result<Option<PolicySource>, PolicyFileError> {
    match read {
        Ok(text) => Ok(text.map(|text| PolicySource {
            layer,
            name: file.display().to_string(),
            text,
        })),
        Err(error) => Err(PolicyFileError {
            file: file.display().to_string(),
            message: format!("it cannot be read: {error}"),
        }),
    }
}
