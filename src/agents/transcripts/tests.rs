use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde::{Deserialize, Serialize};

use super::*;
use crate::agents::TranscriptFormat;
use crate::conversation::{Entry, last_action, pending_tasks};
use crate::model::Timestamp;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Expected {
    skipped: u64,
    last_action: Option<String>,
    pending_tasks: Vec<String>,
    entries: Vec<Entry>,
}

fn now() -> Timestamp {
    Timestamp::parse("2026-11-15T00:00:00Z").unwrap()
}

fn fixtures() -> Vec<(TranscriptFormat, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/transcripts");
    let formats = [
        ("claude", TranscriptFormat::Claude),
        ("codex", TranscriptFormat::Codex),
        ("demo", TranscriptFormat::Demo),
        ("gemini", TranscriptFormat::Gemini),
    ];
    let mut found = Vec::new();
    for (agent, format) in formats {
        for entry in std::fs::read_dir(root.join(agent)).unwrap() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
            {
                found.push((format, path));
            }
        }
    }
    assert!(found.len() >= 9, "the fixtures are missing");
    found
}

fn read(
    format: TranscriptFormat,
    path: &Path,
    bookmark: Option<Bookmark>,
) -> (Vec<Entry>, u64, Option<Bookmark>) {
    let path = path.to_owned();
    let kept = bookmark.clone();
    let (mut reading, _) = TranscriptFile { format, path }
        .read_on(bookmark, now())
        .unwrap();
    let (mut entries, mut skipped, mut last) = (Vec::new(), 0, kept);
    while let Some(batch) = reading.next().unwrap() {
        entries.extend(batch.entries);
        skipped += batch.skipped;
        last = Some(batch.bookmark);
    }
    (entries, skipped, last)
}

/// `BIV_BLESS=1 cargo test` writes what is read now as what is expected; read it before you keep it.
#[test]
fn recorded_transcripts_are_read_as_expected() {
    for (format, path) in fixtures() {
        let (entries, skipped, _) = read(format, &path, None);
        let found = Expected {
            skipped,
            last_action: last_action(&entries),
            pending_tasks: pending_tasks(&entries),
            entries,
        };
        let file = path.with_extension("expected.json");
        if std::env::var_os("BIV_BLESS").is_some() {
            std::fs::write(&file, serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap();
        let expected: Expected = serde_json::from_str(&expected).unwrap();
        assert_eq!(found, expected, "{}", path.display());
    }
}

#[test]
fn reading_in_two_pieces_is_reading_the_whole_wherever_it_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("growing.jsonl");
    for (format, path) in fixtures() {
        let whole = std::fs::read(&path).unwrap();
        let (expected, skipped, _) = read(format, &path, None);
        // Every byte of the small ones; the others would take a minute.
        let step = if whole.len() < 2000 { 1 } else { 61 };
        for cut in (0..=whole.len()).step_by(step) {
            std::fs::write(&file, &whole[..cut]).unwrap();
            let (mut entries, mut passed, bookmark) = read(format, &file, None);
            std::fs::write(&file, &whole).unwrap();
            let (rest, more, _) = read(format, &file, bookmark);
            entries.extend(rest);
            passed += more;
            assert_eq!(
                (&entries, passed),
                (&expected, skipped),
                "{} cut at {cut}",
                path.display()
            );
        }
    }
}

#[test]
fn a_file_that_was_replaced_or_cut_is_read_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let file = TranscriptFile {
        format: TranscriptFormat::Demo,
        path: path.clone(),
    };
    std::fs::write(
        &path,
        "{\"type\":\"user\",\"content\":\"one\"}\n{\"type\":\"user\",\"content\":\"two\"}\n",
    )
    .unwrap();
    let bookmark = read(TranscriptFormat::Demo, &path, None).2.unwrap();
    let continuity = |bookmark: &Bookmark| {
        file.clone()
            .read_on(Some(bookmark.clone()), now())
            .unwrap()
            .1
    };
    assert_eq!(continuity(&bookmark), Continuity::Continues);
    assert!(!file.has_more(&bookmark));
    std::fs::write(&path, "{\"type\":\"user\",\"content\":\"one\"}\n").unwrap();
    assert_eq!(continuity(&bookmark), Continuity::Anew);
    std::fs::write(&path, "x".repeat(500)).unwrap();
    assert_eq!(continuity(&bookmark), Continuity::Anew);
    assert!(file.has_more(&bookmark));
}
