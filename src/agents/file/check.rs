//! What a provider file must be beyond the types of its keys.

use super::{
    Discovery, PLACEHOLDERS, ProviderFile, Reference, Strategy, TranscriptFormat, UnknownIds,
    Verify,
};
use crate::detect::{Fault, Rules};

impl ProviderFile {
    /// Checks that the types do not cover.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        let session = [
            ("unknown", &self.session.unknown),
            ("farewell", &self.session.farewell),
        ];
        for (field, patterns) in session {
            for (at, pattern) in patterns.iter().enumerate() {
                pattern.check(&format!("session.{field}[{at}]"))?;
            }
        }
        if let Some(suggestions) = &self.input.suggestions {
            suggestions.check("input.suggestions")?;
        }
        if let Some(draft) = &self.input.draft {
            draft.check("input.draft")?;
        }
        if let Some(queued) = &self.input.queued {
            queued.check("input.queued")?;
        }
        for (at, escape) in self.input.escapes.iter().enumerate() {
            escape.when.check(&format!("input.escapes[{at}].when"))?;
        }
        if let Some(pattern) = &self.keys.reason_sign {
            pattern.check("keys.reason_sign")?;
        }
        if let Some(pattern) = &self.keys.interrupt_sign {
            pattern.check("keys.interrupt_sign")?;
        }
        if let Some(pattern) = &self.keys.queued_sign {
            pattern.check("keys.queued_sign")?;
        }
        if let Some(pattern) = &self.input.unknown_command {
            pattern.check("input.unknown_command")?;
        }
        for (key, words) in self.templates() {
            for (at, word) in words.iter().enumerate() {
                placeholders(&format!("{key}[{at}]"), word)?;
            }
        }
        for event in self.hooks.events.keys() {
            hook_event(event)?;
        }
        for (name, value) in &self.env {
            placeholders(&format!("env.{name}"), value)?;
        }
        self.check_described()?;
        Rules::check(&self.extra_rules, "extra_rules", &[])?;
        Rules::check(&self.background, "background", &[])?;
        if let Some(failure) = &self.failure {
            Rules::check_failure(failure)?;
        }
        Rules::check(&self.rules, "rules", &self.dialogs)
    }

    /// Checks of the descriptions of its own files.
    fn check_described(&self) -> Result<(), Fault> {
        let files = [
            ("session.kept", &self.session.kept),
            ("session.in_use", &self.session.in_use),
            ("transcript.files", &self.transcript.files),
        ];
        for (key, patterns) in files {
            for (at, pattern) in patterns.iter().enumerate() {
                pattern.check(&format!("{key}[{at}]"))?;
            }
        }
        if let Some(find) = &self.session.find {
            find.files.check("session.find.files")?;
            if find.directory.is_none() && find.process.is_none() {
                return fault(
                    "session.find",
                    "it needs `directory` or `process`: the newest session may be of another agent",
                );
            }
        }
        if let Some(travel) = &self.session.travel {
            let named = |words: &[String], placeholder: &str| {
                words.iter().any(|word| word.contains(placeholder))
            };
            if !named(&travel.print, "{session}") {
                return fault("session.travel.print", "it needs `{session}`");
            }
            if !named(&travel.read, "{file}") {
                return fault("session.travel.read", "it needs `{file}`");
            }
        }
        self.transcript.lines.check()
    }

    /// Checks of the merged file: what must be present.
    pub(crate) fn check_whole(&self) -> Result<(), Fault> {
        if self.command.is_empty() {
            return fault("command", "every agent needs a command");
        }
        if self.session.strategy == Strategy::Native && self.session.resume.is_empty() {
            return fault(
                "session.resume",
                "strategy `native` needs the arguments that resume a session",
            );
        }
        if self.session.reference == Reference::Discovered && self.session.discover.is_none() {
            return fault(
                "session.discover",
                "reference `discovered` needs the method to find it by",
            );
        }
        if self.session.discover == Some(Discovery::Described) && self.session.find.is_none() {
            return fault("session.find", "`described` needs [session.find]");
        }
        if self.session.unknown_ids == UnknownIds::Fresh && self.session.kept.is_empty() {
            return fault(
                "session.kept",
                "an agent that starts anew with an unknown id needs the files of a session",
            );
        }
        if self.transcript.format == TranscriptFormat::Described && self.transcript.files.is_empty()
        {
            return fault("transcript.files", "`described` needs its files");
        }
        if !self.hooks.events.is_empty() && self.hooks.args.is_empty() && self.hooks.each.is_empty()
        {
            return fault(
                "hooks.events",
                "hooks need `args` or `each`, which hand them over",
            );
        }
        if self.input.verify == Verify::Draft && self.input.draft.is_none() {
            return fault("input.verify", "verifying by `draft` needs [input.draft]");
        }
        Rules::check_dialogs(&self.extra_rules, "extra_rules", &self.dialogs)?;
        Rules::check_dialogs(&self.rules, "rules", &self.dialogs)
    }

    fn templates(&self) -> [(&str, &[String]); 6] {
        [
            ("command", &self.command),
            ("args", &self.args),
            ("version_command", &self.version_command),
            ("session.fresh", &self.session.fresh),
            ("session.resume", &self.session.resume),
            ("guard.args", &self.guard.args),
        ]
    }
}

fn fault(key: &str, message: &str) -> Result<(), Fault> {
    Err(Fault {
        key: key.to_owned(),
        message: message.to_owned(),
    })
}

/// The name of an event becomes a word of a shell command, so its characters are restricted.
fn hook_event(event: &str) -> Result<(), Fault> {
    let (name, detail) = event.split_once(':').unwrap_or((event, "any"));
    let is_word = |text: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        !text.is_empty() && text.bytes().all(plain)
    };
    if is_word(name) && is_word(detail) {
        return Ok(());
    }
    Err(Fault {
        key: format!("hooks.events.{event}"),
        message: "an event is a word, or two with `:` between them".to_owned(),
    })
}

/// A word in braces that looks like a placeholder must be one. JSON and the like may have braces.
fn placeholders(key: &str, word: &str) -> Result<(), Fault> {
    for part in word.split('{').skip(1) {
        let Some((name, _)) = part.split_once('}') else {
            continue;
        };
        let looks_like_one =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if looks_like_one && !PLACEHOLDERS.contains(&format!("{{{name}}}").as_str()) {
            return Err(Fault {
                key: key.to_owned(),
                message: format!(
                    "unknown placeholder `{{{name}}}`; known are {}",
                    PLACEHOLDERS.join(", ")
                ),
            });
        }
    }
    Ok(())
}
