//! Handles messages from the workers.

use super::{picking, upkeep::select};
use crate::engine::{CampView, ConversationEntry, Listing, ReviewView};
use crate::model::{Activity, InstanceId, State as InstanceState};
use crate::report::Report;
use crate::tui::dialog::{Confirm, Dialog, OnYes, SendForm};
use crate::tui::diff::DiffPage;
use crate::tui::fleet::host_of;
use crate::tui::message::{
    AttachResult, Message, Page, Pane, StartedWithoutPrompt, TaskFailure, TaskOutcome, UiRequest,
};
use crate::tui::state::{ConversationPage, Job, Screen, State, Tab, ToastKind, Verb};

pub(super) fn arrive(state: &mut State, message: Message, requests: &mut Vec<UiRequest>) {
    match message {
        // One that was under way when the user went from the one list to the other.
        Message::Listed(_) if state.showing_killed => {}
        Message::KilledListed(_) if !state.showing_killed => {}
        Message::Listed(listing) | Message::KilledListed(listing) => match *listing {
            Ok(listing) => {
                if lacks_one(state, &listing) {
                    requests.push(UiRequest::CountKilled);
                }
                take_listing(state, listing);
                picking::look_again(state, requests);
            }
            Err(report) => state.show_error(report),
        },
        Message::UsedByKilled(used) => state.used_by_killed = used,
        Message::News(words) => state.toast(ToastKind::Note, words),
        // Those that are killed are only known here.
        Message::HostListed(_) if state.showing_killed => {}
        Message::HostListed(listing) => state.take_host(*listing),
        Message::Hosts(known) => state.replace_hosts(known),
        Message::Words(words) => state.words = words,
        Message::Looked(result) => match *result {
            Ok(result) => picking::take(state, result),
            Err(report) => state.show_error(report),
        },
        Message::Noticed {
            id,
            activity,
            last_line,
        } => {
            let now = state.now;
            let known = state.instances.iter_mut().find(|view| view.id == id);
            if let Some(view) = known.filter(|view| view.state == InstanceState::Running) {
                if view.activity != Some(activity) {
                    // What it asked before is answered; what it asks now is in the next list.
                    view.asks = None;
                    if matches!(activity, Activity::Approval | Activity::Question) {
                        requests.push(UiRequest::List);
                    }
                }
                view.activity = Some(activity);
                view.last_active_at = now;
                view.last_line = last_line.or(view.last_line.take());
            }
        }
        Message::Daemon(there) => state.daemon = Some(there),
        Message::Signalled => {
            state.quitting = true;
            requests.push(UiRequest::Quit);
        }
        Message::Seen {
            id,
            pane,
            above,
            screen_view,
        } => match screen_view {
            Ok(screen_view) => {
                state.page.trouble = None;
                state.page.screen = Some(Screen {
                    id,
                    pane,
                    above,
                    live: screen_view.live,
                    text: screen_view.text,
                });
            }
            Err(report) => {
                let tab = match pane {
                    Pane::Agent => Tab::Preview,
                    Pane::Shell => Tab::Shell,
                };
                state.page.trouble = Some((id, tab, report.message));
            }
        },
        Message::Read(id, took, page) => {
            state.read_took = took;
            take_page(state, id, *page, requests);
        }
        Message::Surveyed(start_context) => state.start_context = Some(*start_context),
        Message::Progress { job, words, note } => progress(state, job, words, note),
        Message::Done { job, outcome } => {
            if let Some(at) = state.jobs.iter().position(|known| known.number == job) {
                let job = state.jobs.remove(at);
                done(state, job, *outcome, requests);
            }
        }
        Message::Attached(visit) => {
            // The user may have gone on from one instance to another.
            if let Ok(AttachResult { id: Some(id), .. }) = &*visit {
                select(state, id.clone());
            }
            match *visit {
                Ok(visit) if visit.detached => {}
                Ok(visit) => {
                    let how = if visit.paused {
                        "was paused"
                    } else {
                        "has ended"
                    };
                    state.toast(ToastKind::Note, format!("`{}` {how}.", visit.title));
                }
                Err(report) => state.show_error(report),
            }
            requests.push(UiRequest::List);
            let host = state.current().and_then(host_of);
            requests.extend(host.map(UiRequest::AskHost));
        }
        Message::Typed(_) | Message::Resized { .. } | Message::Tick(_) => {}
    }
}

