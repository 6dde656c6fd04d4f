//! The main loop: waits for a key, a message or a timer, updates the state and draws.

use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};

use super::dialog::Dialog;
use super::feed::Feed;
use super::hosts::{self, HostFeed};
use super::input::Input;
use super::keys::Keymap;
use super::mailbox::{Inbox, Mailbox, mailbox};
use super::message::{AttachResult, Lookup, Message, Pane, UiRequest};
use super::picker::Picker;
use super::state::State;
use super::terminal::{Screen, restore};
use super::theme::Theme;
use super::update::update;
use super::view::draw;
use super::work::Workers;
use crate::engine::{Engine, HostName, Silent};
use crate::model::{InstanceId, Timestamp, printable_line};
use crate::report::Report;

/// The time between two frames of an animation.
const FRAME: Duration = Duration::from_millis(100);
/// How often ages, which are shown in minutes, are drawn again.
const AGING: Duration = Duration::from_secs(20);
/// How often it is checked whether the content of a tab is to be read again.
const READING: Duration = Duration::from_millis(500);
/// An escape without a following byte for this long was the key itself.
const ESCAPE: Duration = Duration::from_millis(25);
/// The most keys that are handled before the screen is drawn again.
const AT_ONCE: usize = 200;

/// If the loop has not ended this long after a signal, it is stuck.
const STUCK: Duration = Duration::from_secs(2);

/// The signal that requested the end.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// The UI has been left and waits only for running tasks.
static WAITING: AtomicBool = AtomicBool::new(false);

/// Options from the command line.
#[derive(Debug)]
pub(crate) struct Options {
    pub directory: PathBuf,
    pub no_color: bool,
    pub opening: Opening,
}

/// What is shown first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Opening {
    List,
    /// The diff of this instance, for comments.
    Review(InstanceId),
    /// Where these words were said.
    Search(String),
}

/// The UI has been left; tasks may still be running.
pub(crate) struct Ending {
    workers: Workers,
    under_way: Vec<String>,
}

impl Ending {
    /// The running tasks, as text.
    pub(crate) fn under_way(&self) -> Option<String> {
        if !self.workers.is_working() || self.signal().is_some() {
            return None;
        }
        Some(format!(
            "Still {}; Ctrl+C leaves it to the next command.",
            self.under_way.join(", ")
        ))
    }

    /// Waits for the running tasks.
    pub(crate) fn finish(mut self) {
        WAITING.store(true, Ordering::SeqCst);
        self.workers.finish();
    }

    /// The signal that ended it, if one did.
    pub(crate) fn signal(&self) -> Option<i32> {
        Some(SIGNAL.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }
}

/// Opens the UI; returns when the user leaves it.
pub(crate) fn run(engine: Engine, options: Options) -> Result<Ending, Report> {
    let terminal = std::env::var("TERM").unwrap_or_default();
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() || terminal == "dumb" {
        return Err(Report::usage(
            "the terminal UI needs a terminal",
            "`biv list` shows your instances, `biv --help` all commands",
        ));
    }
    let settings = engine.config().settings.clone();
    let keymap = Keymap::new(&settings.keys).map_err(|clash| {
        let [first, second] = clash.actions;
        Report::failed(
            "configuration",
            format!(
                "`keys.{first}` and `keys.{second}` both want {}",
                clash.keys
            ),
            format!(
                "give one of them another key in {}",
                engine.config().file.display()
            ),
        )
    })?;
    let theme = Theme::choose(
        settings.ui.theme,
        options.no_color,
        std::env::var("COLORFGBG").ok().as_deref(),
    );
    let engine = Arc::new(engine);
    let (mailbox, inbox) = mailbox().map_err(|error| unusable(&error))?;
    listen_for_signals(mailbox.clone()).map_err(|error| unusable(&error))?;
    let mut screen = Screen::take(settings.ui.mouse).map_err(|error| unusable(&error))?;
    let mut state = State::new(settings, keymap, theme, size(), now());
    let mut sought = None;
    match options.opening {
        Opening::List => {}
        Opening::Review(id) => state.opening = Some(id),
        Opening::Search(words) => {
            let words = printable_line(words.trim());
            state.dialog = Some(Dialog::Pick(Box::new(Picker::search_for(&words))));
            sought = Some(Lookup::Search(words));
        }
    }
    let mut ui = Ui {
        state,
        input: Input::default(),
        inbox,
        feed: Feed::start(&engine, &mailbox),
        hosts: HostFeed::start(&engine, &mailbox),
        workers: Workers::start(&engine, &mailbox, options.directory),
        engine,
        last_frame: Instant::now(),
    };
    ui.workers.survey();
    if let Some(lookup) = sought {
        ui.workers.look(lookup);
    }
    let ended = ui.run(&mut screen);
    drop(screen);
    let under_way = ui
        .state
        .jobs
        .iter()
        .map(|job| format!("{} {}", job.verb.words(), job.title))
        .collect();
    ended.map_err(|error| unusable(&error))?;
    Ok(Ending {
        workers: ui.workers,
        under_way,
    })
}

fn unusable(error: &std::io::Error) -> Report {
    Report::failed(
        "no_terminal",
        format!("this terminal cannot be used: {error}"),
        "try another one; `biv list` needs none",
    )
}

struct Ui {
    state: State,
    input: Input,
    inbox: Inbox,
    feed: Feed,
    hosts: HostFeed,
    workers: Workers,
    engine: Arc<Engine>,
    last_frame: Instant,
}

impl Ui {
    fn run(&mut self, screen: &mut Screen) -> std::io::Result<()> {
        loop {
            self.draw(screen)?;
            let (typed, told) = self.sleep();
            if typed {
                if !self.listen(screen)? {
                    return Ok(());
                }
            } else if let Some(event) = self.input.settle() {
                self.take(Message::Typed(event), screen)?;
            }
            if told {
                for message in self.inbox.take() {
                    self.take(message, screen)?;
                }
            }
            if self.last_frame.elapsed() >= self.pause() {
                self.last_frame = Instant::now();
                self.take(Message::Tick(now()), screen)?;
            }
            if self.state.quitting {
                return Ok(());
            }
        }
    }

