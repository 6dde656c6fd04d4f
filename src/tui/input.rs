//! Parses the bytes of a terminal in raw mode into keys, pastes and mouse events.
//!
//! It reads one event at a time, unlike crossterm's reader, which reads ahead: keys that follow the attach
//! key belong to the agent.

use crate::config::{Key, KeyCode};

const ESC: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";
/// A longer sequence is invalid.
const LONGEST: usize = 64;
/// A longer paste is cut.
const LONGEST_PASTE: usize = 4 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    Key(Key),
    Paste(String),
    Mouse(Mouse),
}

/// A mouse event; column and row are counted from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mouse {
    pub kind: MouseKind,
    pub column: u16,
    pub row: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MouseKind {
    Press,
    WheelUp,
    WheelDown,
}

/// A parser that takes one byte at a time.
#[derive(Debug, Default)]
pub(super) struct Input {
    pending: Vec<u8>,
    pasting: bool,
    /// No byte came together with the escape. A later byte belongs to it only if it begins a sequence.
    apart: bool,
}

impl Input {
    /// Takes one byte; returns the events that it completes.
    pub(super) fn feed(&mut self, byte: u8) -> Vec<Event> {
        let apart = std::mem::take(&mut self.apart);
        let mut events = Vec::new();
        if apart && !matches!(byte, b'[' | b'O') {
            events.extend(self.settle());
        }
        events.extend(self.take(byte));
        events
    }

    /// No more bytes are available now.
    pub(super) fn pause(&mut self) {
        self.apart = !self.pasting && self.pending == [ESC];
    }

    fn take(&mut self, byte: u8) -> Option<Event> {
        if byte == ESC && self.is_waiting() && self.pending.len() == 1 {
            // Two escapes are two keys; the second may still begin a sequence.
            return Some(Event::Key(Key::plain(KeyCode::Esc)));
        }
        self.pending.push(byte);
        if self.pasting {
            return self.end_paste();
        }
        match read(&self.pending) {
            Read::Incomplete if self.pending.len() < LONGEST => None,
            Read::Incomplete | Read::Nothing => {
                self.pending.clear();
                None
            }
            Read::PasteStart => {
                self.pending.clear();
                self.pasting = true;
                None
            }
            Read::Event(event) => {
                self.pending.clear();
                Some(event)
            }
        }
    }

    /// Whether an escape is pending: a key of its own, or the start of a sequence.
    pub(super) fn is_waiting(&self) -> bool {
        !self.pasting && self.pending.first() == Some(&ESC)
    }

    /// No byte came for a while: the escape was the key itself.
    pub(super) fn settle(&mut self) -> Option<Event> {
        if !self.is_waiting() {
            return None;
        }
        self.pending.clear();
        Some(Event::Key(Key::plain(KeyCode::Esc)))
    }

    fn end_paste(&mut self) -> Option<Event> {
        if !self.pending.ends_with(PASTE_END) {
            if self.pending.len() > LONGEST_PASTE {
                let kept = self.pending.len() - PASTE_END.len();
                self.pending.drain(LONGEST_PASTE / 2..kept);
            }
            return None;
        }
        self.pasting = false;
        let mut bytes = std::mem::take(&mut self.pending);
        bytes.truncate(bytes.len() - PASTE_END.len());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some(Event::Paste(text.replace("\r\n", "\n").replace('\r', "\n")))
    }
}

enum Read {
    Event(Event),
    PasteStart,
    /// Complete, and ignored.
    Nothing,
    Incomplete,
}

fn key(code: KeyCode) -> Read {
    Read::Event(Event::Key(Key::plain(code)))
}

fn read(bytes: &[u8]) -> Read {
    match bytes {
        [] => Read::Incomplete,
        [ESC, rest @ ..] => escaped(rest),
        [b'\r'] => key(KeyCode::Enter),
        [b'\t'] => key(KeyCode::Tab),
        [0x7f | 0x08] => key(KeyCode::Backspace),
        [0] => Read::Event(Event::Key(Key::ctrl(' '))),
        [control @ 1..=26] => Read::Event(Event::Key(Key::ctrl(char::from(control | 0x60)))),
        [control @ 0x1c..=0x1f] => Read::Event(Event::Key(Key::ctrl(char::from(control | 0x40)))),
        bytes => character(bytes),
    }
}

fn character(bytes: &[u8]) -> Read {
    match std::str::from_utf8(bytes) {
        Ok(text) => match text.chars().next() {
            Some(character) if !character.is_control() => key(KeyCode::Char(character)),
            Some(_) | None => Read::Nothing,
        },
        Err(error) if error.error_len().is_none() => Read::Incomplete,
        Err(_) => Read::Nothing,
    }
}

/// The bytes after an escape.
fn escaped(rest: &[u8]) -> Read {
    match rest {
        [] => Read::Incomplete,
        [b'['] | [b'O'] => Read::Incomplete,
        [b'[', rest @ ..] => control_sequence(rest),
        [b'O', letter] => lettered(*letter, 1),
        rest => match read(rest) {
            Read::Event(Event::Key(key)) => Read::Event(Event::Key(Key { alt: true, ..key })),
            Read::Event(_) | Read::PasteStart | Read::Nothing => Read::Nothing,
            Read::Incomplete => Read::Incomplete,
        },
    }
}

