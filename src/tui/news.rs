//! What autoyes has done that a user would wonder about: an agent may say no more than that it was stopped.

use crate::model::{Event, EventKind, printable_line};

/// An event in words; None where there is nothing to say of it.
pub(super) fn told(event: &Event) -> Option<String> {
    let title = event.title.as_ref()?;
    let text = |key: &str| event.data.get(key)?.as_str().map(str::to_owned);
    let reason = text("reason").map_or_else(String::new, |reason| format!(": {reason}"));
    let words = match event.kind {
        EventKind::AutoyesRejected => {
            let what = text("command")
                .or_else(|| paths(event))
                .or_else(|| text("tool"));
            let what = what.unwrap_or_else(|| "what was asked".to_owned());
            format!("The policy refused `{what}` of `{title}`{reason}.")
        }
        EventKind::AutoyesStopped => format!("Autoyes is off in `{title}`{reason}."),
        _ => return None,
    };
    Some(printable_line(&words))
}

fn paths(event: &Event) -> Option<String> {
    let paths = event.data.get("paths")?.as_array()?.iter();
    let paths: Vec<&str> = paths.filter_map(|path| path.as_str()).collect();
    (!paths.is_empty()).then(|| paths.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn event(kind: &str, data: Value) -> Event {
        let event = json!({
            "at": "2026-11-14T12:00:00Z", "type": kind, "instance": null, "title": "tidy", "data": data
        });
        serde_json::from_value(event).unwrap()
    }

    #[test]
    fn what_autoyes_has_refused_is_told_with_its_reason() {
        let why = "it deletes what others may have";
        for (data, told_as) in [
            (
                json!({"tool": "shell", "command": "git push -f", "paths": [], "reason": why}),
                "The policy refused `git push -f` of `tidy`: it deletes what others may have.",
            ),
            (
                json!({"tool": "write", "command": null, "paths": ["/etc/hosts"], "reason": why}),
                "The policy refused `/etc/hosts` of `tidy`: it deletes what others may have.",
            ),
            (
                json!({"tool": "fetch", "paths": []}),
                "The policy refused `fetch` of `tidy`.",
            ),
        ] {
            let told = told(&event("autoyes:rejected", data));
            assert_eq!(told.as_deref(), Some(told_as));
        }
        let stopped = event(
            "autoyes:stopped",
            json!({"reason": "the same was asked 5 times"}),
        );
        assert_eq!(
            told(&stopped).as_deref(),
            Some("Autoyes is off in `tidy`: the same was asked 5 times.")
        );
        assert_eq!(
            told(&event("autoyes:answered", json!({"command": "ls"}))),
            None
        );
    }
}
