//! A turn: the actions of one prompt, one after the other.

use std::time::Duration;

use serde_json::json;

use super::action::Action;
use super::dialog::Dialog;
use super::memory::Todo;
use super::paint::{Ink, Line, wrap};
use super::reply;
use super::script::actions_for;
use super::session::SessionEntry;
use super::state::{Agent, Edit, Effect, Purpose, Step, Stream, Turn, TurnEnd};

impl TurnEnd {
    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::UsageLimit => "usage_limit",
            Self::Exit => "exit",
        }
    }
}

impl Turn {
    pub(super) fn new(number: usize, prompt: &str, now: Duration) -> Self {
        Self {
            number,
            began: now,
            step: Step::Ready,
            actions: actions_for(prompt).into(),
            declined: false,
        }
    }
}

impl Agent {
    pub(super) fn dialog(&self) -> Option<&Dialog> {
        match &self.turn.as_ref()?.step {
            Step::Asking(dialog, _) => Some(dialog),
            Step::Ready
            | Step::Busy { .. }
            | Step::Muted { .. }
            | Step::Streaming(_)
            | Step::Running(_)
            | Step::Reading(_)
            | Step::Writing(_) => None,
        }
    }

    /// Continues until it has to wait for time, the user or an effect.
    pub(super) fn advance(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        while let Some(turn) = &mut self.turn {
            match &turn.step {
                Step::Ready => match turn.actions.pop_front() {
                    Some(action) => self.begin(action, now, effects),
                    None => self.end_turn(TurnEnd::Done, now, effects),
                },
                Step::Busy { until } | Step::Muted { until } if now >= *until => {
                    turn.step = Step::Ready;
                }
                Step::Streaming(stream) if now >= stream.next => self.stream_on(now, effects),
                Step::Busy { .. }
                | Step::Muted { .. }
                | Step::Streaming(_)
                | Step::Running(_)
                | Step::Reading(_)
                | Step::Writing(_)
                | Step::Asking(..) => return,
            }
        }
    }

