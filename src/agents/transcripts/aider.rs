//! Aider: `.aider.chat.history.md` in the worktree, Markdown that only grows.
//!
//! A prompt stands behind `#### `, what Aider itself says behind `> `, both with two spaces at the end of
//! each line, which tells them from headings and quotations in an answer; everything else is the answer.
//! Only a chat has a time; those of the prompts are in `.aider.input.history` beside it.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use super::bookmark::{Batch, Bookmark, check};
use super::lines::{Lines, Next};
use crate::conversation::{ConversationEntry, Speaker, hash_without_whitespace};
use crate::model::Timestamp;

/// So much of the file is read before its entries are handed on.
const BATCH: u64 = 1024 * 1024;
/// An answer is written in one piece: what stands last is whole when nothing has followed for so long.
const STILL: Duration = Duration::from_secs(2);
/// What is longer is taken in pieces: memory has a bound.
const LONGEST: usize = 8 * 1024 * 1024;
/// Where a chat begins.
const HEAD: &str = "# aider chat started at ";
/// Of the prompts that were typed, so many bytes are looked through.
const TYPED: u64 = 8 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Chat {
    lines: Lines,
    bookmark: Bookmark,
    /// Chats that began before this are another's, in a worktree that was there before.
    since: Timestamp,
    /// When each prompt was typed, by its words.
    typed: Vec<(u64, Timestamp)>,
    still: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Where a chat begins, with what Aider says of itself there.
    Head,
    Prompt,
    Note,
    Answer,
}

/// Lines of one kind.
#[derive(Debug)]
struct Block {
    kind: Kind,
    text: String,
}

impl Chat {
    pub(super) fn open(
        path: &Path,
        typed: &Path,
        since: Timestamp,
        bookmark: Bookmark,
        now: Timestamp,
    ) -> std::io::Result<Self> {
        let modified = std::fs::metadata(path)?.modified()?;
        let still = Timestamp::new(modified.into()).until(now) >= STILL;
        Ok(Self {
            lines: Lines::open(path, bookmark.offset)?,
            bookmark,
            since,
            typed: typed_at(typed),
            still,
        })
    }

    /// The next entries; None at the end of what is certain so far.
    pub(super) fn next(&mut self, path: &Path) -> std::io::Result<Option<Batch>> {
        let start = self.bookmark.offset;
        let mut entries = Vec::new();
        let mut skipped = 0;
        let mut open: Option<Block> = None;
        loop {
            let before = self.lines.offset();
            match self.lines.next()? {
                Next::TooLong => skipped += 1,
                Next::Line(line) => {
                    let line = String::from_utf8_lossy(line).into_owned();
                    let (kind, text) = read(&line, open.as_ref());
                    let goes_on = |block: &Block| {
                        let fits = block.text.len() + text.len() < LONGEST;
                        block.kind == kind && fits && !line.starts_with(HEAD)
                    };
                    match &mut open {
                        Some(block) if goes_on(block) => {
                            block.text.push('\n');
                            block.text.push_str(text);
                        }
                        _ => {
                            if let Some(block) = open.take() {
                                self.close(&block, &mut entries);
                                self.bookmark.offset = before;
                            }
                            let text = text.to_owned();
                            open = Some(Block { kind, text });
                        }
                    }
                }
                Next::End => {
                    if let Some(block) = open.take_if(|_| self.still) {
                        self.close(&block, &mut entries);
                        self.bookmark.offset = before;
                    }
                    break;
                }
            }
            if self.bookmark.offset - start >= BATCH {
                break;
            }
        }
        if self.bookmark.offset == start {
            return Ok(None);
        }
        // The block that is still open is read once more.
        self.lines = Lines::open(path, self.bookmark.offset)?;
        self.bookmark.check = check(path, self.bookmark.offset)?.unwrap_or_default();
        Ok(Some(Batch {
            entries,
            skipped,
            bookmark: self.bookmark.clone(),
        }))
    }

