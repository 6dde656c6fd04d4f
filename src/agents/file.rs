//! The form of a provider file. `providers/claude.toml` explains each key.
//!
//! Every key has a default, so that a user's file may hold only what differs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::detect::{DialogSpec, DraftSpec, Fault, Key, Pattern, Rule, Rules, VersionRange};

/// The words in braces that stand for something; all other braces are left alone.
pub(super) const PLACEHOLDERS: [&str; 6] = [
    "{biv}",
    "{state}",
    "{shell}",
    "{cwd}",
    "{session}",
    "{guard}",
];

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ProviderFile {
    pub display: Option<String>,
    pub about: Option<String>,
    pub command: Vec<String>,
    /// Whether what the user puts after `--` is the command itself, not arguments to it.
    pub command_from_args: bool,
    pub args: Vec<String>,
    /// An empty value means: do not set it.
    pub env: BTreeMap<String, String>,
    pub version_command: Vec<String>,
    pub session: Session,
    pub keys: Keys,
    pub stop: Stop,
    pub input: Input,
    pub ready: Ready,
    pub hooks: Hooks,
    pub guard: Guard,
    pub transcript: Transcript,
    pub capabilities: Capabilities,
    pub limits: Vec<String>,
    /// Tried before `rules`: a user's own, beside the built-in ones.
    pub extra_rules: Vec<Rule>,
    pub rules: Vec<Rule>,
    pub dialogs: Vec<DialogSpec>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Session {
    pub reference: Reference,
    pub discover: Option<Discovery>,
    /// Arguments that give a new conversation its id.
    pub fresh: Vec<String>,
    /// Arguments that continue the conversation with this id.
    pub resume: Vec<String>,
    pub strategy: Strategy,
    pub turnless: Turnless,
    /// What the agent prints when it does not know the conversation.
    pub unknown: Vec<Pattern>,
    /// What it prints as it ends, with the reference as its group.
    pub farewell: Vec<Pattern>,
}

/// How the agent's own name for a conversation is had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reference {
    /// We choose it and pass it at the start.
    Assigned,
    /// The agent chooses it; we find it by the named method.
    Discovered,
    #[default]
    None,
}

/// Where to find a reference that the agent chose itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Discovery {
    /// The entry that the process keeps of itself, which names the conversation it is in.
    ClaudeRegistry,
    /// The lock file that the process holds open, named after the id.
    CodexLock,
    /// The newest session of the worktree's directory in the agent's database, or in the list that it
    /// prints.
    OpencodeDatabase,
}

/// How a conversation is brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Strategy {
    /// By the agent itself, from its reference.
    Native,
    /// By a prompt that tells a new one what happened.
    Replay,
    #[default]
    None,
}

/// What to do with a reference under which nothing was said yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Turnless {
    /// Start anew with the same reference: there is nothing to resume.
    SameReference,
    /// Start anew and find the new reference.
    #[default]
    NewReference,
    /// Resume as usual.
    Resume,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Keys {
    /// Ends the turn that is under way.
    pub interrupt: Vec<Key>,
    /// Closes a dialog without an answer.
    pub cancel: Vec<Key>,
    pub exit: Vec<Key>,
    /// Empties a line of the input box.
    pub clear: Vec<Key>,
    pub submit: Vec<Key>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Stop {
    pub by: StopBy,
}

/// How the agent is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StopBy {
    /// SIGTERM to its whole process tree.
    #[default]
    Signal,
    /// Its exit keys first.
    Keys,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Input {
    /// How long the agent needs to take in a paste before it understands Enter.
    pub settle_ms: u64,
    pub verify: Verify,
    pub draft: Option<DraftSpec>,
}

impl Default for Input {
    fn default() -> Self {
        Self {
            settle_ms: 300,
            verify: Verify::default(),
            draft: None,
        }
    }
}

/// How to see that a prompt was submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verify {
    /// It has left the input box (`input.draft`).
    Draft,
    #[default]
    None,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Ready {
    /// For an agent without rules: how long it must be quiet to count as ready.
    pub quiet_ms: Option<u64>,
    /// For an agent that shows its prompt before it reads from it: how long the screen must hold, in the
    /// first minute after a start.
    pub hold_ms: Option<u64>,
    /// For an agent that draws a dialog before it reads the answer: how long it must have stood.
    pub dialog_ms: u64,
}

/// What the agent tells of itself while it works.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Hooks {
    /// Whether none are handed over after all.
    pub off: bool,
    /// The versions that understand them; where there is a range, the version must be known.
    pub version: Option<VersionRange>,
    /// Arguments that hand all hooks over at once; `{hooks}` is their JSON, `{trust}` the TOML by which
    /// Codex knows that they are meant.
    pub args: Vec<String>,
    /// Arguments for each `{event}`; `{hook}` is what is to be run, as TOML.
    pub each: Vec<String>,
    pub events: HookEvents,
    /// Seconds after which the agent gives up on a hook, where it insists on less than its usual time.
    pub timeouts: BTreeMap<String, u64>,
}

