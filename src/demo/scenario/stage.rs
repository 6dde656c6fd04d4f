//! An agent without a terminal, with a clock that the test advances.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use crate::demo::agent::Input;
use crate::demo::editor::Editor;
use crate::demo::keyboard::{Key, Typed};
use crate::demo::memory::Memory;
use crate::demo::paint::Line;
use crate::demo::session::{SessionEntry, Speaker};
use crate::demo::state::{Agent, Audience, Effect, Size};
use crate::demo::view::{next_change, view};

pub(super) struct Stage {
    pub agent: Agent,
    pub now: Duration,
    pub printed: Vec<String>,
    /// The same, with colours.
    pub lines: Vec<Line>,
    /// The files that there are, by path.
    pub files: HashMap<String, String>,
    pub recorded: Vec<SessionEntry>,
    effects: Vec<Effect>,
}

impl Stage {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Self::resumed(&[], columns, rows)
    }

    pub(super) fn resumed(past: &[SessionEntry], columns: usize, rows: usize) -> Self {
        Self {
            agent: Agent {
                directory: "/camp".to_owned(),
                memory: Memory::of(past),
                size: Size { columns, rows },
                audience: Audience::Terminal,
                think: Duration::from_secs(1),
                editor: Editor::default(),
                turn: None,
                queue: VecDeque::new(),
                exit_hint: None,
                ignores_signals: false,
                leaves_when_idle: false,
            },
            now: Duration::ZERO,
            printed: Vec::new(),
            lines: Vec::new(),
            files: HashMap::new(),
            recorded: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Files are read and written at once; commands end when the test says so.
    pub(super) fn give(&mut self, input: Input) {
        for effect in self.agent.update(input, self.now) {
            match &effect {
                Effect::Print(lines) => {
                    self.printed.extend(lines.iter().map(Line::text));
                    self.lines.extend(lines.iter().cloned());
                }
                Effect::Record(entry) => self.recorded.push(entry.clone()),
                Effect::ReadFile(path) => {
                    let text = self.files.get(path).cloned();
                    self.give(Input::FileRead(text));
                }
                Effect::WriteFile { path, text } => {
                    self.files.insert(path.clone(), text.clone());
                    self.give(Input::FileWritten(Ok(())));
                }
                _ => {}
            }
            self.effects.push(effect);
        }
    }

    pub(super) fn press(&mut self, key: Key) {
        self.give(Input::Typed(Typed::Key(key)));
    }

    pub(super) fn submit(&mut self, prompt: &str) {
        self.give(Input::Typed(Typed::Paste(prompt.to_owned())));
        self.press(Key::Enter);
    }

    /// Lets time pass, in the steps in which the agent asks to be woken.
    pub(super) fn wait(&mut self, seconds: f64) {
        let until = self.now + Duration::from_secs_f64(seconds);
        while let Some(next) = next_change(&self.agent, self.now).filter(|next| *next <= until) {
            assert!(next > self.now, "it would spin");
            self.now = next;
            self.give(Input::Tick);
        }
        self.now = until;
        self.give(Input::Tick);
    }

    pub(super) fn title(&self) -> String {
        view(&self.agent, self.now).title
    }

    pub(super) fn screen(&self) -> String {
        let frame = view(&self.agent, self.now);
        let lines: Vec<String> = frame.lines.iter().map(|line| line.text()).collect();
        lines.join("\n")
    }

    /// The screen for a snapshot, with the no-break space after the prompt made visible.
    pub(super) fn picture(&self) -> String {
        self.screen().trim_start().replace('\u{a0}', "~")
    }

    pub(super) fn contents(&self, speaker: Speaker) -> Vec<&str> {
        let said = self
            .recorded
            .iter()
            .filter(|entry| entry.speaker == speaker);
        said.map(|entry| entry.content.as_str()).collect()
    }

    pub(super) fn was(&self, effect: &Effect) -> bool {
        self.effects.contains(effect)
    }
}
