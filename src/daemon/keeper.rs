//! One instance under care: what has been seen of it, and what is to be done about it.
//!
//! Pure: time is handed in, counted from the daemon's start by a clock that stands still while the
//! machine sleeps, so that nobody is suspended for the hours that nobody lived through.

use std::collections::VecDeque;
use std::time::Duration;

use super::notices::{Notice, Notices};
use crate::engine::{AutoyesOutcome, Fed, Seen, Standing, Suspended};
use crate::model::{Activity, PauseReason, State, TurnEnd};

/// An agent that has stood at its prompt for this long has ended its turn.
const SETTLED: Duration = Duration::from_millis(500);
/// A turn that nobody saw begin has ended by then, or the agent shows no sign of it.
const BEGINNING: Duration = Duration::from_secs(3);
/// The silence of an agent that has no screen rules, after which it counts as being at rest.
const SILENCE: Duration = Duration::from_secs(5);
/// A dialog that has stood for this long is drawn completely.
const DRAWN: Duration = Duration::from_millis(100);
/// A screen that says nothing known is told of only when it stays so.
const UNCLEAR: Duration = Duration::from_secs(1);
/// After an attempt that could not be made now; twice that the next time.
const FIRST_RETRY: Duration = Duration::from_secs(2);
const LAST_RETRY: Duration = Duration::from_secs(60);
/// A screen that has been still for so long is saved, though not more often than that.
const AT_REST: Duration = Duration::from_secs(2);
const BETWEEN_SAVES: Duration = Duration::from_secs(10);
/// One that goes on changing is saved so often.
const WHILE_BUSY: Duration = Duration::from_secs(30);
/// So many failing starts within this time end a loop of them.
const WAKES: usize = 3;
const WAKES_WITHIN: Duration = Duration::from_secs(60);

/// Work for an engine verb. One at a time for each instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Job {
    /// Its agent has ended: to be written down.
    Settle,
    /// Gives it the next prompt of its queue.
    Feed,
    /// The turn that the queue has begun is over.
    Finish(TurnEnd),
    Suspend(PauseReason),
    /// Answers the dialog that it shows, by the policy.
    Answer,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Done {
    Settled,
    Fed(Fed),
    Finished,
    Suspended(Suspended),
    Answered(AutoyesOutcome),
    /// It could not be done; the reason is in the log.
    Failed,
}

/// What is to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    Activity {
        activity: Activity,
        previous: Option<Activity>,
    },
    Notice(Notice),
}

#[derive(Debug)]
pub(super) struct Keeper {
    standing: Standing,
    activity: Option<Activity>,
    /// What was told last; an unclear screen is not told at once.
    told: Option<Activity>,
    unclear: Option<Duration>,
    last_line: Option<String>,
    /// Since when the screen has been as it is.
    still: Duration,
    /// When the idle clock began; None while it is not idle.
    clock: Option<Duration>,
    /// When the turn that is under way began.
    turn: Option<Duration>,
    clients: u32,
    /// Its process has ended, or its terminal is gone.
    left: bool,
    job: Option<Job>,
    retry: Duration,
    retry_after: Duration,
    /// When a prompt of the queue was given, and whether the agent was seen at work since.
    fed: Option<(Duration, bool)>,
    /// What the screen shows, and the dialog for which everything was done that can be.
    face: u64,
    considered: Option<u64>,
    /// It is being woken for its queue, and when that failed.
    waking: bool,
    failed_wakes: VecDeque<Duration>,
    notices: Notices,
    /// Since when it shows something that was not saved, and when it was saved last.
    unsaved: Option<Duration>,
    saved: Option<Duration>,
    /// It was here before us: what it shows first is not news.
    found: bool,
}

impl Keeper {
    pub(super) fn new(standing: Standing, now: Duration, found: bool) -> Self {
        Self {
            fed: (standing.queue.running > 0).then_some((now, false)),
            standing,
            activity: None,
            told: None,
            unclear: None,
            last_line: None,
            still: now,
            clock: None,
            turn: None,
            clients: 0,
            left: false,
            job: None,
            retry: now,
            retry_after: FIRST_RETRY,
            face: 0,
            considered: None,
            waking: false,
            failed_wakes: VecDeque::new(),
            notices: Notices::default(),
            unsaved: None,
            saved: None,
            found,
        }
    }

