//! The same request to several instances: paced, counted, and none left out because another one failed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use crate::engine::base::{Core, Error, Progress, Scope, pace};
use crate::engine::operate::kill::Killed;
use crate::engine::operate::options::{Asked, KillOptions, PauseOptions, ResumeOptions};
use crate::lifecycle::{Operation, Step};
use crate::model::{InstanceId, Title};

/// Agents that are waited for at the same time: each costs a thread that mostly sleeps.
const MOST_AWAITED: usize = 256;

/// What became of a request to several instances.
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
    /// The instances that are meant, each once. One that is not there is said before any is touched.
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

    /// Pauses these. All are asked at once, because each has a turn of its own to finish.
    pub(crate) fn pause_each(
        &self,
        ids: &[InstanceId],
        options: &PauseOptions,
        progress: &mut dyn Progress,
    ) -> Bulk<Asked> {
        self.each(ids, MOST_AWAITED, progress, |id, progress| {
            self.pause(id.as_str(), options, progress)
        })
    }

    /// Resumes these, a few at a time: an agent that starts takes what the machine has.
    pub(crate) fn resume_each(
        &self,
        ids: &[InstanceId],
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Bulk<Asked> {
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
        let work = |told: Sender<Word<T>>| {
            while let Some((at, id)) = take(&next, ids) {
                let mut relay = Relay {
                    title: self.title_of(id),
                    told: told.clone(),
                };
                let result = act(id, &mut relay);
                // Its receiver waits for as long as there is a sender.
                drop(told.send(Word::Done(at, result)));
            }
        };
        let mut results: Vec<Option<Result<T, Error>>> = ids.iter().map(|_| None).collect();
        std::thread::scope(|scope| {
            let (told, heard) = channel();
            let started = (0..at_once.min(ids.len()))
                .take_while(|_| {
                    let (work, told) = (&work, told.clone());
                    let thread = std::thread::Builder::new().name("bulk".to_owned());
                    thread.spawn_scoped(scope, move || work(told)).is_ok()
                })
                .count();
            // Those that could be started do the work of those that could not.
            if started == 0 {
                work(told.clone());
            }
            drop(told);
            let mut count = 0;
            for word in heard {
                match word {
                    Word::Note(note) => progress.note(&note),
                    Word::Done(at, result) => {
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

/// The next of them that nobody has taken.
fn take<'i>(next: &AtomicUsize, ids: &'i [InstanceId]) -> Option<(usize, &'i InstanceId)> {
    let at = next.fetch_add(1, Ordering::SeqCst);
    Some((at, ids.get(at)?))
}

enum Word<T> {
    Note(String),
    Done(usize, Result<T, Error>),
}

/// Passes on what is said about one of several.
struct Relay<T> {
    title: Title,
    told: Sender<Word<T>>,
}

impl<T> Progress for Relay<T> {
    fn step(&mut self, _: Operation, _: Step) {}

    fn note(&mut self, text: &str) {
        drop(
            self.told
                .send(Word::Note(format!("{}: {text}", self.title))),
        );
    }
}
