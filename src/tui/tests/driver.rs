//! A test driver: presses keys, sends the messages of workers, and returns the screen.

use std::path::PathBuf;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::config::{Chord, Settings};
use crate::engine::{
    AgentView, ConversationEntry, InstanceView, Listing, PauseView, ScreenView, Speaker, WorkKept,
};
use crate::model::{
    Activity, DiffStat, InstanceId, PauseReason, RunId, RunRecord, RunState,
    State as InstanceState, Timestamp, Title,
};
use crate::tui::diff::DiffPage;
use crate::tui::input::{Event, Mouse, MouseKind};
use crate::tui::keys::Keymap;
use crate::tui::message::{
    Message, Page, Pane, StartContext, Task, TaskFailure, TaskOutcome, UiRequest,
};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::update::update;
use crate::tui::view::draw;

pub(super) struct Driver {
    pub state: State,
    pub requests: Vec<UiRequest>,
}

pub(super) fn at(minutes: i64) -> Timestamp {
    Timestamp::from_epoch(1_800_000_000 + minutes * 60).unwrap()
}

impl Driver {
    pub(super) fn new(columns: u16, rows: u16) -> Self {
        let settings: Settings = crate::config::load(std::path::Path::new("/nonexistent"))
            .unwrap()
            .settings;
        let keymap = Keymap::new(&settings.keys).unwrap();
        let state = State::new(settings, keymap, Theme::dark(), (columns, rows), at(60));
        Self {
            state,
            requests: Vec::new(),
        }
    }

    /// With these instances in the list.
    pub(super) fn with(columns: u16, rows: u16, instances: Vec<InstanceView>) -> Self {
        let mut driver = Self::new(columns, rows);
        driver.surveyed(Ok("/home/ada/app".into()), &["claude", "demo"]);
        driver.listed(instances);
        driver
    }

    pub(super) fn tell(&mut self, message: Message) {
        self.requests.extend(update(&mut self.state, message));
    }

    pub(super) fn listed(&mut self, instances: Vec<InstanceView>) {
        self.tell(Message::Listed(Box::new(Ok(Listing {
            instances,
            unreadable: Vec::new(),
            camp: None,
        }))));
    }

    pub(super) fn surveyed(&mut self, repository: Result<PathBuf, String>, installed: &[&str]) {
        let agents = ["claude", "codex", "demo"]
            .map(|name| agent(name, installed.contains(&name)))
            .to_vec();
        self.tell(Message::Surveyed(Box::new(StartContext {
            directory: match &repository {
                Ok(root) => root.join("docs"),
                Err(_) => "/home/ada/elsewhere".into(),
            },
            repository,
            agents,
            missing: Vec::new(),
        })));
    }

    pub(super) fn shows(&mut self, id: &str, text: &str) {
        let above = self.state.lines_above();
        self.tell(Message::Seen {
            id: InstanceId::parse(id).unwrap(),
            pane: self.state.tab.pane().unwrap_or(Pane::Agent),
            above,
            screen_view: Ok(ScreenView {
                text: text.to_owned(),
                live: true,
            }),
        });
    }

    pub(super) fn read(&mut self, id: &str, page: Page) {
        let id = InstanceId::parse(id).unwrap();
        self.tell(Message::Read(id, Duration::ZERO, Box::new(Ok(page))));
    }

    /// Presses keys, written as in the configuration, one after the other.
    pub(super) fn press(&mut self, keys: &str) -> &mut Self {
        for key in Chord::parse(keys).unwrap().0 {
            self.tell(Message::Typed(Event::Key(key)));
        }
        self
    }

    pub(super) fn write(&mut self, text: &str) -> &mut Self {
        for character in text.chars() {
            self.tell(Message::Typed(Event::Key(crate::config::Key::char(
                character,
            ))));
        }
        self
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.tell(Message::Typed(Event::Paste(text.to_owned())));
    }

    pub(super) fn mouse(&mut self, kind: MouseKind, column: u16, row: u16) {
        self.tell(Message::Typed(Event::Mouse(Mouse { kind, column, row })));
    }

    /// The tasks that were requested since the last call, with their jobs.
    pub(super) fn tasks(&mut self) -> Vec<(u64, Task)> {
        std::mem::take(&mut self.requests)
            .into_iter()
            .filter_map(|call| match call {
                UiRequest::Start { job, task } => Some((job, task)),
                _ => None,
            })
            .collect()
    }

    pub(super) fn progress(&mut self, job: u64, words: &str) {
        self.tell(Message::Progress {
            job,
            words: words.to_owned(),
            note: false,
        });
    }

    pub(super) fn done(&mut self, job: u64, outcome: Result<TaskOutcome, TaskFailure>) {
        self.tell(Message::Done {
            job,
            outcome: Box::new(outcome),
        });
    }

    pub(super) fn buffer(&self) -> Buffer {
        let area = Rect::new(0, 0, self.state.columns, self.state.rows);
        let mut buffer = Buffer::empty(area);
        draw(&self.state, &mut buffer);
        buffer
    }

