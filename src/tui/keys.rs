//! The table of actions and keys, used by the help, the hints and the configuration.

use std::collections::BTreeMap;

use crate::config::{Chord, Key};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    Up,
    Down,
    Top,
    Bottom,
    New,
    NewWithPrompt,
    Attach,
    Send,
    Pause,
    Resume,
    TogglePause,
    Restart,
    Kill,
    UndoKill,
    Push,
    Land,
    Rename,
    Autoyes,
    Allow,
    Deny,
    NextThatNeedsYou,
    Mark,
    PauseAll,
    ResumeAll,
    NextTab,
    PreviousTab,
    ScrollUp,
    ScrollDown,
    PageUp,
    PageDown,
    PreviousFile,
    NextFile,
    Review,
    Fold,
    Wrap,
    SideBySide,
    ScrollLeft,
    ScrollRight,
    Queue,
    Audit,
    Search,
    Palette,
    Killed,
    Suspend,
    Filter,
    Repository,
    Help,
    Quit,
}

impl Action {
    /// It changes only what is shown, so that it can be used on killed instances too.
    pub(super) fn only_looks(self) -> bool {
        matches!(
            self,
            Self::Up
                | Self::Down
                | Self::Top
                | Self::Bottom
                | Self::NextTab
                | Self::PreviousTab
                | Self::ScrollUp
                | Self::ScrollDown
                | Self::PageUp
                | Self::PageDown
                | Self::Fold
                | Self::Audit
                | Self::Search
                | Self::Palette
                | Self::Killed
                | Self::Suspend
                | Self::Filter
                | Self::Repository
                | Self::Help
                | Self::Quit
        )
    }
}

/// A row of the table: the action, its name in the configuration, and its description.
pub(super) struct KeyBinding {
    pub action: Action,
    pub name: &'static str,
    pub words: &'static str,
}

const fn row(action: Action, name: &'static str, words: &'static str) -> KeyBinding {
    KeyBinding {
        action,
        name,
        words,
    }
}

/// By subject, as the help shows it.
pub(super) const TABLE: &[(&str, &[KeyBinding])] = &[
    (
        "Instances",
        &[
            row(Action::New, "new", "new instance"),
            row(
                Action::NewWithPrompt,
                "new_with_prompt",
                "new, with a prompt",
            ),
            row(Action::Attach, "attach", "attach; wakes a paused one"),
            row(Action::Send, "send", "send a prompt"),
            row(Action::Queue, "queue", "its queue: add, move, drop"),
            row(Action::Audit, "audit", "what autoyes decided"),
            row(Action::Allow, "allow", "allow, this once; 1–9 choose"),
            row(Action::Deny, "deny", "deny"),
            row(Action::Pause, "pause", "pause"),
            row(Action::Resume, "resume", "resume"),
            row(
                Action::TogglePause,
                "toggle_pause",
                "pause, take that back, resume",
            ),
            row(Action::Restart, "restart", "restart afresh (asks)"),
            row(Action::Kill, "kill", "kill (asks)"),
            row(Action::UndoKill, "undo_kill", "bring the last killed back"),
            row(Action::Push, "push", "push the branch (asks)"),
            row(Action::Land, "land", "land it on its base (asks)"),
            row(Action::Rename, "rename", "give it another title"),
            row(Action::Autoyes, "autoyes", "autoyes on (asks) or off"),
        ],
    ),
    (
        "Many at once",
        &[
            row(Action::Mark, "mark", "mark; actions mean the marked"),
            row(Action::PauseAll, "pause_all", "pause all (asks)"),
            row(
                Action::ResumeAll,
                "resume_all",
                "resume all that were paused so",
            ),
        ],
    ),
    (
        "Looking",
        &[
            row(Action::Up, "up", "up"),
            row(Action::Down, "down", "down"),
            row(Action::Top, "top", "first"),
            row(Action::Bottom, "bottom", "last"),
            row(
                Action::NextThatNeedsYou,
                "next_that_needs_you",
                "next one that needs you",
            ),
            row(Action::Filter, "filter", "filter the list"),
            row(Action::Repository, "repository", "one repository, or all"),
            row(Action::Search, "search", "search all conversations"),
            row(Action::Killed, "killed", "the killed ones, or the others"),
            row(Action::NextTab, "next_tab", "next tab"),
            row(Action::PreviousTab, "previous_tab", "previous tab"),
            row(Action::ScrollUp, "scroll_up", "scroll up"),
            row(Action::ScrollDown, "scroll_down", "scroll down"),
            row(Action::PageUp, "page_up", "a page up"),
            row(Action::PageDown, "page_down", "a page down"),
            row(
                Action::PreviousFile,
                "previous_file",
                "previous file of the diff",
            ),
            row(Action::NextFile, "next_file", "next file of the diff"),
            row(Action::Review, "review", "comment on lines of the diff"),
            row(Action::Fold, "fold", "unfold the output of tools"),
            row(Action::Wrap, "wrap", "wrap long lines of the diff"),
            row(Action::SideBySide, "side_by_side", "diff side by side"),
            row(Action::ScrollLeft, "scroll_left", "diff to the left"),
            row(Action::ScrollRight, "scroll_right", "diff to the right"),
        ],
    ),
    (
        "The rest",
        &[
            row(Action::Help, "help", "this help"),
            row(Action::Palette, "palette", "all commands, by name"),
            row(Action::Suspend, "suspend", "suspend; `fg` comes back"),
            row(Action::Quit, "quit", "quit; the agents go on"),
        ],
    ),
];

