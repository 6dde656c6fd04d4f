//! The description of one kind of dialog in a provider file.

use serde::Deserialize;

use super::super::key::Key;
use super::super::pattern::{Fault, Pattern};
use super::ChoiceKind;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DialogSpec {
    pub name: String,
    pub shape: Shape,
    /// The border around each row.
    #[serde(default)]
    pub frame: Frame,
    /// The first row of the dialog, searched upwards from the choices. It is matched with its border, and
    /// may be the first row of the text itself.
    pub top: Option<Pattern>,
    /// The row that asks.
    pub question: Option<Pattern>,
    /// A text in the row of the choices that ends where the dialog ends. Other content may be to the
    /// right of it.
    pub edge: Option<Pattern>,
    /// Rows that enclose the command or the content.
    pub fence: Option<Pattern>,
    /// What each row inside the fences begins with, where the command takes more than one row.
    pub gutter: Option<String>,
    /// The first row of a command without a fence; its group is the start of the command.
    pub command: Option<Pattern>,
    /// Rows that mean that something is not shown.
    #[serde(default)]
    pub cut: Vec<Pattern>,
    /// For [`Shape::Line`]: rows, above the question or in it, that make it more than a confirmation.
    #[serde(default)]
    pub wary: Vec<Pattern>,
    /// A subject with more rows than this may continue outside the screen.
    pub most_rows: Option<usize>,
    #[serde(default)]
    pub wrap: Wrap,
    /// Which keys select a choice.
    #[serde(default)]
    pub keys: Keys,
    /// What an indented row below a choice means.
    #[serde(default)]
    pub notes: Notes,
    /// The label of the choice that takes the user's own words: its number opens a field, Enter submits it.
    pub own_words: Option<Pattern>,
    /// What the selected choice looks like while it is a field for text, so that keys are a part of that. Without
    /// `own_words` only the first and the last choice can be one.
    pub field: Option<Pattern>,
    #[serde(default)]
    pub tools: Vec<Tool>,
    #[serde(default)]
    pub labels: Vec<Label>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    /// Numbered choices below each other, one of them marked.
    Menu,
    /// Choices without numbers below each other, one of them marked: the arrow keys lead to the others.
    List,
    /// Labels in one row, one of them highlighted.
    Buttons,
    /// `(Y)es/(N)o [Yes]:` at the end of the last row.
    Letters,
    /// `Continue? [Y/n]` as the last line of a plain program.
    Line,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Frame {
    #[default]
    None,
    /// `│ … │`
    Box,
    /// `┃ …`
    Bar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Wrap {
    /// Broken between words where possible.
    #[default]
    Word,
    /// Broken at the last column.
    Hard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Keys {
    /// Its number.
    #[default]
    Number,
    /// The key that its label ends with, as in `Yes, proceed (y)`.
    Hint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Notes {
    /// The rest of a label that was too long.
    #[default]
    Wrapped,
    /// An explanation, which is not part of the label.
    Described,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    /// The row that identifies the tool.
    pub head: Pattern,
    pub tool: String,
    #[serde(default)]
    pub holds: ToolSubject,
    /// The screen may show only a part of it: where it begins is unknown.
    #[serde(default)]
    pub partial: bool,
    /// The row with a path; its group is the path.
    pub path: Option<Pattern>,
}

/// The subject of a dialog about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToolSubject {
    Command,
    /// The path is in `path`, else in the first row below the head.
    Path,
    #[default]
    Nothing,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Label {
    pub text: Pattern,
    pub kind: ChoiceKind,
    /// What takes this choice where its number or its button does not.
    #[serde(default)]
    pub keys: Vec<Key>,
}

impl DialogSpec {
    pub(super) fn kind(&self, label: &str) -> ChoiceKind {
        self.label(label)
            .map_or(ChoiceKind::Other, |known| known.kind)
    }

    /// The keys that a label names itself.
    pub(super) fn own_keys(&self, label: &str) -> Option<Vec<Key>> {
        let known = self.label(label)?;
        (!known.keys.is_empty()).then(|| known.keys.clone())
    }

    /// What is known of the choice with this label.
    fn label(&self, label: &str) -> Option<&Label> {
        self.labels.iter().find(|known| known.text.is_match(label))
    }

    pub(crate) fn check(&self, key: &str) -> Result<(), Fault> {
        let single = [
            ("top", &self.top),
            ("question", &self.question),
            ("edge", &self.edge),
            ("fence", &self.fence),
            ("command", &self.command),
            ("own_words", &self.own_words),
            ("field", &self.field),
        ];
        for (field, pattern) in single {
            if let Some(pattern) = pattern {
                pattern.check(&format!("{key}.{field}"))?;
            }
        }
        for (at, pattern) in self.cut.iter().enumerate() {
            pattern.check(&format!("{key}.cut[{at}]"))?;
        }
        for (at, pattern) in self.wary.iter().enumerate() {
            pattern.check(&format!("{key}.wary[{at}]"))?;
        }
        for (at, tool) in self.tools.iter().enumerate() {
            tool.head.check(&format!("{key}.tools[{at}].head"))?;
            if let Some(path) = &tool.path {
                path.check(&format!("{key}.tools[{at}].path"))?;
            }
        }
        for (at, label) in self.labels.iter().enumerate() {
            label.text.check(&format!("{key}.labels[{at}].text"))?;
        }
        Ok(())
    }
}