    fn draw(&mut self, screen: &mut Screen) -> std::io::Result<()> {
        let state = &self.state;
        screen.draw(|frame| {
            if state.dialog.is_some() {
                super::crash::panic_at("draw");
            }
            if let Some(cursor) = draw(state, frame.buffer_mut()) {
                frame.set_cursor_position(cursor);
            }
        })
    }

    /// How long until the screen changes by time alone.
    fn pause(&self) -> Duration {
        if self.state.is_animated() {
            return FRAME;
        }
        let longest = if self.state.tab.pane().is_some() {
            AGING
        } else {
            READING
        };
        let ends = self.state.toasts.iter().filter_map(|toast| toast.until);
        let next = ends.min().map(|until| self.state.now.until(until) + FRAME);
        next.unwrap_or(longest).min(longest)
    }

    /// Waits for a key, a message or a timer.
    fn sleep(&self) -> (bool, bool) {
        let limit = if self.input.is_waiting() {
            ESCAPE
        } else {
            self.pause().saturating_sub(self.last_frame.elapsed())
        };
        let stdin = std::io::stdin();
        let mut fds = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::from_borrowed_fd(self.inbox.fd(), PollFlags::IN),
        ];
        // Interrupted by a signal, for which its thread sends a message: no descriptor is ready.
        poll(&mut fds, Some(&timespec(limit))).ok();
        let ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        (ready(0), ready(1))
    }

    /// Reads keys, one event at a time: keys after the attach key belong to the agent. False when the
    /// terminal is gone.
    fn listen(&mut self, screen: &mut Screen) -> std::io::Result<bool> {
        for _ in 0..AT_ONCE {
            let mut byte = [0];
            match rustix::io::read(std::io::stdin().as_fd(), &mut byte) {
                Ok(1) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Ok(_) | Err(_) => return Ok(false),
            }
            for event in self.input.feed(byte[0]) {
                self.take(Message::Typed(event), screen)?;
                if self.state.quitting {
                    return Ok(true);
                }
            }
            let stdin = std::io::stdin();
            let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
            if !matches!(poll(&mut fds, Some(&timespec(Duration::ZERO))), Ok(1..)) {
                self.input.pause();
                break;
            }
        }
        Ok(true)
    }

