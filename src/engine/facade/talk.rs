//! Prompts, conversations and autoyes.

use std::path::Path;
use std::time::Duration;

use crate::engine::autoyes::AutoyesAnswer;
use crate::engine::typing::delivery::Wording;
use crate::engine::*;
use crate::model::{InstanceId, NewComment, TurnEnd, Usage};
use crate::store::Audit;

impl Engine {
    /// Types a prompt, exactly as given, and submits it. If the agent is busy, the prompt becomes the
    /// next in its queue. It is on disk before anything is waited for; only an error, or `unsend`,
    /// takes it out again.
    pub(crate) fn send(
        &self,
        given: &str,
        prompt: &str,
        progress: &mut dyn Progress,
    ) -> Result<Sent, Error> {
        self.core.send(given, prompt, Wording::Text, progress)
    }

    /// As `send`, but types the prompt as it is: the agent may take it for a command of its own.
    pub(crate) fn send_raw(
        &self,
        given: &str,
        prompt: &str,
        progress: &mut dyn Progress,
    ) -> Result<Sent, Error> {
        self.core.send(given, prompt, Wording::Raw, progress)
    }

    /// As `send_raw`, but waits however long the agent is busy.
    pub(crate) fn send_raw_now(
        &self,
        given: &str,
        prompt: &str,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        self.core.send_now(given, prompt, Wording::Raw, progress)
    }

    /// As `send`, but waits however long the agent is busy.
    pub(crate) fn send_now(
        &self,
        given: &str,
        prompt: &str,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        self.core.send_now(given, prompt, Wording::Text, progress)
    }

    /// Sends the comments of a review to the agent, as one prompt with file, line and hunk.
    pub(crate) fn send_review_file(
        &self,
        given: &str,
        text: &str,
        progress: &mut dyn Progress,
    ) -> Result<Reviewed, Error> {
        self.core.send_review_file(given, text, progress)
    }

    /// Takes back the last prompt that was sent and still waits; None if none does.
    pub(crate) fn unsend(&self, given: &str) -> Result<Option<String>, Error> {
        self.core.unsend(given)
    }

    /// The dialog that an instance shows.
    pub(crate) fn open_dialog(&self, given: &str) -> Result<DialogView, Error> {
        self.core.open_dialog(given)
    }

    /// Presses the keys of one choice. With `bound`, only if the dialog has this id. A reason goes to
    /// the agent as the next prompt, after a choice that means no.
    pub(crate) fn answer(
        &self,
        given: &str,
        answer: &DialogAnswer,
        bound: Option<&str>,
        reason: Option<&str>,
        progress: &mut dyn Progress,
    ) -> Result<Answered, Error> {
        self.core.answer(given, answer, bound, reason, progress)
    }

    /// The comments on the changes of an instance that were not sent yet.
    pub(crate) fn review(&self, given: &str) -> Result<ReviewView, Error> {
        self.core.review(given)
    }

    /// Keeps comments on lines of the changes. A comment without a hunk gets the lines around it from the
    /// changes as they are now.
    pub(crate) fn comment(
        &self,
        given: &str,
        comments: Vec<NewComment>,
    ) -> Result<ReviewView, Error> {
        self.core.comment(given, comments)
    }

    /// Gives a comment another text; without one, drops it.
    pub(crate) fn change_comment(
        &self,
        given: &str,
        number: u64,
        text: Option<String>,
    ) -> Result<ReviewView, Error> {
        self.core.change_comment(given, number, text)
    }

    /// Sends all comments to the agent as one prompt. They are kept until it is delivered or queued.
    pub(crate) fn send_review(
        &self,
        given: &str,
        progress: &mut dyn Progress,
    ) -> Result<ReviewSent, Error> {
        self.core.send_review(given, progress)
    }

    pub(crate) fn queue(&self, given: &str) -> Result<QueueView, Error> {
        self.core.queue(given)
    }

    /// Puts prompts at the end of an instance's queue.
    pub(crate) fn enqueue(&self, given: &str, prompts: Vec<String>) -> Result<QueueView, Error> {
        self.core.enqueue(given, prompts)
    }

    /// Takes out everything but the prompt that is being worked on.
    pub(crate) fn clear_queue(&self, given: &str) -> Result<QueueView, Error> {
        self.core.clear_queue(given)
    }

    /// Lets a stopped queue go on with what waits in it.
    pub(crate) fn continue_queue(&self, given: &str) -> Result<QueueView, Error> {
        self.core.continue_queue(given)
    }

    /// Takes one waiting prompt out of the queue.
    pub(crate) fn drop_queued(&self, given: &str, number: u64) -> Result<QueueView, Error> {
        self.core.drop_queued(given, number)
    }

    /// Moves a waiting prompt one place towards the front or the end.
    pub(crate) fn move_queued(
        &self,
        given: &str,
        number: u64,
        forward: bool,
    ) -> Result<QueueView, Error> {
        self.core.move_queued(given, number, forward)
    }

