//! Reads the dialog at the bottom of a screen.

use unicode_width::UnicodeWidthStr;

use super::super::screen::Screen;
use super::frame::Framed;
use super::spec::{DialogSpec, Shape};
use super::{Dialog, body, buttons, frame, letters, line, list, menu};

impl DialogSpec {
    /// The dialog at the bottom of this screen; None where it does not have the expected shape.
    pub(crate) fn read(&self, screen: &Screen) -> Option<Dialog> {
        let rows = frame::rows(screen, self.frame);
        if self.shape == Shape::Line {
            return line::read(self, screen);
        }
        let choices = match self.shape {
            Shape::Menu => menu::read(self, &rows),
            Shape::List => list::read(self, &rows),
            Shape::Buttons => buttons::read(self, &rows),
            Shape::Letters => letters::read(self, &rows),
            Shape::Line => None,
        }?;
        let edge = rows
            .get(choices.first)
            .and_then(|row| self.edge_of(row.row.text()));
        let Some(edge) = edge else {
            return Some(body::read(self, screen.width(), &rows, choices));
        };
        let rows: Vec<Framed<'_>> = rows
            .into_iter()
            .map(|row| row.within(edge, self.frame))
            .collect();
        Some(body::read(self, edge + 1, &rows, choices))
    }

    /// The column after the last one of the dialog.
    fn edge_of(&self, choices: &str) -> Option<usize> {
        let end = self.edge.as_ref()?.end_of(choices)?;
        Some(choices.get(..end)?.width())
    }
}