/// What an event tells, by its name or by its name and what it is about: `Notification:idle_prompt`.
pub(crate) type HookEvents = BTreeMap<String, Telling>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Telling {
    Busy,
    Idle,
    Approval,
    Question,
    Blocked,
    Nothing,
}

/// What makes an agent refuse by itself what its screen would not show as it is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Guard {
    /// Handed over at each start; `{guard}` is the path of the file.
    pub args: Vec<String>,
    pub file: String,
    /// The versions that understand it.
    pub version: Option<VersionRange>,
    /// Where one of these is there, the agent heeds that instead.
    pub overruled_by: Vec<PathBuf>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Transcript {
    pub format: TranscriptFormat,
    /// Where it lies, for people.
    pub place: Option<String>,
    /// Whether what the agent asks for is in it before its dialog shows. The screens of such an agent
    /// are believed only where both say the same.
    pub vouches: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TranscriptFormat {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Aider,
    Demo,
    #[default]
    None,
}

/// What of the agent is made use of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Capabilities {
    pub native_resume: bool,
    pub hooks: bool,
    pub transcript: bool,
}

impl ProviderFile {
    /// What the types cannot tell.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        let session = [
            ("unknown", &self.session.unknown),
            ("farewell", &self.session.farewell),
        ];
        for (field, patterns) in session {
            for (at, pattern) in patterns.iter().enumerate() {
                pattern.check(&format!("session.{field}[{at}]"))?;
            }
        }
        if let Some(draft) = &self.input.draft {
            draft.check("input.draft")?;
        }
        for (key, words) in self.templates() {
            for (at, word) in words.iter().enumerate() {
                placeholders(&format!("{key}[{at}]"), word)?;
            }
        }
        for event in self.hooks.events.keys() {
            hook_event(event)?;
        }
        for (name, value) in &self.env {
            placeholders(&format!("env.{name}"), value)?;
        }
        Rules::check(&self.extra_rules, "extra_rules", &[])?;
        Rules::check(&self.rules, "rules", &self.dialogs)
    }

    /// What must be there once built-in and user's file are one.
    pub(crate) fn check_whole(&self) -> Result<(), Fault> {
        let fault = |key: &str, message: &str| {
            Err(Fault {
                key: key.to_owned(),
                message: message.to_owned(),
            })
        };
        if self.command.is_empty() {
            return fault("command", "every agent needs a command");
        }
        if self.session.strategy == Strategy::Native && self.session.resume.is_empty() {
            return fault(
                "session.resume",
                "strategy `native` needs the arguments that resume a session",
            );
        }
        if self.session.reference == Reference::Discovered && self.session.discover.is_none() {
            return fault(
                "session.discover",
                "reference `discovered` needs the method to find it by",
            );
        }
        if !self.hooks.events.is_empty() && self.hooks.args.is_empty() && self.hooks.each.is_empty()
        {
            return fault(
                "hooks.events",
                "hooks need `args` or `each`, which hand them over",
            );
        }
        if self.input.verify == Verify::Draft && self.input.draft.is_none() {
            return fault("input.verify", "verifying by `draft` needs [input.draft]");
        }
        Rules::check_dialogs(&self.extra_rules, "extra_rules", &self.dialogs)?;
        Rules::check_dialogs(&self.rules, "rules", &self.dialogs)
    }

    fn templates(&self) -> [(&str, &[String]); 6] {
        [
            ("command", &self.command),
            ("args", &self.args),
            ("version_command", &self.version_command),
            ("session.fresh", &self.session.fresh),
            ("session.resume", &self.session.resume),
            ("guard.args", &self.guard.args),
        ]
    }
}

/// The name of an event becomes a word of a shell command.
fn hook_event(event: &str) -> Result<(), Fault> {
    let (name, detail) = event.split_once(':').unwrap_or((event, "any"));
    let is_word = |text: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        !text.is_empty() && text.bytes().all(plain)
    };
    if is_word(name) && is_word(detail) {
        return Ok(());
    }
    Err(Fault {
        key: format!("hooks.events.{event}"),
        message: "an event is a word, or two with `:` between them".to_owned(),
    })
}

/// A word in braces that looks like a placeholder must be one; JSON and the like may have braces.
fn placeholders(key: &str, word: &str) -> Result<(), Fault> {
    for part in word.split('{').skip(1) {
        let Some((name, _)) = part.split_once('}') else {
            continue;
        };
        let looks_like_one =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if looks_like_one && !PLACEHOLDERS.contains(&format!("{{{name}}}").as_str()) {
            return Err(Fault {
                key: key.to_owned(),
                message: format!(
                    "unknown placeholder `{{{name}}}`; known are {}",
                    PLACEHOLDERS.join(", ")
                ),
            });
        }
    }
    Ok(())
}
