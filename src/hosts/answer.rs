//! The marks on the standard error of a request: that the other side has begun, and how it ended.

use super::request::{MARK, PROTOCOL};

/// How much is kept of what was said before the first mark, by ssh or by a shell.
const KEPT: usize = 16 << 10;
/// A mark is shorter than this.
const LONGEST_MARK: usize = 200;

/// What the marks have said so far.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// What may become a mark.
    open: Vec<u8>,
    /// Before the first mark.
    pub(super) said: Vec<u8>,
    pub(super) begun: Option<Begun>,
    pub(super) ended: Option<u8>,
    /// It says from time to time that it is there.
    pub(super) lively: bool,
}

/// The first mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Begun {
    pub understood: bool,
    pub version: String,
}

impl Marks {
    /// Takes the next bytes and returns those that are not part of a mark and were said after the first one.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut passed = Vec::new();
        for byte in bytes {
            if self.open.is_empty() && *byte != MARK[0] {
                self.put(&[*byte], &mut passed);
                continue;
            }
            self.open.push(*byte);
            // What cannot become a mark is text, and a mark may begin in the middle of it.
            while !self.open.is_empty() && !may_be_mark(&self.open) {
                let text = self.open.remove(0);
                self.put(&[text], &mut passed);
            }
            if *byte == b'\n' && self.open.starts_with(MARK) {
                let mark = std::mem::take(&mut self.open);
                let mark = String::from_utf8_lossy(&mark[MARK.len()..]).into_owned();
                self.read(mark.trim_end());
            }
        }
        passed
    }

    fn put(&mut self, text: &[u8], passed: &mut Vec<u8>) {
        // What follows the end is the connecting program's own: kubectl repeats the exit status there.
        if self.ended.is_some() {
            return;
        }
        if self.begun.is_some() {
            passed.extend_from_slice(text);
        } else if self.said.len() < KEPT {
            self.said.extend_from_slice(text);
        }
    }

    fn read(&mut self, mark: &str) {
        let words: Vec<&str> = mark.split(' ').collect();
        match words.as_slice() {
            ["begin", protocol, version] if self.begun.is_none() => {
                self.begun = Some(Begun {
                    understood: *protocol == PROTOCOL.to_string(),
                    version: (*version).to_owned(),
                });
            }
            ["alive"] => self.lively = true,
            ["end", status] => self.ended = status.parse().ok(),
            _ => {}
        }
    }

    /// What was said before the first mark, as lines for a message.
    pub(super) fn said_lines(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.said);
        let lines = text.lines().map(|line| {
            let line = crate::model::printable_line(line.trim_end());
            line.trim().to_owned()
        });
        let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
        let last = lines.len().saturating_sub(3);
        lines.into_iter().skip(last).collect()
    }
}

fn may_be_mark(text: &[u8]) -> bool {
    text.len() <= LONGEST_MARK && (text.starts_with(MARK) || MARK.starts_with(text))
}

/// The marks as they are written.
pub(super) fn begin_mark() -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    [MARK, format!("begin {PROTOCOL} {version}\n").as_bytes()].concat()
}

/// An older side takes it out and makes nothing of it.
pub(super) fn alive_mark() -> Vec<u8> {
    [MARK, b"alive\n"].concat()
}

pub(super) fn end_mark(status: u8) -> Vec<u8> {
    [MARK, format!("end {status}\n").as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_out_however_the_bytes_are_cut() {
        let mut whole = b"Welcome!\n".to_vec();
        whole.extend(begin_mark());
        whole.extend(b"a note \x1e");
        whole.extend(alive_mark());
        whole.extend(b" and more");
        whole.extend(end_mark(6));
        whole.extend(b"command terminated with exit code 6\n");
        for size in 1..whole.len() {
            let mut marks = Marks::default();
            let passed: Vec<u8> = whole
                .chunks(size)
                .flat_map(|piece| marks.take(piece))
                .collect();
            assert_eq!(passed, b"a note \x1e and more", "in pieces of {size}");
            assert_eq!(marks.said, b"Welcome!\n");
            assert!(marks.begun.as_ref().is_some_and(|begun| begun.understood));
            assert_eq!(marks.ended, Some(6));
            assert!(marks.lively);
        }
    }

    #[test]
    fn without_a_mark_nothing_is_passed_on() {
        let mut marks = Marks::default();
        assert_eq!(marks.take(b"sh: biv:\x1b[2J not found\n"), b"");
        assert_eq!(marks.said_lines(), ["sh: biv:\u{fffd}[2J not found"]);
        assert_eq!(marks.ended, None);
    }
}
