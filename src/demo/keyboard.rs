//! Parses the bytes of a terminal in raw mode into keys and pastes.
//!
//! Not with crossterm's event reader: that blocks within an incomplete paste and spins once the terminal is
//! gone, and this agent must stay responsive in both cases.

const PASTE_START: &[u8] = b"200~";
const PASTE_END: &[u8] = b"\x1b[201~";
const ESC: u8 = 0x1b;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Enter,
    /// A line break within the prompt: ctrl-j, or alt-enter.
    Newline,
    Tab,
    Backspace,
    Esc,
    Up,
    Down,
    Ctrl(char),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    Key(Key),
    Paste(String),
}

/// A parser that takes bytes in pieces of any size.
#[derive(Debug, Default)]
pub(super) struct Keyboard {
    /// Incomplete input: the start of a sequence or of a paste.
    pending: Vec<u8>,
    /// Within a paste: how much was already searched for its end.
    pasting: Option<usize>,
}

/// The result of parsing the start of the pending bytes.
enum Found {
    /// The number of bytes and their meaning; None for ignored input.
    Key(usize, Option<Key>),
    PasteStart(usize),
    Incomplete,
}

impl Keyboard {
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Typed> {
        self.pending.extend_from_slice(bytes);
        let mut typed = Vec::new();
        loop {
            let went_on = match self.pasting {
                Some(searched) => self.end_paste(searched, &mut typed),
                None => self.keys(&mut typed),
            };
            if !went_on {
                return typed;
            }
        }
    }

    /// Whether an escape is pending: a key of its own, or the start of a sequence.
    pub(super) fn is_waiting(&self) -> bool {
        self.pasting.is_none() && self.pending.first() == Some(&ESC)
    }

    /// No byte came for a while: the escape was the key itself.
    pub(super) fn settle(&mut self) -> Vec<Typed> {
        if !self.is_waiting() {
            return Vec::new();
        }
        self.pending.remove(0);
        let mut typed = vec![Typed::Key(Key::Esc)];
        typed.extend(self.feed(&[]));
        typed
    }

    /// Reads keys until bytes run out; true when a paste begins.
    fn keys(&mut self, typed: &mut Vec<Typed>) -> bool {
        let mut at = 0;
        while at < self.pending.len() {
            match look(&self.pending[at..]) {
                Found::Key(length, key) => {
                    typed.extend(key.map(Typed::Key));
                    at += length;
                }
                Found::PasteStart(length) => {
                    at += length;
                    self.pasting = Some(0);
                    break;
                }
                Found::Incomplete => break,
            }
        }
        self.pending.drain(..at);
        self.pasting.is_some()
    }

    /// True when the paste is complete.
    fn end_paste(&mut self, searched: usize, typed: &mut Vec<Typed>) -> bool {
        let found = self.pending[searched..]
            .windows(PASTE_END.len())
            .position(|window| window == PASTE_END);
        let Some(found) = found else {
            // The end mark may be split across two pieces.
            let searched = self.pending.len().saturating_sub(PASTE_END.len() - 1);
            self.pasting = Some(searched);
            return false;
        };
        let rest = self.pending.split_off(searched + found + PASTE_END.len());
        self.pending.truncate(searched + found);
        typed.push(Typed::Paste(pasted_text(&self.pending)));
        self.pending = rest;
        self.pasting = None;
        true
    }
}

/// Terminals send a carriage return for each line break of a paste. `paste-buffer -r` does not; then the
/// text is taken as it is.
fn pasted_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    if text.contains('\n') {
        text
    } else {
        text.replace('\r', "\n")
    }
}

fn look(bytes: &[u8]) -> Found {
    match bytes[0] {
        ESC => look_escape(bytes),
        b'\r' => Found::Key(1, Some(Key::Enter)),
        b'\n' => Found::Key(1, Some(Key::Newline)),
        b'\t' => Found::Key(1, Some(Key::Tab)),
        0x7f | 0x08 => Found::Key(1, Some(Key::Backspace)),
        control @ 1..=26 => Found::Key(1, Some(Key::Ctrl(char::from(control | 0x60)))),
        0..=0x1f => Found::Key(1, None),
        _ => look_character(bytes),
    }
}

