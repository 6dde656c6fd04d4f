//! Files by which an agent marks its session as in use.

use std::path::{Path, PathBuf};

use super::provider::Provider;
use crate::process::command_line_of;

impl Provider {
    /// The marks of this session whose process has ended, or is not this agent: its pid was given to another
    /// process, or was that of a sealed agent, which sees other pids.
    pub(crate) fn stale_marks(&self, reference: &str) -> Vec<PathBuf> {
        let variable = |name: &str| self.variable(name);
        let mut marks: Vec<PathBuf> = self
            .in_use()
            .iter()
            .flat_map(|pattern| pattern.files(&variable, Some(reference)))
            .collect();
        marks.retain(|mark| !self.is_held(mark));
        marks
    }

    /// A mark that cannot be read counts as that of a running process: then the agent itself asks.
    fn is_held(&self, mark: &Path) -> bool {
        let Ok(text) = std::fs::read_to_string(mark) else {
            return true;
        };
        let Ok(pid) = text.trim().parse() else {
            return true;
        };
        command_line_of(pid).is_some_and(|words| self.is_named_in(&words))
    }

    fn is_named_in(&self, command_line: &[String]) -> bool {
        let program = |word: &String| Path::new(word).file_name().map(std::ffi::OsStr::to_owned);
        let own = self.file.command.first().and_then(program);
        own.is_some() && command_line.iter().any(|word| program(word) == own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::catalog::provider_from;

    #[test]
    fn a_mark_is_stale_unless_the_agent_itself_runs_under_its_pid() {
        let root = tempfile::tempdir().unwrap();
        let file = format!(
            "display = \"Sleeper\"\ncommand = [\"sleep\"]\n[session]\nin_use = [\"{}/{{session}}/inuse.*\"]\n",
            root.path().display()
        );
        let provider = provider_from("sleeper", Path::new("sleeper.toml"), "", &file).unwrap();
        let mut sleeper = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        // It is started before its command line is there.
        let pid = i32::try_from(sleeper.id()).unwrap();
        while command_line_of(pid).is_none() {
            std::thread::yield_now();
        }
        let session = root.path().join("one");
        std::fs::create_dir(&session).unwrap();
        let mark = |name: &str, text: String| {
            let path = session.join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let own = std::process::id().to_string();
        mark("inuse.running", format!("{}\n", sleeper.id()));
        mark("inuse.not-a-pid", "soon".to_owned());
        let reused = mark("inuse.reused", own.clone());
        mark("other", own);
        assert_eq!(provider.stale_marks("one"), std::slice::from_ref(&reused));
        assert_eq!(provider.stale_marks("two"), [] as [PathBuf; 0]);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        let ended = session.join("inuse.running");
        assert_eq!(provider.stale_marks("one"), [reused, ended]);
    }
}
