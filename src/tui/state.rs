//! Everything that the screen depends on, as plain data.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::dialog::Dialog;
use super::diff::DiffPage;
use super::editor::Editor;
use super::filter;
use super::keys::Keymap;
use super::message::Surroundings;
use super::theme::Theme;
use crate::config::{Key, Settings};
use crate::engine::{ConversationEntry, InstanceView, RunHistory};
use crate::model::{Activity, InstanceId, State as InstanceState, Timestamp};

pub(super) struct State {
    pub columns: u16,
    pub rows: u16,
    pub now: Timestamp,
    /// Counts the steps of everything that turns.
    pub frame: usize,
    pub theme: Theme,
    pub keymap: Keymap,
    pub settings: Settings,

    /// Until the first look has come back nothing is said about what there is.
    pub loaded: bool,
    /// In the order of the list: by repository, oldest first, so that nothing jumps.
    pub instances: Vec<InstanceView>,
    /// Those whose record cannot be read, and why.
    pub unreadable: Vec<String>,
    /// All are to rest: no queue is fed.
    pub camp_paused: bool,
    pub surroundings: Option<Surroundings>,

    pub selected: Option<InstanceId>,
    /// Where the selection was, for when it goes away.
    pub position: usize,
    /// The first row of the list that is on the screen.
    pub top: usize,
    pub marks: BTreeSet<InstanceId>,
    pub filter: Editor,
    pub filtering: bool,
    /// The one repository that is shown.
    pub scope: Option<PathBuf>,

    pub tab: Tab,
    pub page: Pages,
    /// Lines scrolled: up from the end in a preview and a conversation, down from the top elsewhere.
    pub scroll: usize,

    pub dialog: Option<Dialog>,
    /// Forms that were refused while another dialog was open.
    pub refused: Vec<Dialog>,
    pub toasts: Vec<Toast>,
    pub jobs: Vec<Job>,
    pub next_job: u64,
    /// The first keys of several.
    pub pending: Vec<Key>,
    /// ctrl+c was pressed: once more, and it quits.
    pub interrupted: bool,
    pub killed: Vec<InstanceId>,
    /// To be attached to as soon as it runs.
    pub attach_when_ready: Option<u64>,
    pub quitting: bool,
    /// Whose screen is being watched, with how many lines above it.
    pub watched: Option<(Option<InstanceId>, usize)>,
    /// Whose page is being read.
    pub reading: Option<InstanceId>,
    /// What was read last, and when.
    pub read: Option<(Stamp, Timestamp)>,
}

/// A page as it was at some moment: another stamp means that there may be something new.
pub(super) type Stamp = (InstanceId, Tab, Timestamp, InstanceState);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Preview,
    Diff,
    Conversation,
    Runs,
}

impl Tab {
    pub(super) const ALL: [Self; 4] = [Self::Preview, Self::Diff, Self::Conversation, Self::Runs];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Preview => "Preview",
            Self::Diff => "Diff",
            Self::Conversation => "Conversation",
            Self::Runs => "Runs",
        }
    }
}

/// The screen of an agent, as it was seen.
pub(super) struct Screen {
    pub id: InstanceId,
    pub text: String,
    /// Lines above it that were asked for.
    pub above: usize,
}

/// What was read of the selected instance. Each belongs to the instance that it names.
#[derive(Default)]
pub(super) struct Pages {
    pub screen: Option<Screen>,
    pub diff: Option<(InstanceId, DiffPage)>,
    pub conversation: Option<(InstanceId, Vec<ConversationEntry>)>,
    pub runs: Option<(InstanceId, RunHistory)>,
    /// What could not be read, in words.
    pub trouble: Option<(InstanceId, Tab, String)>,
}

/// Something that is under way in the background.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Job {
    pub number: u64,
    pub verb: Verb,
    /// None for a new one, and for what concerns all.
    pub id: Option<InstanceId>,
    pub title: String,
    /// What it does right now.
    pub step: String,
    /// The form that asked for it, with what was typed into it.
    pub form: Option<Dialog>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Create,
    Pause,
    /// A pause by ctrl+c.
    Interrupt,
    CancelPause,
    Resume,
    Restart,
    Kill,
    UndoKill,
    Send,
    /// A prompt on its way is taken back.
    Unsend,
    Push,
    Autoyes,
    PauseAll,
    ResumeAll,
}

impl Verb {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Create => "creating",
            Self::Pause | Self::Interrupt => "pausing",
            Self::CancelPause => "taking back the pause of",
            Self::Resume => "resuming",
            Self::Restart => "restarting",
            Self::Kill => "killing",
            Self::UndoKill => "bringing back",
            Self::Send => "sending to",
            Self::Unsend => "taking back the prompt to",
            Self::Push => "pushing",
            Self::Autoyes => "setting autoyes of",
            Self::PauseAll => "pausing all",
            Self::ResumeAll => "resuming all",
        }
    }

    /// What an instance is while this is under way.
    fn state(self) -> Option<InstanceState> {
        match self {
            Self::Pause | Self::Interrupt => Some(InstanceState::Pausing),
            Self::Resume => Some(InstanceState::Resuming),
            Self::Restart => Some(InstanceState::Restarting),
            Self::Kill => Some(InstanceState::Killing),
            Self::Create
            | Self::CancelPause
            | Self::UndoKill
            | Self::Send
            | Self::Unsend
            | Self::Push
            | Self::Autoyes
            | Self::PauseAll
            | Self::ResumeAll => None,
        }
    }
}