    fn close(&mut self, block: &Block, found: &mut Vec<ConversationEntry>) {
        let text = block.text.trim();
        if block.kind == Kind::Head {
            let told = text.lines().next().unwrap_or_default();
            self.bookmark.last = Timestamp::parse_local(told).or(self.bookmark.last);
            return;
        }
        let Some(last) = self.bookmark.last else {
            return;
        };
        // An Enter without words is a prompt to Aider alone.
        if matches!(text, "" | "<blank>")
            || last.seconds_since_epoch() < self.since.seconds_since_epoch()
        {
            return;
        }
        match block.kind {
            Kind::Prompt => self.prompt(text, last, found),
            Kind::Answer => found.push(ConversationEntry::new(last, Speaker::Assistant, text)),
            Kind::Note => notes(text, last, found),
            Kind::Head => {}
        }
    }

    fn prompt(&mut self, text: &str, last: Timestamp, found: &mut Vec<ConversationEntry>) {
        let words = hash_without_whitespace(text);
        // `/ask WORDS` is followed by the words alone, which nobody has typed a second time.
        if std::mem::take(&mut self.bookmark.recent).contains(&words) {
            return;
        }
        if let Some((command, rest)) = text.split_once(' ')
            && command.starts_with('/')
        {
            self.bookmark.recent.push(hash_without_whitespace(rest));
        }
        let mut typed = self.typed.iter();
        let at = typed.find(|(other, at)| *other == words && *at > last);
        let at = at.map_or(last, |(_, at)| *at);
        self.bookmark.last = Some(at);
        found.push(ConversationEntry::new(at, Speaker::User, text));
    }
}

/// What Aider tells of its own deeds; what it only asks or counts was not said by anyone.
fn notes(text: &str, at: Timestamp, found: &mut Vec<ConversationEntry>) {
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let deed = [("Applied edit to ", "edit"), ("Running ", "shell")]
            .iter()
            .find_map(|(mark, tool)| Some((line.strip_prefix(mark)?, *tool)));
        if let Some((subject, tool)) = deed {
            let entry = ConversationEntry::new(at, Speaker::Tool, subject);
            found.push(entry.with("tool", tool).with("subject", subject));
        } else if line.starts_with("^C") {
            found.push(ConversationEntry::new(at, Speaker::System, "interrupted"));
        } else if !line.starts_with("Tokens: ") && !line.contains("(Y)es/(N)o") {
            found.push(ConversationEntry::new(at, Speaker::System, line));
        }
    }
}

/// What Aider itself says in a line of its own.
pub(super) fn told(line: &str) -> Option<&str> {
    line.strip_suffix("  ")?.strip_prefix("> ")
}

fn read<'l>(line: &'l str, before: Option<&Block>) -> (Kind, &'l str) {
    let told = line.strip_suffix("  ");
    let behind = |mark| told.and_then(|told: &'l str| told.strip_prefix(mark));
    let head = before.is_some_and(|block| block.kind == Kind::Head);
    if let Some(at) = line.strip_prefix(HEAD) {
        (Kind::Head, at)
    } else if let Some(prompt) = behind("#### ") {
        (Kind::Prompt, prompt)
    } else if told == Some("####") {
        (Kind::Prompt, "")
    } else if let Some(note) = behind("> ").or_else(|| behind(">")) {
        (if head { Kind::Head } else { Kind::Note }, note)
    } else if head && line.trim().is_empty() {
        (Kind::Head, "")
    } else {
        (Kind::Answer, line)
    }
}

/// The prompts that were typed in this worktree: `# TIME`, then each line behind a `+`.
fn typed_at(path: &Path) -> Vec<(u64, Timestamp)> {
    let mut text = Vec::new();
    // Without it, a prompt has the time of the one before.
    let regular = std::fs::symlink_metadata(path).is_ok_and(|file| file.is_file());
    if regular && let Ok(file) = File::open(path) {
        drop(file.take(TYPED).read_to_end(&mut text));
    }
    let text = String::from_utf8_lossy(&text);
    let mut typed: Vec<(String, Timestamp)> = Vec::new();
    for line in text.lines() {
        if let Some(at) = line.strip_prefix("# ").and_then(Timestamp::parse_local) {
            typed.push((String::new(), at));
        } else if let (Some(words), Some((prompt, _))) = (line.strip_prefix('+'), typed.last_mut())
        {
            prompt.push_str(words);
            prompt.push('\n');
        }
    }
    typed
        .into_iter()
        .map(|(prompt, at)| (hash_without_whitespace(&prompt), at))
        .collect()
}