fn control_sequence(rest: &[u8]) -> Read {
    let Some((last, parameters)) = rest.split_last() else {
        return Read::Incomplete;
    };
    if !(0x40..=0x7e).contains(last) {
        return Read::Incomplete;
    }
    let text = String::from_utf8_lossy(parameters);
    if let Some(mouse) = text.strip_prefix('<') {
        return clicked(mouse, *last == b'M');
    }
    let mut numbers = text
        .split(';')
        .map(|number| number.parse::<u16>().unwrap_or(1));
    let (first, second) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(1));
    match last {
        b'~' if first == 200 => Read::PasteStart,
        b'~' => numbered(first, second),
        letter => lettered(*letter, second),
    }
}

fn lettered(letter: u8, modifiers: u16) -> Read {
    let code = match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'M' => KeyCode::Enter,
        b'P'..=b'S' => KeyCode::F(letter - b'P' + 1),
        b'Z' => return modified(KeyCode::Tab, 2),
        _ => return Read::Nothing,
    };
    modified(code, modifiers)
}

fn numbered(number: u16, modifiers: u16) -> Read {
    let function = |from: u16, first: u8| {
        u8::try_from(number - from).map_or(KeyCode::Esc, |n| KeyCode::F(first + n))
    };
    let code = match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => function(11, 1),
        17..=21 => function(17, 6),
        23..=24 => function(23, 11),
        _ => return Read::Nothing,
    };
    modified(code, modifiers)
}

/// Modifiers as xterm encodes them: one more than the sum of shift, alt and ctrl.
fn modified(code: KeyCode, modifiers: u16) -> Read {
    let bits = modifiers.saturating_sub(1);
    Read::Event(Event::Key(Key {
        code,
        shift: bits & 1 != 0,
        alt: bits & 2 != 0,
        ctrl: bits & 4 != 0,
    }))
}

/// `button;column;row` of the SGR protocol, counted from one.
fn clicked(text: &str, pressed: bool) -> Read {
    let mut numbers = text.split(';').map(str::parse::<u16>);
    let (Some(Ok(button)), Some(Ok(column)), Some(Ok(row))) =
        (numbers.next(), numbers.next(), numbers.next())
    else {
        return Read::Nothing;
    };
    let kind = match button {
        0 if pressed => MouseKind::Press,
        64 => MouseKind::WheelUp,
        65 => MouseKind::WheelDown,
        _ => return Read::Nothing,
    };
    Read::Event(Event::Mouse(Mouse {
        kind,
        column: column.saturating_sub(1),
        row: row.saturating_sub(1),
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(bytes: &[u8]) -> Vec<Event> {
        let mut input = Input::default();
        let mut events: Vec<Event> = bytes.iter().flat_map(|byte| input.feed(*byte)).collect();
        events.extend(input.settle());
        events
    }

    fn keys(bytes: &[u8]) -> String {
        let shown: Vec<String> = events(bytes)
            .into_iter()
            .map(|event| match event {
                Event::Key(key) => key.to_string(),
                other => format!("{other:?}"),
            })
            .collect();
        shown.join(" ")
    }

    #[test]
    fn keys_are_told_apart() {
        for (bytes, expected) in [
            (&b"cR\r\t"[..], "c R enter tab"),
            (b"\x1b[A\x1b[1;2B\x1bOC", "↑ shift-↓ →"),
            (b"\x1b[Z\x1b[5~\x1b[3;5~", "shift-tab pageup ctrl-delete"),
            (b"\x03\x18p\x11", "ctrl-c ctrl-x p ctrl-q"),
            (b"\x1b\r\x1bb", "alt-enter alt-b"),
            (b"\x1b", "esc"),
            (b"\x1b\x1b\x1b[A", "esc esc ↑"),
            (b"\x7f\x1b[H\x1b[4~", "backspace home end"),
            ("é日👍".as_bytes(), "é 日 👍"),
            (b"\x1b[15~\x1b[24~\x1bOP", "F5 F12 F1"),
            // Focus events, device answers and invalid sequences are not keys.
            (b"\x1b[I\x1b[?62;1cx\xff\xfey", "x y"),
        ] {
            assert_eq!(keys(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn an_escape_that_came_alone_is_a_key_of_its_own() {
        let mut input = Input::default();
        let mut shown = Vec::new();
        for byte in *b"\x1b/\x1b[A" {
            shown.extend(input.feed(byte).into_iter().map(|event| match event {
                Event::Key(key) => key.to_string(),
                other => format!("{other:?}"),
            }));
            input.pause();
        }
        assert_eq!(shown, ["esc", "/", "↑"]);
    }

    #[test]
    fn a_paste_is_one_event_whatever_is_in_it() {
        assert_eq!(
            events(b"a\x1b[200~q\r\x1b[31mD\r\ny\x1b[201~b"),
            [
                Event::Key(Key::char('a')),
                Event::Paste("q\n\x1b[31mD\ny".to_owned()),
                Event::Key(Key::char('b')),
            ]
        );
    }

    #[test]
    fn the_mouse_is_heard() {
        let mouse = |kind| {
            Event::Mouse(Mouse {
                kind,
                column: 9,
                row: 4,
            })
        };
        assert_eq!(
            events(b"\x1b[<0;10;5M\x1b[<0;10;5m\x1b[<64;10;5M\x1b[<35;1;1M"),
            [mouse(MouseKind::Press), mouse(MouseKind::WheelUp)]
        );
    }

    proptest! {
        #[test]
        fn no_bytes_can_wedge_it(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mut input = Input::default();
            for byte in &bytes {
                input.feed(*byte);
            }
            for byte in b"\x1b[201~" {
                input.feed(*byte);
            }
            input.settle();
            // After a timeout the next key is recognised, whatever came before.
            let heard = (0..LONGEST).any(|_| {
                input.feed(b'q') == [Event::Key(Key::char('q'))]
            });
            prop_assert!(heard);
        }
    }
}
