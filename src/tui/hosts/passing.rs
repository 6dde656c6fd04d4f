//! Operations on an instance of a host: the command line that carries out the same there.

use std::time::Duration;

use serde_json::Value;

use crate::engine::{
    DialogAnswer, Engine, Error, HostName, HostQuestion, Passing, Screen as TerminalThere,
};
use crate::model::{InstanceId, printable_line};
use crate::report::Report;
use crate::tui::message::{Pane, Task, TaskFailure, TaskOutcome, Wait};

/// How long an operation may take.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// A pause may wait for the end of a turn.
const FOREVER: Duration = Duration::from_secs(24 * 60 * 60);

/// The name of an instance on a host.
pub(super) fn name_of(host: &HostName, id: &InstanceId) -> String {
    format!("{host}:{id}")
}

pub(in crate::tui) fn carry_out(
    engine: &Engine,
    host: &HostName,
    task: Task,
) -> Result<TaskOutcome, TaskFailure> {
    let Some(line) = CommandLine::of(host, &task) else {
        return Err(TaskFailure::Reported(Report::failed(
            "only_here",
            "this cannot be done on another machine from here",
            format!("attach to it, or open the UI there: `biv` on {host}"),
        )));
    };
    let words = line.words.iter().map(String::as_str).chain(["--json"]);
    let mut question = HostQuestion::new(words, line.patience);
    if let Some(text) = line.input {
        question = question.with_text(text).map_err(|error| {
            Report::failed(
                "pipe",
                format!("the prompt cannot be passed on: {error}"),
                "try again",
            )
        })?;
    }
    let told = answer(engine, host, question)?;
    let told: Value = serde_json::from_slice(&told).unwrap_or_default();
    Ok(TaskOutcome::Said(said(host, &task, &told)))
}

/// What a command there printed; its error, as that of a command here.
pub(super) fn answer(
    engine: &Engine,
    host: &HostName,
    question: HostQuestion,
) -> Result<Vec<u8>, Report> {
    let reply = engine.ask_host(host, question)?;
    if reply.status == 0 {
        return Ok(reply.stdout);
    }
    let told: Value = serde_json::from_slice(&reply.stdout).unwrap_or_default();
    let text = |name: &str| told["error"][name].as_str().map(printable_line);
    let message = text("message").unwrap_or_else(|| {
        let heard = String::from_utf8_lossy(&reply.stderr);
        let first = heard.lines().map(str::trim).find(|line| !line.is_empty());
        printable_line(first.unwrap_or("the command there has failed"))
    });
    Err(Report {
        hints: text("hint").into_iter().collect(),
        ..Report::failed("on_host", format!("{host}: {message}"), "")
    })
}

struct CommandLine {
    words: Vec<String>,
    input: Option<String>,
    patience: Duration,
}

impl CommandLine {
    /// None where a task has no command line for an instance on a host.
    fn of(host: &HostName, task: &Task) -> Option<Self> {
        let name = |id: &InstanceId| name_of(host, id);
        let mut patience = PATIENCE;
        let mut input = None;
        let mut words: Vec<String> = Vec::new();
        let mut say = |parts: &[&str]| words.extend(parts.iter().map(|part| (*part).to_owned()));
        match task {
            Task::Pause { id, wait, reason } => {
                say(&["pause", &name(id), "--reason", reason.name()]);
                if *wait == Wait::Forever {
                    say(&["--wait", "forever"]);
                    patience = FOREVER;
                }
            }
            Task::CancelPause(id) => say(&["pause", &name(id), "--cancel"]),
            Task::Resume(id) => say(&["resume", &name(id)]),
            Task::Restart(id) => say(&["restart", &name(id), "--yes"]),
            Task::Kill { id, delete_branch } => {
                say(&["kill", &name(id), "--yes"]);
                if *delete_branch {
                    say(&["--delete-branch"]);
                }
            }
            Task::Send { id, prompt } => {
                say(&["send", &name(id), "-"]);
                input = Some(prompt.clone());
            }
            Task::Enqueue { id, prompt } => {
                say(&["queue", &name(id), "-"]);
                input = Some(prompt.clone());
            }
            Task::Answer {
                id,
                answer,
                dialog,
                words,
            } => {
                let choice = match answer {
                    DialogAnswer::Number(number) => number.to_string(),
                    DialogAnswer::Yes => "yes".to_owned(),
                    DialogAnswer::No => "no".to_owned(),
                    DialogAnswer::Label(label) => label.clone(),
                };
                say(&["answer", "--dialog", dialog, &name(id), &choice]);
                // In one word, so that words are never read as an option.
                let words = words.as_ref().map(|words| format!("--reason={words}"));
                words.iter().for_each(|words| say(&[words]));
            }
            Task::Push(id) => say(&["push", &name(id)]),
            Task::Land { ids, commit } => {
                say(&["land"]);
                ids.iter().for_each(|id| say(&[&name(id)]));
                if *commit {
                    say(&["--commit"]);
                }
                patience = FOREVER;
            }
            Task::Rename { id, title } => say(&["rename", &name(id), title]),
            Task::Autoyes { id, on } => {
                say(&["autoyes", &name(id), if *on { "on" } else { "off" }]);
            }
            Task::Create(_)
            | Task::PauseEach { .. }
            | Task::ResumeEach(_)
            | Task::KillEach { .. }
            | Task::UndoKill(_)
            | Task::Comment { .. }
            | Task::ChangeComment { .. }
            | Task::SendReview(_)
            | Task::Unsend(_)
            | Task::PauseAll
            | Task::ResumeAll
            | Task::OnHost(..) => return None,
        }
        Some(Self {
            words,
            input,
            patience,
        })
    }
}

