//! Prompts that wait inside an agent whose turn a pause interrupts. They go into the queue of the instance, where
//! they are sent one at a time after the resume.

use crate::detect::{Divided, ShownPrompt, divide};
use crate::engine::base::Error;
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Work;
use crate::engine::typing::drafts::{draft_of, lack_of};
use crate::engine::watch::look::{Watched, screen_of};
use crate::lifecycle::Facts;
use crate::tmux::Pane;

/// What an agent shows before the interrupt.
#[derive(Debug, Default)]
pub(super) struct Inside {
    prompts: Vec<ShownPrompt>,
    draft: Option<String>,
}

pub(super) fn look_inside(agent: &Watched<'_>, pane: &Pane) -> Result<Inside, Error> {
    let shot = agent.look()?;
    let prompts = shot.map(|shot| agent.provider.queued(&screen_of(&shot)));
    let prompts = prompts.unwrap_or_default();
    let draft = match prompts.is_empty() {
        true => None,
        false => draft_of(agent, pane)?,
    };
    Ok(Inside { prompts, draft })
}

impl Inside {
    /// Takes apart what the input box holds after the interrupt. What is not certain stays a draft as a whole.
    pub(super) fn divide(&self, held: Option<String>) -> Divided {
        let whole = |draft| Divided {
            prompts: Vec::new(),
            draft,
        };
        let Some(held) = held else {
            return whole(None);
        };
        let divided = divide(&held, &self.prompts, self.draft.as_deref());
        match divided.filter(|_| lack_of(&held).is_none()) {
            Some(divided) => divided,
            None => whole(Some(held)),
        }
    }
}

impl Work<'_> {
    /// The agent is gone, and what waited in it with it: the next one gets it from the queue. Repeated after a crash,
    /// it adds nothing.
    pub(super) fn queue_what_waited(&mut self, facts: &Facts) -> Result<(), Error> {
        let Some(quiesced) = facts.read(fact::QUIESCED)? else {
            return Ok(());
        };
        let waited = quiesced.queued;
        if let Some(at) = quiesced.at
            && !waited.is_empty()
        {
            self.dir
                .change_queue(|queue| queue.put_batch_ahead(&waited, at))?;
        }
        // The agent is gone: a queue that cannot be read must not stop the pause half-way.
        if quiesced.cut
            && let Err(error) = self.core.hold_queue_after_pause(&self.dir, &self.record)
        {
            self.progress
                .note(&format!("its queue could not be held: {error}"));
        }
        if waited.is_empty() {
            return Ok(());
        }
        self.progress.note(&match waited.len() {
            1 => "a prompt that waited inside the agent is in its queue now".to_owned(),
            many => format!("{many} prompts that waited inside the agent are in its queue now"),
        });
        Ok(())
    }
}
