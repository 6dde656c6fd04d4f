//! Finds the only conversation of a directory. Where there are several, none is chosen.

use std::path::Path;

use crate::agents::file::Discovery;
use crate::agents::{Host, Provider};

impl Provider {
    /// For imports from another tool, where the agent's process is not known.
    pub(crate) fn only_conversation_in(&self, directory: &Path, host: &Host) -> Option<String> {
        let Some(Discovery::ClaudeRegistry) = self.discovery() else {
            return None;
        };
        let projects = self.own_directory(host)?.join("projects");
        let mut found = std::fs::read_dir(projects.join(filed_under(directory)))
            .ok()?
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let ends_right = path.extension().is_some_and(|ending| ending == "jsonl");
                let name = path.file_stem()?.to_str()?.to_owned();
                (ends_right && uuid::Uuid::try_parse(&name).is_ok()).then_some(name)
            });
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}

/// Claude Code stores transcripts under the name of their directory, with a dash for everything that is not
/// a letter or digit. For a long name it adds a number; such a directory is not found here.
fn filed_under(directory: &Path) -> String {
    directory
        .to_string_lossy()
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect()
}
