//! The row of tabs.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::paint::{ends, styled};
use super::words::{queued, titled};
use crate::engine::{InstanceView, PullRequestInfo};
use crate::model::{printable_line, told_usage};
use crate::tui::state::{State, Tab};
use crate::tui::text::{columns, cut};

/// Each tab with its column and its name, which is shortened on a narrow screen.
fn places(width: u16) -> Vec<(Tab, u16, &'static str)> {
    let short = width < 42;
    let mut at = u16::from(!short);
    Tab::ALL
        .into_iter()
        .map(|tab| {
            let name = if short { tab.short_name() } else { tab.name() };
            let place = (tab, at, name);
            at += u16::try_from(name.len()).unwrap_or(0) + if short { 1 } else { 2 };
            place
        })
        .collect()
}

/// The tab at a column.
pub(in crate::tui) fn tab_at(column: u16, width: u16) -> Option<Tab> {
    places(width)
        .into_iter()
        .find(|(_, at, name)| {
            let end = at + u16::try_from(name.len()).unwrap_or(0);
            (*at..end).contains(&column)
        })
        .map(|(tab, ..)| tab)
}

pub(super) fn tabs(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let mut spans = Vec::new();
    let mut used = 0;
    for (tab, at, name) in places(area.width) {
        spans.push(Span::raw(" ".repeat(usize::from(at - used))));
        let style = if tab == state.tab {
            theme
                .accent
                .add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
        } else {
            theme.dim
        };
        spans.push(styled(name, style));
        used = at + u16::try_from(name.len()).unwrap_or(0);
    }
    let room = usize::from(area.width.saturating_sub(used + 3));
    let right = match state.current() {
        Some(view) if room > 12 => {
            let title = cut(&titled(view), room);
            let left = room.saturating_sub(columns(&title) + 1);
            let about = match view.queue.filter(|queue| queue.is_open()) {
                Some(queue) => format!("· {}", queued(queue)),
                None => about(view),
            };
            let about = if left > 8 {
                cut(&about, left)
            } else {
                String::new()
            };
            Line::from(vec![
                styled(format!("{title} "), theme.strong),
                styled(format!("{about} "), theme.dim),
            ])
        }
        Some(_) | None => Line::default(),
    };
    ends(Line::from(spans), right, area, buffer);
}

/// Agent and branch, how that stands, its pull request, and what was used.
fn about(view: &InstanceView) -> String {
    let branch = view.branch.as_deref().map(printable_line);
    let pull = view.pull_request.as_ref().map(PullRequestInfo::brief);
    let used = view.usage.map(|usage| told_usage(usage.total));
    let parts = [
        Some(view.agent.clone()),
        pull,
        Some(view.branch_marks()),
        (view.dirty == Some(true)).then(|| "uncommitted".to_owned()),
        used,
        branch,
    ];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    let parts: Vec<String> = parts.collect();
    format!("· {}", parts.join(" · "))
}
