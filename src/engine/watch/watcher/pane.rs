//! One pane under watch.

use std::time::Duration;

use rustix::net::{RecvFlags, recv};

use crate::engine::watch::watcher::bell::Bell;
use crate::engine::watch::watcher::ears::Ear;
use crate::model::InstanceId;

/// Between two messages that the same agent says something.
const BETWEEN_RINGS: Duration = Duration::from_millis(100);
/// A doorbell that was taken from us is asked for again after this long, then after twice that.
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
    /// And tmux knows it, which is when its exit status can be had.
    pub dead: bool,
    pub bell: Bell,
    /// Its output, once it was handed over to us.
    pub pipe: Option<Ear>,
    /// Becomes readable when the process ends.
    pub process: Option<Ear>,
    /// When to ask for its output (again).
    pub repair: Option<Duration>,
    repair_after: Duration,
    rang: Option<Duration>,
    /// A number for the screen as it was seen last.
    pub face: Option<u64>,
    pub looking: bool,
}

/// What was read from a pane's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    Nothing,
    /// Something, and somebody should be told.
    Ring,
    Something,
    /// There is no more: the pane is gone, or somebody has taken its doorbell.
    End,
}

impl Watched {
    pub(super) fn new(instance: InstanceId, now: Duration) -> Self {
        let mut bell = Bell::default();
        // What it shows is worth a first look.
        bell.knock(now);
        Self {
            instance,
            clients: 0,
            ended: false,
            dead: false,
            bell,
            pipe: None,
            process: None,
            repair: Some(now),
            repair_after: FIRST_REPAIR,
            rang: None,
            face: None,
            looking: false,
        }
    }

    /// Reads what there is, however much: whoever does not keep up makes the server grow.
    pub(super) fn listen(&mut self, now: Duration, buffer: &mut [u8]) -> Heard {
        let Some(pipe) = &self.pipe else {
            return Heard::Nothing;
        };
        let mut heard = Heard::Nothing;
        for _ in 0..CHUNKS {
            match recv(pipe, &mut *buffer, RecvFlags::DONTWAIT) {
                Ok((_, 0)) => {
                    self.lose_pipe(now);
                    return Heard::End;
                }
                Ok((_, count)) => {
                    self.bell.ring(now, buffer.get(..count).unwrap_or_default());
                    heard = Heard::Something;
                }
                Err(rustix::io::Errno::AGAIN) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => {
                    self.lose_pipe(now);
                    return Heard::End;
                }
            }
        }
        if heard == Heard::Something && self.rang.is_none_or(|at| now >= at + BETWEEN_RINGS) {
            self.rang = Some(now);
            heard = Heard::Ring;
        }
        heard
    }

    /// Its output is ours from now on.
    pub(super) fn hand_over(&mut self, pipe: Ear) {
        self.pipe = Some(pipe);
        self.repair = None;
    }

    fn lose_pipe(&mut self, now: Duration) {
        self.pipe = None;
        self.repair_later(now);
    }

    pub(super) fn repair_later(&mut self, now: Duration) {
        self.repair = Some(now + self.repair_after);
        self.repair_after = (self.repair_after * 2).min(LAST_REPAIR);
    }

    /// When something is to be done about it.
    pub(super) fn due(&self) -> Option<Duration> {
        let look = if self.looking { None } else { self.bell.due() };
        [look, self.repair.filter(|_| !self.ended)]
            .into_iter()
            .flatten()
            .min()
    }
}
