use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde::{Deserialize, Serialize};

use super::reading::TranscriptReading;
use super::*;
use crate::agents::TranscriptFormat;
use crate::conversation::{ConversationEntry, last_action, pending_tasks};
use crate::model::Timestamp;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Expected {
    skipped: u64,
    last_action: Option<String>,
    pending_tasks: Vec<String>,
    entries: Vec<ConversationEntry>,
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
) -> (Vec<ConversationEntry>, u64, Option<Bookmark>) {
    let path = path.to_owned();
    let kept = bookmark.clone();
    let form = TranscriptForm::JsonLines(format);
    let (reading, _) = TranscriptFile { path, form }
        .read_on(bookmark, now())
        .unwrap();
    read_through(reading, kept)
}

fn read_through(
    mut reading: TranscriptReading,
    kept: Option<Bookmark>,
) -> (Vec<ConversationEntry>, u64, Option<Bookmark>) {
    let (mut entries, mut skipped, mut last) = (Vec::new(), 0, kept);
    while let Some(batch) = reading.next().unwrap() {
        entries.extend(batch.entries);
        skipped += batch.skipped;
        last = Some(batch.bookmark);
    }
    (entries, skipped, last)
}

/// `BIV_BLESS=1 cargo test` stores the current result as the expected one; check it before you keep it.
#[track_caller]
fn is_as_expected(path: &Path, entries: Vec<ConversationEntry>, skipped: u64) {
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

#[test]
fn recorded_transcripts_are_read_as_expected() {
    for (format, path) in fixtures() {
        let (entries, skipped, _) = read(format, &path, None);
        is_as_expected(&path, entries, skipped);
    }
}

fn fixture(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/transcripts");
    root.join(path)
}

/// A database like OpenCode's, from the first statements of the recorded one.
fn database(path: &Path, statements: usize) -> TranscriptFile {
    drop(std::fs::remove_file(path));
    let sql = std::fs::read_to_string(fixture("opencode/session.sql")).unwrap();
    let some: Vec<&str> = sql.lines().take(statements).collect();
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch(&some.join("\n")).unwrap();
    let session = "ses_e216f5514ffemDeVdG3SG7R1O4".to_owned();
    TranscriptFile {
        path: path.to_owned(),
        form: TranscriptForm::Database { session },
    }
}

fn read_file(
    file: &TranscriptFile,
    bookmark: Option<Bookmark>,
    at: Timestamp,
) -> (Vec<ConversationEntry>, u64, Option<Bookmark>) {
    let (reading, _) = file.clone().read_on(bookmark.clone(), at).unwrap();
    read_through(reading, bookmark)
}

#[test]
fn a_session_of_a_database_is_read_as_it_grows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    let whole = std::fs::read_to_string(fixture("opencode/session.sql")).unwrap();
    let whole = whole.lines().count();
    let (expected, skipped, bookmark) = read_file(&database(&path, whole), None, now());
    assert!(!database(&path, whole).has_more(&bookmark.unwrap()));
    is_as_expected(&fixture("opencode/session.sql"), expected.clone(), skipped);
    let sql = std::fs::read_to_string(fixture("opencode/session.sql")).unwrap();
    for (statements, next) in sql.lines().enumerate() {
        // The recorded messages are in their final form; only between messages the database looked like
        // this.
        if !next.starts_with("INSERT INTO message ") {
            continue;
        }
        let some = database(&path, statements);
        let (mut entries, _, bookmark) = read_file(&some, None, now());
        let all = database(&path, whole);
        assert!(
            bookmark
                .as_ref()
                .is_none_or(|bookmark| all.has_more(bookmark))
        );
        entries.extend(read_file(&all, bookmark, now()).0);
        assert_eq!(entries, expected, "after {statements} statements");
    }
}

#[test]
fn what_is_under_way_in_a_database_is_taken_when_it_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let file = database(&dir.path().join("opencode.db"), 6);
    let connection = rusqlite::Connection::open(&file.path).unwrap();
    let say = |sql: &str| {
        let session = "ses_e216f5514ffemDeVdG3SG7R1O4";
        connection
            .execute_batch(&sql.replace("SES", session))
            .unwrap();
    };
    let contents = |bookmark: &mut Option<Bookmark>| -> Vec<String> {
        let (entries, _, read) = read_file(&file, bookmark.clone(), now());
        *bookmark = read;
        entries.into_iter().map(|entry| entry.content).collect()
    };
    let mut bookmark = None;
    say(
        r#"INSERT INTO message VALUES ('m1','SES',1,1,'{"role":"user"}'), ('m2','SES',2,2,'{"role":"assistant","time":{}}');
           INSERT INTO part VALUES ('p1','m1','SES',1,1,'{"type":"text","text":"go"}'), ('p2','m2','SES',2,2,'{"type":"text","text":"I w","time":{"start":2}}');"#,
    );
    assert_eq!(contents(&mut bookmark), ["go"]);
    // A queued prompt comes after the current answer, whenever it was typed.
    say(
        r#"INSERT INTO message VALUES ('m3','SES',3,3,'{"role":"user"}');
           INSERT INTO part VALUES ('p3','m3','SES',3,3,'{"type":"text","text":"and then"}');"#,
    );
    assert_eq!(contents(&mut bookmark), [""; 0]);
    say(
        r#"UPDATE part SET data='{"type":"text","text":"I will","time":{"start":2,"end":4}}' WHERE id='p2'"#,
    );
    assert_eq!(contents(&mut bookmark), ["I will"]);
    say(
        r#"INSERT INTO part VALUES ('p4','m2','SES',4,4,'{"type":"tool","tool":"bash","callID":"c","state":{"status":"running","input":{"command":"ls"}}}')"#,
    );
    assert_eq!(contents(&mut bookmark), [""; 0]);
    // Killed: it has no end, and the agent continues with another message.
    say(
        r#"INSERT INTO message VALUES ('m4','SES',5,5,'{"role":"assistant","time":{"completed":6}}');
           INSERT INTO part VALUES ('p5','m4','SES',5,5,'{"type":"text","text":"done","time":{"start":5}}'), ('p6','m4','SES',6,6,'torn');"#,
    );
    assert_eq!(contents(&mut bookmark), ["ls", "and then", "done"]);
    assert_eq!(contents(&mut bookmark), [""; 0]);
}

