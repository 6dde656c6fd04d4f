//! The agent in a pane: its screen as tmux would capture it, and what the rules that watch it say of it.

use std::time::Duration;

use super::super::stage::Stage;
use crate::agents::Catalog;
use crate::demo::agent::Input;
use crate::demo::greeting::Opening;
use crate::demo::keyboard::{Key, Typed};
use crate::demo::paint::{Colour, Line};
use crate::demo::state::Audience;
use crate::demo::view::view;
use crate::detect::explain;
use crate::model::Activity;

/// The pane of a terminal, as it would be captured.
pub(super) struct Pane {
    pub(super) stage: Stage,
    rows: usize,
    /// So many lines have left the screen; they do not come back when the live region shrinks.
    scrolled: usize,
    /// Whether the finished lines are shown too, or only the live region.
    bare: bool,
    catalog: Catalog,
    wrong: Vec<String>,
    judged: usize,
}

impl Pane {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Self {
            stage: Stage::new(columns, rows),
            rows,
            scrolled: 0,
            bare: false,
            catalog: Catalog::built_in(),
            wrong: Vec::new(),
            judged: 0,
        }
    }

    /// One that shows the live region and nothing above it.
    pub(super) fn bare() -> Self {
        Self {
            bare: true,
            ..Self::new(80, 24)
        }
    }

    /// The agent as it comes up, with its first lines.
    pub(super) fn open(&mut self, opening: &Opening) {
        let size = self.stage.agent.size;
        self.stage.agent = opening.agent(Audience::Terminal, size, Duration::from_millis(400));
        self.stage.lines = opening.header(size.columns);
        self.scrolled = 0;
        self.scroll();
    }

    pub(super) fn lines(&self) -> Vec<Line> {
        let frame = view(&self.stage.agent, self.stage.now);
        let above = if self.bare {
            &[]
        } else {
            &self.stage.lines[..]
        };
        above.iter().cloned().chain(frame.lines).collect()
    }

    pub(super) fn scroll(&mut self) {
        let excess = self.lines().len().saturating_sub(self.rows);
        self.scrolled = self.scrolled.max(excess);
    }

    pub(super) fn capture(&self, colour: Colour) -> String {
        let lines = self.lines();
        let mut text = String::new();
        for line in &lines[self.scrolled..] {
            line.render(colour, &mut text);
            text.push('\n');
        }
        if !self.bare {
            let shown = lines.len() - self.scrolled;
            text.push_str(&"\n".repeat(self.rows - shown));
        }
        text
    }

    pub(super) fn give(&mut self, input: Input) {
        self.stage.give(input);
        self.scroll();
    }

    pub(super) fn press(&mut self, keys: &[Key]) {
        for key in keys {
            self.give(Input::Typed(Typed::Key(*key)));
        }
    }

    pub(super) fn write(&mut self, text: &str) {
        for letter in text.chars() {
            let key = match letter {
                '\n' => Key::Newline,
                letter => Key::Char(letter),
            };
            self.press(&[key]);
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.give(Input::Typed(Typed::Paste(text.to_owned())));
    }

    pub(super) fn tell(&mut self, prompt: &str) {
        self.paste(prompt);
        self.press(&[Key::Enter]);
    }

    pub(super) fn wait(&mut self, seconds: f64) {
        self.stage.wait(seconds);
        self.scroll();
    }

    /// Puts finished lines above the live region.
    pub(super) fn print(&mut self, rows: &[String]) {
        let lines = rows.iter().map(|row| Line::plain(row));
        self.stage.lines.extend(lines);
        self.scroll();
    }

    pub(super) fn see(&self, text: &str) {
        let screen = self.capture(Colour::Off);
        assert!(screen.contains(text), "{text:?} is not in\n{screen}");
    }

    /// The screen is judged like this, by its title or without it.
    pub(super) fn is(&mut self, activity: Activity, name: &str) {
        self.is_in_doubt(activity, activity, name);
    }

    /// As [`Self::is`], where only the title tells: without it the screen looks like another.
    pub(super) fn is_in_doubt(&mut self, activity: Activity, without_title: Activity, name: &str) {
        let title = self.stage.title();
        let demo = self.catalog.require("demo").unwrap();
        for colour in [Colour::Off, Colour::On] {
            let capture = self.capture(colour);
            for (title, expected) in [(Some(title.as_str()), activity), (None, without_title)] {
                let verdict = explain(demo.rules(), &capture, title);
                if verdict.activity != expected {
                    self.wrong.push(format!(
                        "{name} with title {title:?}: {} by {:?}, not {}\n{capture}",
                        verdict.activity.name(),
                        verdict.rule,
                        expected.name(),
                    ));
                }
            }
        }
        self.judged += 1;
    }

    /// Ends the test of this pane: so many screens were judged, none of them wrongly.
    pub(super) fn done(self, judged: usize) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        assert_eq!(self.judged, judged);
    }
}
