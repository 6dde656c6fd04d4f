//! The agent's tools, and the dialogs that ask for permission.

use std::time::Duration;

use serde_json::json;

use super::action::Action;
use super::dialog::{Dialog, Outcome, YES, YES_ALWAYS};
use super::paint::Ink;
use super::session::SessionEntry;
use super::state::{Agent, Audience, Command, Edit, Effect, Purpose, Step, Turn, TurnEnd};
use super::{diff, reply};

/// How many lines of a command's output are shown, and how many bytes are kept.
const SHOWN_OUTPUT: usize = 200;
const KEPT_OUTPUT: usize = 64 * 1024;

impl Agent {
    /// Opens the dialog. Without a terminal the answer is no.
    pub(super) fn ask(&mut self, dialog: Dialog, purpose: Purpose, effects: &mut Vec<Effect>) {
        let heading = dialog.heading.clone();
        self.step(Step::Asking(dialog, purpose));
        match self.audience {
            Audience::Terminal => {}
            Audience::Pipe => {
                self.show_note(
                    Ink::Dim,
                    &format!("{heading}: there is no terminal to ask on."),
                    effects,
                );
                self.decline(effects);
            }
        }
    }

    /// The user has answered the open dialog.
    pub(super) fn decided(&mut self, outcome: Outcome, now: Duration, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        let Step::Asking(dialog, purpose) = std::mem::replace(&mut turn.step, Step::Ready) else {
            return;
        };
        let chosen = match outcome {
            Outcome::Chose(choice) => choice,
            Outcome::Open => return self.step(Step::Asking(dialog, purpose)),
            Outcome::Cancelled if matches!(purpose, Purpose::Trust) => {
                return self.begin(Action::Exit(0), now, effects);
            }
            Outcome::Cancelled | Outcome::Amend => {
                let subject = dialog.subject.unwrap_or_else(|| dialog.question.clone());
                self.record(
                    SessionEntry::tool(
                        "cancelled",
                        json!({ "tool": dialog.heading, "subject": subject }),
                    ),
                    effects,
                );
                return self.stop_turn(now, effects);
            }
        };
        match purpose {
            Purpose::Run(_) | Purpose::Write(_) if chosen > YES_ALWAYS => {
                self.show_note(Ink::Dim, "Declined: I leave it.", effects);
                self.decline(effects);
            }
            Purpose::Run(command) => {
                self.allow_if(chosen, effects);
                self.run(command, effects);
            }
            Purpose::Write(edit) => {
                self.allow_if(chosen, effects);
                self.write(edit, effects);
            }
            Purpose::Answer => {
                let choice = dialog.choices.get(chosen).cloned().unwrap_or_default();
                self.record(
                    SessionEntry::tool(
                        &choice,
                        json!({ "tool": "question", "question": dialog.question }),
                    ),
                    effects,
                );
                self.say(&format!("You chose: {choice}"), effects);
            }
            // In both dialogs the first choice is the safe one.
            Purpose::Trust if chosen == 0 => self.begin(Action::Exit(1), now, effects),
            Purpose::Trust => self.say("Thank you for your trust.", effects),
            Purpose::Limit if chosen == 0 => {
                self.show_note(
                    Ink::Bad,
                    "Usage limit reached · waiting for it to reset",
                    effects,
                );
                self.end_turn(TurnEnd::UsageLimit, now, effects);
            }
            Purpose::Limit => self.say("On we go.", effects),
        }
    }

    fn allow_if(&mut self, chosen: usize, effects: &mut Vec<Effect>) {
        if chosen != YES {
            self.record(
                SessionEntry::system("", json!({ "event": "allow" })),
                effects,
            );
        }
    }

    fn decline(&mut self, effects: &mut Vec<Effect>) {
        if let Some(turn) = &mut self.turn {
            turn.declined = true;
            turn.step = Step::Ready;
        }
        self.record(
            SessionEntry::tool("declined", json!({ "declined": true })),
            effects,
        );
    }

