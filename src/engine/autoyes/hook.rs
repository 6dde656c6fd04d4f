//! Answers a request that an agent makes through a hook, without a key press.
//!
//! The request comes as data, so nothing can be misread and there is no race with the screen. What is
//! neither accepted nor rejected gets no answer, and the agent shows its dialog as usual.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::engine::autoyes::entries::{About, PERSON_TYPES, entry, outcome, past};
use crate::engine::autoyes::policy::{off, seal_of, site};
use crate::engine::base::{Core, Error, Scope, now};
use crate::engine::typing::dialog::was_typed_at;
use crate::model::{EventKind, InstanceId, InstanceRecord, RestingState};
use crate::policy::{Decision, NoAnswer, OnReject, Request, Ruling, allowed, digest, redacted};

/// The request in the terms of the rules.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    tool: String,
    command: Option<String>,
    paths: Vec<String>,
}

impl Core {
    /// The answer to a `PermissionRequest`, in the form in which the hook prints it; None where the
    /// agent is to ask its user.
    pub(crate) fn permission_request(
        &self,
        instance: &InstanceId,
        payload: &Value,
    ) -> Result<Option<Value>, Error> {
        let found = self.find(instance.as_str(), Scope::Living)?;
        let record = found.record;
        if record.state != RestingState::Running || !self.is_autoyes(&record) {
            return Ok(None);
        }
        let wanted = wanted(payload);
        let start = directory_in(payload, &record.worktree.path);
        let policy = match self.policy(&[&record.worktree.path, &record.repository.root]) {
            Ok(policy) => policy,
            Err(mistake) => {
                self.stop_autoyes(&record, &off(&mistake))?;
                return Ok(None);
            }
        };
        let request = Request {
            agent: &record.agent,
            tool: Some(&wanted.tool),
            readings: wanted.command.iter().cloned().collect(),
            paths: wanted.paths.clone(),
            complete: start.is_some(),
            seal: seal_of(&record),
        };
        let mut place = site(&record.worktree.path);
        // In another working directory the same relative paths name other files.
        if let Some(start) = start {
            place.start = start;
        }
        let ruling = policy.decide(&request, &place);
        let ruling = self.saved_first(&record, ruling);
        let fingerprint = fingerprint_of(payload);
        let log = self.store.audit();
        let about = About {
            record: &record,
            channel: "hook",
            dialog: &fingerprint,
            policy: &policy.digest,
        };
        let held =
            ruling.decision == Decision::Reject && policy.options.on_reject == OnReject::Hold;
        let answer = match ruling.decision {
            Decision::Accept => json!({ "behavior": "allow" }),
            Decision::Reject if !held => json!({
                "behavior": "deny",
                "message": format!(
                    "Not allowed by the policy of this workspace: {}. Try another way, or ask the user.",
                    ruling.reason
                ),
            }),
            Decision::Reject | Decision::Manual => {
                // The dialog that follows is decided again, from the screen.
                log.append(entry(about, &request, &ruling, &[], outcome::LEFT))?;
                return Ok(None);
            }
        };
        // A user who is present sees the dialog and decides; after they leave it is answered on the screen.
        if self.is_user_typing(&record, policy.options.person_idle) {
            let left = Ruling::manual(PERSON_TYPES);
            log.append(entry(about, &request, &left, &[], outcome::LEFT))?;
            return Ok(None);
        }
        let entries = log.recent(&record.id)?;
        match allowed(
            &past(&entries),
            now(),
            &fingerprint,
            ruling.decision,
            &policy.options,
        ) {
            Ok(()) | Err(NoAnswer::AnsweredAlready) => {}
            Err(NoAnswer::TooMany(_)) => return Ok(None),
            Err(NoAnswer::Stop(reason)) => {
                let stopped = Ruling::manual(reason);
                log.append(entry(about, &request, &stopped, &[], outcome::STOPPED))?;
                self.stop_autoyes(&record, reason)?;
                return Ok(None);
            }
        }
        // It may have been switched off since: the switch is read last.
        if !self.is_autoyes(&record) {
            return Ok(None);
        }
        log.append(entry(about, &request, &ruling, &[], outcome::TOLD))?;
        let kind = match ruling.decision {
            Decision::Reject => EventKind::AutoyesRejected,
            Decision::Accept | Decision::Manual => EventKind::AutoyesAnswered,
        };
        let data = json!({
            "tool": wanted.tool,
            "command": wanted.command.as_deref().map(redacted),
            "paths": wanted.paths,
            "rule": ruling.rule,
            "reason": ruling.reason,
            "keys": [],
        });
        self.emit(kind, &record, data);
        Ok(Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": answer,
            }
        })))
    }

    fn is_user_typing(&self, record: &InstanceRecord, idle: Duration) -> bool {
        let pane = record.place.as_ref().map(|place| &place.pane);
        let look =
            pane.and_then(|pane| self.server_of(record).take_detailed_screenshot(pane).ok()?);
        look.is_some_and(|look| was_typed_at(&look, idle))
    }
}

