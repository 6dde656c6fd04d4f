//! A text in an agent's input box that was not sent: what of it outlives the agent.

use crate::agents::Provider;
use crate::detect::{Screen, Size};
use crate::engine::base::{Core, Error};
use crate::engine::watch::archive::{BANNERS, SavedTerminal};
use crate::engine::watch::look::Watched;
use crate::model::{InstanceRecord, last_lines, without_whitespace};
use crate::store::InstanceDir;
use crate::tmux::Pane;

/// How agents begin what they show for a long paste; the second is Copilot's, the third Kimi's.
pub(super) const PASTES: [&str; 3] = ["[Pasted ", "[Paste #", "[paste #"];

/// Begins a draft of which the agent may not have shown all.
const OUT_OF_SIGHT: &str = "[more that was not shown]";

/// What a draft may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Lack {
    /// The text of a paste, which is shown by its size alone.
    Paste,
    /// Rows that have scrolled out of the box.
    Rows,
}

/// What is not known of a draft; None where it is whole.
pub(in crate::engine) fn lack_of(draft: &str) -> Option<Lack> {
    if PASTES.iter().any(|mark| draft.contains(mark)) {
        Some(Lack::Paste)
    } else if draft.contains(OUT_OF_SIGHT) {
        Some(Lack::Rows)
    } else {
        None
    }
}

/// The text in the input box as the user has typed it, for an agent whose drafts outlive a pause. One of which more
/// may be out of sight begins with a mark.
pub(in crate::engine) fn draft_of(
    agent: &Watched<'_>,
    pane: &Pane,
) -> Result<Option<String>, Error> {
    // An agent that has ended shows no box.
    let Some(_) = agent.look()?.filter(|shot| !shot.dead && !shot.in_mode) else {
        return Ok(None);
    };
    let size = Size {
        columns: pane.columns,
        rows: pane.rows,
    };
    Ok(draft_on(&coloured(agent)?, size, agent.provider))
}

/// The screen as it is drawn: only colours tell what was typed from a placeholder.
pub(super) fn coloured(agent: &Watched<'_>) -> Result<Screen, Error> {
    let coloured = agent.server.tail(agent.pane, 0, true)?;
    Ok(Screen::new(&coloured).below(BANNERS))
}

fn draft_on(screen: &Screen, size: Size, provider: &Provider) -> Option<String> {
    let typed = provider.kept_draft(screen, size)?;
    Some(match typed.cut {
        true => format!("{OUT_OF_SIGHT}\n{}", typed.text),
        false => typed.text,
    })
}

impl Core {
    /// What stood in the input box of an agent that ended with its server, by the last saved screen. It may have
    /// been sent since.
    pub(in crate::engine) fn draft_saved(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        (terminal, text): &(SavedTerminal, String),
    ) -> Option<String> {
        let screen = Screen::new(last_lines(text, terminal.rows.into())).below(BANNERS);
        let size = Size {
            columns: terminal.columns,
            rows: terminal.rows,
        };
        let draft = draft_on(&screen, size, self.provider_of(record).ok()?)?;
        let sent = self.last_prompt(dir, record).unwrap_or_default();
        (without_whitespace(&sent) != without_whitespace(&draft)).then_some(draft)
    }
}