    fn take(&mut self, message: Message, screen: &mut Screen) -> std::io::Result<()> {
        self.state.now = now();
        for call in update(&mut self.state, message) {
            match call {
                UiRequest::Start { job, task } => {
                    self.workers.carry_out(job, task);
                    self.feed.look();
                }
                UiRequest::Watch {
                    id,
                    host,
                    pane,
                    above,
                } => {
                    let elsewhere = host.zip(id.clone());
                    let here = id.filter(|_| elsewhere.is_none());
                    self.feed.watch(here, pane, above);
                    self.hosts
                        .watch(elsewhere.map(|(host, id)| (host, id, above)));
                }
                UiRequest::Read { id, host, what } => match host {
                    Some(host) => self.hosts.read(host, id, what),
                    None => self.workers.read(id, what),
                },
                UiRequest::AskHost(host) => self.hosts.ask(host),
                UiRequest::List => self.feed.look(),
                UiRequest::Look(lookup) => self.workers.look(lookup),
                UiRequest::ShowKilled(killed) => self.feed.show_killed(killed),
                UiRequest::Suspend => self.suspend(screen)?,
                UiRequest::Recount(id) => {
                    self.engine.recount(&id);
                    self.feed.look();
                }
                UiRequest::Survey => self.workers.survey(),
                UiRequest::CountKilled => self.workers.count_killed(),
                UiRequest::Attach(id, host) => {
                    self.attach(&id, host.as_ref(), Pane::Agent, screen)?;
                }
                UiRequest::Shell(id, host) => {
                    self.attach(&id, host.as_ref(), Pane::Shell, screen)?;
                }
                UiRequest::Quit => self.state.quitting = true,
            }
        }
        Ok(())
    }

    /// Stops the program until the shell continues it.
    fn suspend(&mut self, screen: &mut Screen) -> std::io::Result<()> {
        screen.suspend()?;
        (self.state.columns, self.state.rows) = size();
        self.feed.look();
        Ok(())
    }

    fn attach(
        &mut self,
        id: &InstanceId,
        host: Option<&HostName>,
        pane: Pane,
        screen: &mut Screen,
    ) -> std::io::Result<()> {
        self.feed.rest(true);
        self.hosts.rest(true);
        let engine = Arc::clone(&self.engine);
        let visit = match host {
            None => screen.lend(|| {
                let attached = match pane {
                    Pane::Agent => engine.attach(id.as_str(), &mut Silent)?,
                    Pane::Shell => engine.shell(id.as_str(), &mut Silent)?,
                };
                Ok(AttachResult {
                    id: Some(attached.id),
                    title: attached.title.to_string(),
                    detached: attached.detached,
                    paused: attached.paused,
                })
            })?,
            Some(host) => screen
                .lend(|| hosts::attach(&engine, host, id, pane))?
                .map_err(Report::from)
                .and_then(|status| visited(host, status)),
        };
        self.hosts.rest(false);
        self.feed.rest(false);
        self.state.columns = size().0;
        self.state.rows = size().1;
        self.take(Message::Attached(Box::new(visit)), screen)
    }
}

/// How an attached session of a host has ended: its command has said the rest on the terminal.
fn visited(host: &HostName, status: u8) -> Result<AttachResult, Report> {
    if status == 0 {
        return Ok(AttachResult {
            id: None,
            title: host.to_string(),
            detached: true,
            paused: false,
        });
    }
    Err(Report::failed(
        "on_host",
        format!("attaching on {host} ended with status {status}"),
        format!("`biv attach {host}:INSTANCE` shows what it says"),
    ))
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

fn now() -> Timestamp {
    Timestamp::new(chrono::Utc::now())
}

fn size() -> (u16, u16) {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let size = size.map(|size| (size.ws_col, size.ws_row));
    size.filter(|(columns, rows)| *columns > 0 && *rows > 0)
        .unwrap_or((80, 24))
}

/// Turns SIGWINCH into a message. Signals that end the program first restore the terminal.
fn listen_for_signals(mailbox: Mailbox) -> std::io::Result<()> {
    let mut signals =
        signal_hook::iterator::Signals::new([SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGWINCH {
                let (columns, rows) = size();
                mailbox.send(Message::Resized { columns, rows });
                continue;
            }
            // The loop ends as if the user had quit. If it is stuck, the process is ended.
            SIGNAL.store(signal, Ordering::SeqCst);
            mailbox.send(Message::Signalled);
            if WAITING.load(Ordering::SeqCst) {
                restore();
                std::process::exit(128 + signal);
            }
            std::thread::sleep(STUCK);
            restore();
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}
