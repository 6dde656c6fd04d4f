//! Transcripts of JSON lines that the provider file describes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::value::{call, result};
use crate::agents::described::{LineKind, LineRule, LineRules};
use crate::agents::json_path::JsonPath;
use crate::conversation::{ConversationEntry, Speaker};
use crate::model::{Activity, Timestamp};

/// How many bytes at the end of a transcript are searched for an activity.
const TAIL: u64 = 256 * 1024;
/// How many bytes at its beginning are searched for a first message.
const BEGINNING: u64 = 8 * 1024 * 1024;

pub(super) fn entries(
    rules: &LineRules,
    line: &Value,
    at: Timestamp,
    found: &mut Vec<ConversationEntry>,
) {
    for rule in rules.iter() {
        let Some(kind) = rule.is else { continue };
        for part in rule.parts(line) {
            found.extend(entry(rule, kind, part, at));
        }
    }
}

fn entry(
    rule: &LineRule,
    kind: LineKind,
    part: &Value,
    at: Timestamp,
) -> Option<ConversationEntry> {
    let read = |path: &Option<JsonPath>| path.as_ref().and_then(|path| path.text(part));
    let said = |speaker: Speaker| {
        let text = read(&rule.text).filter(|text| !text.trim().is_empty())?;
        let own = !rule.not.iter().any(|pattern| pattern.is_match(&text));
        own.then(|| ConversationEntry::new(at, speaker, text))
    };
    match kind {
        LineKind::User => said(Speaker::User),
        LineKind::Assistant => said(Speaker::Assistant),
        LineKind::System => {
            let failed = rule.has_failed(part).then_some(true);
            Some(said(Speaker::System)?.with_some("failed", failed))
        }
        LineKind::Call => {
            let input = rule.input.as_ref().and_then(|path| path.first(part));
            // Some agents keep the arguments as they came from the model: as text.
            let parsed = input
                .and_then(Value::as_str)
                .and_then(|text| serde_json::from_str(text).ok());
            let input = parsed.or_else(|| input.cloned()).unwrap_or_default();
            Some(call(
                at,
                &read(&rule.tool)?,
                read(&rule.id).as_deref(),
                &input,
            ))
        }
        LineKind::Result => {
            let output = read(&rule.text).unwrap_or_default();
            let id = read(&rule.id);
            // A rule with `each` meets elements of other kinds.
            (id.is_some() || !output.is_empty())
                .then(|| result(at, id.as_deref(), &output, rule.has_failed(part)))
        }
    }
}

