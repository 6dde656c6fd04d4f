//! The main loop: terminal, clock, files and children of the agent.

use std::io::Write;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::agent::Input;
use super::args::DemoArgs;
use super::child::Child;
use super::keyboard::{Key, Keyboard, Typed};
use super::message::Message;
use super::paint::{Colour, Line};
use super::screen::Screen;
use super::session::SessionFile;
use super::signals::SignalState;
use super::state::{Agent, Audience};
use super::terminal::{self, RawTerminal};
use super::{greeting, view};

/// The most waiting messages; a sender then blocks.
const BACKLOG: usize = 1024;
/// An escape without a following byte for this long is the key itself.
const ESCAPE_TIME: Duration = Duration::from_millis(25);
/// An agent that ignores signals and has lost its terminal exits after this time, so that no process is left
/// that only SIGKILL ends.
const LONGEST_WITHOUT_TERMINAL: Duration = Duration::from_secs(600);

/// Runs the demo agent until it exits.
pub(crate) fn run(args: DemoArgs) -> ExitCode {
    match start(args) {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            // Where standard error is closed, there is no other place to report it.
            drop(writeln!(std::io::stderr(), "{message}"));
            ExitCode::FAILURE
        }
    }
}

fn start(args: DemoArgs) -> Result<u8, String> {
    let opening = greeting::open(&args)?;
    let audience = if terminal::is_interactive() {
        Audience::Terminal
    } else {
        Audience::Pipe
    };
    let agent = opening.agent(
        audience,
        terminal::size(),
        milliseconds("BIV_DEMO_THINK_MS", 400),
    );
    let header = opening.header(agent.size.columns);
    let farewell = opening.farewell(&args.sessions);
    let file = opening.file;

    let raw = match audience {
        Audience::Terminal => Some(
            RawTerminal::enter(milliseconds("BIV_DEMO_START_MS", 0))
                .map_err(|error| format!("The terminal cannot be used: {error}"))?,
        ),
        Audience::Pipe => None,
    };
    let (sender, messages) = sync_channel(BACKLOG);
    let signal_state = SignalState::watch(sender.clone()).map_err(|error| error.to_string())?;
    match audience {
        Audience::Terminal => terminal::read_keys(sender.clone()),
        Audience::Pipe => terminal::read_lines(sender.clone()),
    }
    let out = terminal::output().map_err(|error| error.to_string())?;
    let colour = match audience {
        Audience::Terminal if std::env::var_os("NO_COLOR").is_none() => Colour::On,
        Audience::Terminal | Audience::Pipe => Colour::Off,
    };
    let runtime = Runtime {
        agent,
        file,
        screen: Screen::new(out, colour),
        keyboard: Keyboard::default(),
        last_key: Instant::now(),
        sender,
        signal_state,
        child: None,
        children: 0,
        began: Instant::now(),
        finished: header,
        ends: None,
        raw,
        farewell,
    };
    Ok(runtime.go(args.prompt, &messages))
}

fn milliseconds(variable: &str, default: u64) -> Duration {
    let value = std::env::var(variable).ok();
    Duration::from_millis(value.and_then(|text| text.parse().ok()).unwrap_or(default))
}

pub(super) struct Runtime {
    agent: Agent,
    pub file: SessionFile,
    pub screen: Screen<std::fs::File>,
    keyboard: Keyboard,
    last_key: Instant,
    pub sender: SyncSender<Message>,
    pub signal_state: SignalState,
    pub child: Option<Child>,
    pub children: u64,
    began: Instant,
    /// Lines that wait to be shown.
    pub finished: Vec<Line>,
    /// How the process ends, once that is settled.
    pub ends: Option<Ending>,
    raw: Option<RawTerminal>,
    farewell: String,
}

pub(super) enum Ending {
    /// By a command or key, with a closing message.
    Leave(u8),
    /// By a signal: at once.
    Signal(u8),
}

