//! The format of a provider file. `providers/claude.toml` explains each key.
//!
//! Every key has a default, so that a user's file needs only what differs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::described::{FilePattern, Find, JsonPath, LineRules};
use crate::detect::{DialogSpec, DraftSpec, Fault, Key, Pattern, Rule, Rules, VersionRange};

/// The placeholders; other text in braces is left alone.
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
    /// Whether the arguments after `--` are the command itself, not arguments to it.
    pub command_from_args: bool,
    pub args: Vec<String>,
    /// An empty value means that the variable is not set.
    pub env: BTreeMap<String, String>,
    pub version_command: Vec<String>,
    /// The versions that its rules and dialogs were measured on.
    pub measured: Option<VersionRange>,
    pub session: Session,
    pub keys: Keys,
    pub stop: Stop,
    pub input: Input,
    pub ready: Ready,
    pub hooks: Hooks,
    pub guard: Guard,
    pub seal: SealSpec,
    pub transcript: Transcript,
    pub capabilities: Capabilities,
    pub limits: Vec<String>,
    /// Tried before `rules`: the user's rules in addition to the built-in ones.
    pub extra_rules: Vec<Rule>,
    pub rules: Vec<Rule>,
    /// What goes on behind the prompt of an agent at rest.
    pub background: Vec<Rule>,
    pub dialogs: Vec<DialogSpec>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Session {
    pub reference: Reference,
    pub discover: Option<Discovery>,
    /// For `discover = "described"`: where the reference is.
    pub find: Option<Find>,
    /// Arguments that start a session with a given id.
    pub fresh: Vec<String>,
    /// Arguments that resume a session by its id.
    pub resume: Vec<String>,
    pub strategy: Strategy,
    pub turnless: Turnless,
    /// What the agent prints when it does not know the session.
    pub unknown: Vec<Pattern>,
    /// What it does then.
    pub unknown_ids: UnknownIds,
    /// For an agent that starts anew then: the files of a session. One that has none is not resumed.
    pub kept: Vec<FilePattern>,
    /// What it prints when it ends, with the session reference as group.
    pub farewell: Vec<Pattern>,
    /// The exit status by which it asks to be started again.
    pub relaunch_status: Option<u8>,
}

/// How the agent's session reference is obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reference {
    /// Bivouac chooses it and passes it at the start.
    Assigned,
    /// The agent chooses it, and it is found by `discover`.
    Discovered,
    #[default]
    None,
}

/// Where to find a reference that the agent chose itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Discovery {
    /// The file in which each process records its session.
    ClaudeRegistry,
    /// The newest file of the worktree's conversations.
    GeminiChats,
    /// The lock file that the process keeps open, named after the session.
    CodexLock,
    /// The newest session of the worktree in the agent's database, or in its printed list.
    OpencodeDatabase,
    /// By `session.find`.
    Described,
}

/// What an agent does when it is to resume a session that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UnknownIds {
    /// It ends with an error.
    #[default]
    Error,
    /// It silently starts a new one.
    Fresh,
}

/// How a conversation is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Strategy {
    /// By the agent itself, from its reference.
    Native,
    /// By a prompt that tells a new session what happened.
    Replay,
    #[default]
    None,
}

/// What to do with a session that has no turns yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Turnless {
    /// Start a new session with the same reference.
    SameReference,
    /// Start a new session and discover its reference.
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
    /// What the agent shows when it has taken one key of several and waits for the next.
    pub interrupt_sign: Option<Pattern>,
    /// Brings prompts that wait inside the agent back into its input box, so that an interrupt does not begin
    /// the next of them.
    pub unqueue: Vec<Key>,
    /// What the agent shows while prompts wait inside it.
    pub queued_sign: Option<Pattern>,
    /// Closes a dialog without an answer.
    pub cancel: Vec<Key>,
    pub exit: Vec<Key>,
    /// Clears a line of the input box.
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
    /// How long the agent needs after a paste before it accepts Enter.
    pub settle_ms: u64,
    pub verify: Verify,
    pub draft: Option<DraftSpec>,
    /// Prompts that the box would take for something else.
    pub escapes: Vec<Escape>,
    /// Whether the agent removes characters that are not drawn.
    pub removes_invisible: bool,
    /// The most that one prompt may have.
    pub most_bytes: Option<usize>,
    /// What the agent prints when it does not know a command.
    pub unknown_command: Option<Pattern>,
}

/// How a prompt is typed that the box would take for something else.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Escape {
    /// Such a prompt.
    pub when: Pattern,
    #[serde(default)]
    pub before: String,
    #[serde(default)]
    pub after: String,
    /// Nothing helps: the prompt is refused, and this says why.
    pub refuse: Option<String>,
}