    /// Types what stood in its input box before a pause, where a dialog kept it out at the resume.
    pub(crate) fn return_draft(&self, id: &InstanceId) -> Result<DraftReturn, Error> {
        self.core.return_draft(id)
    }

    /// Types the next queued prompt to an agent that is at rest. An instance that the idle timer has
    /// paused is woken first; one that the user has paused is left alone, and so is a paused camp.
    pub(crate) fn feed_queue(&self, id: &InstanceId) -> Result<FeedResult, Error> {
        self.core.feed_queue(id)
    }

    /// Prompts an agent whose usage limit is over to continue, once for each reset.
    pub(crate) fn continue_after_limit(&self, id: &InstanceId) -> Result<FeedResult, Error> {
        self.core.continue_after_limit(id)
    }

    /// Records how the turn ended that was started from the queue.
    pub(crate) fn finish_turn(&self, id: &InstanceId, end: TurnEnd) -> Result<(), Error> {
        self.core.finish_turn(id, end)
    }

    /// Handles a prompt whose delivery was cut off by a crash. It is not known whether it arrived, and
    /// it must not be typed twice, so the user is told to look.
    pub(crate) fn recover_queue(&self, id: &InstanceId) -> Result<bool, Error> {
        self.core.recover_queue(id)
    }

    /// The conversation of an instance, brought up to date first. Killed ones have theirs too.
    pub(crate) fn log(&self, given: &str, from: LogFrom) -> Result<Log<'_>, Error> {
        self.core.log(given, from)
    }

    /// The first line of what the agent said last, as far as its conversation was read.
    pub(crate) fn last_words(&self, id: &InstanceId) -> Option<String> {
        self.core.last_words(id)
    }

    /// Reads what the agent has said since its conversation was read last.
    pub(crate) fn import_last_words(&self, id: &InstanceId) {
        self.core.import_last_words(id)
    }

    /// What those that are killed by now have used today.
    pub(crate) fn used_today_by_killed(&self) -> Result<Usage, Error> {
        self.core.used_today_by_killed()
    }

    /// What the named instances have used, or all, killed ones too.
    pub(crate) fn usage(&self, given: &[String]) -> Result<UsageReport, Error> {
        self.core.usage(given)
    }

    /// The newest entries of all conversations that have all these words, in any order and case.
    pub(crate) fn search(&self, words: &[String], most: usize) -> Result<SearchResult, Error> {
        self.core.search(words, most)
    }

    /// Replaces all but the last entries of a conversation by a summary. An archive keeps the whole.
    pub(crate) fn compact(&self, given: &str) -> Result<Compaction, Error> {
        self.core.compact(given)
    }

    /// As `compact`, for a conversation that has grown long and whose agent is paused or long idle.
    pub(crate) fn compact_if_due(
        &self,
        given: &str,
        idle: Option<Duration>,
    ) -> Result<Option<Compaction>, Error> {
        self.core.compact_if_due(given, idle)
    }

    /// Whether autoyes is on for an instance, and until when.
    pub(crate) fn autoyes(&self, given: &str) -> Result<AutoyesState, Error> {
        self.core.autoyes(given)
    }

    /// Switches autoyes on, for as long as the policy or the caller says.
    pub(crate) fn autoyes_on(
        &self,
        given: &str,
        lasts: Option<Duration>,
    ) -> Result<AutoyesState, Error> {
        self.core.autoyes_on(given, lasts)
    }

    /// Switches autoyes off at once, without waiting for an operation in progress.
    pub(crate) fn autoyes_off(&self, given: &str) -> Result<AutoyesState, Error> {
        self.core.autoyes_off(given)
    }

    /// The decision about this screen, and the reason.
    pub(crate) fn policy_check(
        &self,
        agent: &str,
        capture: &str,
        site: PolicySite<'_>,
    ) -> Result<PolicyCheck, Error> {
        self.core.policy_check(agent, capture, site)
    }

    /// The policy's decision about a command or a path, without a screen.
    pub(crate) fn policy_explain(
        &self,
        agent: &str,
        asked: PolicyQuestion<'_>,
        site: PolicySite<'_>,
    ) -> Result<PolicyAnswer, Error> {
        self.core.policy_explain(agent, asked, site)
    }

    /// Tries the examples of every rule in force, built-in ones too.
    pub(crate) fn policy_test(&self, worktree: &Path) -> Result<PolicyTest, Error> {
        self.core.policy_test(worktree)
    }

    /// Looks at an instance and answers the dialog that it shows, if the policy says so and no client is
    /// attached or typing. At most one answer is given, and only after it is in the audit.
    pub(crate) fn answer_dialog(
        &self,
        given: &str,
        stood: Duration,
    ) -> Result<AutoyesAnswer, Error> {
        self.core.answer_dialog(given, stood)
    }

    /// What autoyes has decided, of one instance or of all, and whether the log is whole.
    pub(crate) fn audit(&self, given: Option<&str>) -> Result<Audit, Error> {
        self.core.audit(given)
    }
}
