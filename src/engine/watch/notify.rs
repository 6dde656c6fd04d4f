//! Notifies the user: on attached terminals, on the desktop, by a configured program.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use crate::config::NotifyBy;
use crate::engine::base::Core;
use crate::model::{InstanceId, SessionName, Title, printable_line};
use crate::process::Command;

/// A notification program must end within this time.
const DEADLINE: Duration = Duration::from_secs(30);

/// What to notify the user of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notification {
    /// `needs-you`, `finished` or `failed`.
    pub name: &'static str,
    pub instance: InstanceId,
    pub title: Title,
    pub message: String,
}

impl Core {
    /// Sends a notification in every configured way; returns what did not work.
    pub(crate) fn notify(&self, notification: &Notification) -> Vec<String> {
        let settings = &self.settings().notify;
        let mut troubles = Vec::new();
        for way in &settings.by {
            match way {
                NotifyBy::Bell => self.ring_terminals(notification),
                NotifyBy::Desktop => {
                    if let Some(command) = desktop(notification) {
                        troubles.extend(command.run().err().map(|error| error.to_string()));
                    }
                }
            }
        }
        let line = settings.command.trim();
        if !line.is_empty() {
            match shlex::split(line)
                .as_deref()
                .and_then(<[String]>::split_first)
            {
                Some((program, args)) => {
                    let told = Command::new(program)
                        .args(args)
                        .directory(&self.home.state)
                        .env("BIV_NOTICE", notification.name)
                        .env("BIV_ID", notification.instance.as_str())
                        .env("BIV_TITLE", notification.title.as_str())
                        .env("BIV_MESSAGE", &notification.message)
                        .deadline(DEADLINE)
                        .run();
                    troubles.extend(told.err().map(|error| error.to_string()));
                }
                None => troubles.push("`notify.command` is not a command line".to_owned()),
            }
        }
        troubles
    }

    /// Rings the terminals that are attached to other agents. Written to the terminal itself, not through
    /// tmux, where it could not be told from an agent's output.
    fn ring_terminals(&self, notification: &Notification) {
        let own = SessionName::of(&notification.instance);
        let words = sentence(notification);
        for (terminal, session) in self.server().client_terminals() {
            if session == own.as_str() {
                continue;
            }
            let opened = OpenOptions::new()
                .write(true)
                .custom_flags(nonblocking_and_not_ours())
                .open(terminal);
            if let Ok(mut terminal) = opened {
                // OSC 9 is a notification for terminals that know it; the bell is for all of them.
                // A terminal that is being closed, or is full, gets none.
                drop(terminal.write_all(format!("\x1b]9;{words}\x07\x07").as_bytes()));
            }
        }
    }
}

/// On one line, with nothing in it that a terminal would obey.
fn sentence(notification: &Notification) -> String {
    let text = format!("{}: {}", notification.title, notification.message);
    printable_line(&text).replace(';', ",")
}

fn nonblocking_and_not_ours() -> i32 {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    i32::try_from(flags.bits()).unwrap_or(0)
}

/// The notification command of the desktop, if there is one.
fn desktop(notification: &Notification) -> Option<Command> {
    let title = printable_line(notification.title.as_str());
    let message = printable_line(&notification.message);
    if cfg!(target_os = "macos") {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let script = format!(
            "display notification \"{}\" with title \"{}\"",
            quoted(&message),
            quoted(&title)
        );
        return Some(
            Command::new("osascript")
                .args(["-e", &script])
                .deadline(DEADLINE),
        );
    }
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    (has_desktop && which::which("notify-send").is_ok()).then(|| {
        Command::new("notify-send")
            .args(["--app-name=Bivouac", "--", &title, &message])
            .deadline(DEADLINE)
    })
}