/// The keys of each action.
#[derive(Debug, Clone)]
pub(super) struct Keymap {
    bindings: Vec<(Chord, Action)>,
}

/// The meaning of the keys that were pressed so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Action(Action),
    /// The start of a key sequence.
    Prefix,
    Nothing,
}

/// Two actions with the same keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyConflict {
    pub keys: String,
    pub actions: [&'static str; 2],
}

impl Keymap {
    pub(super) fn new(settings: &BTreeMap<String, Vec<Chord>>) -> Result<Self, KeyConflict> {
        let mut bindings: Vec<(Chord, Action)> = Vec::new();
        for row in TABLE.iter().flat_map(|(_, rows)| *rows) {
            for chord in settings.get(row.name).into_iter().flatten() {
                // Neither the same keys, nor a prefix of other keys.
                let taken = bindings.iter().find(|(known, _)| {
                    known.0.starts_with(&chord.0) || chord.0.starts_with(&known.0)
                });
                if let Some((known, action)) = taken.filter(|(_, action)| *action != row.action) {
                    let shorter = if known.0.len() < chord.0.len() {
                        known
                    } else {
                        chord
                    };
                    return Err(KeyConflict {
                        keys: shorter.to_string(),
                        actions: [name(*action), row.name],
                    });
                }
                bindings.push((chord.clone(), row.action));
            }
        }
        Ok(Self { bindings })
    }

    pub(super) fn meaning(&self, keys: &[Key]) -> Meaning {
        let mut meaning = Meaning::Nothing;
        for (chord, action) in &self.bindings {
            if chord.0 == keys {
                return Meaning::Action(*action);
            }
            if chord.0.starts_with(keys) {
                meaning = Meaning::Prefix;
            }
        }
        meaning
    }

    /// The first key of an action, for hints; None where the user has removed all.
    pub(super) fn hint(&self, action: Action) -> Option<String> {
        self.bindings
            .iter()
            .find(|(_, bound)| *bound == action)
            .map(|(chord, _)| chord.to_string())
    }

    /// All keys of an action.
    pub(super) fn all(&self, action: Action) -> String {
        let keys: Vec<String> = self
            .bindings
            .iter()
            .filter(|(_, bound)| *bound == action)
            .map(|(chord, _)| chord.to_string())
            .collect();
        keys.join(" ")
    }
}

fn name(action: Action) -> &'static str {
    TABLE
        .iter()
        .flat_map(|(_, rows)| *rows)
        .find(|row| row.action == action)
        .map_or("", |row| row.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults() -> BTreeMap<String, Vec<Chord>> {
        crate::config::load(std::path::Path::new("/nonexistent"))
            .unwrap()
            .settings
            .keys
    }

    #[test]
    fn the_table_and_the_defaults_name_the_same_actions() {
        let mut in_table: Vec<&str> = TABLE
            .iter()
            .flat_map(|(_, rows)| *rows)
            .map(|row| row.name)
            .collect();
        in_table.sort_unstable();
        let in_defaults: Vec<String> = defaults().into_keys().collect();
        assert_eq!(in_table, in_defaults);
    }

    #[test]
    fn the_defaults_do_not_clash() {
        let keymap = Keymap::new(&defaults()).unwrap();
        let keys = |text: &str| Chord::parse(text).unwrap().0;
        assert_eq!(keymap.meaning(&keys("c")), Meaning::Action(Action::Pause));
        assert_eq!(keymap.meaning(&keys("ctrl+x")), Meaning::Prefix);
        assert_eq!(
            keymap.meaning(&keys("ctrl+x p")),
            Meaning::Action(Action::TogglePause)
        );
        assert_eq!(keymap.meaning(&keys("z")), Meaning::Nothing);
    }

    #[test]
    fn two_actions_cannot_share_a_key() {
        let mut settings = defaults();
        settings.insert("pause".to_owned(), vec![Chord::parse("ctrl+x").unwrap()]);
        let clash = Keymap::new(&settings).unwrap_err();
        assert_eq!(clash.keys, "ctrl-x");
        assert_eq!(clash.actions, ["pause", "toggle_pause"]);
    }
}
