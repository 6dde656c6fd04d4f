//! A review that was written into a file: comments on lines, which the agent gets as one prompt.
//!
//! A comment begins with its place, as compilers and `grep -n` print it: `src/login.rs:42: text`, or
//! `src/login.rs:42-50: text`. The lines after it belong to it. What is before the first one is said about
//! the whole.

use std::fmt::Write;

use serde::Serialize;

use super::fenced::fenced;
use super::send::Sent;
use crate::engine::base::{Core, Error, Progress};
use crate::engine::typing::delivery::Wording;
use crate::git::DiffOutput;
use crate::git::patch::Patch;

/// Lines of a hunk that are shown before and after the ones that are commented on.
const CONTEXT: usize = 8;

/// A review as it was written.
#[derive(Debug, Default, PartialEq, Eq)]
struct Review {
    whole: String,
    comments: Vec<Comment>,
}

/// What is said about some lines of a file.
#[derive(Debug, PartialEq, Eq)]
struct Comment {
    file: String,
    from: u32,
    to: u32,
    text: String,
}

/// A review that was sent, or queued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Reviewed {
    pub comments: usize,
    /// Places that are not among the changes: they went without a hunk.
    pub without_hunk: Vec<String>,
    pub sent: bool,
    pub queued: bool,
    pub bytes: usize,
}

impl Core {
    /// Sends the comments of a review to the agent, as one prompt with file, line and hunk. If it is busy,
    /// it gets the prompt next.
    pub(crate) fn send_review_file(
        &self,
        given: &str,
        text: &str,
        progress: &mut dyn Progress,
    ) -> Result<Reviewed, Error> {
        let review = Review::parse(text)?;
        if review == Review::default() {
            return Err(Error::NothingToSend);
        }
        let diff = if review.comments.is_empty() {
            Vec::new()
        } else {
            self.diff(given, DiffOutput::Patch, false)?
        };
        let diff = String::from_utf8_lossy(&diff);
        let (prompt, without_hunk) = review.prompt(&Patch::parse(&diff));
        let sent = self.send(given, &prompt, Wording::Text, progress)?;
        Ok(Reviewed {
            comments: review.comments.len(),
            without_hunk,
            sent: sent == Sent::Typed,
            queued: sent == Sent::Queued,
            bytes: prompt.len(),
        })
    }
}

impl Review {
    fn parse(text: &str) -> Result<Self, Error> {
        let mut review = Self::default();
        for (at, line) in text.lines().enumerate() {
            let Some((comment, said)) = Comment::begun_by(line) else {
                let text = match review.comments.last_mut() {
                    Some(comment) => &mut comment.text,
                    None => &mut review.whole,
                };
                // Writing into a string cannot fail.
                writeln!(text, "{line}").ok();
                continue;
            };
            if comment.from == 0 || comment.to < comment.from {
                return Err(Error::ReviewPlace {
                    number: at + 1,
                    place: comment.place(),
                });
            }
            review.comments.push(Comment {
                text: format!("{said}\n"),
                ..comment
            });
        }
        for text in review
            .comments
            .iter_mut()
            .map(|comment| &mut comment.text)
            .chain([&mut review.whole])
        {
            *text = text.trim().to_owned();
        }
        let empty = review
            .comments
            .iter()
            .find(|comment| comment.text.is_empty());
        if let Some(comment) = empty {
            return Err(Error::ReviewEmpty {
                place: comment.place(),
            });
        }
        Ok(review)
    }

    /// What the agent is told, and the places that have no hunk.
    fn prompt(&self, patch: &Patch) -> (String, Vec<String>) {
        let mut prompt =
            "This is a review of your changes. Work through every comment.\n".to_owned();
        let mut without_hunk = Vec::new();
        if !self.whole.is_empty() {
            write!(prompt, "\n{}\n", self.whole).ok();
        }
        for comment in &self.comments {
            let place = comment.place();
            write!(prompt, "\n{place}\n").ok();
            match patch.hunk_at(&comment.file, (comment.from, comment.to), CONTEXT) {
                Some(hunk) => prompt.push_str(&fenced("diff", &hunk)),
                None => without_hunk.push(place),
            }
            writeln!(prompt, "{}", comment.text).ok();
        }
        (prompt, without_hunk)
    }
}

impl Comment {
    /// The comment that a line begins, without its text, and the text.
    fn begun_by(line: &str) -> Option<(Self, &str)> {
        let (file, rest) = line.split_once(':')?;
        // A sentence with a colon is no place.
        if file.is_empty() || file != file.trim() || file.contains('`') {
            return None;
        }
        let (lines, said) = rest.split_once(':')?;
        let (from, to) = match lines.split_once('-') {
            Some((from, to)) => (number(from)?, number(to)?),
            None => (number(lines)?, number(lines)?),
        };
        // The column that compilers print after the line.
        let said = match said.split_once(':') {
            Some((column, said)) if number(column).is_some() => said,
            _ => said,
        };
        let file = file.strip_prefix("./").unwrap_or(file).to_owned();
        let text = String::new();
        Some((
            Self {
                file,
                from,
                to,
                text,
            },
            said.trim(),
        ))
    }

    fn place(&self) -> String {
        if self.from == self.to {
            format!("{}:{}", self.file, self.from)
        } else {
            format!("{}:{}-{}", self.file, self.from, self.to)
        }
    }
}

fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_tools_print_them() {
        let review = Review::parse(
            "Good work: two things.\n\na b.rs:3: first\n  more: of 3: it\n./x.rs:5-9:\nsecond\n\ny.rs:7:12: third\n",
        )
        .unwrap_or_default();
        assert_eq!(review.whole, "Good work: two things.");
        let found: Vec<(String, &str)> = review
            .comments
            .iter()
            .map(|comment| (comment.place(), comment.text.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("a b.rs:3".to_owned(), "first\n  more: of 3: it"),
                ("x.rs:5-9".to_owned(), "second"),
                ("y.rs:7".to_owned(), "third"),
            ]
        );
    }

    #[test]
    fn a_place_without_a_line_or_without_words_is_refused() {
        for text in ["a.rs:0: x", "a.rs:9-3: x", "a.rs:3:\n\nb.rs:4: y"] {
            assert!(Review::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_hunk_stands_in_a_fence_that_it_cannot_close() {
        let diff =
            "diff --git a/x.md b/x.md\n--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n-a\n+````\x1b[201~\n";
        let review = Review::parse("x.md:1: why?\ny.md:2: and this?").unwrap_or_default();
        let (prompt, without) = review.prompt(&Patch::parse(diff));
        assert!(prompt.contains("\n`````diff\n@@ -1 +1 @@\n"), "{prompt}");
        assert!(!prompt.contains('\x1b'), "{prompt:?}");
        assert!(prompt.contains("\ny.md:2\nand this?\n"), "{prompt}");
        assert_eq!(without, ["y.md:2"]);
    }
}
