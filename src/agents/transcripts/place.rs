//! Finds a transcript by its session reference, or by its worktree where an agent has no references.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::described;
use super::locate::{TranscriptLookup, children, locate, name_of};
use super::opencode::Database;
use super::reading::{TranscriptFile, TranscriptForm};
use crate::agents::described::FilePattern;
use crate::agents::{Host, Provider, TranscriptFormat};
use crate::model::{Activity, Timestamp};

const CHAT_HISTORY: &str = ".aider.chat.history.md";
const INPUT_HISTORY: &str = ".aider.input.history";

/// The conversation that is searched for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TranscriptQuery<'a> {
    pub reference: &'a str,
    /// The worktree, which belongs to one instance.
    pub worktree: &'a Path,
    /// The directory below it in which the agent was started.
    pub below: Option<&'a Path>,
    /// When the instance was created: older content of its worktree is not its own.
    pub since: Timestamp,
}

impl TranscriptQuery<'_> {
    /// The directory in which the agent was started.
    pub(super) fn directory(&self) -> PathBuf {
        match self.below {
            Some(below) => self.worktree.join(below),
            None => self.worktree.to_owned(),
        }
    }
}

impl Provider {
    /// The transcript of this conversation, never that of another one.
    pub(crate) fn transcript_of(
        &self,
        query: TranscriptQuery<'_>,
        host: &Host,
    ) -> TranscriptLookup {
        let format = self.transcript().format;
        if format == TranscriptFormat::Aider {
            return self.chats(query);
        }
        if format == TranscriptFormat::Described {
            return self.described(query.reference);
        }
        let Some(root) = self.own_directory(host) else {
            return TranscriptLookup::Unknown;
        };
        if format == TranscriptFormat::Opencode {
            return self.in_database(query.reference, &root);
        }
        // References become part of file names, so their characters are restricted.
        if uuid::Uuid::try_parse(query.reference).is_err() {
            return TranscriptLookup::Unknown;
        }
        locate(format, &root, query.reference)
    }

    /// A transcript that the provider file describes.
    fn described(&self, reference: &str) -> TranscriptLookup {
        let variable = |name: &str| self.variable(name);
        let transcript = self.transcript();
        let files = transcript
            .files
            .iter()
            .flat_map(|pattern| pattern.files(&variable, Some(reference)));
        let longest = files.max_by_key(|path| std::fs::metadata(path).map_or(0, |file| file.len()));
        let mut directories = transcript
            .files
            .iter()
            .filter_map(|pattern| pattern.home(&variable));
        match longest {
            Some(path) => {
                let (lines, time) = (transcript.lines.clone(), transcript.time.clone());
                let form = TranscriptForm::Described { lines, time };
                TranscriptLookup::Found(TranscriptFile { path, form })
            }
            None if directories.any(|directory| directory.is_dir()) => TranscriptLookup::Absent,
            None => TranscriptLookup::Unknown,
        }
    }

    /// Whether the agent has files of this session; None where they are not described.
    pub(crate) fn keeps(&self, reference: &str) -> Option<bool> {
        let kept = self.kept();
        let variable = |name: &str| self.variable(name);
        let has = |pattern: &FilePattern| !pattern.files(&variable, Some(reference)).is_empty();
        (!kept.is_empty()).then(|| kept.iter().any(has))
    }

    /// Whether its transcript tells what it does.
    pub(crate) fn writes_its_activity(&self) -> bool {
        self.transcript().lines.tell_activity()
    }

    /// What a running agent does by its transcript, its own name for that, and since when.
    pub(crate) fn written_activity(
        &self,
        query: TranscriptQuery<'_>,
        host: &Host,
    ) -> Option<(Activity, String, Timestamp)> {
        let TranscriptLookup::Found(file) = self.transcript_of(query, host) else {
            return None;
        };
        let TranscriptForm::Described { lines, time } = &file.form else {
            return None;
        };
        described::activity(lines, time.as_ref(), &file.path).ok()?
    }

    /// Whether the agent has one transcript per worktree, without a reference.
    pub(crate) fn writes_into_the_worktree(&self) -> bool {
        self.transcript().format == TranscriptFormat::Aider
    }

    /// Aider's history of a worktree. A history elsewhere may belong to several worktrees.
    fn chats(&self, query: TranscriptQuery<'_>) -> TranscriptLookup {
        let history = self.in_worktree("AIDER_CHAT_HISTORY_FILE", CHAT_HISTORY, query.worktree);
        let typed = self.in_worktree("AIDER_INPUT_HISTORY_FILE", INPUT_HISTORY, query.worktree);
        let (Some(path), Some(typed)) = (history, typed) else {
            return TranscriptLookup::Unknown;
        };
        if !is_regular(&path) {
            return TranscriptLookup::Absent;
        }
        let since = query.since;
        let form = TranscriptForm::Chats { typed, since };
        TranscriptLookup::Found(TranscriptFile { path, form })
    }

