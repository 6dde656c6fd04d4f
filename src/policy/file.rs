//! Policy files and their layers: built-in, the user's, the repository's.
//!
//! All rules of all layers apply, and the strictest decision wins, independent of order. A repository can
//! only make the policy stricter. A mistake in any file makes the whole policy unusable, because half a
//! policy is not what its author meant.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

use super::paths::PathLists;
use super::rule::Rule;

/// The built-in rules.
pub(crate) const BUILT_IN: [(&str, &str); 4] = [
    ("reject.toml", include_str!("rules/reject.toml")),
    ("accept.toml", include_str!("rules/accept.toml")),
    ("paths.toml", include_str!("rules/paths.toml")),
    ("sealed.toml", include_str!("rules/sealed.toml")),
];

/// The tools that no rule may accept: each use is for the user to decide.
pub(crate) const NEVER: [&str; 8] = [
    "question", "plan", "trust", "login", "billing", "update", "grant", "mode",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    BuiltIn,
    User,
    Repository,
}

/// One file of a policy, as it was read.
#[derive(Debug, Clone)]
pub(crate) struct PolicySource {
    pub layer: Layer,
    /// The name for messages.
    pub name: String,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnReject {
    /// Answers no in the agent's dialog.
    Deny,
    /// No key is pressed; the user is notified.
    Hold,
}

/// Settings of autoyes that apply to all decisions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Options {
    pub on_reject: OnReject,
    /// How long it stays on when it is switched on.
    #[serde(rename = "for", deserialize_with = "duration")]
    pub lasts: Duration,
    pub per_minute: usize,
    pub per_hour: usize,
    /// The same dialog this often within a minute is a loop.
    pub same_per_minute: usize,
    /// After this many rejections within ten minutes, autoyes turns off.
    pub rejections: usize,
    /// No dialog is answered for this long after the user has pressed a key.
    #[serde(deserialize_with = "duration")]
    pub person_idle: Duration,
    /// Built-in rules that are turned off.
    pub without: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            on_reject: OnReject::Deny,
            lasts: Duration::from_secs(8 * 3600),
            per_minute: 20,
            per_hour: 300,
            same_per_minute: 5,
            rejections: 5,
            person_idle: Duration::from_secs(60),
            without: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    #[serde(default)]
    autoyes: Option<Options>,
    #[serde(default)]
    paths: PathLists,
    #[serde(default)]
    targets: Targets,
    #[serde(default)]
    sealed: SealedTable,
    #[serde(default)]
    reject: Vec<Rule>,
    #[serde(default)]
    manual: Vec<Rule>,
    #[serde(default)]
    accept: Vec<Rule>,
}

/// Names of targets of build tools and scripts.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Targets {
    /// Those by which something leaves the machine.
    outward: Vec<String>,
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
    fn lay(&mut self, table: SealedTable, layer: Layer) {
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

/// A mistake in a policy file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {message}")]
pub(crate) struct PolicyFileError {
    pub file: String,
    pub message: String,
}

/// All layers, merged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Policy {
    pub reject: Vec<LayeredRule>,
    pub manual: Vec<LayeredRule>,
    pub accept: Vec<LayeredRule>,
    pub paths: PathLists,
    /// Names of targets by which something leaves the machine.
    pub outward: Vec<String>,
    pub sealed: SealedRules,
    pub options: Options,
    /// Identifies this policy in the audit.
    pub digest: String,
}

/// A rule and the layer that it comes from.
#[derive(Debug, Clone)]
pub(crate) struct LayeredRule {
    pub rule: Rule,
    pub layer: Layer,
}

impl Policy {
    /// The built-in rules alone.
    #[cfg(test)]
    pub(crate) fn built_in() -> Result<Self, PolicyFileError> {
        Self::load(&[])
    }

