//! The state of the UI, as plain data.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ratatui::text::Line;

use super::dialog::Dialog;
use super::diff::DiffPage;
use super::editor::Editor;
use super::filter;
pub(super) use super::job::{Job, Verb};
use super::keys::Keymap;
use super::message::{Pane, StartContext};
pub(super) use super::tab::Tab;
use super::theme::Theme;
use crate::config::{Key, Settings};
use crate::engine::{ConversationEntry, HostListing, InstanceView, RunHistory};
use crate::model::{Activity, InstanceId, State as InstanceState, Timestamp, Usage};

pub(super) struct State {
    pub columns: u16,
    pub rows: u16,
    pub now: Timestamp,
    /// The frame counter of animations.
    pub frame: usize,
    pub theme: Theme,
    pub keymap: Keymap,
    pub settings: Settings,

    /// Whether the first list has arrived.
    pub loaded: bool,
    /// In the order of the list: those that need the user first, then by repository, oldest first.
    pub instances: Vec<InstanceView>,
    /// The hosts, by name; their instances are among the others.
    pub hosts: Vec<HostListing>,
    /// Instances whose record cannot be read, with the error.
    pub unreadable: Vec<String>,
    /// The camp is paused: no queue is sent.
    pub camp_paused: bool,
    pub start_context: Option<StartContext>,
    /// What killed instances have used today.
    pub used_by_killed: Usage,
    /// Whether a daemon runs; None before the first look.
    pub daemon: Option<bool>,

    pub selected: Option<InstanceId>,
    /// The row of the selection, for when the instance disappears.
    pub position: usize,
    /// The first visible row of the list.
    pub top: usize,
    pub marks: BTreeSet<InstanceId>,
    pub filter: Editor,
    pub filtering: bool,
    /// The repository that the list is limited to.
    pub scope: Option<PathBuf>,

    pub tab: Tab,
    pub page: Pages,
    /// Scrolled lines: up from the end in a preview and a conversation, down from the top elsewhere.
    pub scroll: usize,
    /// Columns that the diff is scrolled sideways.
    pub shift: usize,
    pub wrap: bool,
    /// None: side by side where there is room.
    pub side_by_side: Option<bool>,
    /// The row of the diff that a comment would be about; keys move it.
    pub review: Option<usize>,
    /// The instance that is to be reviewed, until its diff is there.
    pub opening: Option<InstanceId>,
    /// The line of a patch that the cursor goes to once its rows are known.
    pub seek_line: Option<usize>,
    /// What each agent said last.
    pub words: BTreeMap<InstanceId, String>,
    /// The list is that of the killed instances.
    pub showing_killed: bool,
    /// A place in a conversation that is gone to once it was read.
    pub seek: Option<Seek>,
    /// The output of tools is shown whole in the conversation.
    pub unfolded: bool,

    pub dialog: Option<Dialog>,
    /// Forms that were refused while another dialog was open.
    pub refused: Vec<Dialog>,
    pub toasts: Vec<Toast>,
    pub jobs: Vec<Job>,
    pub next_job: u64,
    /// The first keys of a key sequence.
    pub pending: Vec<Key>,
    /// ctrl+c was pressed once: pressed again, it quits.
    pub interrupted: bool,
    pub killed: Vec<InstanceId>,
    /// The job whose instance is attached to as soon as it runs.
    pub attach_when_ready: Option<u64>,
    pub quitting: bool,
    /// The watched instance, which of its terminals, and how many lines of history.
    pub watched: Option<(Option<InstanceId>, Pane, usize)>,
    /// The instance whose page is being read.
    pub reading: Option<InstanceId>,
    /// The page that was read last, and when.
    pub read: Option<(Stamp, Timestamp)>,
    /// How long that took.
    pub read_took: Duration,
}

/// Identifies a version of a page: with another stamp the page may have changed.
pub(super) type Stamp = (InstanceId, Tab, Timestamp, InstanceState);

/// A place in a conversation: the entry with this time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seek {
    pub id: InstanceId,
    pub at: Timestamp,
}

/// A conversation, and its lines for the width that they were arranged for.
#[derive(Default)]
pub(super) struct ConversationPage {
    pub entries: Vec<ConversationEntry>,
    pub lines: Vec<Line<'static>>,
    /// The first line of each entry.
    pub starts: Vec<usize>,
    /// The width, and whether tool output is unfolded.
    pub shape: Option<(u16, bool)>,
}

/// A captured screen of an agent, or of the shell beside it.
pub(super) struct Screen {
    pub id: InstanceId,
    pub pane: Pane,
    pub text: String,
    /// Whether there is such a terminal now.
    pub live: bool,
    /// The requested lines of history.
    pub above: usize,
}

/// The pages that were read, each with the id of its instance.
#[derive(Default)]
pub(super) struct Pages {
    pub screen: Option<Screen>,
    pub diff: Option<(InstanceId, DiffPage)>,
    pub conversation: Option<(InstanceId, ConversationPage)>,
    pub runs: Option<(InstanceId, RunHistory)>,
    /// The error of a page that could not be read.
    pub trouble: Option<(InstanceId, Tab, String)>,
}