    pub(super) fn standing(&self) -> &Standing {
        &self.standing
    }

    pub(super) fn activity(&self) -> Option<Activity> {
        self.activity
    }

    pub(super) fn last_line(&self) -> Option<&str> {
        self.last_line.as_deref()
    }

    pub(super) fn is_running(&self) -> bool {
        self.standing.state == State::Running
    }

    /// For how long it has been idle with nobody here.
    pub(super) fn idle_for(&self, now: Duration) -> Option<Duration> {
        let free = self.clients == 0 && self.activity == Some(Activity::Idle);
        self.clock
            .filter(|_| free && self.is_running())
            .map(|since| now.saturating_sub(since))
    }

    /// Its record has changed.
    pub(super) fn stand(&mut self, now: Duration, standing: Standing) -> Vec<Told> {
        let before = std::mem::replace(&mut self.standing, standing);
        let mut told = Vec::new();
        let state = self.standing.state;
        if before.state != state {
            if state == State::Running {
                // Another agent, or the same one in another life.
                self.left = false;
                self.still = now;
                self.found = false;
            } else if !matches!(state, State::Pausing) {
                self.activity = None;
                self.told = None;
                self.unclear = None;
                self.clock = None;
                self.turn = None;
            }
            if self.clients == 0 {
                match state {
                    State::Failed | State::Interrupted => told.push(Told::Notice(Notice::Failed)),
                    State::Completed => told.push(Told::Notice(Notice::Finished)),
                    _ => {}
                }
            }
        }
        let queue = &self.standing.queue;
        if queue.running == 0 {
            self.fed = None;
        } else if self.fed.is_none() {
            self.fed = Some((now, false));
        }
        if queue.waiting > before.queue.waiting {
            // Somebody has added to it, and need not wait for the end of a retry.
            self.retry = now;
            self.retry_after = FIRST_RETRY;
            self.failed_wakes.clear();
        }
        if before.queue_stopped.is_none() && self.standing.queue_stopped.is_some() {
            told.push(Told::Notice(Notice::Failed));
        }
        told
    }

