//! The same request to several instances: paced and counted; a failure does not stop the others.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use crate::engine::base::{Core, Error, Progress, Scope, pace};
use crate::engine::operate::kill::Killed;
use crate::engine::operate::options::{KillOptions, PauseOptions, ResumeOptions, StateChange};
use crate::lifecycle::{Operation, Step};
use crate::model::{InstanceId, Title};

/// Agents that are waited for at the same time: each costs a thread that mostly sleeps.
const MOST_AWAITED: usize = 256;

/// The result of a request to several instances.
#[derive(Debug)]
pub(crate) struct Bulk<T> {
    /// In the order in which they were named.
    pub done: Vec<T>,
    pub failures: Vec<Failure>,
}

impl<T> Bulk<T> {
    /// A request to one instance, which was met.
    pub(crate) fn of(done: T) -> Self {
        Self {
            done: vec![done],
            failures: Vec::new(),
        }
    }
}

/// One for which it could not be done.
#[derive(Debug)]
pub(crate) struct Failure {
    pub id: InstanceId,
    pub title: Title,
    pub error: Error,
}

impl Core {
    /// The named instances, each once. One that does not exist is an error before any is changed.
    pub(crate) fn find_each(&self, given: &[String]) -> Result<Vec<(InstanceId, Title)>, Error> {
        let mut found: Vec<(InstanceId, Title)> = Vec::new();
        for given in given {
            let record = self.find(given, Scope::Living)?.record;
            if !found.iter().any(|(id, _)| *id == record.id) {
                found.push((record.id, record.title));
            }
        }
        Ok(found)
    }

    /// Pauses these, all at once, because each has its own turn to finish.
    pub(crate) fn pause_each(
        &self,
        ids: &[InstanceId],
        options: &PauseOptions,
        progress: &mut dyn Progress,
    ) -> Bulk<StateChange> {
        self.each(ids, MOST_AWAITED, progress, |id, progress| {
            self.pause(id.as_str(), options, progress)
        })
    }

    /// Resumes these, a few at a time: an agent that starts uses much of the machine.
    pub(crate) fn resume_each(
        &self,
        ids: &[InstanceId],
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Bulk<StateChange> {
        self.each(ids, pace::at_once(), progress, |id, progress| {
            self.resume(id.as_str(), options, progress)
        })
    }

    /// Kills these.
    pub(crate) fn kill_each(
        &self,
        ids: &[InstanceId],
        options: KillOptions,
        progress: &mut dyn Progress,
    ) -> Bulk<Killed> {
        self.each(ids, pace::at_once(), progress, |id, progress| {
            self.kill(id.as_str(), options, progress)
        })
    }

    pub(in crate::engine) fn each<T: Send>(
        &self,
        ids: &[InstanceId],
        at_once: usize,
        progress: &mut dyn Progress,
        act: impl Fn(&InstanceId, &mut dyn Progress) -> Result<T, Error> + Sync,
    ) -> Bulk<T> {
        let next = AtomicUsize::new(0);
        let work = |messages: Sender<BulkMessage<T>>| {
            while let Some((at, id)) = take(&next, ids) {
                let mut progress = BulkProgress {
                    title: self.title_of(id),
                    messages: messages.clone(),
                };
                let result = act(id, &mut progress);
                // Cannot fail: the receiver waits as long as there is a sender.
                drop(messages.send(BulkMessage::Done(at, result)));
            }
        };
        let mut results: Vec<Option<Result<T, Error>>> = ids.iter().map(|_| None).collect();
        std::thread::scope(|scope| {
            let (messages, received) = channel();
            let started = (0..at_once.min(ids.len()))
                .take_while(|_| {
                    let (work, messages) = (&work, messages.clone());
                    let thread = std::thread::Builder::new().name("bulk".to_owned());
                    thread.spawn_scoped(scope, move || work(messages)).is_ok()
                })
                .count();
            // Those that could be started do the work of those that could not.
            if started == 0 {
                work(messages.clone());
            }
            drop(messages);
            let mut count = 0;
            for message in received {
                match message {
                    BulkMessage::Note(note) => progress.note(&note),
                    BulkMessage::Done(at, result) => {
                        count += 1;
                        progress.count(count, ids.len());
                        if let Some(place) = results.get_mut(at) {
                            *place = Some(result);
                        }
                    }
                }
            }
        });
        let mut bulk = Bulk {
            done: Vec::new(),
            failures: Vec::new(),
        };
        for (id, result) in ids.iter().zip(results) {
            match result {
                Some(Ok(done)) => bulk.done.push(done),
                Some(Err(error)) => bulk.failures.push(Failure {
                    id: id.clone(),
                    title: self.title_of(id),
                    error,
                }),
                None => {}
            }
        }
        bulk
    }

    pub(in crate::engine) fn title_of(&self, id: &InstanceId) -> Title {
        self.store
            .instance(id)
            .record()
            .map(|record| record.title)
            .or_else(|_| Title::new(id.as_str()))
            .unwrap_or_else(|_| unreachable!("an id is a title"))
    }
}

/// The next instance that no thread has taken.
fn take<'i>(next: &AtomicUsize, ids: &'i [InstanceId]) -> Option<(usize, &'i InstanceId)> {
    let at = next.fetch_add(1, Ordering::SeqCst);
    Some((at, ids.get(at)?))
}

enum BulkMessage<T> {
    Note(String),
    Done(usize, Result<T, Error>),
}

/// Passes the progress of one instance to the caller's thread.
struct BulkProgress<T> {
    title: Title,
    messages: Sender<BulkMessage<T>>,
}

impl<T> Progress for BulkProgress<T> {
    fn step(&mut self, _: Operation, _: Step) {}

    fn note(&mut self, text: &str) {
        // Cannot fail: the receiver waits as long as there is a sender.
        drop(
            self.messages
                .send(BulkMessage::Note(format!("{}: {text}", self.title))),
        );
    }
}