impl Runtime {
    fn go(mut self, prompt: Option<String>, messages: &Receiver<Message>) -> u8 {
        self.give(Input::Start { prompt });
        loop {
            if let Some(ending) = self.ends.take() {
                return self.end(&ending);
            }
            self.draw();
            match self.next_message(messages) {
                Some(message) => self.take(message),
                None => self.give(Input::Tick),
            }
            // All waiting messages are handled before the screen is drawn again.
            for message in messages.try_iter().take(BACKLOG) {
                if self.ends.is_none() {
                    self.take(message);
                }
            }
            if let Some(status) = self.signal_state.status() {
                self.ends = Some(Ending::Signal(status));
            }
            // By the clock, not by silence: endless output of a command must not delay it.
            if self.keyboard.is_waiting() && self.last_key.elapsed() >= ESCAPE_TIME {
                let typed = self.keyboard.settle();
                self.give_typed(typed);
            }
            // Read from the terminal, because the signal may be late or lost.
            let size = terminal::size();
            if size != self.agent.size {
                self.give(Input::Resized(size));
            }
        }
    }

    /// The next message, or nothing when it is time to look at the clock.
    fn next_message(&self, messages: &Receiver<Message>) -> Option<Message> {
        let now = self.began.elapsed();
        let change = view::next_change(&self.agent, now).map(|at| at.saturating_sub(now));
        let escape = self
            .keyboard
            .is_waiting()
            .then(|| ESCAPE_TIME.saturating_sub(self.last_key.elapsed()));
        match change.into_iter().chain(escape).min() {
            Some(timeout) => messages.recv_timeout(timeout).ok(),
            None => messages.recv().ok(),
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Bytes(bytes) => {
                self.last_key = Instant::now();
                let typed = self.keyboard.feed(&bytes);
                self.give_typed(typed);
            }
            Message::Prompt(text) => {
                self.give_typed(vec![Typed::Paste(text), Typed::Key(Key::Enter)]);
            }
            Message::EndOfInput => self.give(Input::NoMore),
            Message::Gone if self.signal_state.ignores() => {
                std::thread::sleep(LONGEST_WITHOUT_TERMINAL);
                self.ends = Some(Ending::Signal(129));
            }
            Message::Gone => self.ends = Some(Ending::Signal(129)),
            Message::Woken => {}
            Message::Command(number, input) => {
                if self
                    .child
                    .as_ref()
                    .is_some_and(|child| child.number == number)
                {
                    self.give(input);
                }
            }
        }
    }

    fn give_typed(&mut self, typed: Vec<Typed>) {
        for typed in typed {
            if self.ends.is_none() {
                self.give(Input::Typed(typed));
            }
        }
    }

    /// Lets the agent decide, and does what it decided.
    pub(super) fn give(&mut self, input: Input) {
        for effect in self.agent.update(input, self.began.elapsed()) {
            if self.ends.is_none() {
                self.perform(effect);
            }
        }
    }

    pub(super) fn draw(&mut self) {
        let finished = std::mem::take(&mut self.finished);
        let columns = self.agent.size.columns;
        // A closed terminal is noticed when keys are read.
        drop(match self.agent.audience {
            Audience::Terminal => {
                let frame = view::view(&self.agent, self.began.elapsed());
                self.screen.draw(&finished, frame, columns)
            }
            Audience::Pipe => self.screen.print(&finished),
        });
    }

    pub(super) fn stop_child(&mut self) {
        if let Some(child) = self.child.take() {
            child.stop();
        }
    }

    fn end(mut self, ending: &Ending) -> u8 {
        self.stop_child();
        let finished = std::mem::take(&mut self.finished);
        let (code, last) = match ending {
            Ending::Leave(code) if self.agent.memory.turns() > 0 => {
                let resume = Line::plain(&self.farewell);
                let last = [
                    Line::blank(),
                    Line::plain("Resume this session with:"),
                    resume,
                ];
                (*code, last.to_vec())
            }
            Ending::Leave(code) | Ending::Signal(code) => (*code, Vec::new()),
        };
        // As above.
        drop(match self.agent.audience {
            Audience::Terminal => self.screen.finish(&finished, &last),
            Audience::Pipe => self.screen.print(&finished),
        });
        drop(self.raw.take());
        code
    }
}
