use std::io::Write;
use std::path::PathBuf;

use crate::config::Home;
use crate::conversation::ConversationEntry;
use crate::engine::base::{Core, now};
use crate::model::{
    Base, InstanceId, InstanceRecord, Repository, RestingState, RunId, Timestamp, Title, Worktree,
};
use crate::store::InstanceDir;

const REFERENCE: &str = "3c1f5a80-2b7e-4d0e-9a41-6f0d2c9b7e11";

/// An engine over a home of its own, and an instance of the demo agent that never ran.
struct Camp {
    _directory: tempfile::TempDir,
    core: Core,
    dir: InstanceDir,
    record: InstanceRecord,
}

impl Camp {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().as_os_str().to_owned();
        let home = Home::from_environment(Some(root), directory.path()).unwrap();
        let core = Core::open(home).unwrap();
        core.store.prepare().unwrap();
        let at = now();
        let record = InstanceRecord {
            format: InstanceRecord::FORMAT,
            rev: 0,
            id: InstanceId::random(),
            title: Title::new("x").unwrap(),
            repository: Repository {
                root: PathBuf::from("/nonexistent"),
                common_dir: PathBuf::from("/nonexistent/.git"),
                id: None,
            },
            branch: None,
            base: Base {
                name: "HEAD".to_owned(),
                commit: None,
            },
            worktree: Worktree {
                path: PathBuf::from("/nonexistent/w"),
                adopted: false,
            },
            subdirectory: None,
            agent: "demo".to_owned(),
            command: Vec::new(),
            agent_args: Vec::new(),
            directories: Vec::new(),
            prompt: None,
            state: RestingState::Paused,
            autoyes: false,
            autoyes_until: None,
            idle_timeout_s: None,
            seal: None,
            session_ref: Some(REFERENCE.to_owned()),
            run: RunId::random(),
            place: None,
            pause: None,
            draft: None,
            draft_waits: false,
            vault: None,
            snapshots: 0,
            created_at: at,
            updated_at: at,
            last_active_at: at,
            paused_at: None,
            resumed_at: None,
            killed_at: None,
            interrupted_at: None,
            landed: None,
            lease: None,
        };
        let dir = core.store.claim(&record.id).unwrap();
        Self {
            _directory: directory,
            core,
            dir,
            record,
        }
    }

    fn transcript(&self) -> PathBuf {
        let directory = self.core.home.state.join("demo");
        std::fs::create_dir_all(&directory).unwrap();
        directory.join(format!("{REFERENCE}.jsonl"))
    }

    fn says(&self, kind: &str, content: &str, at: Timestamp) {
        let line = serde_json::json!({ "timestamp": at, "type": kind, "content": content, "metadata": {} });
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.transcript())
            .unwrap();
        writeln!(file, "{line}").unwrap();
    }

    fn import(&self) -> usize {
        self.core
            .import_conversation(&self.dir, &self.record)
            .unwrap()
            .entries
    }

    fn send(&self, prompt: &str) {
        let noted = self.core.note_prompt(&self.dir, prompt).unwrap();
        self.sent(prompt, noted);
    }

    fn sent(&self, prompt: &str, noted: Timestamp) {
        self.core
            .record_sent(&self.dir, &self.record, prompt, noted)
            .unwrap();
    }

    fn contents(&self) -> Vec<String> {
        let tailed = self.dir.conversation().tail(1000).unwrap();
        let told = |entry: ConversationEntry| match entry.text("source") {
            Some("biv") => format!("biv: {}", entry.content),
            _ => entry.content,
        };
        tailed.entries.into_iter().map(told).collect()
    }
}

#[test]
fn importing_again_adds_only_what_is_new() {
    let camp = Camp::new();
    assert_eq!(camp.import(), 0, "no turn yet");
    assert_eq!(camp.core.has_turns(&camp.record, REFERENCE), Some(false));
    camp.says("user", "one", now());
    camp.says("assistant", "two", now());
    assert_eq!((camp.import(), camp.import()), (2, 0));
    camp.says("assistant", "two", now());
    assert_eq!(
        (camp.import(), camp.import()),
        (1, 0),
        "the same words, said again"
    );
    assert_eq!(camp.contents(), ["one", "two", "two"]);
    assert_eq!(camp.core.has_turns(&camp.record, REFERENCE), Some(true));
}

#[test]
fn a_transcript_that_was_replaced_or_cut_brings_no_duplicates() {
    let camp = Camp::new();
    let at = now();
    for text in ["one", "two", "three"] {
        camp.says("user", text, at);
    }
    camp.import();
    let whole = std::fs::read_to_string(camp.transcript()).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    std::fs::write(camp.transcript(), format!("{}\n", lines[0])).unwrap();
    assert_eq!(camp.import(), 0, "cut");
    camp.says("user", "four", at);
    assert_eq!(camp.import(), 1, "and grown again");
    std::fs::write(camp.transcript(), format!("{{\"type\":\"head\"}}\n{whole}")).unwrap();
    camp.says("user", "five", at);
    assert_eq!(camp.import(), 1, "rewritten with something in front");
    assert_eq!(camp.contents(), ["one", "two", "three", "four", "five"]);
    std::fs::remove_file(camp.transcript()).unwrap();
    assert_eq!(camp.import(), 0);
    assert_eq!(
        camp.core.has_turns(&camp.record, REFERENCE),
        Some(true),
        "it was said all the same"
    );
}

