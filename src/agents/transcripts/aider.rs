//! Aider: `.aider.chat.history.md` in the worktree, append-only Markdown.
//!
//! A prompt begins with `#### `, a message of Aider itself with `> `. Both have two spaces at the end of each
//! line, unlike headings and quotations in an answer. Everything else is the answer. Only the start of a chat
//! has a time; the times of the prompts are in `.aider.input.history`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use super::bookmark::{Batch, Bookmark, check};
use super::lines::{Lines, Next};
use crate::conversation::{ConversationEntry, Speaker, hash_without_whitespace};
use crate::model::Timestamp;

/// How many bytes are read per batch.
const BATCH: u64 = 1024 * 1024;
/// An answer is written at once: the last block is complete if nothing follows for this long.
const STILL: Duration = Duration::from_secs(2);
/// A longer block is split, to bound memory.
const LONGEST: usize = 8 * 1024 * 1024;
/// The first line of a chat.
const HEAD: &str = "# aider chat started at ";
/// How many bytes of the input history are read.
const TYPED: u64 = 8 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Chat {
    lines: Lines,
    bookmark: Bookmark,
    /// Chats that began before this belong to an earlier user of the worktree.
    since: Timestamp,
    /// When each prompt was typed, by its words.
    typed: Vec<(u64, Timestamp)>,
    still: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    /// The start of a chat, with Aider's description of itself.
    Head,
    Prompt,
    Note,
    Answer,
}

/// Lines of one kind.
#[derive(Debug)]
struct Block {
    kind: BlockKind,
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

    /// The next entries; None at the end of what is complete so far.
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
        // A block that is still open is read again later.
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
        if block.kind == BlockKind::Head {
            let told = text.lines().next().unwrap_or_default();
            self.bookmark.last = Timestamp::parse_local(told).or(self.bookmark.last);
            return;
        }
        let Some(last) = self.bookmark.last else {
            return;
        };
        // An empty prompt is not part of the conversation.
        if matches!(text, "" | "<blank>")
            || last.seconds_since_epoch() < self.since.seconds_since_epoch()
        {
            return;
        }
        match block.kind {
            BlockKind::Prompt => self.prompt(text, last, found),
            BlockKind::Answer => found.push(ConversationEntry::new(last, Speaker::Assistant, text)),
            BlockKind::Note => notes(text, last, found),
            BlockKind::Head => {}
        }
    }

    fn prompt(&mut self, text: &str, last: Timestamp, found: &mut Vec<ConversationEntry>) {
        let words = hash_without_whitespace(text);
        // `/ask WORDS` is followed by a line with the words alone, which is not a second prompt.
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

/// The actions that Aider reports. Its questions and token counts are left out.
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

/// The message of Aider itself in a line.
pub(super) fn told(line: &str) -> Option<&str> {
    line.strip_suffix("  ")?.strip_prefix("> ")
}

fn read<'l>(line: &'l str, before: Option<&Block>) -> (BlockKind, &'l str) {
    let told = line.strip_suffix("  ");
    let behind = |mark| told.and_then(|told: &'l str| told.strip_prefix(mark));
    let head = before.is_some_and(|block| block.kind == BlockKind::Head);
    if let Some(at) = line.strip_prefix(HEAD) {
        (BlockKind::Head, at)
    } else if let Some(prompt) = behind("#### ") {
        (BlockKind::Prompt, prompt)
    } else if told == Some("####") {
        (BlockKind::Prompt, "")
    } else if let Some(note) = behind("> ").or_else(|| behind(">")) {
        (
            if head {
                BlockKind::Head
            } else {
                BlockKind::Note
            },
            note,
        )
    } else if head && line.trim().is_empty() {
        (BlockKind::Head, "")
    } else {
        (BlockKind::Answer, line)
    }
}

/// The prompts that were typed in this worktree: `# TIME`, then each line with a leading `+`.
fn typed_at(path: &Path) -> Vec<(u64, Timestamp)> {
    let mut text = Vec::new();
    // Without this file, a prompt gets the time of the one before.
    let regular = std::fs::symlink_metadata(path).is_ok_and(|file| file.is_file());
    if regular && let Ok(file) = File::open(path) {
        // What was read before an error is kept.
        if let Err(error) = file.take(TYPED).read_to_end(&mut text) {
            tracing::debug!(%error, "the input history of Aider was not read to its end");
        }
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
