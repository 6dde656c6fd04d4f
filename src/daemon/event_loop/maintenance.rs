//! Periodic work for all instances: rounds, compaction, memory, saved screens.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{COMPACT, EventLoop, FOLLOW, MEASURE, RoundState};
use crate::daemon::jobs;
use crate::daemon::message::DaemonMessage;
use crate::daemon::scheduler::InstanceScheduler;
use crate::daemon::thread::{log, spawn};
use crate::engine::scaled;
use crate::model::{InstanceId, PauseReason, Timestamp};

/// After a save, no screen is saved for this many times its duration: saving takes at most one percent of the
/// time, however many instances there are.
const SAVE_SHARE: u32 = 100;
const SAVE_REST: Duration = Duration::from_millis(200);
const LONGEST_SAVE_REST: Duration = Duration::from_secs(30);

impl EventLoop {
    /// Starts the periodic work that is due.
    pub(super) fn run_maintenance(&mut self, now: Duration) {
        if self.stopping.is_some() {
            return;
        }
        let limits = &self.engine.config().settings.limits;
        let running = self
            .schedulers
            .values()
            .filter(|scheduler| scheduler.is_running())
            .count();
        let crowded = running > usize::try_from(limits.active).unwrap_or(usize::MAX);
        if crowded && !self.crowded {
            self.engine.emit_crowded(running);
            log(&format!("{running} agents run, more than limits.active"));
        }
        self.crowded = crowded;
        if now >= self.compact && !self.compacting {
            self.compact = now + scaled(COMPACT);
            self.compacting = self.compact_all(now);
        }
        self.save_one(now);
        self.look_at_ended_limits();
        if now >= self.follow && !self.following {
            self.follow = now + scaled(FOLLOW);
            self.following = self.follow_pull_requests();
        }
        let limits = &self.engine.config().settings.limits;
        if limits.memory > 0 && now >= self.measure && !self.measuring {
            self.measure = now + scaled(MEASURE);
            self.measuring = self.measure_all();
        }
    }

    /// An agent whose usage limit is over shows the same screen as before, so nothing else causes a look.
    fn look_at_ended_limits(&self) {
        let now = Timestamp::new(chrono::Utc::now());
        for (id, scheduler) in &self.schedulers {
            if scheduler.limit_ends().is_some_and(|end| now >= end) {
                self.look_again(Some(id));
            }
        }
    }

    /// When the next screen is saved, if one is unsaved.
    pub(super) fn next_save(&self) -> Option<Duration> {
        if self.saving || self.stopping.is_some() {
            return None;
        }
        let due = self
            .schedulers
            .values()
            .filter_map(InstanceScheduler::save_due)
            .min()?;
        Some(due.max(self.save_after))
    }

    /// Saves the screen that has been due for longest.
    fn save_one(&mut self, now: Duration) {
        if self.next_save().is_none_or(|due| due > now) {
            return;
        }
        let due = self
            .schedulers
            .iter_mut()
            .filter_map(|(id, scheduler)| Some((scheduler.save_due()?, id, scheduler)))
            .min_by_key(|(due, ..)| *due);
        let Some((_, id, scheduler)) = due else {
            return;
        };
        let (id, at_rest) = (id.clone(), scheduler.save(now));
        let (engine, messages) = (Arc::clone(&self.engine), self.messages.clone());
        self.saving = spawn("save", move || {
            let started = Instant::now();
            let trouble = engine.save_screen(&id, at_rest).err();
            let trouble = trouble.map(|error| error.to_string());
            // The loop has ended where this fails.
            drop(messages.send(DaemonMessage::Saved(id, started.elapsed(), trouble)));
        });
    }

    pub(super) fn saved(&mut self, id: &InstanceId, took: Duration, trouble: Option<String>) {
        self.saving = false;
        let rest = (took * SAVE_SHARE).clamp(SAVE_REST, LONGEST_SAVE_REST);
        self.save_after = self.now() + rest;
        if let Some(trouble) = trouble {
            log(&format!("{id}: its screen was not saved: {trouble}"));
        }
    }

    /// Starts a round: every instance is brought to rest, in a thread.
    pub(super) fn start_round(&mut self) {
        if matches!(self.round, RoundState::UnderWay | RoundState::Again) {
            self.round = RoundState::Again;
            return;
        }
        let (engine, messages) = (Arc::clone(&self.engine), self.messages.clone());
        let begun = spawn("round", move || {
            let troubles = match engine.settle_all() {
                Ok(troubles) => troubles,
                Err(error) => vec![error.to_string()],
            };
            // The loop has ended where this fails.
            drop(messages.send(DaemonMessage::RoundDone(troubles)));
        });
        self.round = if begun {
            RoundState::UnderWay
        } else {
            RoundState::Wanted
        };
    }

    /// Whether it was begun.
    fn compact_all(&self, now: Duration) -> bool {
        let resting: Vec<(InstanceId, Option<Duration>)> = self
            .schedulers
            .iter()
            .map(|(id, scheduler)| (id.clone(), scheduler.idle_for(now)))
            .collect();
        let (engine, messages) = (Arc::clone(&self.engine), self.messages.clone());
        spawn("compact", move || {
            let troubles = resting
                .iter()
                .filter_map(|(id, idle)| {
                    let error = engine.compact_if_due(id.as_str(), *idle).err()?;
                    Some(format!("{id}: {error}"))
                })
                .collect();
            // The loop has ended where this fails.
            drop(messages.send(DaemonMessage::Compacted(troubles)));
        })
    }

    /// Whether it was begun.
    fn follow_pull_requests(&self) -> bool {
        let (engine, messages) = (Arc::clone(&self.engine), self.messages.clone());
        spawn("forges", move || {
            let troubles = engine.follow_pull_requests();
            // The loop has ended where this fails.
            drop(messages.send(DaemonMessage::Followed(troubles)));
        })
    }

    /// Whether it was begun.
    fn measure_all(&self) -> bool {
        let running: Vec<InstanceId> = self
            .schedulers
            .iter()
            .filter(|(_, scheduler)| scheduler.is_running())
            .map(|(id, _)| id.clone())
            .collect();
        let (engine, messages) = (Arc::clone(&self.engine), self.messages.clone());
        spawn("measure", move || {
            let bytes = engine.total_memory(&running);
            // The loop has ended where this fails.
            drop(messages.send(DaemonMessage::Measured(bytes)));
        })
    }

    /// Above the memory limit, suspends the instance that has been idle for longest. If that is not enough,
    /// the next measurement suspends another one.
    pub(super) fn free_memory(&mut self, bytes: u64) {
        if bytes <= self.engine.config().settings.limits.memory || self.stopping.is_some() {
            return;
        }
        let now = self.now();
        let mut idle: Vec<(Duration, InstanceId)> = self
            .schedulers
            .iter()
            .filter_map(|(id, scheduler)| Some((scheduler.idle_for(now)?, id.clone())))
            .collect();
        idle.sort();
        for (_, id) in idle.into_iter().rev() {
            if let Some(scheduler) = self.schedulers.get_mut(&id)
                && let Some(job) = scheduler.suspend(now, PauseReason::Resource)
            {
                if jobs::start(&self.engine, &self.messages, &id, job) {
                    self.jobs += 1;
                } else {
                    scheduler.not_started(now);
                }
                return;
            }
        }
    }
}
