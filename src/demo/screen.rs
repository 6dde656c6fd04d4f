//! The agent's screen: finished lines go into the scrollback once; below them a live region is erased and
//! redrawn. There is no alternate screen, so tmux's scrollback has the whole conversation.

use std::io::Write;

use super::paint::{Colour, Line};
use super::view::Frame;

pub(super) struct Screen<W> {
    out: W,
    colour: Colour,
    /// The live region as it was written, and how wide the terminal was then.
    drawn: Vec<Line>,
    columns: usize,
    /// Where in it the terminal's cursor is.
    cursor: (usize, usize),
    title: String,
}

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W, colour: Colour) -> Self {
        Self {
            out,
            colour,
            drawn: Vec::new(),
            columns: 0,
            cursor: (0, 0),
            title: String::new(),
        }
    }

    /// Draws the finished lines and the frame below them in one write, so that a capture does not show half
    /// of it.
    pub(super) fn draw(
        &mut self,
        finished: &[Line],
        frame: Frame,
        columns: usize,
    ) -> std::io::Result<()> {
        let mut bytes = String::new();
        let resized = columns != self.columns;
        self.reflow(columns);
        if frame.title != self.title {
            // A title has no control character: it is made from printable text.
            bytes.extend([format!("\x1b]2;{}\x1b\\", frame.title)]);
            self.title = frame.title;
        }
        if finished.is_empty() && !resized && frame.lines.len() == self.drawn.len() {
            self.redraw_changed(&frame.lines, &mut bytes);
        } else {
            self.redraw_all(finished, &frame.lines, &mut bytes);
        }
        self.drawn = frame.lines;
        match frame.cursor {
            Some(place) => {
                self.move_to(place, &mut bytes);
                bytes.push_str("\x1b[?25h");
            }
            None => bytes.push_str("\x1b[?25l"),
        }
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    /// A terminal that got narrower has wrapped the rows that are too wide now, which moved the cursor away
    /// from the top of the live region.
    fn reflow(&mut self, columns: usize) {
        if columns < self.columns {
            let columns = columns.max(1);
            let above = self.drawn.iter().take(self.cursor.0);
            let above: usize = above
                .map(|line| line.width().div_ceil(columns).max(1))
                .sum();
            self.cursor.0 = above + self.cursor.1 / columns;
        }
        self.columns = columns;
    }

    /// Clears the screen and the scrollback.
    pub(super) fn clear(&mut self) -> std::io::Result<()> {
        self.drawn.clear();
        self.cursor = (0, 0);
        self.out.write_all(b"\x1b[2J\x1b[3J\x1b[H")?;
        self.out.flush()
    }

    /// Removes the live region. The last lines are wrapped by the terminal, so that a command in them can be
    /// copied as one line.
    pub(super) fn finish(&mut self, finished: &[Line], last: &[Line]) -> std::io::Result<()> {
        let mut bytes = String::new();
        self.redraw_all(finished, &[], &mut bytes);
        for line in last {
            line.render(self.colour, &mut bytes);
            bytes.push_str("\r\n");
        }
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    /// Prints only the lines, for pipes.
    pub(super) fn print(&mut self, lines: &[Line]) -> std::io::Result<()> {
        let mut bytes = String::new();
        for line in lines {
            line.render(self.colour, &mut bytes);
            bytes.push('\n');
        }
        self.out.write_all(bytes.as_bytes())
    }

    fn redraw_all(&mut self, finished: &[Line], lines: &[Line], bytes: &mut String) {
        self.move_to((0, 0), bytes);
        // Without wrapping, a character that is wider than expected does not add a row. tmux treats
        // "erase below" in the first cell as "clear the screen", which moves the erased rows into the
        // scrollback: so the first row is erased separately.
        bytes.push_str("\x1b[?25l\x1b[?7l\x1b[2K\x1b[C\x1b[J\r");
        for line in finished {
            line.render(self.colour, bytes);
            bytes.push_str("\r\n");
        }
        for (row, line) in lines.iter().enumerate() {
            if row > 0 {
                bytes.push_str("\r\n");
            }
            line.render(self.colour, bytes);
        }
        bytes.push_str("\r\x1b[?7h");
        self.cursor = (lines.len().saturating_sub(1), 0);
    }

    fn redraw_changed(&mut self, lines: &[Line], bytes: &mut String) {
        for (row, line) in lines.iter().enumerate() {
            if self.drawn.get(row) != Some(line) {
                self.move_to((row, 0), bytes);
                bytes.push_str("\x1b[?7l\x1b[2K");
                line.render(self.colour, bytes);
                bytes.push_str("\r\x1b[?7h");
            }
        }
    }

    fn move_to(&mut self, (row, column): (usize, usize), bytes: &mut String) {
        let (from, _) = self.cursor;
        if row < from {
            bytes.extend([format!("\x1b[{}A", from - row)]);
        } else if row > from {
            bytes.extend([format!("\x1b[{}B", row - from)]);
        }
        bytes.push('\r');
        if column > 0 {
            bytes.extend([format!("\x1b[{column}C")]);
        }
        self.cursor = (row, column);
    }
}