fn look_escape(bytes: &[u8]) -> Found {
    match bytes.get(1) {
        None => Found::Incomplete,
        Some(b'\r') => Found::Key(2, Some(Key::Newline)),
        Some(b'[') => look_csi(bytes),
        Some(b'O') => match bytes.get(2) {
            None => Found::Incomplete,
            Some(b'A') => Found::Key(3, Some(Key::Up)),
            Some(b'B') => Found::Key(3, Some(Key::Down)),
            Some(_) => Found::Key(3, None),
        },
        // An escape key and another key in quick succession, as programs send them.
        Some(_) => Found::Key(1, Some(Key::Esc)),
    }
}

fn look_csi(bytes: &[u8]) -> Found {
    let Some(last) = bytes[2..].iter().position(|b| matches!(b, 0x40..=0x7e)) else {
        // No sequence is that long: it was an escape key and a bracket.
        return if bytes.len() > 64 {
            Found::Key(1, Some(Key::Esc))
        } else {
            Found::Incomplete
        };
    };
    let body = &bytes[2..=2 + last];
    let length = 3 + last;
    if body == PASTE_START {
        return Found::PasteStart(length);
    }
    Found::Key(
        length,
        match body {
            b"A" => Some(Key::Up),
            b"B" => Some(Key::Down),
            _ => None,
        },
    )
}

fn look_character(bytes: &[u8]) -> Found {
    let head = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(error) => {
            return match error.error_len() {
                Some(length) => Found::Key(length, Some(Key::Char(char::REPLACEMENT_CHARACTER))),
                None => Found::Incomplete,
            };
        }
    };
    match valid.chars().next() {
        Some(character) => Found::Key(character.len_utf8(), Some(Key::Char(character))),
        None => Found::Incomplete,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Typed> {
        Keyboard::default().feed(bytes)
    }

    #[test]
    fn keys_are_told_apart() {
        for (bytes, expected) in [
            (&b"a"[..], Key::Char('a')),
            ("日".as_bytes(), Key::Char('日')),
            (b"\r", Key::Enter),
            (b"\n", Key::Newline),
            (b"\x1b\r", Key::Newline),
            (b"\x1b[A", Key::Up),
            (b"\x1bOB", Key::Down),
            (b"\x03", Key::Ctrl('c')),
            (b"\x7f", Key::Backspace),
            (b"\xff", Key::Char('\u{fffd}')),
        ] {
            assert_eq!(keys(bytes), [Typed::Key(expected)], "{bytes:?}");
        }
        assert_eq!(keys(b"\x1b[I\x1b[1;5C"), []);
    }

    #[test]
    fn a_lone_escape_waits_for_what_may_follow() {
        let mut keyboard = Keyboard::default();
        assert_eq!(keyboard.feed(b"\x1b"), []);
        assert!(keyboard.is_waiting());
        assert_eq!(keyboard.settle(), [Typed::Key(Key::Esc)]);
        assert!(!keyboard.is_waiting());
        assert_eq!(keyboard.feed(b"\x1b"), []);
        assert_eq!(keyboard.feed(b"[A"), [Typed::Key(Key::Up)]);
    }

    #[test]
    fn an_escape_right_before_a_paste_is_both() {
        assert_eq!(
            keys(b"\x1b\x1b[200~x\x1b[201~\r"),
            [
                Typed::Key(Key::Esc),
                Typed::Paste("x".to_owned()),
                Typed::Key(Key::Enter)
            ]
        );
    }

    #[test]
    fn carriage_returns_of_a_terminal_are_line_breaks() {
        let pasted = |bytes: &[u8]| keys(&[b"\x1b[200~", bytes, PASTE_END].concat());
        assert_eq!(pasted(b"a\rb"), [Typed::Paste("a\nb".to_owned())]);
        assert_eq!(pasted(b"a\r\nb"), [Typed::Paste("a\r\nb".to_owned())]);
    }

    proptest! {
        #[test]
        fn a_paste_is_exact_however_it_is_cut(text in "[^\u{1b}\r]{0,80}", size in 1usize..20) {
            let mut stream = b"q\x1b[200~".to_vec();
            stream.extend_from_slice(text.as_bytes());
            stream.extend_from_slice(b"\x1b[201~z");
            let mut keyboard = Keyboard::default();
            let typed: Vec<_> = stream.chunks(size).flat_map(|chunk| keyboard.feed(chunk)).collect();
            prop_assert_eq!(typed, vec![
                Typed::Key(Key::Char('q')),
                Typed::Paste(text),
                Typed::Key(Key::Char('z')),
            ]);
        }

        #[test]
        fn no_input_is_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut keyboard = Keyboard::default();
            keyboard.feed(&bytes);
            keyboard.settle();
        }
    }
}
