//! One watched pane.

use std::time::Duration;

use rustix::net::{RecvFlags, recv};

use crate::engine::watch::watcher::poller::PolledFd;
use crate::engine::watch::watcher::schedule::LookSchedule;
use crate::model::InstanceId;

/// The least time between two output events of one agent.
const BETWEEN_EVENTS: Duration = Duration::from_millis(100);
/// A pipes that was taken from us is asked for again after this long, then after twice that.
const FIRST_REPAIR: Duration = Duration::from_secs(1);
const LAST_REPAIR: Duration = Duration::from_secs(60);
/// Chunks that are read from one pane before the next has its turn.
const CHUNKS: usize = 16;

#[derive(Debug)]
pub(super) struct Watched {
    pub instance: InstanceId,
    pub clients: u32,
    /// Its process has ended.
    pub ended: bool,
    /// tmux has noticed the end, so the exit status is known.
    pub dead: bool,
    pub schedule: LookSchedule,
    /// Its output, once it was handed over to us.
    pub pipe: Option<PolledFd>,
    /// Becomes readable when the process ends.
    pub process: Option<PolledFd>,
    /// When to ask for its output (again).
    pub repair: Option<Duration>,
    repair_after: Duration,
    announced: Option<Duration>,
    /// The second of the last look that had no other reason than the time of the last output.
    looked_at: i64,
    /// A hash of the screen at the last look.
    pub screen_hash: Option<u64>,
    pub looking: bool,
}

/// What was read from a pane's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PaneOutput {
    Nothing,
    /// Something, and an event is due.
    Announce,
    Something,
    /// The end of the pipe: the pane is gone, or another watcher has taken its pipe.
    End,
}

impl Watched {
    pub(super) fn new(instance: InstanceId, now: Duration) -> Self {
        let mut schedule = LookSchedule::default();
        // What it shows is worth a first look.
        schedule.request(now);
        Self {
            instance,
            clients: 0,
            ended: false,
            dead: false,
            schedule,
            pipe: None,
            process: None,
            repair: Some(now),
            repair_after: FIRST_REPAIR,
            announced: None,
            looked_at: 0,
            screen_hash: None,
            looking: false,
        }
    }

    /// Reads all available output: tmux buffers what is not read.
    pub(super) fn listen(&mut self, now: Duration, buffer: &mut [u8]) -> PaneOutput {
        let Some(pipe) = &self.pipe else {
            return PaneOutput::Nothing;
        };
        let mut output = PaneOutput::Nothing;
        for _ in 0..CHUNKS {
            match recv(pipe, &mut *buffer, RecvFlags::DONTWAIT) {
                Ok((_, 0)) => {
                    self.lose_pipe(now);
                    return PaneOutput::End;
                }
                Ok((_, count)) => {
                    self.schedule
                        .output(now, buffer.get(..count).unwrap_or_default());
                    output = PaneOutput::Something;
                }
                Err(rustix::io::Errno::AGAIN) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => {
                    self.lose_pipe(now);
                    return PaneOutput::End;
                }
            }
        }
        if output == PaneOutput::Something
            && self.announced.is_none_or(|at| now >= at + BETWEEN_EVENTS)
        {
            self.announced = Some(now);
            output = PaneOutput::Announce;
        }
        output
    }

    /// Asks for a look if the pane had output since the last one, by tmux's time of it, which is in seconds.
    pub(super) fn look_if_active(&mut self, active_at: i64, now: Duration) {
        if active_at >= self.looked_at {
            self.looked_at = crate::engine::base::now().seconds_since_epoch();
            self.schedule.request(now);
        }
    }

    /// Its output is ours from now on.
    pub(super) fn hand_over(&mut self, pipe: PolledFd, now: Duration) {
        self.schedule.listen(now);
        self.pipe = Some(pipe);
        self.repair = None;
    }

    /// How long it was silent, as far as that is heard.
    pub(super) fn silent(&self, now: Duration) -> Option<Duration> {
        self.pipe.is_some().then(|| self.schedule.silent(now))
    }

    fn lose_pipe(&mut self, now: Duration) {
        self.pipe = None;
        self.repair_later(now);
    }

    pub(super) fn repair_later(&mut self, now: Duration) {
        self.repair = Some(now + self.repair_after);
        self.repair_after = (self.repair_after * 2).min(LAST_REPAIR);
    }

    /// When the pane next needs a look or a new pipe.
    pub(super) fn due(&self) -> Option<Duration> {
        let look = if self.looking {
            None
        } else {
            self.schedule.due()
        };
        [look, self.repair.filter(|_| !self.ended)]
            .into_iter()
            .flatten()
            .min()
    }
}
