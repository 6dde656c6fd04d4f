//! The verdict on a screen, and the rule that decided.

use serde::Serialize;

use super::dialog::{Dialog, DialogSpec};
use super::failure::FailureSpec;
use super::pattern::Fault;
use super::rule::Rule;
use super::screen::Screen;
use super::version::AgentVersion;
use crate::model::{Activity, UsageLimit};

/// The screen rules and dialogs of one agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
    dialogs: Vec<DialogSpec>,
    /// Work that goes on while the agent is at its prompt; the first group names it.
    background: Vec<Rule>,
    failure: Option<FailureSpec>,
    /// The characters of the bar that the agent draws while its screen scrolls.
    scroll_bar: Option<String>,
}

/// The verdict on a screen, in the form that `biv detect --json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Verdict {
    pub activity: Activity,
    /// The rule that decided; None where none matched.
    pub rule: Option<String>,
    #[serde(skip)]
    pub source: VerdictSource,
    /// None also where a dialog is open that could not be read. Such a dialog is never answered.
    pub dialog: Option<Dialog>,
    /// What is open, and what Enter would do there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// What goes on behind the prompt of an agent at rest: "1 shell".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// What an agent at rest says about its last turn, which the model's service has ended by an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// When the usage limit on the screen resets, in the words of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resets: Option<String>,
    /// The same as a time, where it is known when the limit was reached.
    #[serde(skip)]
    pub limit: Option<UsageLimit>,
}

impl Verdict {
    /// Nothing is known about what the agent does.
    pub(crate) fn unknown() -> Self {
        Self {
            activity: Activity::Unknown,
            rule: None,
            source: VerdictSource::Screen,
            dialog: None,
            says: None,
            background: None,
            failed: None,
            resets: None,
            limit: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerdictSource {
    /// A hook of the agent.
    Hook,
    /// A file in which the agent records its own status.
    Registry,
    Title,
    Screen,
    /// Whether there was output.
    Output,
}

impl VerdictSource {
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
    pub(crate) fn new(rules: Vec<Rule>, dialogs: Vec<DialogSpec>, background: Vec<Rule>) -> Self {
        Self {
            rules,
            dialogs,
            background,
            failure: None,
            scroll_bar: None,
        }
    }

    /// The same for an agent that draws a bar of these characters beside its text while that scrolls.
    pub(crate) fn beside_scroll_bar(self, scroll_bar: Option<String>) -> Self {
        Self { scroll_bar, ..self }
    }

    /// The same for an agent that shows when the model's service has ended its turn by an error.
    pub(crate) fn telling_failures(self, failure: Option<FailureSpec>) -> Self {
        Self { failure, ..self }
    }

    /// Whether the rules can recognise that the agent is at its prompt. Otherwise only silence can.
    pub(crate) fn can_detect_idle(&self) -> bool {
        self.has_rule_for(Activity::Idle)
    }

    /// Whether the rules can recognise that the agent works.
    pub(crate) fn can_detect_busy(&self) -> bool {
        self.has_rule_for(Activity::Busy)
    }

    fn has_rule_for(&self, activity: Activity) -> bool {
        self.rules.iter().any(|rule| rule.activity == activity)
    }

    /// The verdict of the first rule that matches for this version of the agent. Where the version is
    /// not known, all rules apply.
    pub(crate) fn judge(
        &self,
        screen: &Screen,
        title: Option<&str>,
        version: Option<&AgentVersion>,
    ) -> Verdict {
        let screen = match &self.scroll_bar {
            Some(marks) => &screen.without_scroll_bar(marks),
            None => screen,
        };
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
                VerdictSource::Title
            } else {
                VerdictSource::Screen
            },
            dialog: dialog.and_then(|spec| spec.read(screen)),
            says: rule.says.clone(),
            background: self
                .background
                .iter()
                .filter(|rule| rule.fits(version))
                .find_map(|rule| rule.find(screen, title)),
            failed: (rule.activity == Activity::Idle)
                .then(|| self.failure.as_ref()?.find(screen))
                .flatten(),
            resets: rule.reset_time(screen),
            limit: None,
        }
    }

    /// Checks the rules and dialogs of one file by itself.
    pub(crate) fn check(rules: &[Rule], key: &str, dialogs: &[DialogSpec]) -> Result<(), Fault> {
        for (at, rule) in rules.iter().enumerate() {
            rule.check(&format!("{key}[{at}]"))?;
        }
        for (at, dialog) in dialogs.iter().enumerate() {
            dialog.check(&format!("dialogs[{at}]"))?;
        }
        Ok(())
    }

    pub(crate) fn check_failure(failure: &FailureSpec) -> Result<(), Fault> {
        failure.check("failure")
    }

    /// Checks that every dialog that a rule names exists, once all files are merged.
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

/// The verdict on a capture from a file, plain or with colours.
pub(crate) fn explain(rules: &Rules, capture: &str, title: Option<&str>) -> Verdict {
    rules.judge(&Screen::new(capture), title, None)
}