/// A short message in a corner of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Toast {
    pub kind: ToastKind,
    pub text: String,
    pub hints: Vec<String>,
    /// None: until a key is pressed.
    pub until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToastKind {
    Good,
    Note,
    Bad,
}

/// A row of the list.
#[derive(Debug, Clone, Copy)]
pub(super) enum ListRow<'a> {
    Repository(&'a Path),
    /// The heading of a host.
    Host(&'a HostListing),
    Instance(&'a InstanceView),
    /// An instance that is being created.
    Making(&'a Job),
}

impl State {
    pub(super) fn new(
        settings: Settings,
        keymap: Keymap,
        theme: Theme,
        (columns, rows): (u16, u16),
        now: Timestamp,
    ) -> Self {
        Self {
            columns,
            rows,
            now,
            frame: 0,
            theme,
            keymap,
            settings,
            loaded: false,
            instances: Vec::new(),
            hosts: Vec::new(),
            unreadable: Vec::new(),
            camp_paused: false,
            start_context: None,
            daemon: None,
            selected: None,
            position: 0,
            top: 0,
            marks: BTreeSet::new(),
            filter: Editor::one_line(""),
            filtering: false,
            scope: None,
            tab: Tab::Preview,
            page: Pages::default(),
            scroll: 0,
            shift: 0,
            wrap: false,
            side_by_side: None,
            review: None,
            opening: None,
            seek_line: None,
            unfolded: false,
            words: BTreeMap::new(),
            used_by_killed: Usage::default(),
            showing_killed: false,
            seek: None,
            dialog: None,
            refused: Vec::new(),
            toasts: Vec::new(),
            jobs: Vec::new(),
            next_job: 1,
            pending: Vec::new(),
            interrupted: false,
            killed: Vec::new(),
            attach_when_ready: None,
            quitting: false,
            watched: None,
            reading: None,
            read: None,
            read_took: Duration::ZERO,
        }
    }

    /// The instances that the list shows, in its order.
    pub(super) fn visible(&self) -> Vec<&InstanceView> {
        let in_scope = self
            .instances
            .iter()
            .filter(|view| self.scope.as_ref().is_none_or(|scope| is_in(view, scope)));
        if self.filter.is_empty() {
            return in_scope.collect();
        }
        let mut ranked: Vec<(usize, &InstanceView)> = in_scope
            .filter_map(|view| {
                let title = view.title.to_string();
                let rank = filter::rank(self.filter.text(), &title, &self.said_of(view))?;
                Some((rank, view))
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, view)| view).collect()
    }

    /// What the filter searches besides the title.
    fn said_of(&self, view: &InstanceView) -> String {
        let branch = view.branch.as_deref().unwrap_or_default();
        let host = view.host.as_deref().unwrap_or_default();
        let repo = view.repo.file_name().unwrap_or_default().to_string_lossy();
        let shown = self.shown(view);
        let (state, activity) = (shown.0.name(), kind(shown).name());
        let asks = view.asks.as_ref().map_or("", |asks| asks.text.as_str());
        let autoyes = if view.autoyes { "autoyes" } else { "" };
        format!(
            "{host} {repo} {branch} {} {state} {activity} {autoyes} {asks}",
            view.agent
        )
    }

    /// The rows of the list: with a heading for each repository where there are several, and for each host.
    pub(super) fn list_rows(&self) -> Vec<ListRow<'_>> {
        let visible = self.visible();
        // The best matches first, whatever their repository.
        let whole = self.scope.is_none() && self.filter.is_empty();
        let with_hosts = whole && !self.hosts.is_empty() && !self.showing_killed;
        let headed = with_hosts || whole && self.repositories().len() > 1;
        let mut rows = Vec::with_capacity(visible.len() + 4);
        let mut last: Option<(Option<&str>, &Path)> = None;
        let mut hosts = self.hosts.iter().filter(|_| with_hosts).peekable();
        for view in visible {
            let (host, repo) = (view.host.as_deref(), view.repo.as_path());
            let below = host.filter(|_| with_hosts && !self.stands_first(view));
            // In their order, also those that have none.
            while let Some(heading) =
                hosts.next_if(|it| below.is_some_and(|host| it.name.as_str() <= host))
            {
                rows.push(ListRow::Host(heading));
            }
            if headed && below.is_none() && last != Some((host, repo)) {
                rows.push(ListRow::Repository(repo));
            }
            last = Some((host, repo));
            rows.push(ListRow::Instance(view));
        }
        // Once the new instance is in the list, it has a row of its own.
        let listed = self
            .instances
            .iter()
            .filter(|view| view.state == InstanceState::Creating)
            .count();
        let making = self.jobs.iter().filter(|job| job.verb == Verb::Create);
        rows.extend(making.skip(listed).map(ListRow::Making));
        rows.extend(hosts.map(ListRow::Host));
        rows
    }

    /// All repositories here that have instances, in the order of the list.
    pub(super) fn repositories(&self) -> Vec<&Path> {
        let mut repositories: Vec<&Path> = Vec::new();
        for view in self.instances.iter().filter(|view| view.host.is_none()) {
            if !repositories.contains(&view.repo.as_path()) {
                repositories.push(&view.repo);
            }
        }
        repositories
    }

    pub(super) fn current(&self) -> Option<&InstanceView> {
        let selected = self.selected.as_ref()?;
        self.instances.iter().find(|view| view.id == *selected)
    }

    pub(super) fn by_id(&self, id: &InstanceId) -> Option<&InstanceView> {
        self.instances.iter().find(|view| view.id == *id)
    }

    /// State and activity as shown: a job of this UI counts before the next list has it.
    pub(super) fn shown(&self, view: &InstanceView) -> (InstanceState, Option<Activity>) {
        let own = self
            .jobs
            .iter()
            .filter(|job| job.id.as_ref() == Some(&view.id))
            .find_map(|job| job.verb.state());
        (own.unwrap_or(view.state), view.activity)
    }

    /// How many lines of history are needed for the scroll position: in steps, so that not every line is a
    /// new request.
    pub(super) fn lines_above(&self) -> usize {
        match self.scroll {
            0 => 0,
            scroll => (scroll / 500 + 1) * 500,
        }
    }

    pub(super) fn job_of(&self, id: &InstanceId) -> Option<&Job> {
        self.jobs.iter().find(|job| job.id.as_ref() == Some(id))
    }

    /// Whether something on the screen is animated.
    pub(super) fn is_animated(&self) -> bool {
        !self.jobs.is_empty()
            || self
                .instances
                .iter()
                .any(|view| is_moving(self.shown(view)) && !self.is_old(view))
    }

    /// The number of instances of each kind, for the status bar.
    pub(super) fn counts(&self) -> BTreeMap<StatusKind, usize> {
        let mut counts = BTreeMap::new();
        for view in self.instances.iter().filter(|view| !self.is_old(view)) {
            *counts.entry(kind(self.shown(view))).or_default() += 1;
        }
        counts
    }

    /// The instances that an action applies to: the marked ones, else the selected one.
    pub(super) fn targets(&self) -> Vec<InstanceId> {
        if self.marks.is_empty() {
            return self
                .current()
                .map(|view| view.id.clone())
                .into_iter()
                .collect();
        }
        self.instances
            .iter()
            .filter(|view| self.marks.contains(&view.id))
            .map(|view| view.id.clone())
            .collect()
    }
}

/// The status of an instance, by colour and icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StatusKind {
    NeedsYou,
    Busy,
    Ready,
    Running,
    Moving,
    Paused,
    Interrupted,
    /// On another machine.
    Away,
    Failed,
    Completed,
    Killed,
}

impl StatusKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs you",
            Self::Busy => "busy",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Moving => "under way",
            Self::Paused => "paused",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::Completed => "completed",
            Self::Away => "away",
            Self::Killed => "killed",
        }
    }

    /// Nothing happens to it by itself.
    pub(super) fn is_at_rest(self) -> bool {
        matches!(
            self,
            Self::Paused
                | Self::Interrupted
                | Self::Away
                | Self::Failed
                | Self::Completed
                | Self::Killed
        )
    }
}

