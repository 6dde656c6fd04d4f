//! The layout of the screen, for drawing and for the mouse.

use ratatui::layout::Rect;

/// Below this width, the list is above the page instead of beside it.
const SIDE_BY_SIDE: u16 = 70;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Areas {
    pub list_head: Rect,
    pub list: Rect,
    /// The line between list and page.
    pub divider: Rect,
    /// The line below both headings, if there is room.
    pub rule: Rect,
    pub tabs: Rect,
    pub page: Rect,
    pub status: Rect,
    /// Rows of the list for each instance.
    pub row_height: u16,
}

/// The layout for a list of `list_rows` rows.
pub(super) fn areas(columns: u16, rows: u16, list_rows: usize) -> Areas {
    let status = Rect::new(0, rows.saturating_sub(1), columns, rows.min(1));
    let height = rows.saturating_sub(1);
    if columns < SIDE_BY_SIDE {
        return stacked(columns, height, list_rows, status);
    }
    let list_width = (columns * 3 / 10).clamp(30, 52);
    let page_left = list_width + 2;
    let page_width = columns - page_left;
    let ruled = u16::from(rows >= 14);
    let body = 1 + ruled;
    let list_height = height.saturating_sub(body);
    Areas {
        list_head: Rect::new(0, 0, list_width, height.min(1)),
        list: Rect::new(0, body, list_width, list_height),
        divider: Rect::new(list_width, 0, 1, height),
        rule: Rect::new(0, 1, columns, ruled),
        tabs: Rect::new(page_left, 0, page_width, height.min(1)),
        page: Rect::new(page_left, body, page_width, list_height),
        status,
        row_height: if list_rows * 2 <= usize::from(list_height) {
            2
        } else {
            1
        },
    }
}

fn stacked(columns: u16, height: u16, list_rows: usize, status: Rect) -> Areas {
    let head = height.min(1);
    let wanted = u16::try_from(list_rows.max(1)).unwrap_or(u16::MAX);
    // The list gets at most a third, the page gets the rest.
    let list = wanted
        .min(height.saturating_sub(head) / 3)
        .max(height.saturating_sub(head).min(1));
    let tabs_at = head + list;
    let tabs = height.saturating_sub(tabs_at).min(1);
    let page_at = tabs_at + tabs;
    Areas {
        list_head: Rect::new(0, 0, columns, head),
        list: Rect::new(0, head, columns, list),
        divider: Rect::default(),
        rule: Rect::default(),
        tabs: Rect::new(0, tabs_at, columns, tabs),
        page: Rect::new(0, page_at, columns, height.saturating_sub(page_at)),
        status,
        row_height: 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn everything_stays_on_the_screen(columns in 0_u16..400, rows in 0_u16..120, list in 0_usize..300) {
            let areas = areas(columns, rows, list);
            let screen = Rect::new(0, 0, columns, rows);
            for area in [
                areas.list_head, areas.list, areas.divider, areas.rule, areas.tabs, areas.page,
                areas.status,
            ] {
                prop_assert_eq!(area.intersection(screen).area(), area.area());
            }
            prop_assert_eq!(areas.page.intersection(areas.list).area(), 0);
            prop_assert_eq!(areas.page.intersection(areas.status).area(), 0);
        }
    }
}
