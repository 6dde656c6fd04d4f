//! Finds the reference of a conversation whose agent chose it itself, or changed it since.
//!
//! Only from what belongs to this very process or to this very directory since this run began: "the
//! latest session" of a machine may be anyone's.

mod alone;
mod claude;
mod codex;
mod opencode;

use std::path::Path;
use std::time::SystemTime;

use super::file::Discovery;
use super::launch::Host;
use super::provider::Provider;
use crate::detect::Screen;
use crate::model::{Activity, Timestamp};
use crate::process::Identity;

/// How many of the last lines an agent's farewell takes.
const FAREWELL: usize = 8;

/// Where an agent leaves traces of its conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traces<'a> {
    /// The process that was started, whether it still runs or not.
    pub leader: Option<&'a Identity>,
    /// All processes that run on the agent's behalf now.
    pub pids: &'a [i32],
    /// The worktree, which is one instance's alone.
    pub cwd: &'a Path,
    /// Its repository, which is there when the worktree is not.
    pub repository: &'a Path,
    /// When the run began: what is older belongs to another one.
    pub since: SystemTime,
    pub host: &'a Host,
}

/// What the traces tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trace {
    Found(String),
    /// The agent keeps its conversations where it was looked for, and this run has none.
    Nothing,
    Unclear,
}

impl Trace {
    pub(crate) fn found(self) -> Option<String> {
        match self {
            Self::Found(reference) => Some(reference),
            Self::Nothing | Self::Unclear => None,
        }
    }
}

/// How dear it is to follow an agent that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Following {
    /// One small file, or one question to a database: at every look.
    Cheap,
    /// All processes of the machine are looked through: while nothing is known.
    Dear,
    /// Another program must be asked: only when the agent is about to be stopped.
    Rare,
}

impl Provider {
    /// How often the reference of a running agent may be asked for; None where there is no way.
    pub(crate) fn following(&self, host: &Host) -> Option<Following> {
        Some(match self.discovery()? {
            Discovery::ClaudeRegistry => Following::Cheap,
            Discovery::CodexLock => Following::Dear,
            Discovery::OpencodeDatabase => {
                let home = self.own_directory(host);
                let databases = home.map(|home| self.databases(&home)).unwrap_or_default();
                if databases.is_empty() {
                    Following::Rare
                } else {
                    Following::Cheap
                }
            }
        })
    }

    /// The reference that a running agent uses now, or that one which has ended used last.
    pub(crate) fn discover(&self, traces: &Traces<'_>) -> Trace {
        let home = self.own_directory(traces.host);
        match (self.discovery(), home) {
            (Some(Discovery::ClaudeRegistry), Some(home)) => claude::registered(&home, traces),
            (Some(Discovery::CodexLock), Some(home)) if traces.pids.is_empty() => {
                codex::last(&home, traces)
            }
            (Some(Discovery::CodexLock), home) => codex::current(home.as_deref(), traces),
            (Some(Discovery::OpencodeDatabase), Some(home)) => {
                let listed = || match self.installed(traces.host) {
                    Some(program) => opencode::listed(&program, traces),
                    None => Trace::Unclear,
                };
                opencode::recorded(&self.databases(&home), traces).unwrap_or_else(listed)
            }
            _ => Trace::Unclear,
        }
    }

    /// What a running agent writes down that it does, in its own word, and since when.
    pub(crate) fn registered(
        &self,
        host: &Host,
        leader: &Identity,
    ) -> Option<(Activity, String, Timestamp)> {
        if self.discovery() != Some(Discovery::ClaudeRegistry) {
            return None;
        }
        let (activity, said, at) = claude::status(&self.own_directory(host)?, leader)?;
        Some((activity, said, Timestamp::new(at.into())))
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

#[cfg(test)]
mod tests {
    use super::super::Catalog;
    use super::*;

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
