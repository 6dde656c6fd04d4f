//! Handles the hooks that an agent calls while it works.
//!
//! The agent waits for the answer, so little happens here: the report is saved beside the record and
//! the daemon is woken. The next look weighs the report against the screen.

use std::os::unix::net::UnixDatagram;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::config::Home;
use crate::engine::autoyes::pending::PERMISSION;
use crate::engine::base::caller::claims_another_instance;
use crate::engine::base::wakeup::WAKEUP_SOCKET;
use crate::engine::base::{Core, now, socket};
use crate::model::InstanceId;
use crate::store::{HookReport, Store};

/// The most bytes of a name that is kept: of an event, a tool, a session. A longer one is not what it says.
const LONGEST_NAME: usize = 256;

/// What agents put on a hook's standard input, as far as it matters here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Input {
    session_id: Option<Value>,
    notification_type: Option<Value>,
    tool_name: Option<Value>,
    source: Option<Value>,
    reason: Option<Value>,
    background_tasks: Vec<serde::de::IgnoredAny>,
}

/// Handles one event. Returns the answer for the agent; None leaves the decision to the agent.
pub(crate) fn handle_hook(
    home: &Home,
    instance: &str,
    event: &str,
    input: &[u8],
) -> Option<String> {
    let at = now();
    let id = InstanceId::parse(instance)?;
    if event.is_empty() || event.len() > LONGEST_NAME {
        return None;
    }
    // A process of one instance may only report for that instance.
    if claims_another_instance(home, &id) {
        return None;
    }
    let dir = Store::new(home.state.clone()).instance(&id);
    let said: Input = serde_json::from_slice(input).unwrap_or_default();
    let text = |value: &Option<Value>| {
        let text = value.as_ref()?.as_str()?;
        (text.len() <= LONGEST_NAME).then(|| text.to_owned())
    };
    let about = [
        &said.notification_type,
        &said.tool_name,
        &said.source,
        &said.reason,
    ];
    let report = HookReport {
        format: HookReport::FORMAT,
        event: event.to_owned(),
        detail: about.into_iter().find_map(text),
        session: text(&said.session_id),
        earlier: Vec::new(),
        background: !said.background_tasks.is_empty(),
        at,
        before: None,
    };
    // An instance that is gone, or a full disk, must not disturb the agent.
    drop(dir.save_hook_report(report));
    wake_daemon(&home.run, &id);
    (event == PERMISSION)
        .then(|| decide(home, &id, input))
        .flatten()
}

/// The answer to a request for permission; None if the user is to decide, and on any error.
fn decide(home: &Home, id: &InstanceId, input: &[u8]) -> Option<String> {
    let asked: Value = serde_json::from_slice(input).ok()?;
    let core = Core::open(home.clone()).ok()?;
    let answer = core.permission_request(id, &asked).ok().flatten()?;
    Some(answer.to_string())
}

/// Wakes the daemon without waiting. There may be none.
fn wake_daemon(run: &Path, instance: &InstanceId) {
    let path = run.join(WAKEUP_SOCKET);
    drop(UnixDatagram::unbound().and_then(|socket| {
        socket.set_nonblocking(true)?;
        socket::connect_datagram(&socket, &path)?;
        socket.send(instance.as_str().as_bytes())
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camp() -> (tempfile::TempDir, Home, InstanceId) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::below(folder.path());
        let id = InstanceId::parse("bcdfghjkmn").unwrap();
        std::fs::create_dir_all(home.state.join("instances").join(id.as_str())).unwrap();
        std::fs::create_dir_all(&home.run).unwrap();
        (folder, home, id)
    }

    #[test]
    fn a_word_is_kept_and_the_bell_is_rung() {
        let (_folder, home, id) = camp();
        let bell = UnixDatagram::bind(home.run.join(WAKEUP_SOCKET)).unwrap();
        bell.set_nonblocking(true).unwrap();
        let input = br#"{"session_id":"abc","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
        assert_eq!(handle_hook(&home, id.as_str(), "PreToolUse", input), None);
        let report = Store::new(home.state.clone())
            .instance(&id)
            .hook_report()
            .unwrap();
        assert_eq!(report.event, "PreToolUse");
        assert_eq!(report.detail.as_deref(), Some("Bash"));
        assert_eq!(report.session.as_deref(), Some("abc"));
        assert!(!report.background);
        let mut rung = [0; 64];
        let length = bell.recv(&mut rung).unwrap();
        assert_eq!(&rung[..length], id.as_str().as_bytes());
        let input = br#"{"session_id":"abc","background_tasks":[{"id":"1"}]}"#;
        assert_eq!(handle_hook(&home, id.as_str(), "Stop", input), None);
        let report = Store::new(home.state.clone())
            .instance(&id)
            .hook_report()
            .unwrap();
        assert!(report.background);
    }

    #[test]
    fn whatever_is_wrong_the_agent_is_not_told() {
        let (_folder, home, id) = camp();
        // No daemon, and no readable input.
        assert_eq!(handle_hook(&home, id.as_str(), "Stop", b"not json"), None);
        let dir = Store::new(home.state.clone()).instance(&id);
        assert_eq!(dir.hook_report().unwrap().event, "Stop");
        assert_eq!(
            handle_hook(
                &home,
                id.as_str(),
                "Stop",
                br#"{"session_id":7,"tool_name":[]}"#
            ),
            None
        );
        // Names that nobody gives are not kept.
        let long = "x".repeat(LONGEST_NAME + 1);
        for event in ["", &long] {
            assert_eq!(handle_hook(&home, id.as_str(), event, b"{}"), None);
        }
        let input = format!(r#"{{"session_id":"{long}","tool_name":"{long}"}}"#);
        let stop = handle_hook(&home, id.as_str(), "Stop", input.as_bytes());
        assert_eq!(stop, None);
        let kept = dir.hook_report().unwrap();
        assert_eq!(
            (kept.event.as_str(), kept.detail, kept.session),
            ("Stop", None, None)
        );
        for unknown in ["", "../../etc", "zzzzzzzzzz", "bcdfghjkmp"] {
            assert_eq!(handle_hook(&home, unknown, "Stop", b"{}"), None);
        }
        assert_eq!(
            std::fs::read_dir(home.state.join("instances"))
                .unwrap()
                .count(),
            1
        );
    }
}