    /// The built-in rules with these files added. The examples of the files are tested.
    pub(crate) fn load(sources: &[PolicySource]) -> Result<Self, PolicyFileError> {
        let mut policy = Self::default();
        let mut everything = String::new();
        for (name, text) in BUILT_IN {
            everything.push_str(text);
            let source = PolicySource {
                layer: Layer::BuiltIn,
                name: name.to_owned(),
                text: text.to_owned(),
            };
            policy.lay(&source)?;
        }
        for source in sources {
            everything.push_str(&source.text);
            policy.lay(source)?;
        }
        let without = policy.options.without.clone();
        for id in &without {
            let known = policy.all().any(|layered| layered.rule.id == *id);
            if !known {
                return Err(PolicyFileError {
                    file: "policy.toml".to_owned(),
                    message: format!("autoyes.without: there is no rule `{id}`"),
                });
            }
        }
        let kept = |layered: &LayeredRule| {
            layered.layer != Layer::BuiltIn || !without.contains(&layered.rule.id)
        };
        policy.reject.retain(kept);
        policy.accept.retain(kept);
        policy.digest = super::digest(&everything);
        for source in sources {
            policy
                .try_examples(|layered| layered.layer == source.layer)
                .map_err(|message| PolicyFileError {
                    file: source.name.clone(),
                    message,
                })?;
        }
        Ok(policy)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &LayeredRule> {
        let outside = self.reject.iter().chain(&self.manual).chain(&self.accept);
        outside.chain(&self.sealed.manual)
    }

    fn lay(&mut self, source: &PolicySource) -> Result<(), PolicyFileError> {
        let mistake = |message: String| PolicyFileError {
            file: source.name.clone(),
            message,
        };
        let file: File = toml::from_str(&source.text)
            .map_err(|error| mistake(error.to_string().trim().replace('\n', " ")))?;
        if file.schema != 1 {
            return Err(mistake(format!("schema {} is not known here", file.schema)));
        }
        if source.layer == Layer::Repository && (!file.accept.is_empty() || file.autoyes.is_some())
        {
            return Err(mistake(
                "a repository may only reject and leave to the user".to_owned(),
            ));
        }
        let loosens = |list: &[String]| list.iter().any(|pattern| pattern.starts_with('!'));
        let PathLists {
            guarded,
            forbidden,
            secret,
        } = &file.paths;
        if source.layer == Layer::Repository
            && [guarded, forbidden, secret]
                .into_iter()
                .any(|list| loosens(list))
        {
            return Err(mistake(
                "paths: a repository may not take exceptions".to_owned(),
            ));
        }
        let unknown = file.sealed.reject.iter().find(|id| {
            let here = file.reject.iter().any(|rule| rule.id == **id);
            !here && !self.reject.iter().any(|layered| layered.rule.id == **id)
        });
        if let Some(id) = unknown {
            return Err(mistake(format!(
                "sealed.reject: there is no rule `{id}` that rejects"
            )));
        }
        let lists = [
            ("reject", &file.reject),
            ("manual", &file.manual),
            ("accept", &file.accept),
            ("sealed.manual", &file.sealed.manual),
        ];
        for (list, rules) in lists {
            for (at, rule) in rules.iter().enumerate() {
                let key = format!("{list}[{at}]");
                // The examples of the built-in rules are many; the tests of this program check them.
                if source.layer != Layer::BuiltIn {
                    rule.check(&key)
                        .map_err(|fault| mistake(format!("{}: {}", fault.key, fault.message)))?;
                }
                if self.all().any(|layered| layered.rule.id == rule.id) {
                    return Err(mistake(format!(
                        "{key}.id: there is a rule `{}` already",
                        rule.id
                    )));
                }
                if list == "accept"
                    && let Some(tool) = rule.tool.iter().find(|tool| NEVER.contains(&tool.as_str()))
                {
                    return Err(mistake(format!("{key}.tool: `{tool}` is never accepted")));
                }
                if list == "accept" && (!rule.code.is_empty() || !rule.text.is_empty()) {
                    return Err(mistake(format!("{key}: a text alone cannot be accepted")));
                }
            }
        }
        let layered = |rules: Vec<Rule>| {
            let layer = source.layer;
            rules
                .into_iter()
                .map(move |rule| LayeredRule { rule, layer })
        };
        self.reject.extend(layered(file.reject));
        self.manual.extend(layered(file.manual));
        self.accept.extend(layered(file.accept));
        self.paths.extend(file.paths);
        self.sealed.lay(file.sealed, source.layer);
        let outward = file.targets.outward.iter();
        self.outward.extend(outward.map(|name| name.to_lowercase()));
        if let Some(options) = file.autoyes {
            self.options = options;
        }
        Ok(())
    }
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text)
        .map_err(|_| serde::de::Error::custom(format!("`{text}` is not a duration such as \"8h\"")))
}
