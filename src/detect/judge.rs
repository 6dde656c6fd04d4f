//! The verdict on a screen, and which rule gave it.

use serde::Serialize;

use super::dialog::{Dialog, DialogSpec};
use super::pattern::Fault;
use super::rule::Rule;
use super::screen::Screen;
use super::version::Version;
use crate::model::Activity;

/// Everything that one agent's screens are judged by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
    dialogs: Vec<DialogSpec>,
}

/// What a screen says, in the form that `biv detect --json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Verdict {
    pub activity: Activity,
    /// The rule that said so; None where none did.
    pub rule: Option<String>,
    #[serde(skip)]
    pub source: Source,
    /// None also where a dialog is open that could not be read: nobody may answer that one unseen.
    pub dialog: Option<Dialog>,
}

impl Verdict {
    /// Nothing and nobody says what the agent does.
    pub(crate) fn unknown() -> Self {
        Self {
            activity: Activity::Unknown,
            rule: None,
            source: Source::Screen,
            dialog: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A hook of the agent.
    Hook,
    /// What the agent writes down of itself.
    Registry,
    Title,
    Screen,
    /// That something was drawn, or that nothing was.
    Output,
}

impl Source {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Registry => "registry",
            Self::Title => "title",
            Self::Screen => "screen",
            Self::Output => "output",
        }
    }
}

impl Rules {
    pub(crate) fn new(rules: Vec<Rule>, dialogs: Vec<DialogSpec>) -> Self {
        Self { rules, dialogs }
    }

    /// Whether a screen can tell that the agent is at its prompt; else only silence does.
    pub(crate) fn tell_rest(&self) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.activity == Activity::Idle)
    }

    /// What the screen shows, by the first rule that holds for this version of the agent; where the
    /// version is not known, all rules may.
    pub(crate) fn judge(
        &self,
        screen: &Screen,
        title: Option<&str>,
        version: Option<&Version>,
    ) -> Verdict {
        let mut candidates = self.rules.iter().filter(|rule| rule.fits(version));
        let Some(rule) = candidates.find(|rule| rule.holds(screen, title)) else {
            return Verdict::unknown();
        };
        let dialog = rule
            .dialog
            .as_ref()
            .and_then(|name| self.dialogs.iter().find(|dialog| dialog.name == *name));
        Verdict {
            activity: rule.activity,
            rule: Some(rule.name.clone()),
            source: if rule.title.is_some() {
                Source::Title
            } else {
                Source::Screen
            },
            dialog: dialog.and_then(|spec| spec.read(screen)),
        }
    }

    /// What is wrong with the rules and dialogs of one file by itself.
    pub(crate) fn check(rules: &[Rule], key: &str, dialogs: &[DialogSpec]) -> Result<(), Fault> {
        for (at, rule) in rules.iter().enumerate() {
            rule.check(&format!("{key}[{at}]"))?;
        }
        for (at, dialog) in dialogs.iter().enumerate() {
            dialog.check(&format!("dialogs[{at}]"))?;
        }
        Ok(())
    }

    /// Whether every dialog that a rule names is there, once all files are laid over each other.
    pub(crate) fn check_dialogs(
        rules: &[Rule],
        key: &str,
        dialogs: &[DialogSpec],
    ) -> Result<(), Fault> {
        for (at, rule) in rules.iter().enumerate() {
            if let Some(name) = &rule.dialog
                && !dialogs.iter().any(|dialog| dialog.name == *name)
            {
                return Err(Fault {
                    key: format!("{key}[{at}].dialog"),
                    message: format!("there is no dialog named `{name}` in [[dialogs]]"),
                });
            }
        }
        Ok(())
    }
}

/// The verdict on a capture as a person has it in a file: plain or with colours.
pub(crate) fn explain(rules: &Rules, capture: &str, title: Option<&str>) -> Verdict {
    rules.judge(&Screen::new(capture), title, None)
}
