//! An answer that appears word by word, with no sign of being busy except the title. Screen rules alone
//! cannot distinguish it from an idle agent.

use std::time::Duration;

use super::paint::{Line, width_of};
use super::reply;
use super::session::SessionEntry;
use super::state::{Agent, Effect, Step, Stream, Turn};

/// Between two words.
const WORD_EVERY: Duration = Duration::from_millis(60);

impl Stream {
    pub(super) fn new(words: usize, now: Duration) -> Self {
        Self {
            row: String::new(),
            text: String::new(),
            said: 0,
            left: words,
            next: now,
        }
    }
}

impl Agent {
    pub(super) fn stream_on(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        let columns = self.size.columns.saturating_sub(3);
        let Some(Turn {
            step: Step::Streaming(stream),
            ..
        }) = &mut self.turn
        else {
            return;
        };
        if stream.left == 0 {
            return self.end_stream(effects);
        }
        let word = reply::stream_word(stream.said);
        stream.left -= 1;
        stream.said += 1;
        stream.next = now + WORD_EVERY;
        if !stream.text.is_empty() {
            stream.text.push(' ');
        }
        stream.text.push_str(word);
        if stream.row.is_empty() {
            // A blank row before the answer; printed now, so that the live region need not have it.
            effects.push(Effect::Print(vec![Line::blank()]));
            stream.row = format!("● {word}");
        } else if width_of(&stream.row) + 1 + word.len() > columns {
            // A full row does not change any more and goes to the scrollback.
            let full = std::mem::replace(&mut stream.row, format!("  {word}"));
            effects.push(Effect::Print(vec![reply::streamed(&full)]));
        } else {
            stream.row.push(' ');
            stream.row.push_str(word);
        }
    }

    pub(super) fn end_stream(&mut self, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        if let Step::Streaming(stream) = std::mem::replace(&mut turn.step, Step::Ready) {
            effects.push(Effect::Print(vec![reply::streamed(&stream.row)]));
            self.record(
                SessionEntry::assistant(self.memory.turns(), &stream.text),
                effects,
            );
        }
    }
}
