use std::path::Path;

use super::*;
use crate::conversation::{ConversationEntry, Digest, Speaker};
use crate::model::{InstanceId, Timestamp};
use crate::store::Store;

fn at(second: i64) -> Timestamp {
    Timestamp::from_epoch(1_800_000_000 + second).unwrap()
}

fn said(number: i64) -> ConversationEntry {
    let speaker = if number % 2 == 0 {
        Speaker::User
    } else {
        Speaker::Assistant
    };
    ConversationEntry::new(at(number), speaker, format!("entry {number} \n„ü“"))
}

fn conversation(root: &Path) -> ConversationDir {
    let store = Store::new(root.to_owned());
    store.prepare().unwrap();
    store.claim(&InstanceId::random()).unwrap().conversation()
}

fn filled(root: &Path, count: i64) -> (ConversationDir, Vec<ConversationEntry>) {
    let conversation = conversation(root);
    let entries: Vec<ConversationEntry> = (0..count).map(said).collect();
    conversation
        .append(&conversation.lock().unwrap(), &entries)
        .unwrap();
    (conversation, entries)
}

fn read(mut reader: ConversationReader) -> Vec<ConversationEntry> {
    let mut all = Vec::new();
    loop {
        let more = reader.next().unwrap();
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

fn history(conversation: &ConversationDir) -> Vec<ConversationEntry> {
    let mut all = Vec::new();
    for number in conversation.archives().unwrap() {
        all.extend(read(
            ConversationReader::open(&conversation.archive(number), 0).unwrap(),
        ));
    }
    all.extend(
        read(conversation.reader(0).unwrap())
            .into_iter()
            .filter(|entry| !entry.is_summary()),
    );
    all
}

fn compact(conversation: &ConversationDir, keep: usize) -> bool {
    let Some(cut) = conversation.cut(keep).unwrap() else {
        return false;
    };
    let digest = Digest::of(&read(conversation.older(&cut).unwrap()));
    let lock = conversation.lock().unwrap();
    conversation
        .replace_older(&lock, &cut, digest.summary().unwrap())
        .unwrap()
        .is_some()
}

#[test]
fn cut_at_any_byte_every_whole_line_is_kept_and_new_ones_are_taken() {
    let dir = tempfile::tempdir().unwrap();
    let (conversation, entries) = filled(dir.path(), 5);
    let path = conversation.current();
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let complete = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
        // A line without its line end is complete too.
        let unended = usize::from(cut < whole.len() && whole[cut] == b'\n');
        let expected = &entries[..complete + unended];
        assert_eq!(
            read(conversation.reader(0).unwrap()),
            expected,
            "cut at {cut}"
        );
        assert_eq!(
            conversation.tail(100).unwrap().entries,
            expected,
            "cut at {cut}"
        );
        conversation
            .append(&conversation.lock().unwrap(), &[said(77)])
            .unwrap();
        let after = read(conversation.reader(0).unwrap());
        assert_eq!(after, [expected, &[said(77)]].concat(), "cut at {cut}");
        assert_eq!(conversation.tail(1).unwrap().entries, [said(77)]);
    }
}

#[test]
fn the_tail_is_the_end_and_knows_its_place() {
    let dir = tempfile::tempdir().unwrap();
    assert!(conversation(dir.path()).tail(3).unwrap().entries.is_empty());
    let (conversation, entries) = filled(dir.path(), 9);
    let tailed = conversation.tail(4).unwrap();
    assert_eq!(tailed.entries, entries[5..]);
    assert_eq!(
        read(conversation.reader(tailed.start).unwrap()),
        entries[5..]
    );
}

#[test]
fn compacting_again_and_again_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (conversation, mut entries) = filled(dir.path(), 7);
    assert!(!compact(&conversation, 7));
    assert!(conversation.has_more_than(6).unwrap() && !conversation.has_more_than(7).unwrap());
    for round in 0..4_i64 {
        let mut following = conversation.reader(0).unwrap();
        while !following.next().unwrap().is_empty() {}
        assert!(compact(&conversation, 3), "round {round}");
        assert!(!compact(&conversation, 3), "nothing is left to sum up");
        let current = read(conversation.reader(0).unwrap());
        assert_eq!(current.len(), 4);
        assert!(current[0].is_summary());
        assert_eq!(
            conversation.generation().unwrap(),
            u64::try_from(round).unwrap() + 1
        );
        assert_eq!(history(&conversation), entries);
        let more: Vec<ConversationEntry> = (0..5).map(|n| said(100 * (round + 1) + n)).collect();
        conversation
            .append(&conversation.lock().unwrap(), &more)
            .unwrap();
        assert!(following.follow().unwrap());
        assert_eq!(read(following), more, "a follower sees what is new, once");
        entries.extend(more);
    }
}