/// Whether the user has said something in this conversation.
pub(super) fn has_a_turn(rules: &LineRules, path: &Path) -> std::io::Result<bool> {
    let file = BufReader::new(File::open(path)?.take(BEGINNING));
    for line in file.split(b'\n') {
        let Ok(line) = serde_json::from_slice::<Value>(&line?) else {
            continue;
        };
        let asks = |rule: &LineRule| rule.is == Some(LineKind::User);
        let at = Timestamp::new(UNIX_EPOCH.into());
        let said = rules.iter().filter(|rule| asks(rule)).any(|rule| {
            let mut parts = rule.parts(&line).into_iter();
            parts.any(|part| entry(rule, LineKind::User, part, at).is_some())
        });
        if said {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What the calls without a result are about: the commands and paths for which the agent may be waiting.
pub(super) fn open_calls(rules: &LineRules, path: &Path) -> std::io::Result<Vec<String>> {
    let mut open: Vec<(Option<String>, String)> = Vec::new();
    let at = Timestamp::new(UNIX_EPOCH.into());
    for line in tail(path)? {
        let mut found = Vec::new();
        entries(rules, &line, at, &mut found);
        for entry in found {
            let id = entry.text("call").map(str::to_owned);
            match (entry.speaker, entry.text("phase")) {
                (Speaker::Tool, Some("call")) => {
                    let subject = entry.text("subject").unwrap_or_default().to_owned();
                    open.push((id, subject));
                }
                (Speaker::Tool, _) => open.retain(|(known, _)| *known != id),
                // A new prompt: what was open before has been given up.
                (Speaker::User, _) => open.clear(),
                _ => {}
            }
        }
    }
    Ok(open.into_iter().map(|(_, subject)| subject).collect())
}

/// The complete lines at the end of a transcript.
fn tail(path: &Path) -> std::io::Result<Vec<Value>> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    // The last one is not complete, nor is the first unless the file begins with it.
    lines.pop();
    if start > 0 && !lines.is_empty() {
        lines.remove(0);
    }
    let parsed = lines.into_iter();
    Ok(parsed
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

/// What the agent does since its last line that tells it, its own name for that, and since when.
pub(super) fn activity(
    rules: &LineRules,
    time: Option<&JsonPath>,
    path: &Path,
) -> std::io::Result<Option<(Activity, String, Timestamp)>> {
    let written = std::fs::metadata(path)?.modified()?;
    for line in tail(path)?.iter().rev() {
        let told = rules.iter().find_map(|rule| {
            let activity = rule.activity.filter(|_| !rule.parts(line).is_empty())?;
            let name = rule.name.as_ref().and_then(|path| path.text(line));
            Some((activity, name.unwrap_or_else(|| activity.name().to_owned())))
        });
        if let Some((activity, name)) = told {
            let at = time.and_then(|path| path.time(line));
            let at = at.unwrap_or_else(|| Timestamp::new(written.into()));
            return Ok(Some((activity, name, at)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
lines = [
    { when = { type = "user" }, is = "user", text = "parts.*.text", not = ['^<note>'], activity = "busy", name = "type" },
    { when = { type = "model" }, is = "assistant", text = "parts.*.text" },
    { when = { type = "model" }, each = "parts", is = "call", tool = "call.name", id = "call.id", input = "call.args" },
    { when = { type = "tool" }, is = "result", id = "id", text = "out", failed = { ok = false } },
    { when = { type = ["end", "stopped"] }, activity = "idle" },
]
"#;

    #[derive(serde::Deserialize)]
    struct Held {
        lines: LineRules,
    }

    fn rules() -> LineRules {
        toml::from_str::<Held>(RULES).unwrap().lines
    }

    const LINES: [&str; 5] = [
        r#"{"type":"user","parts":[{"text":"<note> x"}],"at":1}"#,
        r#"{"type":"user","parts":[{"text":"hello"}],"at":2}"#,
        r#"{"type":"model","parts":[{"text":"Let me see."},{"call":{"name":"bash","id":"c1","args":"{\"command\":\"ls\"}"}}],"at":3}"#,
        r#"{"type":"tool","id":"c1","out":"no","ok":false,"at":4}"#,
        r#"{"type":"stopped","at":5}"#,
    ];

    #[test]
    fn lines_become_entries() {
        let mut found = Vec::new();
        let at = Timestamp::from_epoch(1).unwrap();
        for line in LINES {
            let line = serde_json::from_str(line).unwrap();
            entries(&rules(), &line, at, &mut found);
        }
        let told: Vec<(Speaker, &str)> = found
            .iter()
            .map(|entry| (entry.speaker, entry.content.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (Speaker::User, "hello"),
                (Speaker::Assistant, "Let me see."),
                (Speaker::Tool, "ls"),
                (Speaker::Tool, "no"),
            ]
        );
        assert_eq!(found[2].text("tool"), Some("bash"));
        assert_eq!(found[3].text("call"), Some("c1"));
    }

    /// The form of the lines is that of Copilot's `events.jsonl`; nothing else follows a refusal that ends the turn.
    #[test]
    fn a_refused_call_of_copilot_has_failed() {
        let catalog = crate::agents::Catalog::built_in();
        let rules = catalog
            .require("copilot")
            .unwrap()
            .transcript()
            .lines
            .clone();
        let at = Timestamp::from_epoch(1).unwrap();
        let permitted = |kind: &str| {
            let line = serde_json::json!({
                "type": "permission.completed",
                "data": { "requestId": "r", "toolCallId": "c1", "result": { "kind": kind } },
            });
            let mut found = Vec::new();
            entries(&rules, &line, at, &mut found);
            found
        };
        assert!(permitted("approved").is_empty());
        for kind in ["denied-interactively-by-user", "cancelled"] {
            let found = permitted(kind);
            assert_eq!(found.len(), 1, "{kind}");
            assert!(found[0].has_failed(), "{kind}");
            assert_eq!(found[0].text("call"), Some("c1"));
            assert_eq!(found[0].content, kind);
        }
    }

    #[test]
    fn the_last_line_that_tells_an_activity_counts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.jsonl");
        let time = JsonPath::try_from("at".to_owned()).unwrap();
        let of = |lines: usize, more: &str| {
            let text: String = LINES
                .iter()
                .take(lines)
                .map(|line| format!("{line}\n"))
                .collect();
            std::fs::write(&file, text + more).unwrap();
            let told = activity(&rules(), Some(&time), &file).unwrap();
            told.map(|(activity, name, at)| (activity, name, at.seconds_since_epoch()))
        };
        assert_eq!(of(0, ""), None);
        assert_eq!(of(4, ""), Some((Activity::Busy, "user".to_owned(), 2)));
        assert_eq!(of(5, ""), Some((Activity::Idle, "idle".to_owned(), 5)));
        // Half a line tells nothing yet.
        let half = r#"{"type":"user","parts""#;
        assert_eq!(of(5, half).unwrap().0, Activity::Idle);
        std::fs::write(&file, format!("{}\n", LINES[0])).unwrap();
        std::fs::write(&file, format!("{}\n", LINES[..3].join("\n"))).unwrap();
        assert_eq!(open_calls(&rules(), &file).unwrap(), ["ls"]);
        std::fs::write(&file, format!("{}\n", LINES[..4].join("\n"))).unwrap();
        assert!(open_calls(&rules(), &file).unwrap().is_empty());
        std::fs::write(&file, format!("{}\n", LINES[0])).unwrap();
        assert!(!has_a_turn(&rules(), &file).unwrap());
        std::fs::write(&file, LINES.join("\n")).unwrap();
        assert!(has_a_turn(&rules(), &file).unwrap());
    }
}
