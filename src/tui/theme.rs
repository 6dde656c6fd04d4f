//! Colours: the terminal's own sixteen, so that they match the user's theme.

use ratatui::style::{Color, Modifier, Style};

use crate::config::ThemeName;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Theme {
    /// Whether the screens of agents and everything else may have colours.
    pub coloured: bool,
    pub text: Style,
    /// Less important text.
    pub dim: Style,
    pub strong: Style,
    /// Titles, the current tab, keys.
    pub accent: Style,
    pub busy: Style,
    pub ready: Style,
    /// Nothing else looks like this.
    pub needs_you: Style,
    pub interrupted: Style,
    pub marked: Style,
    pub autoyes: Style,
    pub paused: Style,
    pub failed: Style,
    pub added: Style,
    pub removed: Style,
    pub selected: Style,
    pub line: Style,
    pub code_comment: Style,
    pub code_text: Style,
    pub code_number: Style,
    pub code_keyword: Style,
    pub code_type: Style,
}

impl Theme {
    /// `background` is the value of `COLORFGBG`, such as `15;0`.
    pub(super) fn choose(name: ThemeName, no_color: bool, background: Option<&str>) -> Self {
        match (no_color, name) {
            (true, _) | (false, ThemeName::None) => Self::plain(),
            (false, ThemeName::Dark) => Self::dark(),
            (false, ThemeName::Light) => Self::light(),
            (false, ThemeName::Auto) => {
                let last = background.and_then(|value| value.rsplit(';').next());
                match last.and_then(|number| number.parse::<u8>().ok()) {
                    Some(7 | 9..=15) => Self::light(),
                    Some(_) | None => Self::dark(),
                }
            }
        }
    }

    pub(super) fn dark() -> Self {
        Self {
            coloured: true,
            text: Style::new(),
            dim: Style::new().fg(Color::DarkGray),
            strong: Style::new().add_modifier(Modifier::BOLD),
            accent: Style::new().fg(Color::Cyan),
            busy: Style::new().fg(Color::Cyan),
            ready: Style::new().fg(Color::Green),
            needs_you: Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD),
            interrupted: Style::new().fg(Color::LightRed),
            marked: Style::new().fg(Color::Magenta),
            autoyes: Style::new().fg(Color::LightBlue),
            paused: Style::new().fg(Color::Blue),
            failed: Style::new().fg(Color::Red),
            added: Style::new().fg(Color::Green),
            removed: Style::new().fg(Color::Red),
            selected: Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD),
            line: Style::new().fg(Color::DarkGray),
            code_comment: Style::new().fg(Color::DarkGray),
            code_text: Style::new().fg(Color::Cyan),
            code_number: Style::new().fg(Color::LightMagenta),
            code_keyword: Style::new().fg(Color::Magenta),
            code_type: Style::new().fg(Color::LightBlue),
        }
    }

    pub(super) fn light() -> Self {
        Self {
            accent: Style::new().fg(Color::Blue),
            busy: Style::new().fg(Color::Blue),
            marked: Style::new().fg(Color::LightRed),
            autoyes: Style::new().fg(Color::Blue).add_modifier(Modifier::ITALIC),
            paused: Style::new().fg(Color::Cyan),
            interrupted: Style::new().fg(Color::Red),
            // Yellow on white is not readable.
            needs_you: Style::new().fg(Color::Magenta).add_modifier(Modifier::BOLD),
            selected: Style::new().fg(Color::Blue).add_modifier(Modifier::BOLD),
            code_number: Style::new().fg(Color::LightRed),
            code_keyword: Style::new().fg(Color::Magenta),
            code_type: Style::new().fg(Color::Blue),
            ..Self::dark()
        }
    }

    pub(super) fn plain() -> Self {
        let style = Style::new();
        Self {
            coloured: false,
            text: style,
            dim: style.add_modifier(Modifier::DIM),
            strong: style.add_modifier(Modifier::BOLD),
            accent: style.add_modifier(Modifier::BOLD),
            busy: style,
            ready: style,
            needs_you: style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            interrupted: style.add_modifier(Modifier::BOLD),
            marked: style.add_modifier(Modifier::UNDERLINED),
            autoyes: style.add_modifier(Modifier::ITALIC),
            paused: style.add_modifier(Modifier::DIM),
            failed: style.add_modifier(Modifier::BOLD),
            added: style,
            removed: style,
            selected: style.add_modifier(Modifier::REVERSED),
            line: style.add_modifier(Modifier::DIM),
            code_comment: style.add_modifier(Modifier::DIM),
            code_text: style,
            code_number: style,
            code_keyword: style,
            code_type: style,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_the_user_looks_like_nothing_else() {
        for theme in [Theme::dark(), Theme::light(), Theme::plain()] {
            let others = [
                theme.marked,
                theme.autoyes,
                theme.selected,
                theme.busy,
                theme.paused,
                theme.interrupted,
                theme.ready,
                theme.failed,
            ];
            assert!(!others.contains(&theme.needs_you), "{theme:?}");
            for style in [theme.marked, theme.autoyes, theme.paused] {
                let same = others.iter().filter(|other| **other == style).count();
                assert_eq!(same, 1, "{style:?} of {theme:?}");
            }
        }
    }

    #[test]
    fn the_terminal_says_whether_it_is_light() {
        for (background, expected) in [
            (None, Theme::dark()),
            (Some("15;0"), Theme::dark()),
            (Some("0;15"), Theme::light()),
            (Some("0;default;7"), Theme::light()),
            (Some("nonsense"), Theme::dark()),
        ] {
            let chosen = Theme::choose(ThemeName::Auto, false, background);
            assert_eq!(chosen, expected, "{background:?}");
        }
        assert!(!Theme::choose(ThemeName::Dark, true, None).coloured);
    }
}
