//! The scheduler of one instance: it takes observations and decides which job is due.
//!
//! Pure: the caller passes the time, counted from the daemon's start by a clock that stops while the machine
//! sleeps. So time in which the machine was asleep does not count as idle time.

mod job;
mod retry;
mod saves;
mod turn;
mod wakes;

use std::time::Duration;

use self::retry::Retry;
use self::saves::Saves;
use self::turn::{at_its_prompt, broken_off};
use self::wakes::Wakes;
use super::notices::{Notice, Notices};
use crate::engine::{AutoyesOutcome, DraftReturn, FeedResult, InstanceStatus, Seen, Suspended};
use crate::model::{Activity, PauseReason, State, Timestamp, TurnEnd, UsageLimit};

pub(super) use self::job::{Announcement, Done, Job};

/// An agent that has been at its prompt for this long has ended its turn.
const SETTLED: Duration = Duration::from_millis(500);
/// A turn whose beginning was not seen within this time has ended already, or the agent does not show it.
const BEGINNING: Duration = Duration::from_secs(3);
/// An agent without screen rules counts as being at rest after this time without output.
const SILENCE: Duration = Duration::from_secs(5);
/// A dialog that has been open for this long is drawn completely.
pub(super) const DRAWN: Duration = Duration::from_millis(100);
/// An unknown screen is announced only if it stays unknown for this long.
const UNCLEAR: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct InstanceScheduler {
    status: InstanceStatus,
    activity: Option<Activity>,
    /// The activity that was announced last. An unknown screen is not announced at once.
    announced: Option<Activity>,
    unclear: Option<Duration>,
    last_line: Option<String>,
    /// The usage limit on its screen.
    limit: Option<UsageLimit>,
    /// What it says about its last turn, which the model's service has ended.
    failed: Option<String>,
    /// Since when the screen has not changed.
    still: Duration,
    /// When the idle time began; None while it is not idle.
    clock: Option<Duration>,
    /// When the turn that is under way began.
    turn: Option<Duration>,
    clients: u32,
    /// Its process has ended, or its terminal is gone.
    left: bool,
    job: Option<Job>,
    retry: Retry,
    /// When a prompt of the queue was sent, and whether the agent was seen busy since.
    fed: Option<(Duration, bool)>,
    /// A hash of the screen, and the hash of the dialog that needs no further job.
    screen_hash: u64,
    considered: Option<u64>,
    wakes: Wakes,
    notices: Notices,
    saves: Saves,
    /// It ran before the daemon started: its first activity is not announced.
    found: bool,
}

impl InstanceScheduler {
    pub(super) fn new(status: InstanceStatus, now: Duration, found: bool) -> Self {
        Self {
            fed: (status.queue.running > 0).then_some((now, false)),
            status,
            activity: None,
            announced: None,
            unclear: None,
            last_line: None,
            limit: None,
            failed: None,
            still: now,
            clock: None,
            turn: None,
            clients: 0,
            left: false,
            job: None,
            retry: Retry::new(now),
            screen_hash: 0,
            considered: None,
            wakes: Wakes::default(),
            notices: Notices::default(),
            saves: Saves::default(),
            found,
        }
    }

    pub(super) fn status(&self) -> &InstanceStatus {
        &self.status
    }

    pub(super) fn activity(&self) -> Option<Activity> {
        self.activity
    }

    pub(super) fn last_line(&self) -> Option<&str> {
        self.last_line.as_deref()
    }

    pub(super) fn is_running(&self) -> bool {
        self.status.state == State::Running
    }

    /// For how long it has been idle without an attached client.
    pub(super) fn idle_for(&self, now: Duration) -> Option<Duration> {
        let free = self.clients == 0 && self.activity == Some(Activity::Idle);
        self.clock
            .filter(|_| free && self.is_running())
            .map(|since| now.saturating_sub(since))
    }

