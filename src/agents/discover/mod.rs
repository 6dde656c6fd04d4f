//! Finds the session reference of an agent that chooses or changes it itself.
//!
//! Only from evidence of this process, or of this directory since this run began: the latest session of a
//! machine may belong to another agent.

mod alone;
mod claude;
mod codex;
mod described;
mod gemini;
mod opencode;

use std::path::Path;
use std::time::SystemTime;

use super::file::Discovery;
use super::launch::Host;
use super::provider::Provider;
use crate::detect::Screen;
use crate::model::{Activity, Timestamp};
use crate::process::Identity;

/// In how many of the last lines an agent prints its session reference when it ends.
const FAREWELL: usize = 8;

/// Where evidence of an agent's session is searched for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DiscoveryContext<'a> {
    /// The process that was started, whether it still runs or not.
    pub leader: Option<&'a Identity>,
    /// All processes of the agent.
    pub pids: &'a [i32],
    /// Where the agent was started: in its worktree, which belongs to one instance.
    pub cwd: &'a Path,
    /// Its repository, which exists even when the worktree does not.
    pub repository: &'a Path,
    /// When the run began: older sessions belong to another run.
    pub since: SystemTime,
    pub host: &'a Host,
}

/// The result of a discovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Discovered {
    Found(String),
    /// The agent stores its sessions where they were searched for, and this run has none.
    Nothing,
    Unclear,
}

impl Discovered {
    pub(crate) fn found(self) -> Option<String> {
        match self {
            Self::Found(reference) => Some(reference),
            Self::Nothing | Self::Unclear => None,
        }
    }
}

/// The cost of a discovery for a running agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiscoveryCost {
    /// One small file or one database query: at every look.
    Low,
    /// All processes of the machine are searched: only while the reference is not known.
    High,
    /// Another program is run: only when the agent is about to be stopped.
    VeryHigh,
}

impl Provider {
    /// The cost of finding the reference of a running agent; None where it cannot be found.
    pub(crate) fn discovery_cost(&self, host: &Host) -> Option<DiscoveryCost> {
        Some(match self.discovery()? {
            Discovery::ClaudeRegistry | Discovery::Described | Discovery::GeminiChats => {
                DiscoveryCost::Low
            }
            Discovery::CodexLock => DiscoveryCost::High,
            Discovery::OpencodeDatabase => {
                let home = self.own_directory(host);
                let databases = home.map(|home| self.databases(&home)).unwrap_or_default();
                if databases.is_empty() {
                    DiscoveryCost::VeryHigh
                } else {
                    DiscoveryCost::Low
                }
            }
        })
    }

    /// The reference that a running agent uses now, or that an ended agent used last.
    pub(crate) fn discover(&self, context: &DiscoveryContext<'_>) -> Discovered {
        if let (Some(Discovery::Described), Some(find)) = (self.discovery(), self.find()) {
            return described::found(find, &|name| self.variable(name), context);
        }
        let home = self.own_directory(context.host);
        match (self.discovery(), home) {
            (Some(Discovery::ClaudeRegistry), Some(home)) => claude::registered(&home, context),
            (Some(Discovery::GeminiChats), Some(home)) => gemini::newest(&home, context),
            (Some(Discovery::CodexLock), Some(home)) if context.pids.is_empty() => {
                codex::last(&home, context)
            }
            (Some(Discovery::CodexLock), home) => codex::current(home.as_deref(), context),
            (Some(Discovery::OpencodeDatabase), Some(home)) => {
                let listed = || match self.installed(context.host) {
                    Some(program) => opencode::listed(&program, context),
                    None => Discovered::Unclear,
                };
                opencode::recorded(&self.databases(&home), context).unwrap_or_else(listed)
            }
            _ => Discovered::Unclear,
        }
    }

    /// The activity that a running agent records, its own name for it, and since when.
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
            ("kilo", "ses_e15c406fcffeDJMLdsWPGKmWXo"),
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
