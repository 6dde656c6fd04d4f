//! The session file: append-only JSON lines, one entry a line,
//! `{"timestamp","type","content","metadata"}`.
//!
//! | type | content | metadata |
//! |---|---|---|
//! | `user` | the prompt, exactly; written before anything is done about it | `turn` |
//! | `assistant` | one block of the answer; a streamed one when it ends or is interrupted | `turn` |
//! | `tool` | output, choice or outcome | `tool` (`Bash`, `Write`, `question`, `todo`) and its details; `todo` carries the whole list as `todos` |
//! | `system` | text of the event, if any | `event`: `turn_end` (with `turn`, `outcome`, `seconds`), `queued`, `allow`, `title` |

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::model::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Speaker {
    User,
    Assistant,
    Tool,
    System,
}

/// One line of the file, without its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SessionEntry {
    #[serde(rename = "type")]
    pub speaker: Speaker,
    pub content: String,
    #[serde(default)]
    pub metadata: Value,
}

#[derive(Serialize)]
struct Stamped<'e> {
    timestamp: Timestamp,
    #[serde(flatten)]
    entry: &'e SessionEntry,
}

impl SessionEntry {
    pub(super) fn user(turn: usize, prompt: &str) -> Self {
        Self::new(Speaker::User, prompt, json!({ "turn": turn }))
    }

    pub(super) fn assistant(turn: usize, text: &str) -> Self {
        Self::new(Speaker::Assistant, text, json!({ "turn": turn }))
    }

    /// The use of a tool; `details` has its name as `tool`.
    pub(super) fn tool(content: &str, details: Value) -> Self {
        Self::new(Speaker::Tool, content, details)
    }

    /// An event of the session; `details` has its name as `event`.
    pub(super) fn system(content: &str, details: Value) -> Self {
        Self::new(Speaker::System, content, details)
    }

    /// The event of a system entry.
    pub(super) fn event(&self) -> Option<&str> {
        self.metadata.get("event")?.as_str()
    }

    fn new(speaker: Speaker, content: &str, metadata: Value) -> Self {
        Self {
            speaker,
            content: content.to_owned(),
            metadata,
        }
    }
}

/// The file of one session. It is created with the first entry, as with real agents.
#[derive(Debug, Clone)]
pub(super) struct SessionFile {
    path: PathBuf,
}

impl SessionFile {
    pub(super) fn new(directory: &Path, id: Uuid) -> Self {
        Self {
            path: directory.join(format!("{id}.jsonl")),
        }
    }

    /// Every entry that can be read. Damaged and incomplete lines are skipped.
    pub(super) fn load(&self) -> std::io::Result<Vec<SessionEntry>> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        for line in BufReader::new(file).split(b'\n') {
            entries.extend(serde_json::from_slice::<SessionEntry>(&line?).ok());
        }
        Ok(entries)
    }

    /// Appends one entry with a single write. An incomplete last line is ended first, so that it does not
    /// damage the new one.
    pub(super) fn append(&self, entry: &SessionEntry) -> std::io::Result<()> {
        if let Some(directory) = self.path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)?;
        }
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .mode(0o600)
            .open(&self.path)?;
        let mut line = Vec::new();
        if is_torn(&mut file)? {
            line.push(b'\n');
        }
        let timestamp = Timestamp::new(chrono::Utc::now());
        serde_json::to_writer(&mut line, &Stamped { timestamp, entry })?;
        line.push(b'\n');
        file.write_all(&line)
    }
}

fn is_torn(file: &mut File) -> std::io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != [b'\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_in(directory: &Path) -> SessionFile {
        SessionFile::new(&directory.join("deep/er"), Uuid::nil())
    }

    #[test]
    fn entries_come_back_exactly() {
        let home = tempfile::tempdir().unwrap();
        let file = file_in(home.path());
        assert_eq!(file.load().unwrap(), []);
        let prompt = "tab\t \"quotes\" \\ \u{1b}[31m 日本 🙂\r\nnul\0 end\n";
        let entries = [
            SessionEntry::user(1, prompt),
            SessionEntry::assistant(1, ""),
            SessionEntry::system("x", json!({"event": "allow"})),
        ];
        for entry in &entries {
            file.append(entry).unwrap();
        }
        assert_eq!(file.load().unwrap(), entries);
        assert_eq!(entries[2].event(), Some("allow"));
    }

    #[test]
    fn a_tail_torn_at_any_byte_costs_only_its_own_line() {
        let home = tempfile::tempdir().unwrap();
        let file = file_in(home.path());
        file.append(&SessionEntry::user(1, "first")).unwrap();
        let whole = std::fs::metadata(&file.path).unwrap().len();
        file.append(&SessionEntry::user(2, "sécond")).unwrap();
        let bytes = std::fs::read(&file.path).unwrap();
        for length in usize::try_from(whole).unwrap()..bytes.len() {
            std::fs::write(&file.path, &bytes[..length]).unwrap();
            file.append(&SessionEntry::user(3, "third")).unwrap();
            let prompts: Vec<_> = file
                .load()
                .unwrap()
                .into_iter()
                .map(|e| e.content)
                .collect();
            // Complete except for its line end, the second line can still be read.
            if length == bytes.len() - 1 {
                assert_eq!(prompts, ["first", "sécond", "third"]);
            } else {
                assert_eq!(prompts, ["first", "third"], "torn at {length}");
            }
        }
    }

    #[test]
    fn the_file_is_private_and_its_lines_have_the_agreed_names() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let file = file_in(home.path());
        file.append(&SessionEntry::user(1, "hi")).unwrap();
        let mode = std::fs::metadata(&file.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let line: Value =
            serde_json::from_str(std::fs::read_to_string(&file.path).unwrap().trim()).unwrap();
        assert_eq!(line["type"], "user");
        assert_eq!(line["content"], "hi");
        assert_eq!(line["metadata"]["turn"], 1);
        assert!(Timestamp::parse(line["timestamp"].as_str().unwrap()).is_some());
    }
}