    /// It was looked at.
    pub(super) fn seen(
        &mut self,
        now: Duration,
        seen: &Seen,
        turn_worth_telling: Duration,
    ) -> Vec<Told> {
        let mut told = Vec::new();
        let previous = self.activity.replace(seen.activity);
        self.last_line.clone_from(&seen.last_line);
        self.face = seen.face;
        if seen.activity != Activity::Approval {
            self.considered = None;
        }
        if seen.changed || previous != self.activity {
            self.still = now;
        }
        // An empty screen is not worth it.
        if seen.changed && seen.last_line.is_some() {
            self.unsaved.get_or_insert(now);
        }
        self.clock = match (seen.activity, previous) {
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
            self.notices.found(now, seen.activity, seen.face);
        } else {
            let notice = self
                .notices
                .activity(now, seen.activity, seen.face, self.clients > 0);
            told.extend(notice.map(Told::Notice));
        }
        if seen.activity == Activity::Idle
            && let Some(began) = self.turn.take()
            && now.saturating_sub(began) >= turn_worth_telling
            && self.clients == 0
        {
            told.push(Told::Notice(Notice::Finished));
        }
        match seen.activity {
            Activity::Unknown if self.told.is_some_and(|told| told != Activity::Unknown) => {
                self.unclear.get_or_insert(now);
            }
            activity => {
                self.unclear = None;
                told.extend(self.tell(activity));
            }
        }
        told
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, now: Duration) -> Vec<Told> {
        match self.unclear {
            Some(since) if now >= since + UNCLEAR => {
                self.unclear = None;
                self.tell(Activity::Unknown).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn tell(&mut self, activity: Activity) -> Option<Told> {
        let previous = self.told.replace(activity);
        (previous != Some(activity)).then_some(Told::Activity { activity, previous })
    }

    /// So many people look at it now. Coming and going start the idle clock again.
    pub(super) fn attend(&mut self, now: Duration, clients: u32) {
        if self.clients != clients {
            self.clients = clients;
            self.clock = self.clock.map(|_| now);
        }
    }

    /// When its screen is to be saved: soon after it has come to rest, and now and then while it works.
    pub(super) fn save_due(&self) -> Option<Duration> {
        let unsaved = self.unsaved.filter(|_| self.is_running() && !self.left)?;
        let between = |pause| self.saved.map_or(Duration::ZERO, |saved| saved + pause);
        let at_rest = (self.still + AT_REST).max(between(BETWEEN_SAVES));
        let busy = (unsaved + WHILE_BUSY).max(between(WHILE_BUSY));
        Some(at_rest.min(busy))
    }

    /// It is being saved. Says whether it is at rest.
    pub(super) fn save(&mut self, now: Duration) -> bool {
        self.unsaved = None;
        self.saved = Some(now);
        now >= self.still + AT_REST
    }

    /// Its process has ended, or its terminal is gone.
    pub(super) fn leave(&mut self) {
        self.left = true;
    }

    /// What to do now, if anything; it counts as begun.
    pub(super) fn next_job(&mut self, now: Duration, camp_paused: bool) -> Option<Job> {
        if self.job.is_some() {
            return None;
        }
        let job = self.decide(now, camp_paused)?;
        self.waking = job == Job::Feed && self.is_asleep();
        if job == Job::Answer {
            self.considered = Some(self.face);
        }
        self.job = Some(job.clone());
        Some(job)
    }

    /// The job could not be begun, because the system has no room for another thread. It is none of the
    /// instance's failures, and is tried again.
    pub(super) fn not_begun(&mut self, now: Duration) {
        self.job = None;
        self.waking = false;
        self.considered = None;
        self.retry = now + FIRST_RETRY;
    }

    /// Suspends it because of something outside, if it is idle.
    pub(super) fn suspend(&mut self, now: Duration, reason: PauseReason) -> Option<Job> {
        if self.job.is_some() || self.idle_for(now).is_none() || self.standing.queue.is_open() {
            return None;
        }
        self.job = Some(Job::Suspend(reason));
        self.job.clone()
    }

    fn decide(&self, now: Duration, camp_paused: bool) -> Option<Job> {
        if now < self.retry {
            return None;
        }
        if self.left && self.is_running() {
            return Some(Job::Settle);
        }
        if self.wants_answer() && now >= self.still + DRAWN {
            return Some(Job::Answer);
        }
        let queue = &self.standing.queue;
        if queue.running > 0 {
            return self.turn_end(now).map(Job::Finish);
        }
        let waits = queue.waiting > 0 && self.standing.queue_stopped.is_none() && !camp_paused;
        let can_be_woken = self.is_asleep() && !self.is_worn_out();
        if waits && (self.is_ready(now) || can_be_woken) {
            return Some(Job::Feed);
        }
        let timeout = self.standing.idle_timeout?;
        let due = self.idle_for(now)? >= timeout && !queue.is_open();
        due.then_some(Job::Suspend(PauseReason::Idle))
    }

    /// A dialog is open that the policy has not seen.
    fn wants_answer(&self) -> bool {
        self.standing.autoyes
            && self.is_running()
            && self.activity == Some(Activity::Approval)
            && self.considered != Some(self.face)
    }

    /// How the turn that the queue has begun ended, if it did.
    fn turn_end(&self, now: Duration) -> Option<TurnEnd> {
        let (began, worked) = self.fed?;
        match self.standing.state {
            State::Interrupted => {
                let reason =
                    "the agent was interrupted in its turn: resume it, look how far it came";
                return Some(TurnEnd::Failed(reason.to_owned()));
            }
            State::Completed | State::Failed => {
                return Some(TurnEnd::Failed("the agent has ended".to_owned()));
            }
            State::Running => {}
            _ => return None,
        }
        if self.activity == Some(Activity::Blocked) && now >= self.still + SETTLED {
            return Some(TurnEnd::Failed("the agent is blocked".to_owned()));
        }
        let over = worked || now >= began + BEGINNING;
        (over && self.is_ready(now)).then_some(TurnEnd::Done)
    }

    /// At its prompt and settled; of an agent without rules, silent.
    fn is_ready(&self, now: Duration) -> bool {
        let still = |pause| now >= self.still + pause;
        self.is_running()
            && match self.activity {
                Some(Activity::Idle) => still(SETTLED),
                Some(Activity::Unknown) => !self.standing.has_rules && still(SILENCE),
                _ => false,
            }
    }

    /// Put to sleep by a timer: its queue wakes it.
    fn is_asleep(&self) -> bool {
        self.standing.state == State::Paused
            && matches!(
                self.standing.pause_reason,
                Some(PauseReason::Idle | PauseReason::Resource)
            )
    }

    /// It did not come up three times within a minute: a fourth time would be no different.
    fn is_worn_out(&self) -> bool {
        match (self.failed_wakes.front(), self.failed_wakes.back()) {
            (Some(first), Some(last)) if self.failed_wakes.len() >= WAKES => {
                last.saturating_sub(*first) <= WAKES_WITHIN
            }
            _ => false,
        }
    }

    /// A job has ended.
    pub(super) fn done(&mut self, now: Duration, done: &Done) {
        self.job = None;
        if std::mem::take(&mut self.waking) {
            if *done == Done::Fed(Fed::Sent) {
                self.failed_wakes.clear();
            } else {
                self.failed_wakes.push_back(now);
                if self.failed_wakes.len() > WAKES {
                    self.failed_wakes.pop_front();
                }
            }
        }
        let again = match done {
            Done::Settled => {
                // If it runs still, it was somebody else who left.
                self.left = false;
                false
            }
            Done::Finished => false,
            Done::Fed(fed) => {
                if *fed == Fed::Sent {
                    self.fed = Some((now, self.activity == Some(Activity::Busy)));
                }
                *fed == Fed::NotNow
            }
            Done::Suspended(suspended) => {
                // Somebody was here: the clock starts again.
                self.clock = self.clock.map(|_| now);
                *suspended == Suspended::NotNow
            }
            Done::Answered(outcome) => match outcome {
                // The same may come again at once: what was answered already is known elsewhere.
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
            self.retry = now + self.retry_after;
            self.retry_after = (self.retry_after * 2).min(LAST_RETRY);
        } else {
            self.retry = now;
            self.retry_after = FIRST_RETRY;
        }
    }

    /// When to look at it again, if nothing happens before.
    pub(super) fn due(&self, now: Duration) -> Option<Duration> {
        let unclear = self.unclear.map(|since| since + UNCLEAR);
        let queue = &self.standing.queue;
        let waiting = self.job.is_none() && self.is_running() && queue.is_open();
        let ready = waiting.then_some(match self.activity {
            Some(Activity::Idle | Activity::Blocked) => self.still + SETTLED,
            Some(Activity::Unknown) if !self.standing.has_rules => self.still + SILENCE,
            _ => Duration::MAX,
        });
        let dialog = (self.job.is_none() && self.wants_answer()).then(|| self.still + DRAWN);
        let begun = waiting.then(|| {
            self.fed
                .map_or(Duration::MAX, |(began, _)| began + BEGINNING)
        });
        let idle = (self.job.is_none() && self.idle_for(now).is_some() && !queue.is_open())
            .then(|| Some(self.clock? + self.standing.idle_timeout?))
            .flatten();
        let retry = (self.job.is_none() && now < self.retry).then_some(self.retry);
        // What is past already waits for something else to happen.
        [unclear, ready, begun, dialog, idle, retry]
            .into_iter()
            .flatten()
            .filter(|due| *due > now && *due < Duration::MAX)
            .min()
    }
}

#[cfg(test)]
mod tests;