impl Default for Input {
    fn default() -> Self {
        Self {
            settle_ms: 300,
            verify: Verify::default(),
            draft: None,
            escapes: Vec::new(),
            removes_invisible: false,
            most_bytes: None,
            unknown_command: None,
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
    /// For an agent without rules: how long without output until it counts as ready.
    pub quiet_ms: Option<u64>,
    /// For an agent that shows its prompt before it reads input: how long the screen must not change, in
    /// the first minute after a start.
    pub hold_ms: Option<u64>,
    /// For an agent that draws a dialog before it reads the answer: how long the dialog must be open.
    pub dialog_ms: u64,
}

/// The hooks by which the agent reports its activity.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Hooks {
    /// Whether the hooks are turned off.
    pub off: bool,
    /// The versions that support them. With a range, the version must be known.
    pub version: Option<VersionRange>,
    /// Arguments for all hooks at once; `{hooks}` is their JSON, `{trust}` the TOML that makes Codex trust
    /// them.
    pub args: Vec<String>,
    /// Arguments for each `{event}`; `{hook}` is the command to run, as TOML.
    pub each: Vec<String>,
    pub events: HookEvents,
    /// Timeouts of hooks in seconds, where the agent demands less than its default.
    pub timeouts: BTreeMap<String, u64>,
}

/// The activity that each event means, by its name or by name and detail: `Notification:idle_prompt`.
pub(crate) type HookEvents = BTreeMap<String, HookActivity>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HookActivity {
    Busy,
    Idle,
    Approval,
    Question,
    Blocked,
    Nothing,
}

/// A policy file that makes the agent itself refuse requests that its screen would not show correctly.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Guard {
    /// Arguments for each start; `{guard}` is the path of the file.
    pub args: Vec<String>,
    pub file: String,
    /// The versions that support it.
    pub version: Option<VersionRange>,
    /// If one of these files exists, the agent uses it instead.
    pub overruled_by: Vec<PathBuf>,
}

/// What the agent needs in a seal.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SealSpec {
    /// The hosts of the model's API and of the log-in.
    pub hosts: Vec<String>,
    /// Variables that hold the address of another server for the same.
    pub hosts_from: Vec<String>,
    /// Its own files: those that it may read, those that it may change, and those of which it gets a
    /// private copy. `{NAME:~/x}` is the value of a variable, else the rest; a path with a slash at its end
    /// is a directory that is made if it is missing.
    pub read: Vec<String>,
    pub write: Vec<String>,
    pub private: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Transcript {
    pub format: TranscriptFormat,
    /// Where it is, for display.
    pub place: Option<String>,
    /// For `format = "described"`: its files, where the time of a line is, and what lines mean.
    pub files: Vec<FilePattern>,
    pub time: Option<JsonPath>,
    pub lines: LineRules,
    /// Whether a request is in the transcript before its dialog is shown. A dialog of such an agent is
    /// trusted only if the transcript agrees.
    pub vouches: bool,
    /// The same of an agent whose dialogs are trusted where they take one row. Where a command takes several,
    /// only the transcript tells which line ends are its own.
    pub settles: bool,
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
    Described,
    #[default]
    None,
}

/// The features of the agent that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Capabilities {
    pub native_resume: bool,
    pub hooks: bool,
    pub transcript: bool,
}

impl ProviderFile {
    /// Checks that the types do not cover.
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
        for (at, escape) in self.input.escapes.iter().enumerate() {
            escape.when.check(&format!("input.escapes[{at}].when"))?;
        }
        if let Some(pattern) = &self.keys.interrupt_sign {
            pattern.check("keys.interrupt_sign")?;
        }
        if let Some(pattern) = &self.keys.queued_sign {
            pattern.check("keys.queued_sign")?;
        }
        if let Some(pattern) = &self.input.unknown_command {
            pattern.check("input.unknown_command")?;
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
        self.check_described()?;
        Rules::check(&self.extra_rules, "extra_rules", &[])?;
        Rules::check(&self.background, "background", &[])?;
        Rules::check(&self.rules, "rules", &self.dialogs)
    }

    /// Checks of the descriptions of its own files.
    fn check_described(&self) -> Result<(), Fault> {
        let files = [
            ("session.kept", &self.session.kept),
            ("transcript.files", &self.transcript.files),
        ];
        for (key, patterns) in files {
            for (at, pattern) in patterns.iter().enumerate() {
                pattern.check(&format!("{key}[{at}]"))?;
            }
        }
        if let Some(find) = &self.session.find {
            find.files.check("session.find.files")?;
            if find.directory.is_none() && find.process.is_none() {
                return fault(
                    "session.find",
                    "it needs `directory` or `process`: the newest session may be of another agent",
                );
            }
        }
        self.transcript.lines.check()
    }

    /// Checks of the merged file: what must be present.
    pub(crate) fn check_whole(&self) -> Result<(), Fault> {
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
        if self.session.discover == Some(Discovery::Described) && self.session.find.is_none() {
            return fault("session.find", "`described` needs [session.find]");
        }
        if self.session.unknown_ids == UnknownIds::Fresh && self.session.kept.is_empty() {
            return fault(
                "session.kept",
                "an agent that starts anew with an unknown id needs the files of a session",
            );
        }
        if self.transcript.format == TranscriptFormat::Described && self.transcript.files.is_empty()
        {
            return fault("transcript.files", "`described` needs its files");
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

fn fault(key: &str, message: &str) -> Result<(), Fault> {
    Err(Fault {
        key: key.to_owned(),
        message: message.to_owned(),
    })
}

/// The name of an event becomes a word of a shell command, so its characters are restricted.
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

/// A word in braces that looks like a placeholder must be one. JSON and the like may have braces.
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
