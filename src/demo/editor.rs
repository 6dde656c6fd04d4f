//! The input box: text that was typed or pasted and not submitted yet.

/// A paste beyond either limit is shown as a note of its size. It is submitted completely.
const SHOWN_LINES: usize = 4;
const SHOWN_CHARS: usize = 600;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Typed(String),
    LargePaste(String),
}

/// The cursor is always at the end: prompts are short, or pasted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Editor {
    pieces: Vec<Piece>,
}

impl Editor {
    pub(super) fn insert(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Typed(typed)) => typed.push_str(text),
            Some(Piece::LargePaste(_)) | None => self.pieces.push(Piece::Typed(text.to_owned())),
        }
    }

    pub(super) fn paste(&mut self, text: String) {
        if text.split('\n').count() > SHOWN_LINES || text.chars().nth(SHOWN_CHARS).is_some() {
            self.pieces.push(Piece::LargePaste(text));
        } else if !text.is_empty() {
            self.insert(&text);
        }
    }

    /// Deletes the last character, or a large paste as a whole.
    pub(super) fn backspace(&mut self) {
        if let Some(Piece::Typed(typed)) = self.pieces.last_mut() {
            typed.pop();
            if !typed.is_empty() {
                return;
            }
        }
        self.pieces.pop();
    }

    pub(super) fn clear(&mut self) {
        self.pieces.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Takes the exact prompt; the box is empty afterwards.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.pieces)
            .into_iter()
            .map(|piece| match piece {
                Piece::Typed(text) | Piece::LargePaste(text) => text,
            })
            .collect()
    }

    /// The text that the box shows.
    pub(super) fn shown(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Typed(text) => text.clone(),
                Piece::LargePaste(text) => note(text),
            })
            .collect()
    }
}

fn note(paste: &str) -> String {
    match paste.matches('\n').count() {
        0 => format!("[Pasted {} chars]", paste.chars().count()),
        breaks => format!("[Pasted text +{breaks} lines]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_paste_is_shown_by_its_size_and_submitted_whole() {
        let mut editor = Editor::default();
        let large = "line\n".repeat(200_000);
        editor.insert("see: ");
        editor.paste(large.clone());
        editor.paste(" end".to_owned());
        assert_eq!(editor.shown(), "see: [Pasted text +200000 lines] end");
        assert_eq!(editor.take(), format!("see: {large} end"));
        assert!(editor.is_empty());
        editor.paste("x".repeat(1_000_000));
        assert_eq!(editor.shown(), "[Pasted 1000000 chars]");
    }

    #[test]
    fn backspace_takes_characters_and_whole_pastes() {
        let mut editor = Editor::default();
        editor.insert("a日");
        editor.paste("x".repeat(1000));
        editor.insert("z");
        editor.backspace();
        editor.backspace();
        assert_eq!(editor.shown(), "a日");
        editor.backspace();
        editor.backspace();
        editor.backspace();
        assert!(editor.is_empty());
    }
}