    /// The screen as text, without local times.
    pub(super) fn screen(&self) -> String {
        let buffer = self.buffer();
        let mut text = String::new();
        for y in 0..buffer.area.height {
            let mut skip = 0;
            let mut line = String::new();
            for x in 0..buffer.area.width {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                let symbol = buffer[(x, y)].symbol();
                skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
                line.push_str(symbol);
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        let dates = regex::Regex::new(r"\d{4}-\d\d-\d\d \d\d:\d\d").unwrap();
        let text = dates.replace_all(&text, "YYYY-MM-DD hh:mm").into_owned();
        let times = regex::Regex::new(r"(?m)(│ |^)\d\d:\d\d ").unwrap();
        times.replace_all(&text, "${1}hh:mm ").into_owned()
    }
}

/// A diff page, as the worker makes it.
pub(super) fn patch_page(patch: &str) -> Page {
    Page::Diff(Box::new(DiffPage::new(patch.to_owned(), Vec::new())))
}

/// Ids are ten letters; these are easy to tell apart.
pub(super) fn id(letter: char) -> String {
    std::iter::repeat_n(letter, 10).collect()
}

pub(super) fn instance(letter: char, title: &str, state: InstanceState) -> InstanceView {
    let running = state == InstanceState::Running;
    InstanceView {
        host: None,
        id: InstanceId::parse(&id(letter)).unwrap(),
        title: Title::new(title).unwrap(),
        repo: "/home/ada/app".into(),
        branch: Some(format!("biv/{}", crate::model::slug(title))),
        base_commit: None,
        base: "HEAD".to_owned(),
        worktree: "/home/ada/worktrees/app/x".into(),
        worktree_present: running,
        subdirectory: None,
        size: None,
        agent: "claude".to_owned(),
        command: vec!["claude".to_owned()],
        tmux_session: None,
        state,
        activity: running.then_some(Activity::Idle),
        background: None,
        says: None,
        blocked_until: None,
        autoyes: false,
        autoyes_stopped: None,
        turn_cut_at: None,
        turn_failed: None,
        idle_timeout_s: None,
        session_ref: None,
        resumable: true,
        created_at: at(i64::from(u32::from(letter))),
        updated_at: at(0),
        last_active_at: at(0),
        paused_at: None,
        resumed_at: None,
        interrupted_at: None,
        pause: None,
        draft: None,
        diff: None,
        dirty: None,
        standing: None,
        pull_request: None,
        queue: None,
        run_id: RunId::parse(&id(letter)).unwrap(),
        asks: None,
        last_line: None,
        exit_code: None,
        activity_source: None,
        unmeasured: None,
        stuck: None,
        usage: None,
        seal: None,
        away: None,
        lease: None,
        kept: if running {
            WorkKept::InPlace
        } else {
            WorkKept::PutAway
        },
    }
}

pub(super) fn doing(mut view: InstanceView, activity: Activity) -> InstanceView {
    view.activity = Some(activity);
    view
}

pub(super) fn changed(mut view: InstanceView, added: u64, removed: u64) -> InstanceView {
    view.diff = Some(DiffStat {
        files: 3,
        added,
        removed,
    });
    view
}

pub(super) fn paused(letter: char, title: &str, tasks: &[&str]) -> InstanceView {
    let mut view = instance(letter, title, InstanceState::Paused);
    view.pause = Some(PauseView {
        at: at(48),
        reason: PauseReason::User,
        snapshot: None,
        scrollback_lines: 40,
        last_action: Some("wrote src/login.rs".to_owned()),
        pending_tasks: tasks.iter().map(|task| (*task).to_owned()).collect(),
        forced: false,
        stopped: Vec::new(),
        draft: None,
        left_on_disk: Vec::new(),
    });
    changed(view, 12, 3)
}

/// One of each kind.
pub(super) fn camp() -> Vec<InstanceView> {
    let mut failed = instance('g', "broken", InstanceState::Failed);
    failed.exit_code = Some(1);
    let mut yes = instance('h', "trusted", InstanceState::Running);
    yes.autoyes = true;
    vec![
        changed(
            doing(
                instance('b', "fix the login", InstanceState::Running),
                Activity::Busy,
            ),
            120,
            14,
        ),
        changed(instance('c', "milk", InstanceState::Running), 1, 0),
        doing(
            instance('d', "review api", InstanceState::Running),
            Activity::Approval,
        ),
        paused(
            'f',
            "old task",
            &[
                "write the tests",
                "update the README",
                "bench it",
                "ship it",
            ],
        ),
        failed,
        yes,
    ]
}

pub(super) fn entry(minutes: i64, speaker: Speaker, content: &str) -> ConversationEntry {
    ConversationEntry::new(at(minutes), speaker, content)
}

pub(super) fn run(letter: char, state: RunState) -> RunRecord {
    RunRecord {
        format: 1,
        run_id: RunId::parse(&id(letter)).unwrap(),
        instance_id: InstanceId::parse(&id('b')).unwrap(),
        state,
        provider: "claude".to_owned(),
        provider_session_ref: Some("0b5c1f6e-session".to_owned()),
        resumable: true,
        repo_root: "/home/ada/app".into(),
        created_at: at(0),
        updated_at: at(5),
        paused_at: None,
        pause_reason: None,
        resumed_from_run_id: None,
        restart_of_run_id: None,
        superseded_by_run_id: None,
        exit_code: None,
    }
}

fn agent(name: &str, installed: bool) -> AgentView {
    AgentView {
        name: name.to_owned(),
        display: match name {
            "claude" => "Claude Code".to_owned(),
            other => other.to_owned(),
        },
        about: None,
        installed,
        path: None,
        version: installed.then(|| "2.1.0".to_owned()),
        native_resume: true,
        hooks: false,
        transcript: true,
        limits: Vec::new(),
        default: installed && name == "claude",
    }
}
