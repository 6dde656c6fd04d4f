//! What concerns all instances at once: rounds, compaction, memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{COMPACT, Desk, Errand, MEASURE};
use crate::daemon::jobs;
use crate::daemon::keeper::Keeper;
use crate::daemon::mail::Mail;
use crate::daemon::thread::{log, spawn};
use crate::engine::hurried;
use crate::model::{InstanceId, PauseReason};

/// After a screen was saved nothing is saved for so many times as long: at most one part in a hundred of the
/// time goes into it, however many there are.
const SAVE_SHARE: u32 = 100;
const SAVE_REST: Duration = Duration::from_millis(200);
const LONGEST_SAVE_REST: Duration = Duration::from_secs(30);

impl Desk {
    /// What concerns all of them.
    pub(super) fn errands(&mut self, now: Duration) {
        if self.stopping.is_some() {
            return;
        }
        let limits = &self.engine.config().settings.limits;
        let running = self
            .keepers
            .values()
            .filter(|keeper| keeper.is_running())
            .count();
        let crowded = running > usize::try_from(limits.active).unwrap_or(usize::MAX);
        if crowded && !self.crowded {
            self.engine.tell_crowded(running);
            log(&format!("{running} agents run, more than limits.active"));
        }
        self.crowded = crowded;
        if now >= self.compact && !self.compacting {
            self.compact = now + hurried(COMPACT);
            self.compacting = self.compact_all(now);
        }
        self.save_one(now);
        let limits = &self.engine.config().settings.limits;
        if limits.memory > 0 && now >= self.measure && !self.measuring {
            self.measure = now + hurried(MEASURE);
            self.measuring = self.measure_all();
        }
    }

    /// When the next screen may be saved, if one is to be.
    pub(super) fn next_save(&self) -> Option<Duration> {
        if self.saving || self.stopping.is_some() {
            return None;
        }
        let due = self.keepers.values().filter_map(Keeper::save_due).min()?;
        Some(due.max(self.save_after))
    }

    /// Saves one screen, the one that has been due for longest.
    fn save_one(&mut self, now: Duration) {
        if self.next_save().is_none_or(|due| due > now) {
            return;
        }
        let due = self
            .keepers
            .iter_mut()
            .filter_map(|(id, keeper)| Some((keeper.save_due()?, id, keeper)))
            .min_by_key(|(due, ..)| *due);
        let Some((_, id, keeper)) = due else {
            return;
        };
        let (id, at_rest) = (id.clone(), keeper.save(now));
        let (engine, mail) = (Arc::clone(&self.engine), self.mail.clone());
        self.saving = spawn("save", move || {
            let started = Instant::now();
            let trouble = engine.save_screen(&id, at_rest).err();
            let trouble = trouble.map(|error| error.to_string());
            drop(mail.send(Mail::Saved(id, started.elapsed(), trouble)));
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

    pub(super) fn make_round(&mut self) {
        if matches!(self.round, Errand::UnderWay | Errand::Again) {
            self.round = Errand::Again;
            return;
        }
        let (engine, mail) = (Arc::clone(&self.engine), self.mail.clone());
        let begun = spawn("round", move || {
            let troubles = match engine.settle_everyone() {
                Ok(troubles) => troubles,
                Err(error) => vec![error.to_string()],
            };
            drop(mail.send(Mail::Rounded(troubles)));
        });
        self.round = if begun {
            Errand::UnderWay
        } else {
            Errand::Wanted
        };
    }

    /// Whether it was begun.
    fn compact_all(&self, now: Duration) -> bool {
        let resting: Vec<(InstanceId, Option<Duration>)> = self
            .keepers
            .iter()
            .map(|(id, keeper)| (id.clone(), keeper.idle_for(now)))
            .collect();
        let (engine, mail) = (Arc::clone(&self.engine), self.mail.clone());
        spawn("compact", move || {
            let troubles = resting
                .iter()
                .filter_map(|(id, idle)| {
                    let error = engine.compact_if_due(id.as_str(), *idle).err()?;
                    Some(format!("{id}: {error}"))
                })
                .collect();
            drop(mail.send(Mail::Compacted(troubles)));
        })
    }

    /// Whether it was begun.
    fn measure_all(&self) -> bool {
        let running: Vec<InstanceId> = self
            .keepers
            .iter()
            .filter(|(_, keeper)| keeper.is_running())
            .map(|(id, _)| id.clone())
            .collect();
        let (engine, mail) = (Arc::clone(&self.engine), self.mail.clone());
        spawn("measure", move || {
            let bytes = engine.memory_of_all(&running);
            drop(mail.send(Mail::Measured(bytes)));
        })
    }

    /// Too much memory: the one that has been idle for longest goes to sleep. If that is not
    /// enough, the next measurement tells.
    pub(super) fn relieve(&mut self, bytes: u64) {
        if bytes <= self.engine.config().settings.limits.memory || self.stopping.is_some() {
            return;
        }
        let now = self.now();
        let mut idle: Vec<(Duration, InstanceId)> = self
            .keepers
            .iter()
            .filter_map(|(id, keeper)| Some((keeper.idle_for(now)?, id.clone())))
            .collect();
        idle.sort();
        for (_, id) in idle.into_iter().rev() {
            if let Some(keeper) = self.keepers.get_mut(&id)
                && let Some(job) = keeper.suspend(now, PauseReason::Resource)
            {
                if jobs::start(&self.engine, &self.mail, &id, job) {
                    self.jobs += 1;
                } else {
                    keeper.not_begun(now);
                }
                return;
            }
        }
    }
}
