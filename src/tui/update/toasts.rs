//! Short messages in a corner of the screen.

use std::time::Duration;

use crate::tui::state::{State, Toast, ToastKind};

/// How long they stay; errors stay longer.
const NOTE: Duration = Duration::from_secs(5);
const ERROR: Duration = Duration::from_secs(15);

impl State {
    pub(in crate::tui) fn toast(&mut self, kind: ToastKind, text: String) {
        self.add_toast(kind, text, Vec::new(), true);
    }

    pub(in crate::tui) fn toast_with_hint(&mut self, kind: ToastKind, text: String, hint: String) {
        self.add_toast(kind, text, vec![hint], true);
    }

    /// Stays until the next key.
    pub(in crate::tui) fn toast_sticky(&mut self, kind: ToastKind, text: String) {
        self.add_toast(kind, text, Vec::new(), false);
    }

    pub(in crate::tui) fn add_toast(
        &mut self,
        kind: ToastKind,
        text: String,
        hints: Vec<String>,
        passes: bool,
    ) {
        let stays = if kind == ToastKind::Bad { ERROR } else { NOTE };
        let toast = Toast {
            kind,
            text,
            hints,
            until: passes.then(|| self.now.plus(stays)),
        };
        self.toasts.retain(|known| known.text != toast.text);
        self.toasts.push(toast);
        // Only the newest few are kept.
        let excess = self.toasts.len().saturating_sub(4);
        self.toasts.drain(..excess);
    }
}