/// A few words in a corner, for a while.
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
pub(super) enum Row<'a> {
    Repository(&'a Path),
    Instance(&'a InstanceView),
    /// One that is being made.
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
            unreadable: Vec::new(),
            camp_paused: false,
            surroundings: None,
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
        }
    }

    /// The instances that the list shows, in its order.
    pub(super) fn visible(&self) -> Vec<&InstanceView> {
        self.instances
            .iter()
            .filter(|view| self.scope.as_ref().is_none_or(|scope| *scope == view.repo))
            .filter(|view| {
                self.filter.is_empty() || filter::matches(self.filter.text(), &self.said_of(view))
            })
            .collect()
    }

    /// What a filter looks at.
    fn said_of(&self, view: &InstanceView) -> String {
        let branch = view.branch.as_deref().unwrap_or_default();
        let (state, _) = self.shown(view);
        format!("{} {branch} {} {}", view.title, view.agent, state.name())
    }

    /// The rows of the list: with a heading for each repository where there are several.
    pub(super) fn list_rows(&self) -> Vec<Row<'_>> {
        let visible = self.visible();
        let headed = self.scope.is_none() && self.repositories().len() > 1;
        let mut rows = Vec::with_capacity(visible.len() + 4);
        let mut last: Option<&Path> = None;
        for view in visible {
            if headed && last != Some(view.repo.as_path()) {
                last = Some(view.repo.as_path());
                rows.push(Row::Repository(view.repo.as_path()));
            }
            rows.push(Row::Instance(view));
        }
        // Once it is in the list itself, its place is there.
        let listed = self
            .instances
            .iter()
            .filter(|view| view.state == InstanceState::Creating)
            .count();
        let making = self.jobs.iter().filter(|job| job.verb == Verb::Create);
        rows.extend(making.skip(listed).map(Row::Making));
        rows
    }

    /// All repositories that have instances, in the order of the list.
    pub(super) fn repositories(&self) -> Vec<&Path> {
        let mut repositories: Vec<&Path> = Vec::new();
        for view in &self.instances {
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

    /// State and activity as they are shown: what this UI has under way counts before the next look
    /// tells of it.
    pub(super) fn shown(&self, view: &InstanceView) -> (InstanceState, Option<Activity>) {
        let own = self
            .jobs
            .iter()
            .filter(|job| job.id.as_ref() == Some(&view.id))
            .find_map(|job| job.verb.state());
        (own.unwrap_or(view.state), view.activity)
    }

    /// How many lines above a screen are needed for this much scrolling: in steps, so that each line
    /// does not ask anew.
    pub(super) fn lines_above(&self) -> usize {
        match self.scroll {
            0 => 0,
            scroll => (scroll / 500 + 1) * 500,
        }
    }

    pub(super) fn job_of(&self, id: &InstanceId) -> Option<&Job> {
        self.jobs.iter().find(|job| job.id.as_ref() == Some(id))
    }

    /// Whether something on the screen turns.
    pub(super) fn is_animated(&self) -> bool {
        !self.jobs.is_empty()
            || self
                .instances
                .iter()
                .any(|view| is_moving(self.shown(view)))
    }

    /// How many there are of each kind, for the status bar.
    pub(super) fn counts(&self) -> BTreeMap<Kind, usize> {
        let mut counts = BTreeMap::new();
        for view in &self.instances {
            *counts.entry(kind(self.shown(view))).or_default() += 1;
        }
        counts
    }

    /// Those that an action means: the marked ones, else the selected one.
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

/// What people tell apart at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    NeedsYou,
    Busy,
    Ready,
    Running,
    Moving,
    Paused,
    Interrupted,
    Failed,
    Completed,
}

pub(super) fn kind((state, activity): (InstanceState, Option<Activity>)) -> Kind {
    match (state, activity) {
        (InstanceState::Running, Some(Activity::Busy)) => Kind::Busy,
        (InstanceState::Running, Some(Activity::Idle)) => Kind::Ready,
        (
            InstanceState::Running,
            Some(Activity::Approval | Activity::Question | Activity::Blocked),
        ) => Kind::NeedsYou,
        (InstanceState::Running, _) => Kind::Running,
        (InstanceState::Paused, _) => Kind::Paused,
        (InstanceState::Completed, _) => Kind::Completed,
        (InstanceState::Interrupted, _) => Kind::Interrupted,
        (InstanceState::Failed | InstanceState::Killed, _) => Kind::Failed,
        (
            InstanceState::Creating
            | InstanceState::Pausing
            | InstanceState::Resuming
            | InstanceState::Restarting
            | InstanceState::Killing,
            _,
        ) => Kind::Moving,
    }
}

fn is_moving(shown: (InstanceState, Option<Activity>)) -> bool {
    matches!(kind(shown), Kind::Busy | Kind::Moving)
}