fn take_listing(state: &mut State, listing: Listing) {
    state.loaded = true;
    state.camp_paused = listing.camp.is_some_and(CampView::is_paused);
    // Those of hosts come by themselves, and are not among the killed ones.
    let showing_killed = state.showing_killed;
    let elsewhere = std::mem::take(&mut state.instances);
    state.instances = listing.instances;
    if !showing_killed {
        for view in elsewhere.into_iter().filter(|view| view.host.is_some()) {
            state.add_of_host(view);
        }
    }
    state.sort();
    state.unreadable = listing
        .unreadable
        .into_iter()
        .map(|unreadable| format!("{}: {}", unreadable.id, unreadable.reason))
        .collect();
    let living: Vec<&InstanceId> = state.instances.iter().map(|view| &view.id).collect();
    state.marks.retain(|id| living.contains(&id));
}

fn take_page(
    state: &mut State,
    id: InstanceId,
    page: Result<Page, Report>,
    requests: &mut Vec<UiRequest>,
) {
    if state.reading.as_ref() == Some(&id) {
        state.reading = None;
    }
    // A slow host has answered after the user has gone on.
    let host = state.host_of(&id);
    if host.is_some() && state.selected.as_ref() != Some(&id) {
        return;
    }
    match page {
        Ok(page) => {
            state.page.trouble = None;
            match page {
                Page::Diff(page) => {
                    // The list counts again what this patch has changed.
                    let before = state.page.diff.as_ref().filter(|(of, _)| *of == id);
                    if before.is_some_and(|(_, before)| before.raw != page.raw) && host.is_none() {
                        requests.push(UiRequest::Recount(id.clone()));
                    }
                    keep_cursor(state, &id, &page);
                    state.page.diff = Some((id, *page));
                }
                Page::SameDiff(review) => take_review(state, review),
                Page::Conversation(entries) => take_conversation(state, id, entries),
                Page::Runs(runs) => state.page.runs = Some((id, runs)),
            }
        }
        Err(report) => state.page.trouble = Some((id, state.tab, report.message)),
    }
}

fn take_conversation(state: &mut State, id: InstanceId, entries: Vec<ConversationEntry>) {
    if let Some((of, page)) = &state.page.conversation
        && *of == id
        && page.entries == entries
    {
        return;
    }
    let page = ConversationPage {
        entries,
        ..ConversationPage::default()
    };
    state.page.conversation = Some((id, page));
}

/// The cursor stays on its line if that is still there.
fn keep_cursor(state: &mut State, id: &InstanceId, page: &DiffPage) {
    let Some(row) = state.review else { return };
    let place = match &state.page.diff {
        Some((of, before)) if of == id => before.line_of(row).and_then(|at| before.place_of(at)),
        Some(_) | None => None,
    };
    let line = place.and_then(|(file, number, side)| page.patch.find(&file, side, number?));
    state.seek_line = line;
}

fn take_review(state: &mut State, review: ReviewView) {
    if let Some((id, page)) = &mut state.page.diff
        && *id == review.instance
    {
        page.replace_comments(review.comments);
    }
}

fn progress(state: &mut State, number: u64, words: String, note: bool) {
    if note {
        state.toast(ToastKind::Note, words);
    } else if let Some(job) = state.jobs.iter_mut().find(|job| job.number == number) {
        job.step = words;
    }
}

/// Whether an instance of this machine is no longer listed.
fn lacks_one(state: &State, listing: &Listing) -> bool {
    let mut known = state.instances.iter().filter(|view| view.host.is_none());
    !state.showing_killed
        && known.any(|view| !listing.instances.iter().any(|listed| listed.id == view.id))
}

