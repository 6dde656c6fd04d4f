//! Worker threads that carry out the requests of the UI, so that it never waits for git, tmux or an agent.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

use super::diff::DiffPage;
use super::mailbox::Mailbox;
use super::message::{
    Lookup, LookupResult, Message, Page, PageKind, StartedWithoutPrompt, Task, TaskFailure,
    TaskOutcome, Wait,
};
use super::survey::{count_killed, survey};
use super::told::{self, camp, changed, counted};
use crate::daemon;
use crate::engine::{
    ConversationEntry, Engine, Error, KillOptions, Killed, LandOptions, Landed, LogFrom,
    OnConflict, PauseOptions, Progress, PromptOnResume, Restored, ResumeOptions, Sent, StateChange,
};
use crate::lifecycle::{Operation, Step};
use crate::model::{InstanceId, PauseReason};
use crate::report::Report;

/// How many entries of a conversation are read.
const ENTRIES: usize = 400;
/// How many results of a search are shown.
const FOUND: usize = 200;

pub(super) struct Workers {
    engine: Arc<Engine>,
    mailbox: Mailbox,
    pages: Sender<(InstanceId, PageKind)>,
    directory: PathBuf,
    /// Running operations.
    running: Vec<JoinHandle<()>>,
}

impl Workers {
    pub(super) fn start(engine: &Arc<Engine>, mailbox: &Mailbox, directory: PathBuf) -> Self {
        let (pages, wanted) = channel();
        let (engine_of_pages, mailbox_of_pages) = (Arc::clone(engine), mailbox.clone());
        std::thread::spawn(move || read_pages(&engine_of_pages, &mailbox_of_pages, &wanted));
        Self {
            engine: Arc::clone(engine),
            mailbox: mailbox.clone(),
            pages,
            directory,
            running: Vec::new(),
        }
    }

    pub(super) fn read(&self, id: InstanceId, what: PageKind) {
        // The worker has ended where this fails.
        drop(self.pages.send((id, what)));
    }

    /// Finds out where the UI was started and which agents are installed.
    pub(super) fn survey(&self) {
        let (engine, mailbox) = (Arc::clone(&self.engine), self.mailbox.clone());
        let directory = self.directory.clone();
        std::thread::spawn(move || survey(&engine, directory, &mailbox));
    }

    pub(super) fn count_killed(&self) {
        let (engine, mailbox) = (Arc::clone(&self.engine), self.mailbox.clone());
        std::thread::spawn(move || count_killed(&engine, &mailbox));
    }

    /// Looks something up for a popup.
    pub(super) fn look(&self, lookup: Lookup) {
        let (engine, mailbox) = (Arc::clone(&self.engine), self.mailbox.clone());
        std::thread::spawn(move || {
            let result = look_up(&engine, lookup).map_err(Report::from);
            mailbox.send(Message::Looked(Box::new(result)));
        });
    }

    /// Each operation has a thread, so that one that waits for a turn does not delay others.
    pub(super) fn carry_out(&mut self, job: u64, task: Task) {
        self.running.retain(|thread| !thread.is_finished());
        let (engine, mailbox) = (Arc::clone(&self.engine), self.mailbox.clone());
        self.running.push(std::thread::spawn(move || {
            let mut telling = JobProgress {
                job,
                mailbox: mailbox.clone(),
                // The output of a check comes line by line.
                keeps_notes: !matches!(task, Task::Land { .. }),
            };
            super::crash::panic_at("work");
            let outcome = carry_out(&engine, task, &mut telling);
            mailbox.send_result(Message::Done {
                job,
                outcome: Box::new(outcome),
            });
        }));
    }

    /// Waits for running operations.
    pub(super) fn finish(&mut self) {
        for thread in self.running.drain(..) {
            if thread.join().is_err() {
                tracing::warn!("the thread of an operation has panicked");
            }
        }
    }

    pub(super) fn is_working(&self) -> bool {
        self.running.iter().any(|thread| !thread.is_finished())
    }
}

/// Reports the progress of a job to the UI.
struct JobProgress {
    job: u64,
    mailbox: Mailbox,
    /// A note stays for a while; otherwise only until the next one.
    keeps_notes: bool,
}

impl JobProgress {
    fn tell(&self, words: &str, note: bool) {
        self.mailbox.send(Message::Progress {
            job: self.job,
            words: words.to_owned(),
            note,
        });
    }
}

