//! The page that is shown without instances: the repository, the installed agents, and how to begin. Of those that
//! were killed, that there are none.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint::{lines, styled};
use super::words::repository_name;
use crate::model::printable_line;
use crate::tui::keys::Action;
use crate::tui::message::StartContext;
use crate::tui::state::State;
use crate::tui::text::wrap;

pub(super) fn welcome(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    if !state.loaded {
        return;
    }
    let width = usize::from(area.width.saturating_sub(4)).min(76);
    let mut all: Vec<Line<'static>> = Vec::new();
    let words = |text: &str, all: &mut Vec<Line<'static>>| {
        all.extend(wrap(text, width).into_iter().map(Line::from));
    };
    if state.showing_killed && state.instances.is_empty() {
        all.push(Line::from(styled("None is killed.", theme.strong)));
        all.push(Line::default());
        words("Nothing that was killed can be brought back.", &mut all);
        let killed = state.keymap.hint(Action::Killed).unwrap_or_default();
        all.push(key(state, &killed, "shows the others"));
    } else if !state.instances.is_empty() {
        words("Nothing matches.", &mut all);
        all.push(key(state, "esc", "shows all again"));
    } else {
        all.push(Line::from(styled("No instances yet.", theme.strong)));
        all.push(Line::default());
        words(
            "Each instance is a coding agent with a branch and a worktree of its own. \
             Pause it, and its work, screen and conversation are kept until you resume it.",
            &mut all,
        );
        all.push(Line::default());
        match &state.start_context {
            None => words("Looking around…", &mut all),
            Some(start_context) => describe(state, start_context, width, &mut all),
        }
    }
    let height = u16::try_from(all.len()).unwrap_or(u16::MAX);
    let space = area.height.saturating_sub(height) / 4;
    let place = Rect {
        x: area.x + 1.min(area.width),
        y: area.y + space,
        width: area.width.saturating_sub(1),
        height: area.height - space,
    };
    lines(all, place, buffer);
}

fn describe(
    state: &State,
    start_context: &StartContext,
    width: usize,
    all: &mut Vec<Line<'static>>,
) {
    let theme = &state.theme;
    for missing in &start_context.missing {
        for line in wrap(missing, width) {
            all.push(Line::from(styled(line, theme.failed)));
        }
    }
    let row = |label: &str, text: String| {
        Line::from(vec![
            styled(format!("{label:<13}"), theme.dim),
            Span::raw(text),
        ])
    };
    let hint = |action| state.keymap.hint(action).unwrap_or_default();
    match &start_context.repository {
        Ok(path) => all.push(row("repository", repository_name(path))),
        Err(_) => {
            let place = printable_line(&start_context.directory.display().to_string());
            let text = format!("{place} is not inside a git repository.");
            for line in wrap(&text, width) {
                all.push(Line::from(styled(line, theme.failed)));
            }
            let text = "Start `biv` inside one; `git init` makes one, and `biv demo` shows \
                        everything in a throw-away repository.";
            all.extend(wrap(text, width).into_iter().map(Line::from));
        }
    }
    let real: Vec<_> = start_context
        .agents
        .iter()
        .filter(|agent| agent.installed && !matches!(agent.name.as_str(), "demo" | "shell"))
        .collect();
    if real.is_empty() {
        let known: Vec<&str> = start_context
            .agents
            .iter()
            .map(|agent| agent.name.as_str())
            .filter(|name| !matches!(*name, "demo" | "shell"))
            .collect();
        all.push(row("agents", "none is installed".to_owned()));
        let text = format!(
            "Bivouac knows {}. The built-in demo agent needs nothing and shows how it goes.",
            known.join(", ")
        );
        all.extend(wrap(&text, width).into_iter().map(Line::from));
    } else {
        let names: Vec<String> = real
            .iter()
            .map(|agent| match &agent.version {
                Some(version) => format!("{} {version}", agent.display),
                None => agent.display.clone(),
            })
            .collect();
        let mut text = wrap(&names.join(", "), width.saturating_sub(13)).into_iter();
        all.push(row("agents", text.next().unwrap_or_default()));
        all.extend(text.map(|line| row("", line)));
    }
    all.push(Line::default());
    if start_context.repository.is_ok() {
        all.push(key(state, &hint(Action::New), "starts one here"));
        all.push(key(
            state,
            &hint(Action::NewWithPrompt),
            "starts one and tells it what to do",
        ));
    }
    all.push(key(state, &hint(Action::Help), "shows all keys"));
    all.push(key(state, &hint(Action::Quit), "quits"));
}

fn key(state: &State, key: &str, words: &str) -> Line<'static> {
    Line::from(vec![
        styled(format!("{key:<13}"), state.theme.accent),
        Span::raw(words.to_owned()),
    ])
}
