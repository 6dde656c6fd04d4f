//! The same request to several instances: paced and counted; a failure does not stop the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, Progress, Scope, pace};
use crate::engine::operate::create::NewInstance;
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

    /// One that was not begun counts as failed: it was interrupted.
    fn of_results<I>(
        items: &[I],
        results: Vec<Option<Result<T, Error>>>,
        name: impl Fn(&I) -> (Option<InstanceId>, Title),
    ) -> Self {
        let (mut done, mut failures) = (Vec::new(), Vec::new());
        for (item, result) in items.iter().zip(results) {
            match result.unwrap_or(Err(Error::Interrupted)) {
                Ok(one) => done.push(one),
                Err(error) => {
                    let (id, title) = name(item);
                    failures.push(Failure { id, title, error });
                }
            }
        }
        Self { done, failures }
    }
}

impl Bulk<StateChange> {
    /// How many had the state already.
    pub(crate) fn already(&self) -> usize {
        let already = |change: &&StateChange| matches!(change, StateChange::Already(_));
        self.done.iter().filter(already).count()
    }
}

/// One for which it could not be done.
#[derive(Debug)]
pub(crate) struct Failure {
    /// None where there is no instance, because it could not be created.
    pub id: Option<InstanceId>,
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

    /// Does the same for each, one after another. Each result is told in these `words` at once: the others may
    /// take long. One instance's error is the error of the request.
    pub(in crate::engine) fn one_by_one<T>(
        &self,
        ids: &[InstanceId],
        words: impl Fn(&T) -> String,
        progress: &mut dyn Progress,
        mut act: impl FnMut(&Self, &InstanceId, &mut dyn Progress) -> Result<T, Error>,
    ) -> Result<Bulk<T>, Error> {
        if let [id] = ids {
            let done = act(self, id, progress)?;
            progress.note(&words(&done));
            return Ok(Bulk::of(done));
        }
        let mut titles = Vec::new();
        for id in ids {
            let record = self.find(id.as_str(), Scope::WithKilled)?.record;
            titles.push((id.clone(), record.title));
        }
        let mut results = Vec::new();
        for (id, title) in &titles {
            if progress.is_interrupted() {
                results.push(None);
                continue;
            }
            progress.turn_of(title);
            let result = act(self, id, progress);
            match &result {
                Ok(done) => progress.note(&words(done)),
                // All failures are told once more at the end.
                Err(error) if results.len() + 1 < titles.len() && !progress.is_interrupted() => {
                    progress.note(&format!("{error}; going on with the others"));
                }
                Err(_) => {}
            }
            results.push(Some(result));
        }
        Ok(Bulk::of_results(&titles, results, |(id, title)| {
            (Some(id.clone()), title.clone())
        }))
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

    /// Creates these. What was begun when the user interrupts is taken back or finished; no other is
    /// begun.
    pub(crate) fn create_each(
        &self,
        asked: &[NewInstance],
        progress: &mut dyn Progress,
    ) -> Bulk<InstanceView> {
        let title = |asked: &NewInstance| {
            let title = asked.title.as_deref().map(Title::new);
            title
                .and_then(Result::ok)
                .unwrap_or_else(|| untitled("new"))
        };
        let create =
            |asked: &NewInstance, progress: &mut dyn Progress| self.create(asked.clone(), progress);
        // Most of a creation is waiting for the disk and for other processes.
        let at_once = 2 * pace::at_once();
        let results = work_through(asked, at_once, progress, &title, create);
        Bulk::of_results(asked, results, |asked| (None, title(asked)))
    }

    /// Does the same for each of these, all at once: most of the time is spent waiting.
    pub(crate) fn for_each<T: Send>(
        &self,
        ids: &[InstanceId],
        progress: &mut dyn Progress,
        act: impl Fn(&InstanceId, &mut dyn Progress) -> Result<T, Error> + Sync,
    ) -> Bulk<T> {
        self.each(ids, MOST_AWAITED, progress, act)
    }

    pub(in crate::engine) fn each<T: Send>(
        &self,
        ids: &[InstanceId],
        at_once: usize,
        progress: &mut dyn Progress,
        act: impl Fn(&InstanceId, &mut dyn Progress) -> Result<T, Error> + Sync,
    ) -> Bulk<T> {
        let title = |id: &InstanceId| self.title_of(id);
        let results = work_through(ids, at_once, progress, &title, act);
        Bulk::of_results(ids, results, |id| (Some(id.clone()), title(id)))
    }

    pub(in crate::engine) fn title_of(&self, id: &InstanceId) -> Title {
        self.store
            .instance(id)
            .record()
            .map(|record| record.title)
            .unwrap_or_else(|_| untitled(id.as_str()))
    }
}

fn untitled(word: &str) -> Title {
    Title::new(word).unwrap_or_else(|_| unreachable!("an id and a word are titles"))
}

/// Between two looks at whether the user has interrupted.
const INTERRUPT_PROBE: Duration = Duration::from_millis(50);

/// Acts on each of the items, several at a time. None for those that were not begun before the user
/// interrupted.
fn work_through<I: Sync, T: Send>(
    items: &[I],
    at_once: usize,
    progress: &mut dyn Progress,
    title: &(dyn Fn(&I) -> Title + Sync),
    act: impl Fn(&I, &mut dyn Progress) -> Result<T, Error> + Sync,
) -> Vec<Option<Result<T, Error>>> {
    let next = AtomicUsize::new(0);
    let interrupted = Arc::new(AtomicBool::new(false));
    let work = |messages: Sender<BulkMessage<T>>| {
        while !interrupted.load(Ordering::SeqCst)
            && let Some((at, item)) = take(&next, items)
        {
            let mut progress = BulkProgress {
                title: title(item),
                messages: messages.clone(),
                interrupted: Arc::clone(&interrupted),
            };
            let result = act(item, &mut progress);
            // Cannot fail: the receiver waits as long as there is a sender.
            drop(messages.send(BulkMessage::Done(at, result)));
        }
    };
    let mut results: Vec<Option<Result<T, Error>>> = items.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        let (messages, received) = channel();
        let started = (0..at_once.min(items.len()))
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
        loop {
            match received.recv_timeout(INTERRUPT_PROBE) {
                Ok(BulkMessage::Note(note)) => progress.note(&note),
                Ok(BulkMessage::Done(at, result)) => {
                    count += 1;
                    progress.count(count, items.len());
                    if let Some(place) = results.get_mut(at) {
                        *place = Some(result);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if progress.is_interrupted() {
                interrupted.store(true, Ordering::SeqCst);
            }
        }
    });
    results
}

/// The next item that no thread has taken.
fn take<'i, I>(next: &AtomicUsize, items: &'i [I]) -> Option<(usize, &'i I)> {
    let at = next.fetch_add(1, Ordering::SeqCst);
    Some((at, items.get(at)?))
}

enum BulkMessage<T> {
    Note(String),
    Done(usize, Result<T, Error>),
}

/// Passes the progress of one instance to the caller's thread.
struct BulkProgress<T> {
    title: Title,
    messages: Sender<BulkMessage<T>>,
    interrupted: Arc<AtomicBool>,
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

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}