    /// Its record has changed.
    pub(super) fn record_changed(
        &mut self,
        now: Duration,
        status: InstanceStatus,
    ) -> Vec<Announcement> {
        let before = std::mem::replace(&mut self.status, status);
        let mut announcements = Vec::new();
        let state = self.status.state;
        if before.state != state {
            if state == State::Running {
                // A new agent process.
                self.left = false;
                self.still = now;
                self.found = false;
            } else if !matches!(state, State::Pausing) {
                self.activity = None;
                self.limit = None;
                self.announced = None;
                self.unclear = None;
                self.clock = None;
                self.turn = None;
            }
            if self.clients == 0 {
                match state {
                    State::Failed | State::Interrupted => {
                        announcements.push(Announcement::Notice(Notice::Failed))
                    }
                    State::Completed => announcements.push(Announcement::Notice(Notice::Finished)),
                    _ => {}
                }
            }
        }
        let queue = &self.status.queue;
        if queue.running == 0 {
            self.fed = None;
        } else if self.fed.is_none() {
            self.fed = Some((now, false));
        }
        if queue.waiting > before.queue.waiting {
            // The user has added a prompt: it is tried at once.
            self.retry.reset(now);
            self.wakes.forget_failures();
        }
        // That the agent has failed was told, and nothing else waits for it.
        let told = matches!(state, State::Failed | State::Interrupted) && queue.waiting == 0;
        if before.queue_stopped.is_none() && self.status.queue_stopped.is_some() && !told {
            announcements.push(Announcement::Notice(Notice::Failed));
        }
        announcements
    }