    /// Aider's chat history file of a worktree.
    pub(super) fn chat_history(&self, worktree: &Path) -> Option<PathBuf> {
        self.in_worktree("AIDER_CHAT_HISTORY_FILE", CHAT_HISTORY, worktree)
            .filter(|path| is_regular(path))
    }

    /// A file of the worktree whose name a variable may set; None where it is outside.
    fn in_worktree(&self, variable: &str, usual: &str, worktree: &Path) -> Option<PathBuf> {
        let name = self
            .variable(variable)
            .map_or_else(|| usual.into(), PathBuf::from);
        let inside = name
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        inside.then(|| worktree.join(name))
    }

    /// A session of OpenCode. Unknown if no database has it: another version may store it elsewhere.
    fn in_database(&self, session: &str, root: &Path) -> TranscriptLookup {
        let found = self.databases(root).into_iter().find(|path| {
            let database = Database::open(path);
            database.is_ok_and(|database| database.holds(session).unwrap_or(false))
        });
        match found {
            Some(path) => {
                let session = session.to_owned();
                let form = TranscriptForm::Database { session };
                TranscriptLookup::Found(TranscriptFile { path, form })
            }
            None => TranscriptLookup::Unknown,
        }
    }

    /// OpenCode's databases: the configured one, else one for each release channel.
    pub(in crate::agents) fn databases(&self, root: &Path) -> Vec<PathBuf> {
        let program = self.database_name();
        let configured = format!("{}_DB", program.to_ascii_uppercase());
        if let Some(named) = self.variable(&configured) {
            return vec![root.join(named)];
        }
        children(root)
            .into_iter()
            .filter(|path| {
                let name = name_of(path);
                name.starts_with(program) && name.ends_with(".db") && path.is_file()
            })
            .collect()
    }

    fn database_name(&self) -> &str {
        self.transcript().database.as_deref().unwrap_or("opencode")
    }

    /// The value of a variable in the agent's environment.
    pub(in crate::agents) fn variable(&self, name: &str) -> Option<OsString> {
        let own = self
            .file
            .env
            .get(name)
            .filter(|value| !value.is_empty() && !value.contains('{'));
        let own = own.map(OsString::from);
        own.or_else(|| std::env::var_os(name))
            .filter(|value| !value.is_empty())
    }

    /// The agent's own data directory.
    pub(in crate::agents) fn own_directory(&self, host: &Host) -> Option<PathBuf> {
        let set = |name: &str| self.variable(name);
        match self.transcript().format {
            TranscriptFormat::Opencode => {
                let data = set("XDG_DATA_HOME").map(PathBuf::from);
                let usual = || set("HOME").map(|home| PathBuf::from(home).join(".local/share"));
                Some(data.or_else(usual)?.join(self.database_name()))
            }
            format => root(format, &set, &host.state),
        }
    }

    /// Whether this session has turns; None where that is unknown.
    pub(crate) fn has_turns(&self, query: TranscriptQuery<'_>, host: &Host) -> Option<bool> {
        match self.transcript_of(query, host) {
            TranscriptLookup::Absent => Some(false),
            TranscriptLookup::Unknown => None,
            TranscriptLookup::Found(file) => Some(match file.form {
                // The file exists from the start, with only a header.
                TranscriptForm::JsonLines(TranscriptFormat::Gemini) => holds_a_message(&file.path)?,
                TranscriptForm::Described { ref lines, .. } => {
                    described::has_a_turn(lines, &file.path).ok()?
                }
                TranscriptForm::JsonLines(_)
                | TranscriptForm::Database { .. }
                | TranscriptForm::Chats { .. } => true,
            }),
        }
    }
}

/// The path of a directory as a process in it sees it: with links resolved. Works for a directory that does
/// not exist at the moment, like a paused worktree.
pub(in crate::agents) fn resolved_directory(directory: &Path) -> PathBuf {
    if let Ok(real) = directory.canonicalize() {
        return real;
    }
    match (directory.parent(), directory.file_name()) {
        (Some(parent), Some(name)) => resolved_directory(parent).join(name),
        _ => directory.to_owned(),
    }
}

fn is_regular(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|file| file.is_file())
}

/// The directory below which an agent stores its transcripts.
fn root(
    format: TranscriptFormat,
    set: &dyn Fn(&str) -> Option<OsString>,
    state: &Path,
) -> Option<PathBuf> {
    let home = |name: &str| set("HOME").map(|home| PathBuf::from(home).join(name));
    let own = |name: &str| set(name).map(PathBuf::from);
    match format {
        TranscriptFormat::Claude => own("CLAUDE_CONFIG_DIR").or_else(|| home(".claude")),
        TranscriptFormat::Codex => own("CODEX_HOME").or_else(|| home(".codex")),
        TranscriptFormat::Gemini => own("GEMINI_CLI_HOME")
            .map(|home| home.join(".gemini"))
            .or_else(|| home(".gemini")),
        TranscriptFormat::Demo => Some(state.to_owned()),
        TranscriptFormat::Opencode
        | TranscriptFormat::Aider
        | TranscriptFormat::Described
        | TranscriptFormat::None => None,
    }
}

