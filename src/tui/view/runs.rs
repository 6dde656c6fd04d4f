//! The runs tab: the run history, newest first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint::{lines, styled};
use crate::engine::InstanceView;
use crate::model::{RunRecord, RunState, printable_line};
use crate::tui::state::State;

pub(super) fn runs(state: &State, view: &InstanceView, area: Rect, buffer: &mut Buffer) {
    let known = state.page.runs.as_ref().filter(|(id, _)| *id == view.id);
    let Some((_, history)) = known else {
        lines([Line::from(styled("…", state.theme.dim))], area, buffer);
        return;
    };
    let mut all = Vec::new();
    for reason in &history.unreadable {
        let words = format!("A run is left out: {}", printable_line(reason));
        all.push(Line::from(styled(words, state.theme.failed)));
    }
    for run in history.runs.iter().rev().skip(state.scroll) {
        told(state, view, run, &mut all);
    }
    lines(all, area, buffer);
}

fn told(state: &State, view: &InstanceView, run: &RunRecord, all: &mut Vec<Line<'static>>) {
    let theme = &state.theme;
    if !all.is_empty() {
        all.push(Line::default());
    }
    let style = match run.state {
        RunState::Running => theme.ready,
        RunState::Paused | RunState::Interrupted => theme.paused,
        RunState::Failed => theme.failed,
        RunState::Completed | RunState::Killed | RunState::Superseded => theme.dim,
    };
    let current = if run.run_id == view.run_id {
        " · current"
    } else {
        ""
    };
    all.push(Line::from(vec![
        styled(run.run_id.to_string(), theme.strong),
        Span::raw("  "),
        styled(run.state.name(), style),
        styled(current, theme.dim),
    ]));
    let mut row = |label: &str, text: String| {
        if !text.is_empty() {
            all.push(Line::from(vec![
                styled(format!("  {label:<11}"), theme.dim),
                Span::raw(printable_line(&text)),
            ]));
        }
    };
    row("agent", run.provider.clone());
    row(
        "session",
        run.provider_session_ref.clone().unwrap_or_default(),
    );
    row(
        "resumable",
        if run.resumable { "yes" } else { "no" }.to_owned(),
    );
    row("begun", run.created_at.local_minute());
    row("changed", run.updated_at.local_minute());
    if let (Some(at), Some(reason)) = (run.paused_at, run.pause_reason) {
        row(
            "paused",
            format!("{} ({})", at.local_minute(), reason.name()),
        );
    }
    row(
        "exit",
        run.exit_code
            .map(|code| code.to_string())
            .unwrap_or_default(),
    );
    let link = |id: &Option<crate::model::RunId>| id.as_ref().map(ToString::to_string);
    row(
        "restart of",
        link(&run.restart_of_run_id).unwrap_or_default(),
    );
    row(
        "resumed from",
        link(&run.resumed_from_run_id).unwrap_or_default(),
    );
    row(
        "followed by",
        link(&run.superseded_by_run_id).unwrap_or_default(),
    );
}
