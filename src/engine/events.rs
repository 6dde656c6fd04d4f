//! The record of what happened, for whoever listens.

use super::Engine;
use super::core::now;
use crate::model::{Event, EventKind, InstanceRecord};
use crate::store::{Tail, append_line};

impl Engine {
    /// Written after the state is consistent on disk. A full disk must not undo what has happened,
    /// so a failure to write is not passed on.
    pub(super) fn emit(&self, kind: EventKind, record: &InstanceRecord, data: serde_json::Value) {
        self.emit_event(kind, Some(record), data);
    }

    /// The same, for what concerns the camp and no instance of it.
    pub(super) fn emit_event(
        &self,
        kind: EventKind,
        record: Option<&InstanceRecord>,
        data: serde_json::Value,
    ) {
        let event = Event {
            at: now(),
            kind,
            instance: record.map(|record| record.id.clone()),
            title: record.map(|record| record.title.clone()),
            data,
        };
        drop(append_line(
            &self.store.root().join("events.jsonl"),
            &event,
            Tail::Soon,
        ));
    }
}
