//! Finds out where the UI was started, and what is installed.

use std::path::PathBuf;

use super::mailbox::Mailbox;
use super::message::{Message, StartContext};
use crate::engine::{Engine, Health};

/// Tells at once what is known, so that an instance can be started, and once more when the agents have said their
/// versions, which takes some of them seconds.
pub(super) fn survey(engine: &Engine, directory: PathBuf, mailbox: &Mailbox) {
    let context = StartContext {
        agents: engine.agents_at_once().unwrap_or_default(),
        repository: engine
            .repository_at(&directory)
            .map_err(|error| error.to_string()),
        missing: missing_programs(engine),
        directory,
    };
    mailbox.send(Message::Surveyed(Box::new(context.clone())));
    count_killed(engine, mailbox);
    let agents = engine.agents().unwrap_or_default();
    if agents != context.agents {
        let context = StartContext { agents, ..context };
        mailbox.send(Message::Surveyed(Box::new(context)));
    }
}

/// Tells what killed instances have used today.
pub(super) fn count_killed(engine: &Engine, mailbox: &Mailbox) {
    // Without it, the status bar counts the others.
    if let Ok(used) = engine.used_today_by_killed() {
        mailbox.send(Message::UsedByKilled(used));
    }
}

fn missing_programs(engine: &Engine) -> Vec<String> {
    let findings = engine.programs().into_iter();
    findings
        .filter(|finding| finding.health == Health::Problem)
        .map(|finding| match finding.hint {
            Some(hint) => format!("{} ({hint})", finding.what),
            None => finding.what,
        })
        .collect()
}
