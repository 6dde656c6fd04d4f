//! A review: comments on lines of an instance's changes, which go to its agent as one prompt.

use serde::Serialize;

use crate::engine::base::{Core, Error, Progress, Scope, now};
use crate::engine::talk::send::Sent;
use crate::engine::typing::delivery::Wording;
use crate::git::DiffOutput;
use crate::git::patch::Patch;
use crate::model::{InstanceId, NewComment, ReviewComment, Title, review_prompt};

/// So many lines of the hunk on either side of a comment are sent with it.
const CONTEXT: usize = 3;

/// The comments that were not sent yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ReviewView {
    pub instance: InstanceId,
    pub title: Title,
    pub comments: Vec<ReviewComment>,
}

/// The result of sending a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReviewSent {
    pub comments: usize,
    pub sent: Sent,
}

impl Core {
    pub(crate) fn review(&self, given: &str) -> Result<ReviewView, Error> {
        let found = self.find(given, Scope::Living)?;
        Ok(ReviewView {
            comments: found.dir.review()?.comments,
            instance: found.record.id,
            title: found.record.title,
        })
    }

    /// Keeps comments until they are sent. A line that the changes do not show has no hunk.
    pub(crate) fn comment(
        &self,
        given: &str,
        mut comments: Vec<NewComment>,
    ) -> Result<ReviewView, Error> {
        if comments
            .iter()
            .any(|comment| comment.text.trim().is_empty())
        {
            return Err(Error::NothingToSend);
        }
        let found = self.find(given, Scope::Here)?;
        let id = found.record.id.as_str();
        if comments
            .iter()
            .any(|comment| comment.hunk.is_empty() && comment.line.is_some())
        {
            let text = self.diff(id, DiffOutput::Patch, false)?;
            let patch = Patch::parse(&String::from_utf8_lossy(&text));
            for comment in comments.iter_mut().filter(|it| it.hunk.is_empty()) {
                let line = comment
                    .line
                    .and_then(|line| patch.find(&comment.file, comment.side, line));
                comment.hunk = line.map_or_else(Vec::new, |line| patch.around(line, CONTEXT));
            }
        }
        found.dir.change_review(|review| {
            for comment in comments {
                review.add(comment, now());
            }
        })?;
        self.review(id)
    }

    /// Gives a comment another text; without one, drops it. One that was sent meanwhile is left alone.
    pub(crate) fn change_comment(
        &self,
        given: &str,
        number: u64,
        text: Option<String>,
    ) -> Result<ReviewView, Error> {
        let found = self.find(given, Scope::Here)?;
        found.dir.change_review(|review| match text {
            Some(text) => review.reword(number, text),
            None => review.drop_comment(number),
        })?;
        self.review(found.record.id.as_str())
    }

    /// Sends all comments as one prompt. Only those that were in it are removed, and only once it was
    /// delivered or is in the queue: a comment may be sent twice after a crash, but is never lost.
    pub(crate) fn send_review(
        &self,
        given: &str,
        progress: &mut dyn Progress,
    ) -> Result<ReviewSent, Error> {
        let found = self.find(given, Scope::Here)?;
        let comments = found.dir.review()?.comments;
        if comments.is_empty() {
            return Err(Error::NothingToSend);
        }
        let prompt = review_prompt(&comments);
        let sent = self.send(found.record.id.as_str(), &prompt, Wording::Text, progress)?;
        found.dir.change_review(|review| review.remove(&comments))?;
        Ok(ReviewSent {
            comments: comments.len(),
            sent,
        })
    }
}