    pub(super) fn begin(&mut self, action: Action, now: Duration, effects: &mut Vec<Effect>) {
        match action {
            Action::Think => self.step(Step::Busy {
                until: now + self.think,
            }),
            Action::Busy(time) => self.step(Step::Busy { until: now + time }),
            Action::Mute(time) => self.step(Step::Muted { until: now + time }),
            Action::Stream(words) => self.step(Step::Streaming(Stream::new(words, now))),
            Action::Run(command) if self.memory.allowed => self.run(command, effects),
            Action::Run(command) => {
                self.ask(Dialog::command(&command), Purpose::Run(command), effects)
            }
            Action::Write { path, text } => {
                effects.push(Effect::ReadFile(path.clone()));
                self.step(Step::Reading(Edit { path, text }));
            }
            Action::Ask { question, choices } => {
                self.ask(
                    Dialog::question(&question, &choices),
                    Purpose::Answer,
                    effects,
                );
            }
            Action::Trust => self.ask(Dialog::trust(&self.directory), Purpose::Trust, effects),
            Action::LimitUntil(time) => {
                let note = format!("You've hit your pretended limit · resets {time}");
                self.show_note(Ink::Bad, &note, effects);
                self.end_turn(TurnEnd::UsageLimit, now, effects);
            }
            Action::Limit => self.ask(Dialog::limit(), Purpose::Limit, effects),
            Action::TodoAdd(texts) => {
                let todos = texts.into_iter().map(|text| Todo { text, done: false });
                self.memory.todos.extend(todos);
                self.show_todos(effects);
            }
            Action::TodoDone(number) => self.finish_todo(number.wrapping_sub(1), effects),
            Action::TodoFinish(text) => {
                let place = self.memory.todos.iter().rposition(|todo| todo.text == text);
                self.finish_todo(place.unwrap_or(usize::MAX), effects);
            }
            Action::Lines(count) => {
                effects.push(Effect::Print(reply::numbered_lines(count)));
                self.record(
                    SessionEntry::assistant(
                        self.memory.turns(),
                        &format!("Printed {count} lines."),
                    ),
                    effects,
                );
            }
            Action::Print(text) => {
                let rows = wrap(&text, self.size.columns);
                effects.push(Effect::Print(rows.map(|row| Line::plain(&row)).collect()));
                self.record(SessionEntry::assistant(self.memory.turns(), &text), effects);
            }
            Action::ClearScreen => effects.push(Effect::ClearScreen),
            Action::Title(text) => {
                self.record(
                    SessionEntry::system(&text, json!({ "event": "title" })),
                    effects,
                );
            }
            Action::Allow => {
                self.record(
                    SessionEntry::system("", json!({ "event": "allow" })),
                    effects,
                );
                self.say("From now on I do not ask in this session.", effects);
            }
            Action::Recall => self.say(&reply::recall(&self.memory), effects),
            Action::Help => self.say(&reply::help(), effects),
            Action::Say(text) => self.say(&text, effects),
            Action::Answer => self.say(&reply::answer(&self.memory), effects),
            Action::TourReport => {
                let declined = self.turn.as_ref().is_some_and(|turn| turn.declined);
                self.say(reply::tour_report(declined), effects);
            }
            Action::IfAllowed(action) => {
                if self.turn.as_ref().is_some_and(|turn| !turn.declined) {
                    self.begin(*action, now, effects);
                }
            }
            Action::Complain(text) => self.say(&text, effects),
            Action::Exit(code) => {
                self.end_turn(TurnEnd::Exit, now, effects);
                self.queue.clear();
                effects.push(Effect::Leave(code));
            }
            Action::Crash => effects.push(Effect::Crash),
            Action::IgnoreSignals => {
                self.ignores_signals = true;
                effects.push(Effect::IgnoreSignals);
                self.say(
                    "Signals and interrupt keys do not reach me any more.",
                    effects,
                );
            }
            Action::Spawn(time) => {
                let seconds = time.as_secs_f64();
                effects.push(Effect::StartBackground(format!(
                    "trap '' HUP; exec sleep {seconds}"
                )));
                self.say(
                    &format!("Started a child that sleeps for {seconds} s and ignores SIGHUP."),
                    effects,
                );
            }
            Action::Daemonize(time) => {
                let seconds = time.as_secs_f64();
                effects.push(Effect::StartBackground(reply::detached(seconds)));
                self.say(
                    &format!(
                        "Started a child that sleeps for {seconds} s in a session of its own."
                    ),
                    effects,
                );
            }
        }
    }

    pub(super) fn step(&mut self, step: Step) {
        if let Some(turn) = &mut self.turn {
            turn.step = step;
        }
    }

    /// Esc or ctrl-c: the turn stops; its output so far is kept.
    pub(super) fn interrupt(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        if !self.ignores_signals {
            self.stop_turn(now, effects);
        }
    }

    pub(super) fn stop_turn(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        match self.turn.as_ref().map(|turn| &turn.step) {
            Some(Step::Streaming(_)) => self.end_stream(effects),
            Some(Step::Running(_)) => {
                effects.push(Effect::StopCommand);
                self.command_ended(None, effects);
            }
            Some(_) | None => {}
        }
        self.show_note(
            Ink::Bad,
            "Interrupted · What should the demo agent do instead?",
            effects,
        );
        // Queued prompts go back into the box, before its content.
        let draft = self.editor.take();
        let queued = std::mem::take(&mut self.queue);
        let drafts: Vec<String> = queued
            .into_iter()
            .chain([draft])
            .filter(|text| !text.is_empty())
            .collect();
        self.editor.paste(drafts.join("\n"));
        self.end_turn(TurnEnd::Interrupted, now, effects);
    }

    pub(super) fn end_turn(&mut self, end: TurnEnd, now: Duration, effects: &mut Vec<Effect>) {
        let Some(turn) = self.turn.take() else { return };
        let seconds = now.saturating_sub(turn.began).as_secs();
        if end == TurnEnd::Done {
            effects.push(Effect::Print(vec![
                Line::blank(),
                Line::new(Ink::Dim, &format!("✻ Worked for {seconds}s")),
            ]));
        }
        self.record(
            SessionEntry::system("", json!({ "event": "turn_end", "turn": turn.number, "outcome": end.name(), "seconds": seconds })),
            effects,
        );
        if let Some(prompt) = self.queue.pop_front() {
            self.begin_turn(&prompt, now, effects);
        }
    }
}
