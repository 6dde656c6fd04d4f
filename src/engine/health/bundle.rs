//! The text file for a problem report, without private data.
//!
//! The user can read it before sending it. Titles, prompts, branches, paths and screens are left out
//! or replaced; what looks like a secret is removed.

use std::path::Path;

use crate::engine::base::resolve::state_of;
use crate::engine::base::{Core, Error, Found, Scope};
use crate::engine::health::finding::{Finding, Health};
use crate::logging::{VARIABLE, log_file, older_log_file};
use crate::model::InstanceRecord;
use crate::policy::redacted;

/// How many of the last log lines are included.
const LOG_LINES: usize = 3000;
/// How many of the last events are included.
const EVENTS: usize = 300;

impl Core {
    /// The bundle, as text.
    pub(crate) fn bundle(&self, findings: &[Finding]) -> Result<String, Error> {
        let (found, unreadable) = self.all(Scope::WithKilled)?;
        let mut instances: Vec<String> = found.iter().map(describe).collect();
        instances.extend(
            unreadable
                .iter()
                .map(|(id, error)| format!("{id} unreadable: {error}")),
        );
        let text = [
            "Bivouac report. Read it before you send it.".to_owned(),
            section("Versions", &self.version_lines()),
            section("Settings of the user", &self.config.names_set_by_user()),
            section(
                "Findings",
                &findings.iter().map(line_of).collect::<Vec<_>>(),
            ),
            section("Instances", &instances),
            section("Last events", &self.last_events()),
            section("Log", &self.last_log_lines()),
        ]
        .join("\n");
        let records: Vec<&InstanceRecord> = found.iter().map(|found| &found.record).collect();
        Ok(without_private_words(&redacted(&text), &records))
    }

    fn version_lines(&self) -> Vec<String> {
        let system = rustix::system::uname();
        let mut lines = vec![
            format!("biv {}", env!("CARGO_PKG_VERSION")),
            format!(
                "{} {} {}",
                system.sysname().to_string_lossy(),
                system.release().to_string_lossy(),
                system.machine().to_string_lossy(),
            ),
        ];
        let agents = self.agents().unwrap_or_default();
        lines.extend(
            agents
                .iter()
                .filter_map(|agent| Some(format!("{} {}", agent.name, agent.version.as_ref()?))),
        );
        for name in ["TERM", "LANG", "LC_ALL", VARIABLE] {
            lines.extend(std::env::var(name).map(|value| format!("{name}={value}")));
        }
        lines
    }

    /// Times, kinds and ids; other data of an event may be private.
    fn last_events(&self) -> Vec<String> {
        let Ok(mut events) = self.events_from_start() else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        while let Ok(more) = events.next()
            && !more.is_empty()
        {
            lines.extend(more.iter().filter_map(|line| {
                let event: serde_json::Value = serde_json::from_str(line).ok()?;
                let word = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
                Some(format!(
                    "{} {} {}",
                    word("at"),
                    word("type"),
                    word("instance")
                ))
            }));
        }
        last(lines, EVENTS)
    }

    fn last_log_lines(&self) -> Vec<String> {
        let read = |path: &Path| std::fs::read(path).unwrap_or_default();
        let state = &self.home.state;
        let bytes = [read(&older_log_file(state)), read(&log_file(state))].concat();
        let text = String::from_utf8_lossy(&bytes);
        last(text.lines().map(str::to_owned).collect(), LOG_LINES)
    }
}

/// Where an instance is in its life, without what names the user's work.
fn describe(found: &Found) -> String {
    let record = &found.record;
    let mut line = format!(
        "{} {} agent={} rev={} adopted={} created={} updated={} run={}",
        record.id,
        state_of(record, found.journal.as_ref()).name(),
        record.agent,
        record.rev,
        record.worktree.adopted,
        record.created_at,
        record.updated_at,
        record.run,
    );
    if let Some(journal) = &found.journal {
        line.push_str("\n    open: ");
        line.push_str(&journal.describe());
    }
    line
}

/// Replaces what names the user's work: titles, branches, repositories and the home directory.
fn without_private_words(text: &str, records: &[&InstanceRecord]) -> String {
    let mut words: Vec<(String, String)> = Vec::new();
    for record in records {
        let id = &record.id;
        let mut hide = |word: String, what: &str| words.push((word, format!("<{what} of {id}>")));
        hide(record.worktree.path.display().to_string(), "worktree");
        hide(record.repository.root.display().to_string(), "repository");
        hide(record.title.to_string(), "title");
        if let Some(branch) = &record.branch {
            hide(branch.name.clone(), "branch");
        }
    }
    if let Some(home) = std::env::var_os("HOME") {
        words.push((home.to_string_lossy().into_owned(), "~".to_owned()));
    }
    // The longest first: a repository lies below the home directory.
    words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    words
        .iter()
        // A title of one or two letters would match inside other words.
        .filter(|(word, _)| word.len() > 2)
        .fold(text.to_owned(), |text, (word, instead)| {
            text.replace(word.as_str(), instead)
        })
}

fn section(heading: &str, lines: &[String]) -> String {
    format!("\n== {heading}\n{}", lines.join("\n"))
}

fn line_of(finding: &Finding) -> String {
    let health = match finding.health {
        Health::Good => "good",
        Health::Warning => "warning",
        Health::Problem => "problem",
    };
    format!("{health} {}: {}", finding.check, finding.what)
}

fn last(mut lines: Vec<String>, count: usize) -> Vec<String> {
    lines.split_off(lines.len().saturating_sub(count))
}