pub(super) fn kind((state, activity): (InstanceState, Option<Activity>)) -> StatusKind {
    match (state, activity) {
        (InstanceState::Running, Some(Activity::Busy)) => StatusKind::Busy,
        (InstanceState::Running, Some(Activity::Idle)) => StatusKind::Ready,
        (InstanceState::Running, Some(activity)) if activity.needs_you() => StatusKind::NeedsYou,
        (InstanceState::Running, _) => StatusKind::Running,
        (InstanceState::Paused, _) => StatusKind::Paused,
        (InstanceState::Completed, _) => StatusKind::Completed,
        (InstanceState::Interrupted, _) => StatusKind::Interrupted,
        (InstanceState::Failed, _) => StatusKind::Failed,
        (InstanceState::Away, _) => StatusKind::Away,
        (InstanceState::Killed, _) => StatusKind::Killed,
        (
            InstanceState::Creating
            | InstanceState::Pausing
            | InstanceState::Resuming
            | InstanceState::Restarting
            | InstanceState::Killing
            | InstanceState::Landing,
            _,
        ) => StatusKind::Moving,
    }
}

/// Whether an instance is of a repository here.
fn is_in(view: &InstanceView, repository: &Path) -> bool {
    view.host.is_none() && view.repo == repository
}

fn is_moving(shown: (InstanceState, Option<Activity>)) -> bool {
    matches!(kind(shown), StatusKind::Busy | StatusKind::Moving)
}
