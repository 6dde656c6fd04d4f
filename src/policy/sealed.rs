//! The rules inside a full seal: everything is accepted except what would leave it.
//!
//! Outside of a seal, doubt is left to the user. Inside, the kernel keeps an agent from what is around it, so
//! a request is left to the user only where a rule says so.

use serde::Deserialize;

use super::decide::{Decision, Request, Ruling};
use super::file::{Layer, LayeredRule, Policy};
use super::paths::PathContext;
use super::rule::Rule;

/// How an agent is kept from its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Seal {
    #[default]
    None,
    /// Files, network and processes: all of them are closed.
    Full,
}

/// The table `[sealed]` of a policy file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SealedTable {
    /// Whether the rules of the seal are used at all; otherwise all is as outside.
    pub accept: Option<bool>,
    /// The rules outside that reject inside as well.
    pub reject: Vec<String>,
    pub manual: Vec<Rule>,
}

/// The tables of all layers, merged.
#[derive(Debug, Clone, Default)]
pub(crate) struct SealedRules {
    pub accept: bool,
    pub reject: Vec<String>,
    pub manual: Vec<LayeredRule>,
}

impl SealedRules {
    /// A repository can switch the rules of the seal off, not on.
    pub(super) fn lay(&mut self, table: SealedTable, layer: Layer) {
        match (table.accept, layer) {
            (Some(true), Layer::Repository) | (None, _) => {}
            (Some(accept), _) => self.accept = accept,
        }
        self.reject.extend(table.reject);
        let rules = table.manual.into_iter();
        self.manual
            .extend(rules.map(|rule| LayeredRule { rule, layer }));
    }
}

impl Policy {
    /// The decision inside a full seal, where the rules outside have not accepted the request.
    pub(super) fn decide_sealed(
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
        let known = request.complete
            && request
                .tool
                .is_some_and(|tool| !super::file::NEVER.contains(&tool));
        if ruling.decision == Decision::Manual && ruling.rule.is_none() && known {
            return Ruling {
                decision: Decision::Accept,
                rule: Some("sealed".to_owned()),
                reason: "it cannot reach anything outside of its seal".to_owned(),
                parts: ruling.parts,
            };
        }
        ruling
    }
}