    /// Takes an observation of its screen.
    pub(super) fn observe(
        &mut self,
        now: Duration,
        seen: &Seen,
        turn_worth_telling: Duration,
    ) -> Vec<Announcement> {
        let mut announcements = Vec::new();
        let previous = self.activity.replace(seen.activity);
        self.last_line.clone_from(&seen.last_line);
        self.screen_hash = seen.screen_hash;
        self.limit = seen.limit;
        self.failed.clone_from(&seen.failed);
        if seen.activity != Activity::Approval {
            self.considered = None;
        }
        if seen.changed || previous != self.activity {
            self.still = now;
        }
        // An empty screen is not saved.
        if seen.last_line.is_some() {
            self.saves.seen(now, seen.changed);
        }
        self.clock = match (seen.activity, previous) {
            // A server or a build that the agent has started would end with it.
            _ if seen.background => None,
            (Activity::Idle, Some(Activity::Idle)) if !seen.changed => self.clock.or(Some(now)),
            (Activity::Idle, _) => Some(now),
            _ => None,
        };
        if seen.activity == Activity::Busy {
            self.turn.get_or_insert(now);
            if let Some((_, worked)) = &mut self.fed {
                *worked = true;
            }
        }
        if std::mem::take(&mut self.found) {
            self.notices.found(now, seen.activity, seen.screen_hash);
        } else {
            let notice =
                self.notices
                    .activity(now, seen.activity, seen.screen_hash, self.clients > 0);
            announcements.extend(notice.map(Announcement::Notice));
        }
        if seen.activity == Activity::Idle
            && let Some(began) = self.turn.take()
            && now.saturating_sub(began) >= turn_worth_telling
            && self.clients == 0
        {
            announcements.push(Announcement::Notice(Notice::Finished));
        }
        match seen.activity {
            Activity::Unknown if self.announced.is_some_and(|last| last != Activity::Unknown) => {
                self.unclear.get_or_insert(now);
            }
            activity => {
                self.unclear = None;
                announcements.extend(self.announce(activity));
            }
        }
        announcements
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, now: Duration) -> Vec<Announcement> {
        match self.unclear {
            Some(since) if now >= since + UNCLEAR => {
                self.unclear = None;
                self.announce(Activity::Unknown).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn announce(&mut self, activity: Activity) -> Option<Announcement> {
        let previous = self.announced.replace(activity);
        let until = self
            .limit
            .filter(|_| activity == Activity::Blocked)
            .map(|limit| limit.resets_at);
        (previous != Some(activity)).then_some(Announcement::Activity {
            activity,
            previous,
            until,
        })
    }

    /// Sets the number of attached clients. Attaching and detaching restart the idle time.
    pub(super) fn set_clients(&mut self, now: Duration, clients: u32) {
        if self.clients != clients {
            self.clients = clients;
            self.clock = self.clock.map(|_| now);
        }
    }

    /// When its screen is to be saved.
    pub(super) fn save_due(&self) -> Option<Duration> {
        self.saves
            .due(self.still)
            .filter(|_| self.is_running() && !self.left)
    }

    /// Marks the screen as saved. Returns whether it is at rest.
    pub(super) fn save(&mut self, now: Duration) -> bool {
        self.saves.saved(now, self.still)
    }

    /// Its process has ended, or its terminal is gone.
    pub(super) fn agent_ended(&mut self) {
        self.left = true;
    }

    /// The job to start now, if any; it counts as started.
    pub(super) fn next_job(&mut self, now: Duration, camp_paused: bool) -> Option<Job> {
        if self.job.is_some() {
            return None;
        }
        let job = self.decide(now, camp_paused)?;
        self.wakes
            .set_under_way(job == Job::Feed && self.is_asleep());
        if job == Job::Answer {
            self.considered = Some(self.screen_hash);
        }
        self.job = Some(job.clone());
        Some(job)
    }

    /// The job could not be started because no thread was available. This is not a failure of the instance,
    /// and is tried again.
    pub(super) fn not_started(&mut self, now: Duration) {
        self.job = None;
        self.wakes.set_under_way(false);
        self.considered = None;
        self.retry.soon(now);
    }

    /// Suspends it for a reason outside the instance, if it is idle.
    pub(super) fn suspend(&mut self, now: Duration, reason: PauseReason) -> Option<Job> {
        if self.job.is_some() || self.idle_for(now).is_none() || self.status.queue.is_open() {
            return None;
        }
        self.job = Some(Job::Suspend(reason));
        self.job.clone()
    }

    fn decide(&self, now: Duration, camp_paused: bool) -> Option<Job> {
        if self.retry.due(now).is_some() {
            return None;
        }
        if self.left && self.is_running() {
            return Some(Job::Settle);
        }
        if self.wants_answer() && now >= self.still + DRAWN {
            return Some(Job::Answer);
        }
        if self.is_to_be_continued() {
            let over = self.limit.is_some_and(|limit| limit.is_over);
            return (over && !camp_paused && self.is_ready(now)).then_some(Job::Continue);
        }
        let queue = &self.status.queue;
        if queue.running > 0 {
            return self.turn_end(now).map(Job::Finish);
        }
        let waits = queue.waiting > 0 && self.status.queue_stopped.is_none() && !camp_paused;
        let can_be_woken = self.is_asleep() && !self.wakes.have_failed_too_often();
        if waits && (self.is_ready(now) || can_be_woken) {
            return Some(Job::Feed);
        }
        if self.awaits_draft() && self.is_ready(now) {
            return Some(Job::ReturnDraft);
        }
        let timeout = self.status.idle_timeout?;
        let due = self.idle_for(now)? >= timeout && !queue.is_open();
        due.then_some(Job::Suspend(PauseReason::Idle))
    }

    /// A usage limit holds everything up until the work is taken up again.
    fn is_to_be_continued(&self) -> bool {
        self.status.continues
            && self.is_running()
            && self.limit.is_some_and(|limit| !limit.is_continued)
    }

    /// The prompts of its queue come first: none is typed into a box that holds a text.
    fn awaits_draft(&self) -> bool {
        self.status.draft_waits && self.is_running() && !self.status.queue.is_open()
    }

    /// When its usage limit ends, if it has not yet: then it is to be looked at.
    pub(super) fn limit_ends(&self) -> Option<Timestamp> {
        let limit = self.limit.filter(|limit| !limit.is_over)?;
        self.is_running().then_some(limit.ends_at)
    }

    /// Whether a dialog is open that the policy has not decided on.
    fn wants_answer(&self) -> bool {
        self.status.autoyes
            && self.is_running()
            && self.activity == Some(Activity::Approval)
            && self.considered != Some(self.screen_hash)
    }

    /// How the turn of the queue's prompt ended, if it has.
    fn turn_end(&self, now: Duration) -> Option<TurnEnd> {
        let (began, worked) = self.fed?;
        let blocked = self.activity == Some(Activity::Blocked) && now >= self.still + SETTLED;
        if let Some(why) = broken_off(self.status.state, blocked, self.limit.is_some()) {
            return Some(TurnEnd::Failed(why.to_owned()));
        }
        let over = worked || now >= began + BEGINNING;
        (over && self.is_ready(now)).then(|| at_its_prompt(self.failed.as_deref()))
    }

    /// At its prompt and settled; for an agent without rules, silent.
    fn is_ready(&self, now: Duration) -> bool {
        let still = |pause| now >= self.still + pause;
        self.is_running()
            && match self.activity {
                Some(Activity::Idle) => still(SETTLED),
                Some(Activity::Unknown) => !self.status.has_rules && still(SILENCE),
                _ => false,
            }
    }

    /// Suspended by a timer: its queue resumes it.
    fn is_asleep(&self) -> bool {
        self.status.state == State::Paused
            && matches!(
                self.status.pause_reason,
                Some(PauseReason::Idle | PauseReason::Resource)
            )
    }

    /// A job has ended.
    pub(super) fn done(&mut self, now: Duration, done: &Done) {
        self.job = None;
        self.wakes
            .end(now, *done == Done::FeedResult(FeedResult::Sent));
        let again = match done {
            Done::Settled => {
                // If it still runs, another process had ended.
                self.left = false;
                false
            }
            Done::Finished => false,
            Done::Returned(returned) => *returned == DraftReturn::NotNow,
            Done::FeedResult(fed) => {
                if *fed == FeedResult::Sent {
                    self.fed = Some((now, self.activity == Some(Activity::Busy)));
                }
                *fed == FeedResult::NotNow
            }
            Done::Continued(result) => {
                let sent = *result == FeedResult::Sent;
                if sent && self.fed.is_some() {
                    // The turn of the queue's prompt goes on.
                    self.fed = Some((now, false));
                }
                // It is looked at again first: the limit may no longer be there.
                !sent
            }
            Done::Suspended(suspended) => {
                // The user was present: the idle time starts again.
                self.clock = self.clock.map(|_| now);
                *suspended == Suspended::NotNow
            }
            Done::Answered(outcome) => match outcome {
                // The same dialog may open again at once. The audit knows which one was answered.
                AutoyesOutcome::Accepted | AutoyesOutcome::Rejected => {
                    self.considered = None;
                    false
                }
                AutoyesOutcome::PersonHere | AutoyesOutcome::Limited | AutoyesOutcome::Stale => {
                    self.considered = None;
                    true
                }
                AutoyesOutcome::Off
                | AutoyesOutcome::NoDialog
                | AutoyesOutcome::Manual
                | AutoyesOutcome::AnsweredAlready
                | AutoyesOutcome::Stopped => false,
            },
            Done::Failed => {
                self.considered = None;
                true
            }
        };
        if again {
            self.retry.later(now);
        } else {
            self.retry.reset(now);
        }
    }

    /// When to look at it again, if nothing happens before.
    pub(super) fn due(&self, now: Duration) -> Option<Duration> {
        let unclear = self.unclear.map(|since| since + UNCLEAR);
        let queue = &self.status.queue;
        let waiting = self.job.is_none()
            && self.is_running()
            && (queue.is_open() || self.is_to_be_continued() || self.awaits_draft());
        let ready = waiting.then_some(match self.activity {
            Some(Activity::Idle | Activity::Blocked) => self.still + SETTLED,
            Some(Activity::Unknown) if !self.status.has_rules => self.still + SILENCE,
            _ => Duration::MAX,
        });
        let dialog = (self.job.is_none() && self.wants_answer()).then(|| self.still + DRAWN);
        let begun = waiting.then(|| {
            self.fed
                .map_or(Duration::MAX, |(began, _)| began + BEGINNING)
        });
        let idle = (self.job.is_none() && self.idle_for(now).is_some() && !queue.is_open())
            .then(|| Some(self.clock? + self.status.idle_timeout?))
            .flatten();
        let retry = self.retry.due(now).filter(|_| self.job.is_none());
        // Times in the past wait for another event.
        [unclear, ready, begun, dialog, idle, retry]
            .into_iter()
            .flatten()
            .filter(|due| *due > now && *due < Duration::MAX)
            .min()
    }
}

#[cfg(test)]
mod tests;
