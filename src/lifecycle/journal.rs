//! What has been written about an operation, and what therefore comes next.

use serde::{Deserialize, Serialize};

use super::{Facts, Plan, Step};
use crate::model::{OperationId, Timestamp};
use crate::process::Identity;

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub(crate) enum Entry {
    Begin {
        format: u32,
        id: OperationId,
        at: Timestamp,
        by: Identity,
        plan: Plan,
        /// What was asked for.
        facts: Facts,
    },
    /// What recovery needs to recognise this step's work, written before its effect.
    Intend {
        step: Step,
        facts: Facts,
    },
    Done {
        step: Step,
        facts: Facts,
    },
    /// Everything before the line is done; from here on only forward.
    Crossed,
    /// Before the line something failed, was cancelled or was interrupted.
    Turn {
        step: Option<Step>,
        why: String,
    },
    Undone {
        step: Step,
    },
    Committed,
    TakenBack,
}

impl Entry {
    pub(crate) const FORMAT: u32 = 1;

    /// Whether a power cut after this line must not be able to forget it: what comes next moves or
    /// deletes something, or tells the user that all is done.
    pub(crate) fn must_be_durable(&self) -> bool {
        match self {
            Self::Begin { .. } | Self::Crossed | Self::Committed => true,
            // These move or delete what is on the disk: without this line nobody would know from where to
            // where, nor that there is something to take back.
            Self::Intend { step, .. } => {
                matches!(
                    step,
                    Step::AddWorktree
                        | Step::BringWorktree
                        | Step::FreeWorktree
                        | Step::ThinWorktree
                )
            }
            Self::Done { .. } | Self::Turn { .. } | Self::Undone { .. } | Self::TakenBack => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JournalError {
    #[error("the journal does not begin with its operation")]
    NoBeginning,
    #[error("the journal has format {0}, which this version of biv does not know")]
    Newer(u32),
    #[error("the journal speaks of a step `{}` that its plan does not have", .0.name())]
    ForeignStep(Step),
}

/// What is to be done about an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Do(Step),
    Cross,
    Commit,
    Undo(Step),
    TakeBack,
    Rest,
}

/// An operation, as its entries tell it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Journal {
    pub id: OperationId,
    pub plan: Plan,
    pub facts: Facts,
    pub started_at: Timestamp,
    pub by: Identity,
    done: Vec<Step>,
    /// Begun, so perhaps half done.
    begun: Option<Step>,
    undone: Vec<Step>,
    crossed: bool,
    turned: Option<String>,
    closed: bool,
}

impl Journal {
    /// Reads a journal from its entries; a plan that was never written down is an error.
    pub(crate) fn from_entries(
        entries: impl IntoIterator<Item = Entry>,
    ) -> Result<Self, JournalError> {
        let mut entries = entries.into_iter();
        let mut journal = match entries.next() {
            Some(Entry::Begin {
                format,
                id,
                at,
                by,
                plan,
                facts,
            }) => {
                if format > Entry::FORMAT {
                    return Err(JournalError::Newer(format));
                }
                Self::begun(id, at, by, plan, facts).0
            }
            _ => return Err(JournalError::NoBeginning),
        };
        for entry in entries {
            journal.apply(&entry)?;
        }
        Ok(journal)
    }

    /// How far the operation has come, in words for a report.
    pub(crate) fn describe(&self) -> String {
        let names = |steps: &[Step]| {
            let names: Vec<&str> = steps.iter().map(|step| step.name()).collect();
            names.join(" ")
        };
        let mut text = format!(
            "{} since {}, done: {}",
            self.plan.operation.name(),
            self.started_at,
            names(&self.done)
        );
        if let Some(step) = self.begun {
            text.push_str(", begun: ");
            text.push_str(step.name());
        }
        if self.crossed {
            text.push_str(", crossed");
        }
        if let Some(why) = &self.turned {
            text.push_str(", turned because: ");
            text.push_str(why);
        }
        text
    }

    /// The journal of an operation that begins now.
    pub(crate) fn begun(
        id: OperationId,
        at: Timestamp,
        by: Identity,
        plan: Plan,
        facts: Facts,
    ) -> (Self, Entry) {
        let entry = Entry::Begin {
            format: Entry::FORMAT,
            id: id.clone(),
            at,
            by: by.clone(),
            plan: plan.clone(),
            facts: facts.clone(),
        };
        let journal = Self {
            id,
            plan,
            facts,
            started_at: at,
            by,
            done: Vec::new(),
            begun: None,
            undone: Vec::new(),
            crossed: false,
            turned: None,
            closed: false,
        };
        (journal, entry)
    }

    /// Whether the operation has come to its end, one way or the other.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn has_crossed(&self) -> bool {
        self.crossed
    }

    pub(crate) fn is_done(&self, step: Step) -> bool {
        self.done.contains(&step)
    }

    /// Why the operation is being taken back, if it is.
    pub(crate) fn turned(&self) -> Option<&str> {
        self.turned.as_deref()
    }

    /// What a process that finds this operation abandoned has to write first, if anything: before
    /// the line it is taken back (whoever wanted it is gone), after it it is carried on.
    pub(crate) fn on_abandoned(&self) -> Option<Entry> {
        (!self.closed && !self.crossed && self.turned.is_none()).then(|| Entry::Turn {
            step: self.begun,
            why: "the process that did it was ended".to_owned(),
        })
    }

    pub(super) fn next(&self) -> Next {
        if self.closed {
            return Next::Rest;
        }
        if self.turned.is_some() {
            // The step that was under way may have had its effect: it is taken back too.
            return self
                .plan
                .reversible
                .iter()
                .rev()
                .find(|step| {
                    (self.done.contains(step) || self.begun == Some(**step))
                        && !self.undone.contains(step)
                })
                .map_or(Next::TakeBack, |step| Next::Undo(*step));
        }
        let pending = |steps: &[Step]| steps.iter().find(|step| !self.done.contains(step)).copied();
        if let Some(step) = pending(&self.plan.reversible) {
            return Next::Do(step);
        }
        if !self.crossed {
            return Next::Cross;
        }
        pending(&self.plan.forward).map_or(Next::Commit, Next::Do)
    }

    pub(super) fn apply(&mut self, entry: &Entry) -> Result<(), JournalError> {
        match entry {
            // A second beginning cannot be ours: the file is replaced for each operation.
            Entry::Begin { .. } => return Err(JournalError::NoBeginning),
            Entry::Intend { step, facts } => {
                self.require(*step)?;
                self.begun = Some(*step);
                self.facts.merge(facts);
            }
            Entry::Done { step, facts } => {
                self.require(*step)?;
                self.begun = None;
                self.done.push(*step);
                self.facts.merge(facts);
            }
            Entry::Crossed => self.crossed = true,
            Entry::Turn { step, why } => {
                if let Some(step) = step {
                    self.require(*step)?;
                    self.begun = Some(*step);
                }
                self.turned = Some(why.clone());
            }
            Entry::Undone { step } => {
                self.require(*step)?;
                self.undone.push(*step);
            }
            Entry::Committed | Entry::TakenBack => self.closed = true,
        }
        Ok(())
    }

    fn require(&self, step: Step) -> Result<(), JournalError> {
        let known = self.plan.reversible.contains(&step) || self.plan.forward.contains(&step);
        known.then_some(()).ok_or(JournalError::ForeignStep(step))
    }
}