fn done(
    state: &mut State,
    mut job: Job,
    outcome: Result<TaskOutcome, TaskFailure>,
    requests: &mut Vec<UiRequest>,
) {
    let host = job.id.as_ref().and_then(|id| state.host_of(id));
    requests.push(host.map_or(UiRequest::List, UiRequest::AskHost));
    let form = job.form.take();
    let attach = state.attach_when_ready == Some(job.number);
    if attach {
        state.attach_when_ready = None;
    }
    match outcome {
        Ok(outcome) => {
            if job.verb == Verb::Enqueue {
                picking::added(state, requests);
            }
            if let TaskOutcome::Unsent(true) = outcome {
                forget_send(state, &job);
                let why = "Taken back; nothing was sent.".to_owned();
                state.refused.extend(form.map(|form| form.refused(why)));
            }
            said(state, &job, outcome);
            // Only if the instance is still selected: otherwise attaching would be a surprise.
            if attach && state.selected == job.id && state.dialog.is_none() {
                let id = job.id.clone();
                requests.extend(id.map(|id| UiRequest::Attach(id, None)));
            }
        }
        Err(TaskFailure::TakenBack) => {
            if !matches!(job.verb, Verb::Interrupt | Verb::Send) {
                state.toast(
                    ToastKind::Note,
                    format!("The pause of `{}` was cancelled.", job.title),
                );
            }
        }
        Err(TaskFailure::Consent { command, asked }) => {
            state.dialog = Some(Dialog::Confirm(Confirm {
                question: "Run this repository's set-up command, now and from now on?".to_owned(),
                details: vec![command],
                option: None,
                on_yes: OnYes::Setup(
                    asked,
                    form.and_then(|form| match form {
                        Dialog::New(form) => Some(form),
                        _ => None,
                    }),
                ),
            }));
        }
        Err(TaskFailure::WithoutPrompt(started)) => started_without_prompt(state, *started, form),
        Err(TaskFailure::Reported(report)) => {
            let why = report.message.clone();
            if job.verb == Verb::Enqueue && picking::shows_queue(state) {
                // The form is opened instead; it leads back to the popup.
                state.dialog = None;
            }
            state.refused.extend(form.map(|form| form.refused(why)));
            state.show_error(report);
        }
    }
}

/// The form that has started the instance is not opened again, since it would start another one. A prompt that is in no
/// queue goes into the form that sends it.
fn started_without_prompt(state: &mut State, started: StartedWithoutPrompt, form: Option<Dialog>) {
    let StartedWithoutPrompt {
        id,
        title,
        queued,
        report,
    } = started;
    if state.dialog.is_none() {
        state.selected = Some(id.clone());
        state.scroll = 0;
    }
    if !queued
        && let Some(Dialog::New(form)) = form
        && let Some(prompt) = form.prompt
    {
        state.refused.push(Dialog::Send(SendForm {
            to: vec![id],
            titles: format!("`{title}`"),
            queue: None,
            prompt,
            trouble: Some(report.message.clone()),
        }));
    }
    state.show_error(report);
}

/// Removes the job of a prompt that was unsent.
fn forget_send(state: &mut State, unsend: &Job) {
    let sent = state
        .jobs
        .iter()
        .rposition(|job| job.verb == Verb::Send && job.id == unsend.id && job.form.is_none());
    if let Some(at) = sent {
        state.jobs.remove(at);
    }
}

fn said(state: &mut State, job: &Job, outcome: TaskOutcome) {
    match outcome {
        TaskOutcome::Quiet | TaskOutcome::Unsent(true) => {}
        TaskOutcome::Unsent(false) => {
            state.toast(ToastKind::Note, "It was sent already.".to_owned());
        }
        TaskOutcome::Said(_) if job.verb == Verb::Interrupt && state.interrupted => {
            state.toasts.retain(|toast| toast.until.is_some());
            state.toast_sticky(ToastKind::Good, "Paused. Ctrl+C again to quit.".to_owned());
        }
        TaskOutcome::Said(words) => state.toast(ToastKind::Good, words),
        TaskOutcome::Reviewed(review, words) => {
            take_review(state, review);
            if let Some(words) = words {
                state.review = None;
                state.toast(ToastKind::Good, words);
            }
        }
        TaskOutcome::Created(id, words) => {
            state.toast(ToastKind::Good, words);
            // Selects the new instance, unless a dialog is open or something is being typed.
            if state.dialog.is_none() {
                state.selected = Some(id);
                state.scroll = 0;
            }
        }
        TaskOutcome::KilledEach(ids, words) => {
            state.killed.extend(ids);
            match words {
                Ok(words) => state.toast(ToastKind::Good, words),
                Err(report) => state.show_error(report),
            }
        }
        TaskOutcome::Killed(id, words) => {
            state.killed.push(id);
            state.toast(ToastKind::Good, words);
        }
    }
}

impl State {
    /// Shows an error, with the same text as on the command line.
    pub(in crate::tui) fn show_error(&mut self, report: Report) {
        let mut text = report.message;
        for cause in &report.causes {
            text.push_str(": ");
            text.push_str(cause);
        }
        if let Some(appendix) = &report.appendix {
            text.push('\n');
            text.push_str(appendix);
        }
        self.add_toast(ToastKind::Bad, text, report.hints, true);
    }
}
