//! The calls of tools in a file of JSON lines that have no result yet.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::place::resolved_directory;
use super::value::{is_true, text};
use crate::agents::TranscriptFormat;

/// A call that waits for the user is within so many bytes of the end.
const END: u64 = 1024 * 1024;

/// What the transcript has while an agent waits for an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PendingRequest {
    /// Commands and paths of all open requests.
    pub subjects: Vec<String>,
    /// The same of requests that are about another directory than the agent's own.
    pub elsewhere: Vec<String>,
    /// Text that was printed with its control characters, and so can change the whole screen.
    pub printed: String,
}

impl PendingRequest {
    /// Whether the transcript tells nothing about any request.
    pub(crate) fn is_silent(&self) -> bool {
        self.subjects.is_empty() && self.elsewhere.is_empty()
    }
}

/// A call without a result.
#[derive(Debug)]
struct OpenCall {
    id: String,
    subjects: Vec<String>,
    /// Where the command would run, if the call says so.
    directory: Option<String>,
}

/// What an agent waits for, by the end of its transcript.
pub(super) fn pending(
    format: TranscriptFormat,
    transcript: &Path,
    directory: &Path,
) -> std::io::Result<PendingRequest> {
    let mut file = File::open(transcript)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END)))?;
    let mut bytes = Vec::new();
    file.take(END).read_to_end(&mut bytes)?;
    let mut open = Vec::new();
    // The first line may be cut off, the last one unfinished: neither can be parsed.
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        match format {
            TranscriptFormat::Claude => claude(&line, &mut open),
            TranscriptFormat::Codex => codex(&line, &mut open),
            _ => {}
        }
    }
    let here = resolved_directory(directory);
    let mut request = PendingRequest::default();
    for call in open {
        let is_here = call
            .directory
            .is_none_or(|directory| resolved_directory(&here.join(directory)) == here);
        if is_here {
            request.subjects.extend(call.subjects);
        } else {
            request.elsewhere.extend(call.subjects);
        }
    }
    Ok(request)
}

fn claude(line: &Value, open: &mut Vec<OpenCall>) {
    let content = line.pointer("/message/content");
    let blocks = content
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    match text(line, "type") {
        Some("assistant") => {
            for block in blocks {
                if text(block, "type") == Some("tool_use")
                    && let (Some(id), Some(input)) = (text(block, "id"), block.get("input"))
                {
                    let subjects = ["command", "file_path", "notebook_path"].iter();
                    open.push(OpenCall {
                        id: id.to_owned(),
                        subjects: subjects
                            .filter_map(|key| text(input, key).map(str::to_owned))
                            .collect(),
                        directory: None,
                    });
                }
            }
        }
        Some("user") if !is_true(line, "isMeta") => {
            let results: Vec<&str> = blocks
                .iter()
                .filter_map(|block| text(block, "tool_use_id"))
                .collect();
            if results.is_empty() {
                // A new prompt: what was open before it has ended with its turn.
                open.clear();
            }
            open.retain(|call| !results.contains(&call.id.as_str()));
        }
        _ => {}
    }
}

fn codex(line: &Value, open: &mut Vec<OpenCall>) {
    let Some(payload) = line.get("payload") else {
        return;
    };
    match (text(line, "type"), text(payload, "type")) {
        (Some("response_item"), Some("function_call")) => {
            let arguments = text(payload, "arguments").unwrap_or_default();
            let input: Value = serde_json::from_str(arguments).unwrap_or_default();
            if let Some(id) = text(payload, "call_id") {
                open.push(OpenCall {
                    id: id.to_owned(),
                    subjects: text(&input, "cmd").map(str::to_owned).into_iter().collect(),
                    directory: text(&input, "workdir")
                        .filter(|directory| !directory.is_empty())
                        .map(str::to_owned),
                });
            }
        }
        (Some("response_item"), Some("function_call_output" | "custom_tool_call_output")) => {
            let id = text(payload, "call_id");
            open.retain(|call| Some(call.id.as_str()) != id);
        }
        (Some("event_msg"), Some("task_started" | "task_complete" | "turn_aborted")) => {
            open.clear();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(format: TranscriptFormat, lines: &[Value]) -> PendingRequest {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("transcript.jsonl");
        let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        text.push_str("{\"type\":\"assist");
        std::fs::write(&file, text).unwrap();
        pending(format, &file, Path::new("/w")).unwrap()
    }

    #[test]
    fn claude_waits_for_calls_without_a_result() {
        let call = |id: &str, command: &str| {
            json!({ "type": "assistant", "message": { "content": [
                { "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } },
            ] } })
        };
        let result = |id: &str| {
            json!({ "type": "user", "message": { "content": [
                { "type": "tool_result", "tool_use_id": id, "content": "ok" },
            ] } })
        };
        let prompt = json!({ "type": "user", "message": { "content": "go on" } });
        let subjects = |lines: &[Value]| asked(TranscriptFormat::Claude, lines).subjects;
        let (first, second) = (call("1", "ls a\nls b"), call("2", "make"));
        assert_eq!(subjects(std::slice::from_ref(&first)), ["ls a\nls b"]);
        assert_eq!(
            subjects(&[first.clone(), second.clone()]),
            ["ls a\nls b", "make"]
        );
        assert_eq!(subjects(&[first.clone(), second, result("1")]), ["make"]);
        assert_eq!(subjects(&[first.clone(), prompt.clone()]), [""; 0]);
        assert_eq!(subjects(&[prompt, first, result("1")]), [""; 0]);
    }

    #[test]
    fn codex_waits_for_calls_without_a_result() {
        let item = |payload: Value| json!({ "type": "response_item", "payload": payload });
        let call = |arguments: Value| {
            item(
                json!({ "type": "function_call", "call_id": "1", "name": "exec_command",
                "arguments": arguments.to_string() }),
            )
        };
        let result = item(json!({ "type": "function_call_output", "call_id": "1" }));
        let aborted = json!({ "type": "event_msg", "payload": { "type": "turn_aborted" } });
        let pending = |lines: &[Value]| asked(TranscriptFormat::Codex, lines);
        let make = call(json!({ "cmd": "make test" }));
        assert_eq!(pending(std::slice::from_ref(&make)).subjects, ["make test"]);
        assert_eq!(pending(&[make.clone(), result]).subjects, [""; 0]);
        assert_eq!(pending(&[make, aborted]).subjects, [""; 0]);
        let here = pending(&[call(json!({ "cmd": "make", "workdir": "/w/" }))]);
        assert_eq!((here.subjects.len(), here.elsewhere.len()), (1, 0));
        let there = pending(&[call(json!({ "cmd": "make", "workdir": "/" }))]);
        assert_eq!(
            (there.subjects.len(), there.elsewhere),
            (0, vec!["make".to_owned()])
        );
        assert_eq!(
            pending(&[call(json!({ "command": ["ls"] }))]).subjects,
            [""; 0]
        );
    }
}
