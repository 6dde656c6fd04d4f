//! Comments on lines of an instance's changes, kept until they are sent to its agent.

use serde::{Deserialize, Serialize};

use super::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Review {
    pub format: u32,
    /// The number of the last comment.
    pub last: u64,
    pub comments: Vec<ReviewComment>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub unknown: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReviewComment {
    pub number: u64,
    /// Relative to the worktree.
    pub file: String,
    /// None: the comment is about the whole file.
    pub line: Option<u32>,
    pub side: ReviewSide,
    /// The lines around it when the comment was made, each with its sign.
    pub hunk: Vec<String>,
    pub text: String,
    pub at: Timestamp,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub unknown: serde_json::Map<String, serde_json::Value>,
}

/// Which version of a file a line number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReviewSide {
    /// Before the change: a removed line.
    Old,
    #[default]
    New,
}

/// A comment that is to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewComment {
    pub file: String,
    pub line: Option<u32>,
    pub side: ReviewSide,
    /// Looked up in the changes where it is empty.
    pub hunk: Vec<String>,
    pub text: String,
}

impl Default for Review {
    fn default() -> Self {
        Self {
            format: Self::FORMAT,
            last: 0,
            comments: Vec::new(),
            unknown: serde_json::Map::new(),
        }
    }
}

impl Review {
    pub(crate) const FORMAT: u32 = 1;

    /// Adds a comment; returns its number.
    pub(crate) fn add(&mut self, comment: NewComment, now: Timestamp) -> u64 {
        let NewComment {
            file,
            line,
            side,
            hunk,
            text,
        } = comment;
        self.last += 1;
        self.comments.push(ReviewComment {
            number: self.last,
            file,
            line,
            side,
            hunk,
            text,
            at: now,
            unknown: serde_json::Map::new(),
        });
        self.last
    }

    /// Gives a comment another text; false where there is none with this number.
    pub(crate) fn reword(&mut self, number: u64, text: String) -> bool {
        match self.comments.iter_mut().find(|it| it.number == number) {
            Some(comment) => {
                comment.text = text;
                true
            }
            None => false,
        }
    }

    /// Removes these comments, unless they were reworded since; returns how many.
    pub(crate) fn remove(&mut self, sent: &[ReviewComment]) -> usize {
        let before = self.comments.len();
        self.comments.retain(|comment| !sent.contains(comment));
        before - self.comments.len()
    }

    /// Removes the comment with this number; false where there is none.
    pub(crate) fn drop_comment(&mut self, number: u64) -> bool {
        let before = self.comments.len();
        self.comments.retain(|comment| comment.number != number);
        self.comments.len() < before
    }
}

/// The comments as one prompt, file by file and in the order of the lines.
pub(crate) fn review_prompt(comments: &[ReviewComment]) -> String {
    let mut sorted: Vec<&ReviewComment> = comments.iter().collect();
    sorted.sort_by_key(|comment| (comment.file.as_str(), comment.line, comment.number));
    let mut text = match sorted.len() {
        1 => "I have reviewed your changes and have a comment. Please address it.".to_owned(),
        count => format!(
            "I have reviewed your changes and have {count} comments. Please address each of them."
        ),
    };
    for (comment, number) in sorted.into_iter().zip(1..) {
        let fence = fence_for(&comment.hunk);
        let code = match comment.hunk.as_slice() {
            [] => String::new(),
            hunk => format!("{fence}diff\n{}\n{fence}\n", hunk.join("\n")),
        };
        let (place, words) = (place(comment), comment.text.trim_end());
        let head = format!("\n\n{number}. {place}\n");
        text.extend([head.as_str(), code.as_str(), words]);
    }
    text
}

/// `src/main.rs, line 12 (before the change)`
pub(crate) fn place(comment: &ReviewComment) -> String {
    match (comment.line, comment.side) {
        (None, _) => comment.file.clone(),
        (Some(line), ReviewSide::New) => format!("{}, line {line}", comment.file),
        (Some(line), ReviewSide::Old) => {
            format!("{}, line {line} before the change", comment.file)
        }
    }
}

/// Longer than any run of backticks in the code.
fn fence_for(hunk: &[String]) -> String {
    let longest = hunk
        .iter()
        .flat_map(|line| line.split(|letter| letter != '`'))
        .map(str::len)
        .max()
        .unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(file: &str, line: Option<u32>, hunk: &[&str], text: &str) -> NewComment {
        NewComment {
            file: file.to_owned(),
            line,
            side: ReviewSide::New,
            hunk: hunk.iter().map(|line| (*line).to_owned()).collect(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn the_prompt_has_file_line_and_hunk_of_each_comment() {
        let now = Timestamp::from_epoch(1_800_000_000).unwrap();
        let mut review = Review::default();
        review.add(comment("b.rs", Some(7), &[" a", "+b ```"], "Why?\n"), now);
        review.add(comment("a.rs", None, &[], "Split this file."), now);
        let mut old = comment("b.rs", Some(3), &["-gone"], "Keep it.");
        old.side = ReviewSide::Old;
        review.add(old, now);
        assert_eq!(
            review_prompt(&review.comments),
            "I have reviewed your changes and have 3 comments. Please address each of them.\n\n\
             1. a.rs\nSplit this file.\n\n\
             2. b.rs, line 3 before the change\n```diff\n-gone\n```\nKeep it.\n\n\
             3. b.rs, line 7\n````diff\n a\n+b ```\n````\nWhy?"
        );
    }

    #[test]
    fn only_what_was_sent_is_removed() {
        let now = Timestamp::from_epoch(1_800_000_000).unwrap();
        let mut review = Review::default();
        for text in ["one", "two", "three"] {
            review.add(comment("f", Some(1), &[], text), now);
        }
        let sent = review.comments.clone();
        assert!(review.reword(2, "better".to_owned()));
        assert!(!review.reword(9, String::new()));
        assert_eq!(review.remove(&sent), 2);
        assert_eq!(review.comments[0].text, "better");
        assert!(review.drop_comment(2) && !review.drop_comment(2));
    }
}