/// The directory in which the agent is, if that is in the worktree.
fn directory_in(payload: &Value, worktree: &Path) -> Option<PathBuf> {
    let directory = payload.get("cwd").and_then(Value::as_str)?;
    let directory = Path::new(directory).canonicalize().ok()?;
    let inside = directory.strip_prefix(worktree.canonicalize().ok()?).ok()?;
    Some(worktree.join(inside))
}

fn fingerprint_of(payload: &Value) -> String {
    let part = |name: &str| {
        payload
            .get(name)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    let mut digest = digest(&format!("{}\n{}", part("tool_name"), part("tool_input")));
    digest.truncate(32);
    digest
}

/// The tools of the agents, by the names that the rules know.
fn wanted(payload: &Value) -> Wanted {
    let name = payload
        .get("tool_name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let input = payload.get("tool_input").unwrap_or(&Value::Null);
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let path = |tool: &str, keys: &[&str]| Wanted {
        tool: tool.to_owned(),
        paths: keys.iter().filter_map(|key| text(key)).collect(),
        command: None,
    };
    match name {
        "Bash" | "shell" | "local_shell" | "exec_command" | "unified_exec" => Wanted {
            tool: "shell".to_owned(),
            command: command_of(input),
            // Leaving the sandbox, or working in another directory, is a decision for the user.
            paths: Vec::new(),
        }
        .or_unclear(input, payload),
        "Edit" | "MultiEdit" => path("edit", &["file_path"]),
        "NotebookEdit" => path("edit", &["notebook_path"]),
        "Write" => path("write", &["file_path"]),
        "Read" => path("read", &["file_path"]),
        "Glob" | "LS" => path("list", &["path"]).or_here(),
        "Grep" => path("grep", &["path"]).or_here(),
        "apply_patch" => patch(input),
        "AskUserQuestion" => path("question", &[]),
        "ExitPlanMode" => path("plan", &[]),
        "WebFetch" => path("fetch", &[]),
        "WebSearch" => path("search", &[]),
        _ => path("mcp", &[]),
    }
}

impl Wanted {
    /// Without a path these work on the directory in which the agent is.
    fn or_here(mut self) -> Self {
        if self.paths.is_empty() {
            self.paths.push(".".to_owned());
        }
        self
    }

    /// What is more than a command in the directory of the agent: leaving the sandbox, the network, another
    /// directory or shell. A key that is not known may mean any of these.
    fn or_unclear(self, input: &Value, payload: &Value) -> Self {
        const KNOWN: [&str; 10] = [
            "command",
            "cmd",
            "description",
            "timeout",
            "timeout_ms",
            "yield_time_ms",
            "max_output_tokens",
            "tty",
            "login",
            "workdir",
        ];
        let plain = |(key, value): (&String, &Value)| match key.as_str() {
            // Codex asks for the network with the command that wants it.
            "description" => !value.as_str().is_some_and(|text| {
                text.to_lowercase()
                    .replace(' ', "-")
                    .contains("network-access")
            }),
            "workdir" => value.is_null() || payload.get("cwd") == Some(value),
            key if KNOWN.contains(&key) => true,
            _ => matches!(value, Value::Null | Value::Bool(false)),
        };
        let usual = input.as_object().is_some_and(|all| all.iter().all(plain));
        if !usual || self.command.is_none() {
            return Self {
                tool: "mcp".to_owned(),
                ..self
            };
        }
        self
    }
}

/// A text, or the words of a command: `["bash", "-lc", "cargo test"]`.
fn command_of(input: &Value) -> Option<String> {
    let command = input.get("command").or_else(|| input.get("cmd"))?;
    if let Some(text) = command.as_str() {
        return Some(text.to_owned());
    }
    let words: Option<Vec<&str>> = command.as_array()?.iter().map(Value::as_str).collect();
    match words?.as_slice() {
        [
            "bash" | "sh" | "zsh" | "/bin/bash" | "/bin/sh",
            "-lc" | "-c",
            script,
        ] => Some((*script).to_owned()),
        words => shlex::try_join(words.iter().copied()).ok(),
    }
}

/// The files of a patch; one that names none that can be read is not clear.
fn patch(input: &Value) -> Wanted {
    let body = ["input", "patch", "command"]
        .iter()
        .find_map(|key| input.get(key)?.as_str())
        .or_else(|| input.as_str())
        .unwrap_or_default();
    // Codex takes the blanks around a marker off.
    let marked = body.lines().map(str::trim);
    let mut paths = Vec::new();
    let mut only_edits = true;
    for line in marked.filter(|line| line.starts_with("***")) {
        let path = ["*** Add File:", "*** Update File:", "*** Move to:"]
            .iter()
            .find_map(|mark| line.strip_prefix(mark));
        match path {
            Some(path) => paths.push(path.trim().to_owned()),
            // To delete a file is not to edit it, and what is not known may be anything.
            None => {
                only_edits &=
                    ["*** Begin Patch", "*** End Patch", "*** End of File"].contains(&line)
            }
        }
    }
    Wanted {
        tool: if only_edits && !paths.is_empty() {
            "edit"
        } else {
            "mcp"
        }
        .to_owned(),
        paths,
        command: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_begin_where_the_agent_is() {
        let root = tempfile::tempdir().unwrap();
        let worktree = root.path().join("w");
        std::fs::create_dir_all(worktree.join("sub")).unwrap();
        let at = |cwd: &Path| directory_in(&json!({"cwd": cwd}), &worktree);
        assert_eq!(at(&worktree.join("sub")), Some(worktree.join("sub")));
        assert_eq!(at(&worktree), Some(worktree.join("")));
        assert_eq!(at(root.path()), None);
        assert_eq!(directory_in(&json!({}), &worktree), None);
    }

    #[test]
    fn what_agents_ask_is_put_into_the_words_of_the_rules() {
        let check = |payload: Value, tool: &str, command: Option<&str>, paths: &[&str]| {
            let wanted = wanted(&payload);
            assert_eq!(wanted.tool, tool, "{payload}");
            assert_eq!(wanted.command.as_deref(), command, "{payload}");
            assert_eq!(wanted.paths, paths, "{payload}");
        };
        check(
            json!({"tool_name":"Bash","tool_input":{"command":"cargo test","description":"x"}}),
            "shell",
            Some("cargo test"),
            &[],
        );
        check(
            json!({"tool_name":"Bash","tool_input":{"command":"ls","dangerouslyDisableSandbox":true}}),
            "mcp",
            Some("ls"),
            &[],
        );
        check(
            json!({"tool_name":"shell","tool_input":{"command":["bash","-lc","cargo test | tail"]}}),
            "shell",
            Some("cargo test | tail"),
            &[],
        );
        check(
            json!({"tool_name":"shell","tool_input":{"command":["git","commit","-m","a b"]}}),
            "shell",
            Some("git commit -m 'a b'"),
            &[],
        );
        check(
            json!({"tool_name":"Edit","tool_input":{"file_path":"/w/a.rs"}}),
            "edit",
            None,
            &["/w/a.rs"],
        );
        check(
            json!({"tool_name":"Grep","tool_input":{"pattern":"x"}}),
            "grep",
            None,
            &["."],
        );
        check(
            json!({"tool_name":"AskUserQuestion","tool_input":{}}),
            "question",
            None,
            &[],
        );
        check(
            json!({"tool_name":"mcp__github__delete","tool_input":{}}),
            "mcp",
            None,
            &[],
        );
        check(
            json!({"tool_name":"apply_patch","tool_input":{"input":"*** Begin Patch\n*** Update File: src/a.rs\n*** Add File: b\n"}}),
            "edit",
            None,
            &["src/a.rs", "b"],
        );
        check(
            json!({"tool_name":"apply_patch","tool_input":{"input":"*** Delete File: src/a.rs\n"}}),
            "mcp",
            None,
            &[],
        );
        check(
            json!({"tool_name":"apply_patch","tool_input":{"input":"*** Begin Patch\n*** Update File: a\n  *** Add File: .git/hooks/x \n"}}),
            "edit",
            None,
            &["a", ".git/hooks/x"],
        );
        check(
            json!({"tool_name":"apply_patch","tool_input":{"input":" *** Delete File: a\n*** Update File: b\n"}}),
            "mcp",
            None,
            &["b"],
        );
        for more in [
            json!({"command":"ls","description":"network-access https://evil.example:443"}),
            json!({"command":"ls","workdir":"/etc"}),
            json!({"command":"ls","sandbox_permissions":"require_escalated"}),
            json!({"command":"ls","with_escalated_permissions":true}),
            json!({"command":"ls","additional_permissions":{"network":true}}),
            json!({"command":"ls","run_in_background":true}),
            json!({"command":"ls","shell":"/tmp/sh"}),
        ] {
            let payload = json!({"tool_name":"exec_command","cwd":"/w","tool_input":more});
            check(payload, "mcp", Some("ls"), &[]);
        }
        check(
            json!({"tool_name":"exec_command","cwd":"/w","tool_input":{"cmd":"ls","workdir":"/w","tty":true}}),
            "shell",
            Some("ls"),
            &[],
        );
        check(json!({}), "mcp", None, &[]);
    }
}