/// What was done there, from the answer.
fn said(host: &HostName, task: &Task, told: &Value) -> String {
    let done = match task {
        Task::Pause { .. } => "Paused",
        Task::CancelPause(_) => "Its pause was cancelled",
        Task::Resume(_) => "Resumed",
        Task::Restart(_) => "Restarted",
        Task::Kill { id, .. } => {
            return format!(
                "Killed on {host}; `biv undo-kill {}` brings it back.",
                name_of(host, id)
            );
        }
        Task::Send { .. } if told["queued"] == Value::Bool(true) => {
            return format!("It is busy on {host}: it gets the prompt next.");
        }
        Task::Send { .. } => "Sent",
        Task::Enqueue { .. } => "Queued",
        Task::Answer { .. } if told["choice"].is_null() => "Declined what it asked",
        Task::Answer { .. } => {
            let label = printable_line(told["label"].as_str().unwrap_or_default());
            let still = match told["gone"] == Value::Bool(false) {
                true => "; the dialog is still there",
                false => "",
            };
            return format!("Pressed {} ({label}) on {host}{still}.", told["choice"]);
        }
        Task::Push(_) => "Pushed",
        Task::Land { .. } => "Landed",
        Task::Rename { .. } => "Renamed",
        _ => "Done",
    };
    format!("{done} on {host}.")
}

/// Attaches this terminal to an instance of a host; one that is paused is resumed there.
pub(in crate::tui) fn attach(
    engine: &Engine,
    host: &HostName,
    id: &InstanceId,
    pane: Pane,
) -> Result<u8, Error> {
    let verb = match pane {
        Pane::Agent => "attach",
        Pane::Shell => "shell",
    };
    let passing = Passing {
        words: vec![verb.into(), name_of(host, id).into()],
        screen: TerminalThere {
            terminal: true,
            ..TerminalThere::default()
        },
        reads_input: false,
        input: None,
        raw: false,
    };
    engine.pass_to_host(host, &passing)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::model::PauseReason;

    fn line(task: &Task) -> Option<(String, Option<String>)> {
        let host = HostName::parse("far").unwrap();
        CommandLine::of(&host, task).map(|line| (line.words.join(" "), line.input))
    }

    #[test]
    fn an_operation_is_a_command_line_there() {
        let id = InstanceId::parse("bbbbbbbbbb").unwrap();
        let name = format!("far:{id}");
        let pause = Task::Pause {
            id: id.clone(),
            wait: Wait::Forever,
            reason: PauseReason::UserInterrupt,
        };
        let words = format!("pause {name} --reason user_interrupt --wait forever");
        assert_eq!(line(&pause), Some((words, None)));
        let send = Task::Send {
            id: id.clone(),
            prompt: "--yes\nplease".to_owned(),
        };
        // A prompt is never read as an option, and has no limit of a command line.
        let expected = (format!("send {name} -"), Some("--yes\nplease".to_owned()));
        assert_eq!(line(&send), Some(expected));
        let answer = Task::Answer {
            id: id.clone(),
            answer: DialogAnswer::Number(2),
            dialog: "d1".to_owned(),
            words: None,
        };
        assert_eq!(
            line(&answer),
            Some((format!("answer --dialog d1 {name} 2"), None))
        );
        let written = Task::Answer {
            id: id.clone(),
            answer: DialogAnswer::Number(3),
            dialog: "d1".to_owned(),
            words: Some("-o wood".to_owned()),
        };
        let expected = format!("answer --dialog d1 {name} 3 --reason=-o wood");
        assert_eq!(line(&written), Some((expected, None)));
        assert_eq!(line(&Task::Unsend(id)), None);
        assert_eq!(line(&Task::PauseAll), None);
    }

    #[test]
    fn what_was_done_is_what_the_host_says() {
        let host = HostName::parse("far").unwrap();
        let id = InstanceId::parse("bbbbbbbbbb").unwrap();
        let send = Task::Send {
            id,
            prompt: String::new(),
        };
        assert_eq!(
            said(&host, &send, &json!({ "queued": false })),
            "Sent on far."
        );
        assert_eq!(
            said(&host, &send, &json!({ "queued": true })),
            "It is busy on far: it gets the prompt next."
        );
    }
}