impl Progress for JobProgress {
    fn step(&mut self, _: Operation, step: Step) {
        self.tell(step.progress(), false);
    }

    fn note(&mut self, text: &str) {
        self.tell(text, self.keeps_notes);
    }

    fn count(&mut self, done: usize, of: usize) {
        self.tell(&format!("{done} of {of}"), false);
    }
}

fn carry_out(
    engine: &Engine,
    task: Task,
    progress: &mut JobProgress,
) -> Result<TaskOutcome, TaskFailure> {
    let settings = &engine.config().settings.pause;
    let pausing = |wait: Wait, reason: PauseReason| PauseOptions {
        wait: match wait {
            Wait::AsConfigured => Some(settings.wait),
            Wait::Forever => None,
        },
        worktree: settings.worktree,
        reason,
    };
    let resuming = ResumeOptions {
        prompt: PromptOnResume::AsConfigured,
        on_conflict: OnConflict::Stop,
    };
    let said = |words: String| Ok(TaskOutcome::Said(words));
    match task {
        Task::Create(asked) => match engine.create((*asked).clone(), progress) {
            Ok(view) => {
                if view.autoyes {
                    let warnings = engine.autoyes(view.id.as_str())?.warnings;
                    watch_over(engine, &warnings, progress);
                }
                let words = format!("`{}` is running with {}", view.title, view.agent);
                Ok(TaskOutcome::Created(view.id, words))
            }
            Err(Error::ConsentNeeded { command }) => Err(TaskFailure::Consent { command, asked }),
            Err(error) => Err(not_created(engine, error, progress)),
        },
        Task::Pause { id, wait, reason } => {
            match engine.pause(id.as_str(), &pausing(wait, reason), progress)? {
                StateChange::Done(view) => {
                    if view.pause.as_ref().is_some_and(|pause| pause.forced) {
                        progress.note(&format!(
                            "warning: `{}` was stopped in the middle of its turn",
                            view.title
                        ));
                    }
                    said(format!("Paused `{}`.", view.title))
                }
                StateChange::Already(view) => said(format!("`{}` is paused already.", view.title)),
            }
        }
        Task::PauseEach { ids, wait } => {
            let bulk = engine.pause_each(&ids, &pausing(wait, PauseReason::User), progress);
            Ok(TaskOutcome::Said(changed(&bulk, "paused", "paused")?))
        }
        Task::ResumeEach(ids) => {
            let bulk = engine.resume_each(&ids, &resuming, progress);
            Ok(TaskOutcome::Said(changed(&bulk, "resumed", "running")?))
        }
        Task::CancelPause(id) => {
            engine.cancel_pause(id.as_str())?;
            Ok(TaskOutcome::Quiet)
        }
        Task::Resume(id) => match engine.resume(id.as_str(), &resuming, progress)? {
            StateChange::Done(view) => {
                let cut = view.cut_turn().map(|cut| format!("; {cut}"));
                said(format!(
                    "Resumed `{}`{}.",
                    view.title,
                    cut.unwrap_or_default()
                ))
            }
            StateChange::Already(view) => said(format!("`{}` is running already.", view.title)),
        },
        Task::Restart(id) => {
            let view = engine.restart(id.as_str(), progress)?;
            said(format!("Restarted `{}` as run {}", view.title, view.run_id))
        }
        Task::Kill { id, delete_branch } => {
            let options = KillOptions { delete_branch };
            let Killed { view, kept } = engine.kill(id.as_str(), options, progress)?;
            let words = format!("Killed `{}`.", view.title);
            Ok(if kept {
                TaskOutcome::Killed(id, words)
            } else {
                TaskOutcome::Said(words)
            })
        }
        Task::KillEach { ids, delete_branch } => {
            let bulk = engine.kill_each(&ids, KillOptions { delete_branch }, progress);
            let kept = bulk.done.iter().filter(|killed| killed.kept);
            let kept = kept.map(|killed| killed.view.id.clone()).collect();
            Ok(TaskOutcome::KilledEach(kept, counted(&bulk, "killed")))
        }
        Task::UndoKill(id) => {
            let Restored { view, formerly } = engine.undo_kill(id.as_str())?;
            said(match formerly {
                None => format!("`{}` is back, paused.", view.title),
                Some(title) => format!(
                    "`{title}` is back, paused, as `{}`: another instance has its title.",
                    view.title
                ),
            })
        }
        Task::Send { id, prompt } => {
            // The prompt of a suspended instance is queued first: if the resume is interrupted, the
            // daemon sends it.
            let view = engine.show(id.as_str())?;
            if view.state != crate::model::State::Running {
                feed_by_daemon(engine, progress);
            }
            match engine.send(id.as_str(), &prompt, progress)? {
                Sent::Typed => said("Sent.".to_owned()),
                Sent::Queued => {
                    feed_by_daemon(engine, progress);
                    said(format!(
                        "`{}` is busy: it gets the prompt next.",
                        view.title
                    ))
                }
            }
        }
        Task::Enqueue { id, prompt } => {
            let queue = engine.enqueue(id.as_str(), vec![prompt])?;
            feed_by_daemon(engine, progress);
            let waiting = match queue.counts.waiting {
                1 => "1 prompt waits".to_owned(),
                count => format!("{count} prompts wait"),
            };
            said(format!("Queued for `{}`: {waiting}.", queue.title))
        }
        Task::Answer {
            id,
            answer,
            dialog,
            words,
        } => {
            let (bound, words) = (Some(dialog.as_str()), words.as_deref());
            let answered = engine.answer(id.as_str(), &answer, bound, words, progress)?;
            said(told::answered(&answered))
        }
        Task::Comment { id, comment } => {
            let review = engine.comment(id.as_str(), vec![comment])?;
            Ok(TaskOutcome::Reviewed(review, None))
        }
        Task::ChangeComment { id, number, text } => {
            let review = engine.change_comment(id.as_str(), number, text)?;
            Ok(TaskOutcome::Reviewed(review, None))
        }
        Task::SendReview(id) => {
            let sent = engine.send_review(id.as_str(), progress)?;
            let count = match sent.comments {
                1 => "The comment".to_owned(),
                count => format!("The {count} comments"),
            };
            let words = match sent.sent {
                Sent::Typed => format!("{count} went to the agent."),
                Sent::Queued => {
                    feed_by_daemon(engine, progress);
                    format!("{count} go to the agent when its turn is over.")
                }
            };
            Ok(TaskOutcome::Reviewed(
                engine.review(id.as_str())?,
                Some(words),
            ))
        }
        Task::Unsend(id) => Ok(TaskOutcome::Unsent(engine.unsend(id.as_str())?.is_some())),
        Task::Push(id) => {
            let pushed = engine.push(id.as_str())?;
            said(format!("Pushed {} to {}.", pushed.branch, pushed.remote))
        }
        Task::Land { ids, commit } => {
            let options = LandOptions {
                commit,
                ..LandOptions::default()
            };
            let bulk = engine.land_each(&ids, &options, 0, Landed::told, progress)?;
            match (Report::of_landings(&bulk), bulk.done.as_slice()) {
                (Some(report), _) => Err(report.into()),
                (None, [one]) => said(one.told()),
                (None, several) => said(format!("{} instances have landed.", several.len())),
            }
        }
        Task::Rename { id, title } => {
            let renamed = engine.rename(id.as_str(), &title)?;
            said(format!(
                "`{}` is `{}` now.",
                renamed.formerly, renamed.title
            ))
        }
        Task::Autoyes { id, on } => {
            let state = if on {
                let state = engine.autoyes_on(id.as_str(), None)?;
                watch_over(engine, &state.warnings, progress);
                state
            } else {
                engine.autoyes_off(id.as_str())?
            };
            let word = if state.autoyes { "on" } else { "off" };
            said(format!("Autoyes of `{}` is {word}.", state.title))
        }
        Task::OnHost(host, task) => super::hosts::carry_out(engine, &host, *task),
        Task::PauseAll => camp(
            engine.pause_all(&pausing(Wait::AsConfigured, PauseReason::User), progress)?,
            ("paused", "paused"),
        ),
        Task::ResumeAll => camp(
            engine.resume_all(&resuming, progress)?,
            ("running", "resumed"),
        ),
    }
}

