//! The printed characters of a terminal's output, without its control sequences and white space.
//!
//! Agents move the cursor over blanks instead of printing them, so that even a plain sentence has control
//! sequences between its words.

/// Takes output in chunks that may be cut anywhere.
#[derive(Debug, Default)]
pub(super) struct PrintedText {
    state: State,
    /// The end of what was printed.
    tail: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    /// After an escape character.
    Escape,
    /// In a control sequence, up to its last letter.
    Sequence,
    /// In the sequence of two characters that selects a character set.
    Charset,
    /// In a string for the terminal, such as a title, up to its end.
    String,
    /// In such a string, after an escape character.
    StringEscape,
}

impl PrintedText {
    /// Takes more output, and says whether one of these words is now in what was printed. Words have no
    /// white space.
    pub(super) fn takes(&mut self, output: &[u8], words: &[&[u8]]) -> bool {
        for byte in output {
            self.take(*byte);
        }
        let found = words.iter().any(|words| holds(&self.tail, words));
        // What was found is not found again; the beginning of a word is kept.
        let longest = words.iter().map(|words| words.len()).max().unwrap_or(0);
        let kept = if found { 0 } else { longest.saturating_sub(1) };
        self.tail.drain(..self.tail.len().saturating_sub(kept));
        found
    }

    fn take(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (State::Text, 0x1b) => State::Escape,
            (State::Text, byte) => {
                // Titles count too, see below.
                if byte > b' ' && byte != 0x7f {
                    self.tail.push(byte);
                }
                State::Text
            }
            (State::Escape, b'[') => State::Sequence,
            (State::Escape, b'(' | b')') => State::Charset,
            (State::Escape, b']' | b'P' | b'_' | b'^' | b'X') => State::String,
            (State::Escape | State::Charset, _) => State::Text,
            (State::Sequence, 0x40..=0x7e) => State::Text,
            (State::Sequence, _) => State::Sequence,
            (State::String, 0x07) => State::Text,
            (State::String, 0x1b) => State::StringEscape,
            (State::String, byte) => {
                // Some agents say in their title that they wait.
                if byte > b' ' {
                    self.tail.push(byte);
                }
                State::String
            }
            (State::StringEscape, _) => State::Text,
        };
    }
}

fn holds(bytes: &[u8], words: &[u8]) -> bool {
    bytes.windows(words.len()).any(|window| window == words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&[u8]; 2] = [b"Doyouwant", b"ActionRequired"];

    fn finds(chunks: &[&str]) -> bool {
        let mut printed = PrintedText::default();
        chunks
            .iter()
            .any(|chunk| printed.takes(chunk.as_bytes(), &WORDS))
    }

    #[test]
    fn words_are_found_whatever_is_between_them() {
        assert!(finds(&["Do you want"]));
        assert!(finds(&["\x1b[39mDo\x1b[5Gyou\r\x1b[1C\x1b[1mwa", "nt to"]));
        assert!(finds(&["Do yo", "u w", "ant"]));
        assert!(finds(&["\x1b]0;[ ! ] Action Requi", "red\x07"]));
        assert!(finds(&["Do\x1b", "[5", "Gyou\x1b(Bwant"]));
        assert!(!finds(&["Do they want"]));
        assert!(!finds(&["Do you\x1b[1", "2", "X", "wan"]));
    }

    #[test]
    fn what_was_found_is_not_found_again() {
        let mut printed = PrintedText::default();
        assert!(printed.takes(b"Do you want", &WORDS));
        assert!(!printed.takes(b" to go on?", &WORDS));
        assert!(printed.takes(b"Do you want", &WORDS));
    }
}