#[test]
fn a_compaction_cut_off_between_its_two_files_is_done_again() {
    let dir = tempfile::tempdir().unwrap();
    let (conversation, entries) = filled(dir.path(), 10);
    let before = std::fs::read(conversation.current()).unwrap();
    assert!(compact(&conversation, 4));
    // As if the archive had been written and the current file not yet.
    std::fs::write(conversation.current(), &before).unwrap();
    std::fs::write(conversation.path.join(".new-left"), "half").unwrap();
    let more: Vec<ConversationEntry> = (50..53).map(said).collect();
    conversation
        .append(&conversation.lock().unwrap(), &more)
        .unwrap();
    assert!(compact(&conversation, 4));
    assert_eq!(conversation.archives().unwrap(), [1]);
    assert_eq!(history(&conversation), [entries, more].concat());
    assert!(!conversation.path.join(".new-left").exists());
}

#[test]
fn an_archive_that_is_the_only_copy_is_never_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (conversation, entries) = filled(dir.path(), 10);
    assert!(compact(&conversation, 4));
    let archived = std::fs::read(conversation.archive(1)).unwrap();
    // The summary is damaged, so that the first archive is not recorded any more.
    let current = std::fs::read_to_string(conversation.current()).unwrap();
    std::fs::write(conversation.current(), current.replacen('{', "!", 1)).unwrap();
    assert!(compact(&conversation, 2));
    assert_eq!(std::fs::read(conversation.archive(1)).unwrap(), archived);
    assert_eq!(conversation.archives().unwrap(), [1, 2]);
    assert_eq!(history(&conversation), entries);
}

#[test]
fn a_cut_after_another_compaction_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let (conversation, entries) = filled(dir.path(), 10);
    let cut = conversation.cut(4).unwrap().unwrap();
    assert!(compact(&conversation, 2));
    let lock = conversation.lock().unwrap();
    let summary = Digest::of(&entries).summary().unwrap();
    assert_eq!(
        conversation.replace_older(&lock, &cut, summary).unwrap(),
        None
    );
    drop(lock);
    assert_eq!(history(&conversation), entries);
}

#[test]
fn what_was_not_written_down_as_imported_is_recognised() {
    let dir = tempfile::tempdir().unwrap();
    let (conversation, entries) = filled(dir.path(), 3);
    let lock = conversation.lock().unwrap();
    let mut imports = conversation.imports().unwrap();
    conversation.save_imports(&lock, &mut imports).unwrap();
    let mut known = conversation.unacknowledged(&mut imports).unwrap();
    assert!(
        !known.has(&entries[0]),
        "what was written down does not come again"
    );
    conversation
        .append(&lock, &[said(7).with("run", "r"), said(7)])
        .unwrap();
    let mut known = conversation.unacknowledged(&mut imports).unwrap();
    let found = [said(7), said(7), said(7), said(8)].map(|entry| known.has(&entry));
    assert_eq!(found, [true, true, false, false], "each is found once");
    let mut all = conversation.known().unwrap();
    assert!(entries.iter().all(|entry| all.has(entry)));
    // A file that cannot be parsed counts as none.
    std::fs::write(conversation.path.join("imports.json"), "{torn").unwrap();
    assert_eq!(conversation.imports().unwrap(), Imports::default());
    std::fs::write(conversation.path.join("imports.json"), "{\"format\":9}").unwrap();
    assert!(conversation.imports().is_err(), "a newer one is left alone");
}

#[test]
fn a_prompt_that_was_sent_is_not_told_twice() {
    let mut imports = Imports::default();
    let told = |second, text: &str| ConversationEntry::new(at(second), Speaker::User, text);
    imports.note_sent(at(100), "fix  it\n");
    assert_eq!(imports.admit(told(102, "other")).unwrap().metadata.len(), 0);
    let marked = imports.admit(told(102, "fix it")).unwrap();
    assert_eq!(
        marked.text("source"),
        Some("biv"),
        "the transcript was faster"
    );
    imports.note_sent(at(100), "fix it");
    imports.sent[0].written = true;
    assert_eq!(
        imports.admit(told(99, "fix it ")),
        None,
        "it stands there already"
    );
    assert!(
        imports.admit(told(99, "fix it")).is_some(),
        "said once more"
    );
    imports.note_sent(at(100), "fix it");
    imports.sent[0].written = true;
    for far in [1, 5000] {
        assert!(
            imports.admit(told(far, "fix it")).is_some(),
            "too far away to be the same"
        );
    }
}
