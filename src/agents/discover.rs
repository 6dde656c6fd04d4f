//! Finds the reference of a conversation whose agent chose it itself.
//!
//! Only from what belongs to this very process or this very directory: "the latest session" of a
//! machine may be anyone's.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::file::Discovery;
use super::launch::Host;
use super::provider::Provider;
use crate::detect::Screen;
use crate::process::Command;

/// OpenCode took 6 s to list its sessions on a slow machine.
const DEADLINE: Duration = Duration::from_secs(20);
/// How many of the last lines an agent's farewell takes.
const FAREWELL: usize = 8;

/// Where an agent leaves traces of its conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traces<'a> {
    /// The agent and all its children.
    pub pids: &'a [u32],
    /// The worktree.
    pub cwd: &'a Path,
    pub host: &'a Host,
}

impl Provider {
    /// The reference that a running agent uses now; None where it cannot be told for certain.
    pub(crate) fn discover(&self, traces: &Traces<'_>) -> Option<String> {
        match self.discovery()? {
            Discovery::CodexLock => codex_lock(traces.pids),
            Discovery::OpencodeList => {
                let program = self.installed(traces.host)?;
                let listed = Command::new(program)
                    .args(["session", "list", "--format", "json"])
                    .directory(traces.cwd)
                    .deadline(DEADLINE)
                    .text()
                    .ok()?;
                opencode_session(&listed, traces.cwd)
            }
        }
    }

    /// The reference that an agent printed as it ended: `codex resume <id>`.
    pub(crate) fn farewell(&self, output: &str) -> Option<String> {
        let screen = Screen::new(output);
        screen.filled().rev().take(FAREWELL).find_map(|row| {
            let mut patterns = self.file.session.farewell.iter();
            patterns
                .find_map(|pattern| pattern.capture(row.text()))
                .map(str::to_owned)
        })
    }
}

/// Codex holds `…/thread-writer-locks/<id>.lock` open from its start. Two of them at once (it names
/// conversations in a hidden one) tell nothing; a moment later it is one again.
fn codex_lock(pids: &[u32]) -> Option<String> {
    let mut found: Vec<String> = pids
        .iter()
        .filter_map(|pid| std::fs::read_dir(format!("/proc/{pid}/fd")).ok())
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|file| {
            let folder = file.parent()?.file_name()?;
            let id = file.file_name()?.to_str()?.strip_suffix(".lock")?;
            let named = folder == "thread-writer-locks" && uuid::Uuid::try_parse(id).is_ok();
            named.then(|| id.to_owned())
        })
        .collect();
    found.sort();
    found.dedup();
    match found.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    }
}

#[derive(Debug, Deserialize)]
struct Listed {
    id: String,
    directory: String,
    #[serde(default)]
    updated: u64,
}

/// The newest one of this directory, which is one instance's alone.
fn opencode_session(listed: &str, cwd: &Path) -> Option<String> {
    let sessions: Vec<Listed> = serde_json::from_str(listed).ok()?;
    sessions
        .into_iter()
        .filter(|session| Path::new(&session.directory) == cwd)
        .max_by_key(|session| session.updated)
        .map(|session| session.id)
}

#[cfg(test)]
mod tests {
    use super::super::Catalog;
    use super::*;

    #[test]
    fn the_lock_that_a_process_holds_names_its_conversation() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("thread-writer-locks");
        std::fs::create_dir(&folder).unwrap();
        let id = "01a1dca4-8ea8-76e0-804b-665c3fe25950";
        let pids = [std::process::id()];
        assert_eq!(codex_lock(&pids), None);
        let lock = std::fs::File::create(folder.join(format!("{id}.lock"))).unwrap();
        let other = std::fs::File::create(folder.join("not-an-id.lock")).unwrap();
        assert_eq!(codex_lock(&pids).as_deref(), Some(id));
        let second = folder.join("01a1dca5-0000-7a52-8bc5-29b2ec9685ec.lock");
        let second = std::fs::File::create(second).unwrap();
        assert_eq!(codex_lock(&pids), None, "two tell nothing");
        drop((lock, other, second));
    }

    #[test]
    fn only_sessions_of_the_same_directory_count() {
        let listed = r#"[
            {"id":"ses_a","title":"x","updated":5,"created":1,"directory":"/w/one"},
            {"id":"ses_b","title":"y","updated":9,"created":1,"directory":"/w/two"},
            {"id":"ses_c","title":"z","updated":7,"created":1,"directory":"/w/one"}
        ]"#;
        let found = |cwd| opencode_session(listed, Path::new(cwd));
        assert_eq!(found("/w/one").as_deref(), Some("ses_c"));
        assert_eq!(found("/w/three"), None);
        assert_eq!(opencode_session("not json", Path::new("/w")), None);
    }

    #[test]
    fn the_farewell_of_an_agent_names_its_conversation() {
        let catalog = Catalog::built_in();
        for (agent, expected) in [
            ("codex", "01a1dca4-8ea8-76e0-804b-665c3fe25950"),
            ("gemini", "067f244d-d2aa-45f1-9be4-c65a829b302f"),
            ("opencode", "ses_e23356e0bffeX0cYqqhEcDB0aE"),
        ] {
            let file = format!("fixtures/screens/{agent}/exited/exited-to-shell.txt");
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            let output = std::fs::read_to_string(file).unwrap();
            let provider = catalog.require(agent).unwrap();
            assert_eq!(provider.farewell(&output).as_deref(), Some(expected));
            assert_eq!(provider.farewell("● run `codex resume x`\n"), None);
        }
        let claude = catalog.require("claude").unwrap();
        let id = "33333333-0000-4333-8444-555555555607";
        let output = format!("Resume this session with:\nclaude --resume {id}\n");
        assert_eq!(claude.farewell(&output).as_deref(), Some(id));
    }
}
