//! One row of a screen, and how each of its characters is drawn.

/// The style of one character, as far as it distinguishes placeholders and selected buttons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CharStyle {
    pub dim: bool,
    pub reverse: bool,
    /// A number for the background colour, equal for equal colours; 0 is the default.
    pub ground: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Row {
    text: String,
    /// One for each character of the text.
    looks: Vec<CharStyle>,
}

/// Whether a text is a line, or the edge of a box, without any letter or digit.
pub(super) fn is_drawn(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.chars().all(|c| is_line(c) || c == ' ')
}

/// Whether lines, edges of boxes and bars are made of it.
fn is_line(character: char) -> bool {
    ('\u{2500}'..='\u{259f}').contains(&character)
}

/// A no-break space stays: agents mark their input with it.
fn without_filling(text: &str) -> &str {
    text.trim_end_matches(' ')
}

impl Row {
    /// A text without control characters, drawn in one style.
    pub(super) fn plain(text: &str, look: CharStyle) -> Self {
        let text = without_filling(text);
        Self {
            text: text.to_owned(),
            looks: vec![look; text.chars().count()],
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.chars().all(char::is_whitespace)
    }

    pub(super) fn has_word(&self) -> bool {
        // Rows are full of lines, and to look such a character up takes long.
        let is_word = |c: char| !is_line(c) && c.is_alphanumeric();
        self.text.chars().any(is_word)
    }

    pub(crate) fn is_drawn(&self) -> bool {
        is_drawn(&self.text)
    }

    /// The text without dim characters: without placeholders and hints, with typed text.
    pub(crate) fn undimmed(&self) -> String {
        self.text
            .chars()
            .zip(&self.looks)
            .filter(|(_, look)| !look.dim)
            .map(|(character, _)| character)
            .collect()
    }

    /// How the character at this byte is drawn.
    pub(super) fn look_at(&self, byte: usize) -> Option<CharStyle> {
        let before = self.text.get(..byte)?.chars().count();
        self.looks.get(before).copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn push(&mut self, character: char, look: CharStyle) {
        self.text.push(character);
        self.looks.push(look);
    }

    /// Whether it ends in one of these characters, with a space before it.
    pub(super) fn ends_apart_in(&self, marks: &str) -> bool {
        let mut ends = self.text.chars().rev();
        ends.next().is_some_and(|last| marks.contains(last))
            && ends.next().is_none_or(|before| before == ' ')
    }

    /// Without its last character and the spaces before that.
    pub(super) fn without_last(mut self) -> Self {
        self.text.pop();
        self.trimmed()
    }

    /// Without the spaces that fill the row.
    pub(super) fn trimmed(mut self) -> Self {
        self.text.truncate(without_filling(&self.text).len());
        self.looks.truncate(self.text.chars().count());
        self
    }
}
