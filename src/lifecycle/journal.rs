//! The journal of an operation, and what follows from it.

use serde::{Deserialize, Serialize};

use super::{Facts, Plan, Step};
use crate::model::{OperationId, Timestamp};
use crate::process::Identity;

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub(crate) enum JournalEntry {
    Begin {
        format: u32,
        id: OperationId,
        at: Timestamp,
        by: Identity,
        plan: Plan,
        /// The arguments of the operation.
        facts: Facts,
    },
    /// What recovery needs to recognise this step's effect. Written before the effect.
    Intend {
        step: Step,
        facts: Facts,
    },
    Done {
        step: Step,
        facts: Facts,
    },
    /// All reversible steps are done. From here on the operation only goes forward.
    Crossed,
    /// A reversible step failed, was cancelled or was interrupted: the operation is rolled back.
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

impl JournalEntry {
    pub(crate) const FORMAT: u32 = 1;

    /// Whether nothing of the operation follows.
    pub(crate) fn closes(&self) -> bool {
        matches!(self, Self::Committed | Self::TakenBack)
    }

    /// Whether this entry must survive a power cut before the operation goes on: what follows moves or
    /// deletes something, or reports success to the user.
    pub(crate) fn must_be_durable(&self) -> bool {
        match self {
            Self::Begin { .. } | Self::Crossed | Self::Committed => true,
            // These move or delete files. Without this entry, recovery would not know from where to where,
            // nor that there is something to undo.
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

/// The next action of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Do(Step),
    Cross,
    Commit,
    Undo(Step),
    TakeBack,
    Rest,
}

/// The state of an operation, from its journal entries.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Journal {
    pub id: OperationId,
    pub plan: Plan,
    pub facts: Facts,
    pub started_at: Timestamp,
    pub by: Identity,
    done: Vec<Step>,
    /// Begun; its effect may have happened in part.
    begun: Option<Step>,
    undone: Vec<Step>,
    crossed: bool,
    rollback_reason: Option<String>,
    closed: bool,
}

impl Journal {
    /// Reads a journal from its entries. A journal without its plan is an error.
    pub(crate) fn from_entries(
        entries: impl IntoIterator<Item = JournalEntry>,
    ) -> Result<Self, JournalError> {
        let mut entries = entries.into_iter();
        let mut journal = match entries.next() {
            Some(JournalEntry::Begin {
                format,
                id,
                at,
                by,
                plan,
                facts,
            }) => {
                if format > JournalEntry::FORMAT {
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

    /// The progress of the operation, as text for a bug report.
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
        if let Some(why) = &self.rollback_reason {
            text.push_str(", rolled back because: ");
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
    ) -> (Self, JournalEntry) {
        let entry = JournalEntry::Begin {
            format: JournalEntry::FORMAT,
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
            rollback_reason: None,
            closed: false,
        };
        (journal, entry)
    }

    /// Whether the operation has ended, committed or rolled back.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn has_crossed(&self) -> bool {
        self.crossed
    }

    pub(crate) fn is_done(&self, step: Step) -> bool {
        self.done.contains(&step)
    }

    /// Why the operation is being rolled back, if it is.
    pub(crate) fn rollback_reason(&self) -> Option<&str> {
        self.rollback_reason.as_deref()
    }

    /// What a process that finds this operation abandoned must write first, if anything. An operation
    /// that has not crossed its line is rolled back, because its caller is gone. One that has is
    /// continued.
    pub(crate) fn on_abandoned(&self) -> Option<JournalEntry> {
        (!self.closed && !self.crossed && self.rollback_reason.is_none()).then(|| {
            JournalEntry::Turn {
                step: self.begun,
                why: "the process that did it was ended".to_owned(),
            }
        })
    }

    pub(super) fn next(&self) -> Next {
        if self.closed {
            return Next::Rest;
        }
        if self.rollback_reason.is_some() {
            // The effect of the step that was under way may have happened: it is undone too.
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

    pub(super) fn apply(&mut self, entry: &JournalEntry) -> Result<(), JournalError> {
        match entry {
            // A second `Begin` is an error: the file is replaced for each operation.
            JournalEntry::Begin { .. } => return Err(JournalError::NoBeginning),
            JournalEntry::Intend { step, facts } => {
                self.require(*step)?;
                self.begun = Some(*step);
                self.facts.merge(facts);
            }
            JournalEntry::Done { step, facts } => {
                self.require(*step)?;
                self.begun = None;
                self.done.push(*step);
                self.facts.merge(facts);
            }
            JournalEntry::Crossed => self.crossed = true,
            JournalEntry::Turn { step, why } => {
                if let Some(step) = step {
                    self.require(*step)?;
                    self.begun = Some(*step);
                }
                self.rollback_reason = Some(why.clone());
            }
            JournalEntry::Undone { step } => {
                self.require(*step)?;
                self.undone.push(*step);
            }
            JournalEntry::Committed | JournalEntry::TakenBack => self.closed = true,
        }
        Ok(())
    }

    fn require(&self, step: Step) -> Result<(), JournalError> {
        let known = self.plan.reversible.contains(&step) || self.plan.forward.contains(&step);
        known.then_some(()).ok_or(JournalError::ForeignStep(step))
    }
}
