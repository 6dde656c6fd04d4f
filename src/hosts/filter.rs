//! What of a host's output may reach a terminal here: text, line ends and colours.

/// Sequences that are longer are dropped.
const LONGEST: usize = 64;

/// Takes out everything that could steer the terminal. Bytes may come in any pieces.
#[derive(Debug, Default)]
pub(super) struct TerminalFilter {
    state: State,
    held: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// The first byte of what may be a control character in UTF-8.
    Lead,
    Escape,
    /// `ESC [`: its end decides.
    Control,
    /// The rest of a control sequence that is no colour.
    NoColour,
    /// A string for the terminal, such as a title or the clipboard.
    String,
    StringEscape,
}

impl TerminalFilter {
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut passed = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.step(*byte, &mut passed);
        }
        passed
    }

    fn step(&mut self, byte: u8, passed: &mut Vec<u8>) {
        self.state = match (self.state, byte) {
            (State::Text, 0x1b) => State::Escape,
            (State::Text, 0xc2) => State::Lead,
            (State::Text, b'\n' | b'\t' | 0x20..=0x7e | 0x80..) => {
                passed.push(byte);
                State::Text
            }
            (State::Text, _) => State::Text,
            // U+0080 to U+009F are control characters too.
            (State::Lead, 0x80..=0x9f) => State::Text,
            (State::Lead, _) => {
                passed.push(0xc2);
                self.state = State::Text;
                return self.step(byte, passed);
            }
            (State::Escape, b'[') => {
                self.held.clear();
                State::Control
            }
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::String,
            (State::Escape, 0x1b) => State::Escape,
            (State::Escape, _) => State::Text,
            (State::Control, b'0'..=b'9' | b';' | b':') if self.held.len() < LONGEST => {
                self.held.push(byte);
                State::Control
            }
            (State::Control, b'm') => {
                passed.extend_from_slice(b"\x1b[");
                passed.append(&mut self.held);
                passed.push(b'm');
                State::Text
            }
            (State::Control | State::NoColour, 0x40..=0x7e) => State::Text,
            (State::Control | State::NoColour, 0x1b) => State::Escape,
            // An unfinished sequence must not hide what follows.
            (State::Control | State::NoColour | State::String, b'\n') => {
                passed.push(byte);
                State::Text
            }
            (State::Control | State::NoColour, _) => State::NoColour,
            (State::String, 0x07) => State::Text,
            (State::String, 0x1b) => State::StringEscape,
            (State::String, _) => State::String,
            (State::StringEscape, b'\\') => State::Text,
            (State::StringEscape, _) => {
                self.state = State::Escape;
                return self.step(byte, passed);
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filtered(text: &str) -> String {
        let mut filter = TerminalFilter::default();
        String::from_utf8(filter.take(text.as_bytes())).unwrap()
    }

    #[test]
    fn colours_stay_and_what_steers_goes() {
        assert_eq!(
            filtered("\x1b[1;31mred\x1b[0m\tünï\n"),
            "\x1b[1;31mred\x1b[0m\tünï\n"
        );
        assert_eq!(filtered("a\x1b[2Jb\x1b[?1049hc\x1b[10;1Hd"), "abcd");
        assert_eq!(filtered("a\x1b]52;c;aGk=\x07b\x1b]0;t\x1b\\c"), "abc");
        assert_eq!(filtered("a\x1bPq#\x1b\\b\x1bcc\rd\x08\u{9b}2Je"), "abcd2Je");
        assert_eq!(filtered("a\x1b[3?1mb"), "ab");
        assert_eq!(
            filtered("open \x1b]0;title\nnext line\n"),
            "open \nnext line\n"
        );
    }

    proptest! {
        #[test]
        fn nothing_but_colours_begins_with_an_escape(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut filter = TerminalFilter::default();
            let passed: Vec<u8> = bytes.chunks(3).flat_map(|piece| filter.take(piece)).collect();
            for (at, _) in passed.iter().enumerate().filter(|(_, byte)| **byte == 0x1b) {
                let rest = &passed[at + 1..];
                prop_assert_eq!(rest.first(), Some(&b'['));
                let end = rest.iter().skip(1).position(|byte| !b"0123456789;:".contains(byte)).unwrap();
                prop_assert_eq!(rest[1 + end], b'm');
            }
            prop_assert!(passed.iter().all(|byte| *byte >= 0x20 || b"\n\t\x1b".contains(byte)));
        }
    }
}