#[test]
fn what_an_agent_waits_for_is_in_its_database() {
    let dir = tempfile::tempdir().unwrap();
    let file = database(&dir.path().join("opencode.db"), 6);
    let connection = rusqlite::Connection::open(&file.path).unwrap();
    let session = "ses_e216f5514ffemDeVdG3SG7R1O4";
    let say = |sql: &str| {
        let sql = sql.replace("SES", session);
        connection.execute_batch(&sql).unwrap();
    };
    let open = |directory: &str| {
        let database = Database::open(&file.path).unwrap();
        database.open_calls(directory).unwrap()
    };
    say("INSERT INTO session VALUES ('SES', NULL, '/w', 1, 1)");
    assert_eq!(open("/w"), [""; 0]);
    say(
        r#"INSERT INTO message VALUES ('m1','SES',9000000000001,1,'{"role":"assistant"}');
           INSERT INTO part VALUES ('p1','m1','SES',1,1,'{"type":"tool","tool":"bash","state":{"status":"running","input":{"command":"old"}}}');
           INSERT INTO message VALUES ('m2','SES',9000000000002,1,'{"role":"assistant"}');
           INSERT INTO part VALUES ('p2','m2','SES',2,2,'{"type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"done"}}}'), ('p3','m2','SES',2,2,'{"type":"tool","tool":"bash","state":{"status":"running","input":{"command":"ls\u001b[1G"}}}'), ('p4','m2','SES',2,2,'{"type":"tool","tool":"write","state":{"status":"pending","input":{"filePath":"/w/a"}}}');
           INSERT INTO message VALUES ('m3','SES',9000000000003,1,'{"role":"user"}'), ('m4','SES',9000000000004,1,'torn');"#,
    );
    assert_eq!(open("/w"), ["ls\u{1b}[1G", "/w/a"]);
    assert_eq!(open("/elsewhere"), [""; 0]);
}

/// The history of a worktree without recent additions.
fn chats(path: &Path, since: &str) -> TranscriptFile {
    let since = Timestamp::parse_local(since).unwrap();
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified(since.system()).unwrap();
    let typed = fixture("aider/session.input");
    TranscriptFile {
        path: path.to_owned(),
        form: TranscriptForm::Chats { typed, since },
    }
}

#[test]
fn the_chats_of_a_worktree_are_read_as_they_grow() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.md");
    let recorded = fixture("aider/session.md");
    let whole = std::fs::read(&recorded).unwrap();
    let began = "2026-11-15 09:33:09";
    let later = Timestamp::parse_local("2026-11-15 10:00:00").unwrap();
    std::fs::write(&path, &whole).unwrap();
    let (expected, skipped, _) = read_file(&chats(&path, began), None, later);
    // As if this were the time zone in which it was recorded.
    let recorded_in = |entry: &ConversationEntry| ConversationEntry {
        timestamp: Timestamp::parse(&(entry.timestamp.local_second().replace(' ', "T") + "Z"))
            .unwrap(),
        ..entry.clone()
    };
    let entries = expected.iter().map(recorded_in).collect();
    is_as_expected(&recorded, entries, skipped);
    for cut in 0..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        // It is being written: the last block may continue.
        let file = chats(&path, began);
        let (mut entries, _, bookmark) = read_file(&file, None, file_time(began));
        std::fs::write(&path, &whole).unwrap();
        entries.extend(read_file(&chats(&path, began), bookmark, later).0);
        assert_eq!(entries, expected, "cut at {cut}");
    }
    std::fs::write(&path, &whole).unwrap();
    let before = read_file(&chats(&path, "2026-11-15 09:33:10"), None, later);
    assert_eq!(before.0, [], "another's, from before");
}

fn file_time(local: &str) -> Timestamp {
    Timestamp::parse_local(local).unwrap()
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
        path: path.clone(),
        form: TranscriptForm::JsonLines(TranscriptFormat::Demo),
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