#[test]
fn a_crash_between_the_entries_and_their_bookmark_brings_no_duplicates() {
    let camp = Camp::new();
    camp.says("user", "one", now());
    camp.import();
    let imports = camp
        .dir
        .conversation()
        .current()
        .with_file_name("imports.json");
    let before = std::fs::read(&imports).unwrap();
    camp.says("user", "two", now());
    camp.says("user", "two", now());
    camp.import();
    for known in [before.as_slice(), b"{torn", b""] {
        std::fs::write(&imports, known).unwrap();
        assert_eq!(camp.import(), 0);
        assert_eq!(camp.contents(), ["one", "two", "two"]);
    }
}

#[test]
fn a_prompt_that_was_sent_is_recorded_once_in_either_order() {
    let camp = Camp::new();
    camp.send("first");
    camp.says("user", "first", now());
    camp.says("assistant", "yes", now());
    camp.import();
    camp.says("user", "second\n", now());
    camp.send("second");
    camp.send("/command that no transcript tells of");
    camp.says("user", "typed by hand", now());
    camp.import();
    let expected = [
        "biv: first",
        "yes",
        "biv: second\n",
        "biv: /command that no transcript tells of",
        "typed by hand",
    ];
    assert_eq!(camp.contents(), expected);
    // Even when all is read anew.
    let whole = std::fs::read_to_string(camp.transcript()).unwrap();
    std::fs::write(camp.transcript(), format!("{{\"type\":\"head\"}}\n{whole}")).unwrap();
    assert_eq!(camp.import(), 0);
    assert_eq!(camp.contents(), expected);
}

#[test]
fn a_prompt_whose_transcript_is_imported_while_it_is_typed_stands_there_once() {
    let camp = Camp::new();
    for prompt in ["first", "second", "second"] {
        let noted = camp.core.note_prompt(&camp.dir, prompt).unwrap();
        camp.says("user", prompt, now());
        // Another process follows the log.
        assert_eq!(camp.import(), 1);
        camp.sent(prompt, noted);
        camp.says("assistant", "yes", now());
        camp.import();
    }
    let expected = [
        "biv: first",
        "yes",
        "biv: second",
        "yes",
        "biv: second",
        "yes",
    ];
    assert_eq!(camp.contents(), expected);
    // A prompt that was not sent counts as typed by the user.
    let noted = camp.core.note_prompt(&camp.dir, "third").unwrap();
    camp.core.forget_prompt(&camp.dir, noted, "third").unwrap();
    camp.says("user", "third", now());
    camp.import();
    assert_eq!(camp.contents()[6..], ["third"]);
    // Even when all is read anew.
    let whole = std::fs::read_to_string(camp.transcript()).unwrap();
    std::fs::write(camp.transcript(), format!("{{\"type\":\"head\"}}\n{whole}")).unwrap();
    assert_eq!(camp.import(), 0);
}

#[test]
fn an_agent_without_a_transcript_has_at_least_what_was_sent() {
    let mut camp = Camp::new();
    camp.record.agent = "shell".to_owned();
    camp.record.session_ref = None;
    camp.send("make");
    assert_eq!(camp.import(), 0);
    assert_eq!(camp.contents(), ["biv: make"]);
    let work_state = camp.core.work_state(&camp.dir, &camp.record);
    assert_eq!(work_state.last_action.as_deref(), Some("was asked: make"));
    assert_eq!(work_state.summary.as_deref(), Some("Task: make"));
}

#[test]
fn compaction_goes_on_from_what_was_imported() {
    let camp = Camp::new();
    camp.dir.save(&mut camp.record.clone()).unwrap();
    for number in 0..60 {
        camp.says("user", &format!("n{number}"), now());
    }
    let compaction = camp.core.compact("x").unwrap();
    assert_eq!((compaction.compacted, compaction.summarised), (true, 10));
    assert!(!camp.core.compact("x").unwrap().compacted);
    assert_eq!(camp.import(), 0);
    camp.says("user", "later", now());
    assert_eq!(camp.import(), 1);
    let whole = std::fs::read_to_string(camp.transcript()).unwrap();
    std::fs::write(camp.transcript(), format!("{{\"type\":\"head\"}}\n{whole}")).unwrap();
    assert_eq!(camp.import(), 0, "what is archived is known too");
    assert_eq!(camp.contents().len(), 52);
    assert_eq!(camp.core.compact("x").unwrap().summarised, 11);
}
