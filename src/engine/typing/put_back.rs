//! Types a draft back into the input box of a resumed agent, without submitting it.

use std::time::Instant;

use crate::detect::{Draft, Size, Typed};
use crate::engine::base::Error;
use crate::engine::typing::delivery::{
    BETWEEN_LOOKS, Delivery, ECHO, EMPTYING, GONE, STANDS, typeable,
};
use crate::engine::typing::drafts::PASTES;
use crate::engine::watch::look::Watched;
use crate::model::without_whitespace;

/// An agent may show its box, hide it while it loads the conversation, and drop what is typed meanwhile. It does that
/// once.
const ATTEMPTS: usize = 2;

/// What became of a draft that was pasted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pasted {
    /// It is in the box, and stays there.
    Stands,
    /// The box is empty.
    Lost,
    /// The box is hidden, or holds something else.
    NotSeen,
}

/// Types a draft into an empty input box; false if it does not stand there afterwards.
pub(in crate::engine) fn put_back(agent: &Watched<'_>, draft: &str) -> Result<bool, Error> {
    let delivery = Delivery { agent };
    delivery.await_terminal()?;
    let text = typeable(draft);
    for _ in 0..ATTEMPTS {
        if !await_empty_box(&delivery)? {
            return Ok(false);
        }
        agent.server.paste(agent.pane, &text)?;
        match await_draft(&delivery, &text)? {
            Pasted::Stands => return Ok(true),
            Pasted::Lost => {}
            Pasted::NotSeen => return Ok(false),
        }
    }
    Ok(false)
}

fn await_empty_box(delivery: &Delivery<'_>) -> Result<bool, Error> {
    let since = Instant::now();
    while delivery.agent.provider.draft(&delivery.coloured()?) != Some(Draft::Empty) {
        if since.elapsed() > EMPTYING {
            return Ok(false);
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    Ok(true)
}

/// Waits until the box has held the draft for a moment. Whoever presses Enter when the resume is over sends it: an
/// Enter that follows a paste too closely would be a line break.
fn await_draft(delivery: &Delivery<'_>, text: &str) -> Result<Pasted, Error> {
    let provider = delivery.agent.provider;
    let hold = provider.settle_before_submit().max(STANDS);
    let since = Instant::now();
    let mut shown_since: Option<Instant> = None;
    let mut empty_since: Option<Instant> = None;
    while since.elapsed() < ECHO {
        let screen = delivery.coloured()?;
        let rows = u16::try_from(screen.rows().len()).unwrap_or(u16::MAX);
        // Whether rows are joined does not matter here.
        let columns = u16::MAX;
        let typed = provider.kept_draft(&screen, Size { columns, rows });
        if typed.is_some_and(|typed| is_draft(&typed, text)) {
            empty_since = None;
            if shown_since.get_or_insert_with(Instant::now).elapsed() >= hold {
                return Ok(Pasted::Stands);
            }
        } else if provider.draft(&screen) == Some(Draft::Empty) {
            let empty = empty_since.get_or_insert_with(Instant::now).elapsed();
            if shown_since.is_some() && empty >= GONE {
                return Ok(Pasted::Lost);
            }
        } else {
            // A box that is drawn anew is hidden for a moment.
            empty_since = None;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    // A paste that was taken in would show by now.
    Ok(match empty_since {
        Some(_) => Pasted::Lost,
        None => Pasted::NotSeen,
    })
}

/// Whether what the box shows is the draft, or as much of it as there is room for; long pastes are shown by their
/// size. An earlier prompt further up on the screen, which may be taken for a box that is hidden, is not.
fn is_draft(shown: &Typed, text: &str) -> bool {
    if PASTES.iter().any(|mark| shown.text.contains(mark)) {
        return true;
    }
    let (seen, wanted) = (without_whitespace(&shown.text), without_whitespace(text));
    match shown.cut {
        true => wanted.contains(&seen),
        false => wanted == seen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_known_from_other_texts() {
        let shown = |text: &str, cut: bool| Typed {
            text: text.to_owned(),
            cut,
        };
        let draft = "one two\n\n  three";
        assert!(is_draft(&shown("one\n two\n\nthree", false), draft));
        assert!(is_draft(&shown("[Pasted text #1 +2 lines]", false), draft));
        assert!(is_draft(&shown("\n  three", true), draft));
        // Not all of it has arrived.
        assert!(!is_draft(&shown("one two", false), draft));
        assert!(!is_draft(&shown("an earlier prompt", false), draft));
        assert!(!is_draft(&shown("an earlier prompt", true), draft));
    }
}
