//! The format of a provider file. `providers/claude.toml` explains each key.
//!
//! Every key has a default, so that a user's file needs only what differs.

mod check;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::described::{FilePattern, Find, LineRules};
use super::json_path::JsonPath;
use crate::detect::{
    DialogSpec, DraftSpec, FailureSpec, Key, Pattern, QueuedSpec, Rule, SuggestionSpec,
    VersionRange,
};

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
    /// The characters of the bar that it draws beside its text while that scrolls: of the part in view, and others.
    pub scroll_bar: Option<String>,
    /// Tried before `rules`: the user's rules in addition to the built-in ones.
    pub extra_rules: Vec<Rule>,
    pub rules: Vec<Rule>,
    /// What goes on behind the prompt of an agent at rest.
    pub background: Vec<Rule>,
    /// How it shows that the model's service has ended a turn.
    pub failure: Option<FailureSpec>,
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
    /// Arguments before each directory that the user has added to the session, for an agent that forgets them.
    pub directory: Vec<String>,
    pub strategy: Strategy,
    pub turnless: Turnless,
    /// What the agent prints when it does not know the session.
    pub unknown: Vec<Pattern>,
    /// What it does then.
    pub unknown_ids: UnknownIds,
    /// For an agent that starts anew then: the files of a session. One that has none is not resumed.
    pub kept: Vec<FilePattern>,
    /// Files in which a running process has written its pid, so that the session counts as in use. An agent that
    /// was killed leaves them, and their pid may belong to another process later.
    pub in_use: Vec<FilePattern>,
    /// What it prints when it ends, with the session reference as group.
    pub farewell: Vec<Pattern>,
    /// The exit status by which it asks to be started again.
    pub relaunch_status: Option<u8>,
    /// How it prints and reads a session that goes to another machine.
    pub travel: Option<SessionCommands>,
}

/// How the agent prints and reads a session.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SessionCommands {
    /// Arguments by which it prints the session `{session}`, as JSON.
    pub print: Vec<String>,
    /// Arguments by which it reads one from `{file}`, in the directory of the agent.
    pub read: Vec<String>,
    /// Where the id is in it, as a JSON pointer.
    pub id: String,
    /// What is taken out of a session that comes from elsewhere: what it would allow here.
    pub without: Vec<String>,
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
    /// What the agent shows when it asks why a request was refused …
    pub reason_sign: Option<Pattern>,
    /// … and the keys that give no reason.
    pub no_reason: Vec<Key>,
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
    /// The list of commands below the input box, for an agent that draws it late.
    pub suggestions: Option<SuggestionSpec>,
    /// How prompts are shown that wait inside the agent, if an interrupt puts them into its input box.
    pub queued: Option<QueuedSpec>,
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
            suggestions: None,
            queued: None,
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
    /// For `format = "opencode"`: the name of its database and of the directory that it is in, where that is a
    /// descendant of OpenCode with a name of its own.
    pub database: Option<String>,
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
