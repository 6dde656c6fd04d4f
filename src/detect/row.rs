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

impl Row {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.chars().all(char::is_whitespace)
    }

    /// Whether it is a line, or the edge of a box, without any text.
    pub(crate) fn is_drawn(&self) -> bool {
        let drawn = '\u{2500}'..='\u{259f}';
        !self.is_blank() && self.text.trim().chars().all(|c| drawn.contains(&c))
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

    /// Without the spaces that fill the row. A no-break space stays: agents mark their input with it.
    pub(super) fn trimmed(mut self) -> Self {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.looks.truncate(self.text.chars().count());
        self
    }
}