/// Starts the daemon, without which autoyes does nothing, and reports warnings.
fn watch_over(engine: &Engine, warnings: &[String], progress: &mut JobProgress) {
    for warning in warnings {
        progress.note(&format!("warning: {warning}"));
    }
    if let Some(trouble) = daemon::ensure(engine) {
        progress.note(&format!(
            "the daemon could not be started, so nothing is answered: {trouble}"
        ));
    }
}

/// Starts the daemon, without which a queue is not sent.
fn feed_by_daemon(engine: &Engine, progress: &mut JobProgress) {
    if let Some(trouble) = daemon::ensure(engine) {
        progress.note(&format!(
            "the daemon could not be started, so the queue waits: {trouble}"
        ));
    }
}

/// Why `create` failed; the instance may be there all the same.
fn not_created(engine: &Engine, error: Error, progress: &mut JobProgress) -> TaskFailure {
    let Error::PromptNotSent {
        id, title, queued, ..
    } = &error
    else {
        return error.into();
    };
    if *queued {
        feed_by_daemon(engine, progress);
    }
    TaskFailure::WithoutPrompt(Box::new(StartedWithoutPrompt {
        id: id.clone(),
        title: title.clone(),
        queued: *queued,
        report: error.into(),
    }))
}

impl From<Report> for TaskFailure {
    fn from(report: Report) -> Self {
        Self::Reported(report)
    }
}

