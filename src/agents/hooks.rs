//! The hooks of an agent: how they are passed at a start, and what their events mean.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::file::{HookActivity, HookEvents};
use super::launch::Host;
use super::provider::Provider;
use crate::model::Activity;

/// The default of Codex.
const USUAL_TIMEOUT: u64 = 600;

impl Provider {
    /// The arguments that pass the hooks for one start. Empty where the user's arguments set the same
    /// option.
    pub(super) fn hook_arguments(&self, host: &Host, extra: &[String]) -> Vec<String> {
        let hooks = &self.file.hooks;
        let Some(biv) = host.biv.to_str() else {
            return Vec::new();
        };
        if !self.has_hooks() || !self.understands_hooks() || self.said_already(extra) {
            return Vec::new();
        }
        let commands: Vec<(&str, String)> = subscribed(&hooks.events)
            .into_iter()
            .map(|event| (event, command(biv, self.name(), event)))
            .collect();
        let trust = self.trust(&commands);
        let all: serde_json::Map<String, serde_json::Value> = commands
            .iter()
            .map(|(event, command)| {
                let hook = json!({ "type": "command", "command": command });
                ((*event).to_owned(), json!([{ "hooks": [hook] }]))
            })
            .collect();
        let all = json!({ "hooks": all }).to_string();
        let mut arguments: Vec<String> = hooks
            .args
            .iter()
            .map(|word| word.replace("{hooks}", &all).replace("{trust}", &trust))
            .collect();
        for (event, command) in &commands {
            let (command, timeout) = (in_toml(command), self.hook_timeout(event));
            let hook =
                format!(r#"[{{hooks=[{{type="command",command={command},timeout={timeout}}}]}}]"#);
            arguments.extend(
                hooks
                    .each
                    .iter()
                    .map(|word| word.replace("{event}", event).replace("{hook}", &hook)),
            );
        }
        arguments
    }

    pub(crate) fn has_hooks(&self) -> bool {
        !self.file.hooks.off && !self.file.hooks.events.is_empty()
    }

    pub(super) fn hooks_need_version(&self) -> bool {
        self.has_hooks() && self.file.hooks.version.is_some()
    }

    fn understands_hooks(&self) -> bool {
        let range = self.file.hooks.version.as_ref();
        range.is_none_or(|range| self.is_within(range))
    }

    fn hook_timeout(&self, event: &str) -> u64 {
        let timeouts = &self.file.hooks.timeouts;
        timeouts.get(event).copied().unwrap_or(USUAL_TIMEOUT)
    }

    /// Codex runs hooks from the command line only if the hash of each is given: the hash of the hook as
    /// JSON with sorted keys. Other trusted hooks are not affected.
    fn trust(&self, commands: &[(&str, String)]) -> String {
        let known: Vec<String> = commands
            .iter()
            .map(|(event, command)| {
                let timeout = self.hook_timeout(event);
                let command = serde_json::Value::from(command.as_str());
                let event = in_snake_case(event);
                let hook = format!(
                    r#"{{"event_name":"{event}","hooks":[{{"async":false,"command":{command},"timeout":{timeout},"type":"command"}}]}}"#
                );
                let hash: String = Sha256::digest(hook.as_bytes())
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                format!(
                    r#""/<session-flags>/config.toml:{event}:0:0"={{trusted_hash="sha256:{hash}"}}"#
                )
            })
            .collect();
        format!("{{{}}}", known.join(","))
    }

    /// Whether the user's arguments have the same option. It would be overridden.
    fn said_already(&self, extra: &[String]) -> bool {
        let hooks = &self.file.hooks;
        let option = hooks.args.first().filter(|_| hooks.each.is_empty());
        option.is_some_and(|option| {
            let given = |word: &String| word == option || word.starts_with(&format!("{option}="));
            extra.iter().any(given)
        })
    }

    /// The activity that an event means; None where it has no meaning.
    pub(crate) fn activity_of_event(&self, event: &str, detail: Option<&str>) -> Option<Activity> {
        let events = &self.file.hooks.events;
        let precise = detail.and_then(|detail| events.get(&format!("{event}:{detail}")));
        match precise.or_else(|| events.get(event))? {
            HookActivity::Busy => Some(Activity::Busy),
            HookActivity::Idle => Some(Activity::Idle),
            HookActivity::Approval => Some(Activity::Approval),
            HookActivity::Question => Some(Activity::Question),
            HookActivity::Blocked => Some(Activity::Blocked),
            HookActivity::Nothing => None,
        }
    }
}

fn in_toml(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn in_snake_case(event: &str) -> String {
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// The names of the events, each once, without details.
fn subscribed(events: &HookEvents) -> Vec<&str> {
    let mut names: Vec<&str> = events
        .keys()
        .map(|event| event.split(':').next().unwrap_or(event))
        .collect();
    names.dedup();
    names
}

/// A shell command that is silent and succeeds even if biv does not exist any more.
fn command(biv: &str, agent: &str, event: &str) -> String {
    format!("{} hook {agent} {event} 2>/dev/null || :", quoted(biv))
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Catalog;
    use super::*;

    fn host(biv: &str) -> Host {
        Host {
            biv: biv.into(),
            state: "/state".into(),
            shell: "/bin/sh".into(),
            path: None,
        }
    }

    #[test]
    fn claude_gets_its_hooks_as_settings_that_name_this_program() {
        let catalog = Catalog::built_in();
        let claude = catalog.require("claude").unwrap();
        let arguments = claude.hook_arguments(&host("/opt/my biv/it's"), &[]);
        assert_eq!(arguments.len(), 2);
        assert_eq!(arguments[0], "--settings");
        let settings: serde_json::Value = serde_json::from_str(&arguments[1]).unwrap();
        let command = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str();
        assert_eq!(
            command,
            Some(r"'/opt/my biv/it'\''s' hook claude Stop 2>/dev/null || :")
        );
        let events: Vec<&String> = settings["hooks"].as_object().unwrap().keys().collect();
        assert!(
            events.iter().all(|event| !event.contains(':')),
            "{events:?}"
        );
        // The user's own settings are kept.
        for own in ["--settings", "--settings={}"] {
            let own = [own.to_owned()];
            assert!(claude.hook_arguments(&host("/bin/biv"), &own).is_empty());
        }
    }

    /// The hashes are those that Codex 0.166.0 stored when the same hooks were trusted by hand.
    #[test]
    fn codex_is_told_exactly_which_hooks_are_meant() {
        let catalog = Catalog::built_in();
        let codex = catalog.require("codex").unwrap();
        for (event, key, hash) in [
            (
                "Stop",
                "stop",
                "30026a3a8afca711c9f187cbfc1768a837f57cb8673ee286e8d88c6c2020c145",
            ),
            (
                "PreToolUse",
                "pre_tool_use",
                "b616fdf5b37c514abab6429d78d0c41f56463c4ed94241724be4e925a7856fc5",
            ),
            (
                "Interrupt",
                "interrupt",
                "90e134f77b76a914e861489a65f23da98b784af45d0d583ad784d1595f1ad0c1",
            ),
        ] {
            let key = format!("/<session-flags>/config.toml:{key}:0:0");
            assert_eq!(
                codex.trust(&[(event, "echo stopped".to_owned())]),
                format!("{{\"{key}\"={{trusted_hash=\"sha256:{hash}\"}}}}")
            );
        }
        assert!(codex.hooks_need_version());
        assert!(codex.hook_arguments(&host("/bin/biv"), &[]).is_empty());
        codex.assume_version(crate::detect::AgentVersion::find("codex-cli 0.166.0").unwrap());
        let arguments = codex.hook_arguments(&host("/bin/biv"), &["-c".to_owned()]);
        let trusted = arguments
            .iter()
            .find_map(|word| word.strip_prefix("hooks.state="));
        let trusted: toml::Table = format!("x = {}", trusted.unwrap()).parse().unwrap();
        let asks = "/<session-flags>/config.toml:permission_request:0:0";
        assert!(trusted["x"][asks]["trusted_hash"].is_str());
        let stop = arguments
            .iter()
            .find_map(|word| word.strip_prefix("hooks.Stop="));
        let stop: toml::Table = format!("x = {}", stop.unwrap()).parse().unwrap();
        let command = stop["x"][0]["hooks"][0]["command"].as_str();
        assert_eq!(command, Some("/bin/biv hook codex Stop 2>/dev/null || :"));
    }

    #[test]
    fn events_tell_what_the_file_says_and_a_detail_tells_it_better() {
        let catalog = Catalog::built_in();
        let claude = catalog.require("claude").unwrap();
        for (event, detail, expected) in [
            ("UserPromptSubmit", None, Some(Activity::Busy)),
            ("PreToolUse", Some("Bash"), Some(Activity::Busy)),
            ("Stop", None, Some(Activity::Idle)),
            ("PermissionRequest", Some("Bash"), Some(Activity::Approval)),
            (
                "PermissionRequest",
                Some("AskUserQuestion"),
                Some(Activity::Question),
            ),
            ("Notification", Some("idle_prompt"), Some(Activity::Idle)),
            ("Notification", Some("auth_success"), None),
            ("SessionEnd", None, None),
            ("SomethingNew", None, None),
        ] {
            assert_eq!(
                claude.activity_of_event(event, detail),
                expected,
                "{event} {detail:?}"
            );
        }
    }

    #[test]
    fn the_command_is_silent_when_biv_is_gone() {
        let gone = command("/nonexistent/biv", "claude", "Stop");
        let ran = std::process::Command::new("sh")
            .args(["-c", &gone])
            .output();
        let ran = ran.unwrap();
        assert!(ran.status.success());
        assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    }
}
