//! Modal dialogs, which take all keys.

use std::path::PathBuf;

use super::editor::Editor;
use super::picker::Picker;
use crate::engine::{Consent, NewInstance};
use crate::model::{InstanceId, NewComment};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Dialog {
    Help { scroll: usize },
    Confirm(Confirm),
    New(Box<NewForm>),
    Send(SendForm),
    Comment(Box<CommentForm>),
    Rename(RenameForm),
    Words(WordsForm),
    Pick(Box<Picker>),
}

impl Dialog {
    /// The same form, opened again with its content and the reason why it was refused.
    pub(super) fn refused(self, why: String) -> Self {
        match self {
            Self::New(form) => Self::New(Box::new(NewForm {
                trouble: Some(why),
                ..*form
            })),
            Self::Send(form) => Self::Send(SendForm {
                trouble: Some(why),
                ..form
            }),
            Self::Comment(form) => Self::Comment(Box::new(CommentForm {
                trouble: Some(why),
                ..*form
            })),
            Self::Rename(form) => Self::Rename(RenameForm {
                trouble: Some(why),
                ..form
            }),
            Self::Words(form) => Self::Words(WordsForm {
                trouble: Some(why),
                ..form
            }),
            other => other,
        }
    }
}

/// A question that is answered with yes or no.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Confirm {
    pub question: String,
    pub details: Vec<String>,
    /// An option that can be toggled.
    pub option: Option<(&'static str, bool)>,
    pub on_yes: OnYes,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum OnYes {
    Kill(Vec<InstanceId>),
    Restart(Vec<InstanceId>),
    Push(Vec<InstanceId>),
    /// The option: uncommitted work too.
    Land(Vec<InstanceId>),
    /// Switches it on.
    Autoyes(Vec<InstanceId>),
    PauseAll,
    /// Whether the repository's set-up command is run. No creates the instance without it. Has the form
    /// for the instance.
    Setup(Box<NewInstance>, Option<Box<NewForm>>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SendForm {
    pub to: Vec<InstanceId>,
    pub titles: String,
    /// The popup of the queue that the prompt goes to the end of. It is open again afterwards.
    pub queue: Option<Box<Picker>>,
    pub prompt: Editor,
    /// Why it was refused before.
    pub trouble: Option<String>,
}

/// A comment on a line of the diff.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CommentForm {
    pub id: InstanceId,
    /// The comment that gets another text; None: a new one.
    pub number: Option<u64>,
    /// Its place; its text is in the editor.
    pub about: NewComment,
    pub text: Editor,
    /// Why it was refused before.
    pub trouble: Option<String>,
}

/// Another title for an instance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RenameForm {
    pub id: InstanceId,
    pub title: Editor,
    /// Why it was refused before.
    pub trouble: Option<String>,
}

/// An answer in the user's own words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WordsForm {
    pub id: InstanceId,
    pub title: String,
    /// What is asked, and the dialog that asks it.
    pub asked: String,
    pub dialog: String,
    /// The number of the choice that takes them.
    pub choice: usize,
    pub words: Editor,
    /// Why it was refused before.
    pub trouble: Option<String>,
}

/// The form for a new instance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NewForm {
    pub field: Field,
    pub title: Editor,
    /// None where the form has no prompt.
    pub prompt: Option<Editor>,
    pub agents: Vec<String>,
    pub agent: usize,
    pub base: Editor,
    pub repositories: Vec<PathBuf>,
    pub repository: usize,
    /// Where the UI was started.
    pub started_in: Option<StartDirectory>,
    pub autoyes: bool,
    /// Why it was refused before.
    pub trouble: Option<String>,
}

/// A directory and the repository that it is in. A new agent of that repository starts there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StartDirectory {
    pub repository: PathBuf,
    pub directory: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Title,
    Prompt,
    Agent,
    Base,
    Repository,
    Autoyes,
}

impl Field {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Title => "Title",
            Self::Prompt => "Prompt",
            Self::Agent => "Agent",
            Self::Base => "Base",
            Self::Repository => "Repository",
            Self::Autoyes => "Autoyes",
        }
    }
}

impl NewForm {
    /// The fields that this form has, from top to bottom.
    pub(super) fn fields(&self) -> Vec<Field> {
        let mut fields = vec![Field::Title];
        if self.prompt.is_some() {
            fields.push(Field::Prompt);
        }
        fields.extend([Field::Agent, Field::Base]);
        if self.repositories.len() > 1 {
            fields.push(Field::Repository);
        }
        fields.push(Field::Autoyes);
        fields
    }

    /// Moves to the next or previous field, with wrap-around.
    pub(super) fn step(&mut self, forward: bool) {
        let fields = self.fields();
        let at = fields.iter().position(|field| *field == self.field);
        let by = if forward { 1 } else { fields.len() - 1 };
        if let Some(field) = fields.get((at.unwrap_or(0) + by) % fields.len()) {
            self.field = *field;
        }
    }

    /// Changes a field with a fixed set of values, by arrows or the space bar.
    pub(super) fn turn(&mut self, forward: bool) {
        let turned = |at: usize, count: usize| {
            let count = count.max(1);
            (at + if forward { 1 } else { count - 1 }) % count
        };
        match self.field {
            Field::Agent => self.agent = turned(self.agent, self.agents.len()),
            Field::Repository => {
                self.repository = turned(self.repository, self.repositories.len());
            }
            Field::Autoyes => self.autoyes = !self.autoyes,
            Field::Title | Field::Prompt | Field::Base => {}
        }
    }

    pub(super) fn editor(&mut self) -> Option<&mut Editor> {
        match self.field {
            Field::Title => Some(&mut self.title),
            Field::Prompt => self.prompt.as_mut(),
            Field::Base => Some(&mut self.base),
            Field::Agent | Field::Repository | Field::Autoyes => None,
        }
    }

    /// The request; None without a repository.
    pub(super) fn request(&self) -> Option<NewInstance> {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.trim().is_empty());
        let repository = self.repositories.get(self.repository)?;
        let start = self.started_in.as_ref();
        let start = start.filter(|start| start.repository == *repository);
        Some(NewInstance {
            title: given(self.title.text()),
            prompt: self.prompt.as_ref().and_then(|prompt| given(prompt.text())),
            agent: self.agents.get(self.agent).cloned(),
            base: given(self.base.text().trim()),
            branch: None,
            directory: start.map_or(repository, |start| &start.directory).clone(),
            autoyes: self.autoyes,
            seal: false,
            idle_timeout_s: None,
            agent_args: Vec::new(),
            consent: Consent::AsBefore,
        })
    }
}