impl From<Error> for TaskFailure {
    fn from(error: Error) -> Self {
        match &error {
            Error::Unsent => Self::TakenBack,
            Error::TakenBack { source, .. } if matches!(**source, Error::Cancelled) => {
                Self::TakenBack
            }
            _ => Self::Reported(Report::from(error)),
        }
    }
}

/// Reads pages one at a time. Of the waiting requests only the last one of each kind is carried out.
fn read_pages(engine: &Engine, mailbox: &Mailbox, wanted: &Receiver<(InstanceId, PageKind)>) {
    let mut known: Option<(InstanceId, Vec<u8>)> = None;
    while let Ok(first) = wanted.recv() {
        let (id, what) = wanted.try_iter().last().unwrap_or(first);
        let started = Instant::now();
        let page = read_page(engine, &id, what, &mut known).map_err(Report::from);
        mailbox.send(Message::Read(id, started.elapsed(), Box::new(page)));
    }
}

/// `known` is the patch that was read last.
fn read_page(
    engine: &Engine,
    id: &InstanceId,
    what: PageKind,
    known: &mut Option<(InstanceId, Vec<u8>)>,
) -> Result<Page, Error> {
    Ok(match what {
        PageKind::Diff => {
            let patch = engine.diff(id.as_str(), crate::engine::DiffOutput::Patch, false)?;
            let review = engine.review(id.as_str())?;
            if known
                .as_ref()
                .is_some_and(|(of, last)| of == id && *last == patch)
            {
                return Ok(Page::SameDiff(review));
            }
            let text = String::from_utf8_lossy(&patch).into_owned();
            *known = Some((id.clone(), patch));
            Page::Diff(Box::new(DiffPage::new(text, review.comments)))
        }
        PageKind::Conversation => {
            let mut log = engine.log(id.as_str(), LogFrom::Last(ENTRIES))?;
            let mut entries: Vec<ConversationEntry> = Vec::new();
            loop {
                let more = log.next()?;
                if more.is_empty() {
                    break Page::Conversation(entries);
                }
                entries.extend(more);
            }
        }
        PageKind::Runs => Page::Runs(engine.runs(id.as_str())?),
    })
}

fn look_up(engine: &Engine, lookup: Lookup) -> Result<LookupResult, Error> {
    Ok(match lookup {
        Lookup::Search(words) => {
            let result = engine.search(std::slice::from_ref(&words), FOUND)?;
            LookupResult::Search(words, result)
        }
        Lookup::Queue(id) => LookupResult::Queue(engine.queue(id.as_str())?),
        Lookup::ContinueQueue(id) => {
            let queue = engine.continue_queue(id.as_str())?;
            // Without a daemon nothing is sent; its lamp tells.
            if let Some(trouble) = daemon::ensure(engine) {
                tracing::warn!(trouble, "start the daemon");
            }
            LookupResult::Queue(queue)
        }
        Lookup::DropQueued { id, number } => {
            LookupResult::Queue(engine.drop_queued(id.as_str(), number)?)
        }
        Lookup::MoveQueued {
            id,
            number,
            forward,
        } => LookupResult::Queue(engine.move_queued(id.as_str(), number, forward)?),
        Lookup::Audit(id) => {
            let audit = engine.audit(Some(id.as_str()))?;
            LookupResult::Audit(id, audit.lines)
        }
        Lookup::Checks(ids) => {
            let mut checks: Vec<String> = Vec::new();
            for id in &ids {
                let check = engine.repository_check(id.as_str())?;
                checks.extend(check.filter(|check| !checks.contains(check)));
            }
            LookupResult::Checks(ids, checks)
        }
    })
}