    pub(super) fn run(&mut self, command: String, effects: &mut Vec<Effect>) {
        self.show_block(&format!("Bash({command})"), effects);
        effects.push(Effect::RunCommand(command.clone()));
        self.step(Step::Running(Command {
            line: command,
            output: String::new(),
            lines: 0,
        }));
    }

    pub(super) fn command_said(&mut self, text: &str, effects: &mut Vec<Effect>) {
        let columns = self.size.columns;
        let Some(Turn {
            step: Step::Running(running),
            ..
        }) = &mut self.turn
        else {
            return;
        };
        if running.lines < SHOWN_OUTPUT {
            effects.push(Effect::Print(reply::output(
                running.lines == 0,
                text,
                columns,
            )));
        }
        running.lines += 1;
        if running.output.len() + text.len() < KEPT_OUTPUT {
            running.output.push_str(text);
            running.output.push('\n');
        }
    }

    pub(super) fn command_ended(&mut self, status: Option<i32>, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        let Step::Running(ran) = std::mem::replace(&mut turn.step, Step::Ready) else {
            return;
        };
        let columns = self.size.columns;
        if ran.lines == 0 {
            effects.push(Effect::Print(reply::output(true, "(no output)", columns)));
        } else if ran.lines > SHOWN_OUTPUT {
            let more = format!("… +{} lines", ran.lines - SHOWN_OUTPUT);
            effects.push(Effect::Print(reply::output(false, &more, columns)));
        }
        if status != Some(0) {
            let how = status.map_or("killed".to_owned(), |code| format!("exit status {code}"));
            effects.push(Effect::Print(reply::output(false, &how, columns)));
        }
        self.record(
            SessionEntry::tool(
                &ran.output,
                json!({ "tool": "Bash", "command": ran.line, "status": status }),
            ),
            effects,
        );
    }

    pub(super) fn file_read(&mut self, old: Option<&str>, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        let Step::Reading(edit) = std::mem::replace(&mut turn.step, Step::Ready) else {
            return;
        };
        if self.memory.allowed {
            return self.write(edit, effects);
        }
        let dialog = Dialog::edit(&edit.path, diff::rows(old, &edit.text));
        self.ask(dialog, Purpose::Write(edit), effects);
    }

    fn write(&mut self, edit: Edit, effects: &mut Vec<Effect>) {
        self.show_block(&format!("Write({})", edit.path), effects);
        effects.push(Effect::WriteFile {
            path: edit.path.clone(),
            text: edit.text.clone(),
        });
        self.step(Step::Writing(edit));
    }

    pub(super) fn file_written(&mut self, result: Result<(), String>, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        let Step::Writing(Edit { path, text }) = std::mem::replace(&mut turn.step, Step::Ready)
        else {
            return;
        };
        let outcome = match result {
            Ok(()) => format!(
                "Wrote {} to {path}",
                reply::count(text.lines().count(), "line")
            ),
            Err(error) => format!("Could not write {path}: {error}"),
        };
        effects.push(Effect::Print(reply::output(
            true,
            &outcome,
            self.size.columns,
        )));
        self.record(
            SessionEntry::tool(&outcome, json!({ "tool": "Write", "path": path })),
            effects,
        );
    }

    pub(super) fn finish_todo(&mut self, place: usize, effects: &mut Vec<Effect>) {
        match self.memory.todos.get_mut(place) {
            Some(todo) => {
                todo.done = true;
                self.show_todos(effects);
            }
            None => self.say("There is no such todo.", effects),
        }
    }

    pub(super) fn show_todos(&mut self, effects: &mut Vec<Effect>) {
        effects.push(Effect::Print(reply::todos(
            &self.memory.todos,
            self.size.columns,
        )));
        let entry = self.memory.todo_entry();
        self.record(entry, effects);
    }
}