fn holds_a_message(path: &Path) -> Option<bool> {
    let file = BufReader::new(File::open(path).ok()?);
    for line in file.split(b'\n').take(200) {
        let Ok(line) = serde_json::from_slice::<Value>(&line.ok()?) else {
            continue;
        };
        // Gemini's first context message is recorded as a message of the user.
        let mut said = Vec::new();
        super::gemini::entries(&line, Timestamp::new(UNIX_EPOCH.into()), &mut said);
        if !said.is_empty() {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "067f244d-d2aa-45f1-9be4-c65a829b302f";
    const OTHER: &str = "067f244d-0000-45f1-9be4-c65a829b302f";

    fn put(root: &Path, path: &str, text: &str) -> PathBuf {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn query(reference: &str) -> TranscriptQuery<'_> {
        TranscriptQuery {
            reference,
            worktree: Path::new("/nonexistent"),
            below: None,
            since: Timestamp::new(UNIX_EPOCH.into()),
        }
    }

    fn check(format: TranscriptFormat, root: &Path, expected: Option<&PathBuf>) {
        let found = match locate(format, root, ID) {
            TranscriptLookup::Found(file) => Some(file.path),
            TranscriptLookup::Absent | TranscriptLookup::Unknown => None,
        };
        assert_eq!(found.as_ref(), expected);
    }

    #[test]
    fn a_directory_is_called_as_a_process_in_it_calls_it() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(resolved_directory(&link), real);
        assert_eq!(
            resolved_directory(&link.join("away/now")),
            real.join("away/now")
        );
        assert_eq!(resolved_directory(Path::new("/")), Path::new("/"));
    }

    #[test]
    fn a_transcript_is_found_by_its_reference_alone() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let all = [
            TranscriptFormat::Claude,
            TranscriptFormat::Codex,
            TranscriptFormat::Gemini,
        ];
        for format in all {
            assert_eq!(
                locate(format, &root.join("none"), ID),
                TranscriptLookup::Unknown,
                "no such agent here"
            );
        }
        put(root, &format!("projects/-w-one/{OTHER}.jsonl"), "{}\n");
        put(
            root,
            &format!("sessions/2026/11/15/rollout-2026-11-15T10-00-00-{OTHER}.jsonl"),
            "{}\n",
        );
        put(
            root,
            "tmp/p/chats/session-2026-11-15T10-00-067f244d.jsonl",
            &format!("{{\"sessionId\":\"{OTHER}\"}}\n"),
        );
        for format in all {
            assert_eq!(
                locate(format, root, ID),
                TranscriptLookup::Absent,
                "only another one, newer or not"
            );
        }
        let claude = put(root, &format!("projects/-w-two/{ID}.jsonl"), "{}\n");
        let codex = put(
            root,
            &format!("sessions/2026/11/14/rollout-2026-11-14T10-00-00-{ID}.jsonl"),
            "{}\n",
        );
        let header = format!("{{\"sessionId\":\"{ID}\",\"projectHash\":\"x\"}}\n");
        let gemini = put(
            root,
            "tmp/q/chats/session-2026-11-14T10-00-067f244d.jsonl",
            &header,
        );
        check(TranscriptFormat::Claude, root, Some(&claude));
        check(TranscriptFormat::Codex, root, Some(&codex));
        check(TranscriptFormat::Gemini, root, Some(&gemini));
        assert_eq!(holds_a_message(&gemini), Some(false));
        let context = r#"{"id":"c","type":"user","content":[{"text":"<session_context>\nx"}]}"#;
        std::fs::write(&gemini, format!("{header}{context}\n")).unwrap();
        assert_eq!(holds_a_message(&gemini), Some(false), "no message yet");
        std::fs::write(
            &gemini,
            format!("{header}{{\"id\":\"a\",\"type\":\"user\",\"content\":\"x\"}}\n"),
        )
        .unwrap();
        assert_eq!(holds_a_message(&gemini), Some(true));
    }

    #[test]
    fn what_is_no_reference_is_no_file_name() {
        let catalog = crate::agents::Catalog::built_in();
        let host = Host {
            biv: "/nonexistent/biv".into(),
            state: "/nonexistent".into(),
            shell: "/bin/sh".into(),
            path: None,
        };
        for agent in ["claude", "codex", "gemini", "demo"] {
            let provider = catalog.require(agent).unwrap();
            assert_eq!(
                provider.transcript_of(query("../../etc/passwd"), &host),
                TranscriptLookup::Unknown
            );
        }
        let shell = catalog.require("shell").unwrap();
        assert_eq!(
            shell.transcript_of(query(ID), &host),
            TranscriptLookup::Unknown
        );
    }
}
