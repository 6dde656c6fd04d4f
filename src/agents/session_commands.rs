//! A session that the agent itself prints and reads, by commands that its file names: where its sessions are no
//! files of their own.
//!
//! Measured with OpenCode 1.18.33: what it prints is the same wherever it is asked, and a session that it reads
//! belongs to the directory that it was started in. Messages that it has already are left as they are.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::carried::SessionFile;
use super::file::SessionCommands;
use super::{Host, Provider};
use crate::process::Command;

/// OpenCode took 8 s to read a session on a busy machine.
const DEADLINE: Duration = Duration::from_secs(180);

/// A larger session does not travel.
const LARGEST: u64 = 256 << 20;

/// The name of what was printed, among the files of a session.
const PRINTED: &str = "printed.json";

impl Provider {
    /// Lets the agent print a session. None where it has no commands for that.
    pub(crate) fn printed_session(
        &self,
        reference: &str,
        directory: &Path,
        host: &Host,
    ) -> Option<Result<SessionFile, String>> {
        let commands = self.session_commands()?;
        let printed = || {
            let bytes = self
                .own_command(&commands.print, ("{session}", reference), directory, host)?
                .at_most(LARGEST)
                .run()
                .map_err(|failure| failure.to_string())?;
            parsed(&bytes, commands, reference)?;
            Ok(SessionFile {
                name: PRINTED.to_owned(),
                bytes,
            })
        };
        Some(printed())
    }

    /// Whether the agent may have a session of this id already: it has none if it cannot print it.
    pub(crate) fn may_have_session(&self, reference: &str, directory: &Path, host: &Host) -> bool {
        let Some(commands) = self.session_commands() else {
            return false;
        };
        let asked = self
            .own_command(&commands.print, ("{session}", reference), directory, host)
            .map(|command| command.at_most(LARGEST).output());
        !matches!(asked, Ok(Ok(output)) if !output.success())
    }

    /// Lets the agent read a session that was printed elsewhere, for this directory.
    pub(crate) fn read_session(
        &self,
        files: &[SessionFile],
        reference: &str,
        directory: &Path,
        host: &Host,
    ) -> Result<(), String> {
        let (Some(commands), [file]) = (self.session_commands(), files) else {
            return Err("it is not one that was printed".to_owned());
        };
        let mut session = parsed(&file.bytes, commands, reference)?;
        for pointer in &commands.without {
            remove(&mut session, pointer);
        }
        let text = session.to_string();
        let unwritable = |error: std::io::Error| error.to_string();
        let mut file = tempfile::Builder::new()
            .prefix("session-")
            .suffix(".json")
            .tempfile_in(&host.state)
            .map_err(unwritable)?;
        file.write_all(text.as_bytes())
            .and_then(|()| file.flush())
            .map_err(unwritable)?;
        let path = file.path().to_str().unwrap_or_default();
        self.own_command(&commands.read, ("{file}", path), directory, host)?
            .run()
            .map(drop)
            .map_err(|failure| failure.to_string())
    }

    fn own_command(
        &self,
        words: &[String],
        (placeholder, value): (&str, &str),
        directory: &Path,
        host: &Host,
    ) -> Result<Command, String> {
        // It may come from elsewhere, and must not become an option.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if placeholder == "{session}" && (value.starts_with('-') || !value.bytes().all(plain)) {
            return Err("its id is malformed".to_owned());
        }
        let program = self
            .installed(host)
            .ok_or_else(|| format!("{} is not installed", self.display()))?;
        let words = words.iter().map(|word| word.replace(placeholder, value));
        Ok(Command::new(program)
            .args(words)
            .directory(directory)
            .deadline(DEADLINE))
    }
}

/// A printed session, if it is the one of this id.
fn parsed(bytes: &[u8], commands: &SessionCommands, reference: &str) -> Result<Value, String> {
    let session: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    match session.pointer(&commands.id).and_then(Value::as_str) {
        Some(id) if id == reference => Ok(session),
        Some(_) => Err("it is of another session".to_owned()),
        None => Err("it names no session".to_owned()),
    }
}

fn remove(value: &mut Value, pointer: &str) {
    if let Some((above, last)) = pointer.rsplit_once('/')
        && let Some(Value::Object(object)) = value.pointer_mut(above)
    {
        object.remove(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Catalog;

    #[test]
    fn a_session_of_another_id_and_what_it_would_allow_do_not_come_along() {
        let catalog = Catalog::built_in();
        let provider = catalog.require("opencode").unwrap();
        let commands = provider.session_commands().unwrap();
        let text = br#"{"info":{"id":"ses_1","permission":[{"permission":"bash","pattern":"*","action":"allow"}]},"messages":[]}"#;
        let mut session = parsed(text, commands, "ses_1").unwrap();
        for pointer in &commands.without {
            remove(&mut session, pointer);
        }
        assert_eq!(
            session.to_string(),
            r#"{"info":{"id":"ses_1"},"messages":[]}"#
        );
        for (text, reference) in [
            (&text[..], "ses_2"),
            (b"{\"info\":{}}", "ses_1"),
            (b"{", "ses_1"),
        ] {
            assert!(parsed(text, commands, reference).is_err(), "{reference}");
        }
    }
}
